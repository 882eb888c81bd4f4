// stdin: the quick brown fox jumps over the lazy dog the end
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define SIZE 17
struct entry { char *word; int count; struct entry *next; } *table[SIZE];
static unsigned hash(const char *s) { unsigned h = 5381; while (*s) h = h * 33 ^ (unsigned char)*s++; return h % SIZE; }
static void count(const char *word) {
  struct entry **e = &table[hash(word)];
  for (; *e; e = &(*e)->next) if (!strcmp((*e)->word, word)) { (*e)->count++; return; }
  *e = calloc(1, sizeof **e); (*e)->word = strdup(word); (*e)->count = 1;
}
int main(void) {
  char word[32];
  while (scanf("%31s", word) == 1) count(word);
  for (int i = 0; i < SIZE; i++) for (struct entry *e = table[i]; e; e = e->next) printf("%2d %s %d\n", i, e->word, e->count);
}
