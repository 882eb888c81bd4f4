#include <stdlib.h>
#include <string.h>
struct e { struct e *next; char *key, *val; };
static struct e *buckets[16];
static unsigned hash(const char *s) { unsigned h = 0; while (*s) h = h * 31 + *s++; return h % 16; }
static void put(const char *k, const char *v) {
  struct e *e = malloc(sizeof *e);
  if (!e) exit(1);
  e->key = strdup(k);
  e->val = v ? strdup(v) : NULL;
  e->next = buckets[hash(k)];
  buckets[hash(k)] = e;
}
static char *get(const char *k) {
  for (struct e *e = buckets[hash(k)]; e; e = e->next) if (!strcmp(e->key, k)) return e->val;
  return NULL;
}
int main(int argc, char **argv) {
  put("a", "1"); put("b", NULL);
  if (argc > 1) return get("b")[0]; //~ x
  return get("a")[0] == '2';
}
