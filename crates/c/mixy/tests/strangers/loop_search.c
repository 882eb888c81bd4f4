#include <string.h>
#include <stddef.h>
struct entry { const char *key; int value; };
static struct entry entries[] = { { "a", 1 }, { "b", 2 }, { NULL, 0 } };
static struct entry *find(const char *key) {
  for (struct entry *e = entries; e->key; e++)
    if (!strcmp(e->key, key)) return e;
  return NULL;
}
static struct entry *must(const char *key) { struct entry *e = find(key); return e ? e : &entries[0]; }
int main(int argc, char **argv) {
  int n = must(argc > 1 ? argv[1] : "zz")->value;
  return n + find(argc > 1 ? argv[1] : "a")->value; //~ zz
}
