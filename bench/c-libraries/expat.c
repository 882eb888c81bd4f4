/* An element whose start tag and content hold five unknown bytes. */
#include "expat.h"
#include <klee/klee.h>
#include <string.h>

int main(void) {
  char text[] = "<a?????</a>";
  char unknown[5];
  klee_make_symbolic(unknown, sizeof unknown, "unknown");
  memcpy(text + 2, unknown, sizeof unknown);
  XML_Parser parser = XML_ParserCreate("UTF-8");
  XML_SetHashSalt(parser, 1);
  int status = XML_Parse(parser, text, sizeof text - 1, 1);
  XML_ParserFree(parser);
  return status != XML_STATUS_OK;
}
