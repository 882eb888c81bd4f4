/* A hash table, a list, an array and a string of uthash, each with unknown keys. */
#include <klee/klee.h>
#include <stdlib.h>
#include <utarray.h>
#include <uthash.h>
#include <utlist.h>
#include <utstring.h>

struct item {
  int key;
  struct item *next;
  UT_hash_handle hh;
};

static int by_key(struct item *a, struct item *b) { return (a->key > b->key) - (a->key < b->key); }
static int by_value(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

static struct item *add(struct item **table, int key) {
  struct item *found;
  HASH_FIND_INT(*table, &key, found);
  if (found) return found;
  found = calloc(1, sizeof *found);
  found->key = key;
  HASH_ADD_INT(*table, key, found);
  return found;
}

int main(void) {
  struct item *table = 0, *list = 0, *item, *next;
  for (int i = 0; i < 3; i++) add(&table, klee_range(0, 4, "key"));
  HASH_SORT(table, by_key);
  HASH_ITER(hh, table, item, next) LL_PREPEND(list, item);
  LL_SORT(list, by_key);
  HASH_ITER(hh, table, item, next) {
    HASH_DEL(table, item);
    free(item);
  }

  UT_array *numbers;
  utarray_new(numbers, &ut_int_icd);
  for (int i = 0; i < 3; i++) {
    int number = klee_range(0, 100, "number"), place = klee_range(0, i + 1, "place");
    utarray_insert(numbers, &number, place);
  }
  utarray_sort(numbers, by_value);
  utarray_free(numbers);

  char word[3];
  klee_make_symbolic(word, sizeof word, "word");
  UT_string *text;
  utstring_new(text);
  utstring_printf(text, "%s", "abcab");
  long place = utstring_find(text, 0, word, sizeof word);
  long last = utstring_findR(text, -1, word, sizeof word);
  utstring_free(text);
  klee_assert(place <= last);
  return 0;
}
