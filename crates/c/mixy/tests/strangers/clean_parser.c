#include <string.h>
#include <stdio.h>
static int parse(char *line, char **key, char **value) {
  char *eq = strchr(line, '=');
  if (eq == NULL) return -1;
  *eq = '\0';
  *key = line;
  *value = eq + 1;
  return 0;
}
int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    char *k, *v;
    if (parse(argv[i], &k, &v) < 0) continue;
    printf("%s -> %s\n", k, v);
    if (v[0] == 0) return 1;
  }
  return 0;
}
