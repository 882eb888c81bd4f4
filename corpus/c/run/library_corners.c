#define _GNU_SOURCE
#include <complex.h>
#include <errno.h>
#include <fnmatch.h>
#include <libgen.h>
#include <math.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

static int order(const void *a, const void *b) { return strcmp(a, b); }
static void visit(const void *node, VISIT when, int depth) {
  (void)depth;
  if (when == postorder || when == leaf) printf("%s ", *(char *const *)node);
}
static void trees(void) {
  void *root = NULL;
  const char *words[] = {"m", "c", "x", "a", "d", "z", "c"};
  for (int i = 0; i < 7; i++) tsearch(words[i], &root, order);
  printf("%s %d\n", *(char **)tfind("d", &root, order), tfind("q", &root, order) == NULL);
  twalk(root, visit);
  tdelete("c", &root, order);
  tdelete("m", &root, order);
  int left = 0;
  for (int i = 0; i < 7; i++) left += tfind(words[i], &root, order) != NULL;
  printf("%d\n", left);
  for (int i = 0; i < 7; i++) tdelete(words[i], &root, order);
  printf("%d\n", root == NULL);
}
static void names(void) {
  const char *patterns[] = {"*.c", "a?c", "[a-c]x", "[!a-c]x", "\\*", "a*b*c", "*/x", "[]x]"};
  const char *words[] = {"main.c", "abc", "bx", "dx", "*", "aXbYc", "dir/x", "]", ".c", ""};
  for (int i = 0; i < 8; i++)
    for (int k = 0; k < 10; k++)
      putchar(fnmatch(patterns[i], words[k], 0) ? '.' : fnmatch(patterns[i], words[k], FNM_PATHNAME | FNM_PERIOD) ? 'p' : 'y');
  putchar('\n');
  const char *paths[] = {"/usr/lib/x.so", "/", "a//b//", "plain", "", "/x"};
  for (int i = 0; i < 6; i++) {
    char one[32], two[32];
    strcpy(one, paths[i]), strcpy(two, paths[i]);
    printf("<%s|%s>", dirname(one), basename(two));
  }
  putchar('\n');
}
int main(void) {
  trees();
  names();
  printf("%2$s %1$s %3$d %2$.2s\n", "world", "hello", 7);
  wchar_t wide[] = L"wide";
  printf("%ls|%6ls|%.2ls|%lc\n", wide, wide, wide, (wint_t)L'q');
  long at;
  short half;
  printf("abc%lnd%hn\n", &at, &half);
  printf("%ld %d\n", at, half);
  int printed = puts("three");
  printf("%d\n", printed);
  printf("%d %d\n", close(77), errno == EBADF);
  printf("%.2f %.2f %.2f %.2f\n", remainder(5.5, 2), remainder(-7, 2), remainder(3, 2), cabs(3 + 4 * I));
  printf("%.6f\n", drand48());
  FILE *file = fmemopen("a\nbb\n", 5, "r");
  char *line = NULL;
  size_t room = 0;
  while (getline(&line, &room, file) > 0) printf("%zu:%s", strlen(line), line);
  fclose(file);
  free(line);
  return 0;
}
