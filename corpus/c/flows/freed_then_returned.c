// finds: use-after-free
// with: part_show.c
// A function gives back what it has freed.
#include "show.h"
static char *reversed(const char *text) {
  size_t n = strlen(text);
  char *result = malloc(n + 1);
  if (!result) exit(1);
  for (size_t i = 0; i < n; i++) result[i] = text[n - 1 - i];
  result[n] = 0;
  free(result);
  return result;
}
int main(void) {
  const char *text = reversed("abc");
  return text[0]; //~ use-after-free
}
