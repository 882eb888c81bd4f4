/* A Markdown text of four unknown bytes becomes HTML. */
#include "md4c-html.h"
#include <klee/klee.h>

static void count(const MD_CHAR *text, MD_SIZE size, void *sum) {
  (void)text;
  *(MD_SIZE *)sum += size;
}

int main(void) {
  char text[4];
  klee_make_symbolic(text, sizeof text, "text");
  MD_SIZE size = 0;
  return md_html(text, sizeof text, count, &size, MD_DIALECT_GITHUB, 0);
}
