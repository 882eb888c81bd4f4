#include <stdio.h>
#include <stddef.h>
#include <string.h>
static _Alignas(16) char arena[512]; struct header { size_t size; struct header *next; }; static struct header *free_list;
static void setup(void) { free_list = (struct header *)arena; free_list->size = sizeof arena - sizeof(struct header); free_list->next = NULL; }
static void *take(size_t n) { n = (n + 15) & ~(size_t)15; for (struct header **p = &free_list; *p; p = &(*p)->next) if ((*p)->size >= n) { struct header *h = *p; if (h->size >= n + sizeof *h + 16) { struct header *rest = (struct header *)((char *)(h + 1) + n); rest->size = h->size - n - sizeof *h; rest->next = h->next; h->size = n; *p = rest; } else *p = h->next; return h + 1; } return NULL; }
static void give(void *p) { struct header *h = (struct header *)p - 1; h->next = free_list; free_list = h; }
int main(void) { setup(); char *a = take(30), *b = take(100), *c = take(400); printf("%td %td %d\n", a - arena, b - arena, c == NULL); strcpy(a, "in the arena"); give(b); char *d = take(60); printf("%d %s\n", d == b, a); int n = 0; while (take(16)) n++; printf("%d\n", n); }
