/* JSON text of six unknown bytes is parsed and, where it is valid, printed again. */
#include "cJSON.h"
#include <klee/klee.h>
#include <stdlib.h>

int main(void) {
  char text[6];
  klee_make_symbolic(text, sizeof text, "text");
  cJSON *value = cJSON_ParseWithLength(text, sizeof text);
  if (!value) return 0;
  free(cJSON_PrintUnformatted(value));
  cJSON_Delete(value);
  return 0;
}
