#define JSMN_STATIC
#include "../jsmn-1.1.0/jsmn.h"
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv) {
  jsmn_parser p; jsmntok_t t[8];
  char buf[16]; size_t n = fread(buf, 1, sizeof buf - 1, stdin); buf[n] = 0;
  jsmn_init(&p);
  int r = jsmn_parse(&p, buf, n, t, 8);
  printf("%d\n", r);
  for (int i = 0; i < r; i++) printf("%d %d-%d\n", t[i].type, t[i].start, t[i].end);
  return r < 0;
}
