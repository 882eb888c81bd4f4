#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct person { const char *name; int age; double height; };
static int by_age(const void *a, const void *b) { return ((const struct person *)a)->age - ((const struct person *)b)->age; }
static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }
int main(void) {
  struct person p[] = {{"Ann", 40, 1.7}, {"Bob", 25, 1.8}, {"Cid", 33, 1.6}, {"Dee", 25, 1.5}, {"Eve", 61, 1.65}};
  qsort(p, 5, sizeof *p, by_age);
  for (int i = 0; i < 5; i++) printf("%s %d %.2f\n", p[i].name, p[i].age, p[i].height);
  const char *w[] = {"pear", "fig", "apple", "plum", "date", "kiwi", "lime", "nut", "bean", "oat", "rye", "corn"};
  qsort(w, 12, sizeof *w, by_name);
  for (int i = 0; i < 12; i++) printf("%s ", w[i]);
  const char *key = "lime"; const char **hit = bsearch(&key, w, 12, sizeof *w, by_name);
  printf("\n%ld\n", hit ? (long)(hit - w) : -1);
}
