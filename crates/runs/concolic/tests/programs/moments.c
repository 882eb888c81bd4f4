/* Functions to be taken at a moment of a run: each is called with something real in memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node { struct node *next; int value; };

static int table[16] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};
int calls;

__attribute__((noinline)) void set(int *at) { *at = 7; calls++; }
__attribute__((noinline)) int two(int *at) { set(at); return 5; }
__attribute__((noinline)) int classify(int x) { return x < 0 ? -1 : x > 1000 ? 2 : x == 77 ? 99 : 0; }
__attribute__((noinline)) int look_up(unsigned i) { return table[i & 15] * 3 + (int)i; }
__attribute__((noinline)) int store_at(unsigned i, int v) { table[i & 15] = v; return table[3]; }
__attribute__((noinline)) long sum(struct node *list) { long s = 0; for (; list; list = list->next) s += list->value; return s; }
__attribute__((noinline)) int number(const char *text) { return atoi(text); }
__attribute__((noinline)) int length(const char *text) { return (int)strlen(text); }
__attribute__((noinline)) int same(const char *a, const char *b) { return strcmp(a, b) == 0; }
__attribute__((noinline)) void copy(char *to, const char *from, size_t n) { memcpy(to, from, n); }
__attribute__((noinline)) unsigned fact(unsigned n) { return n < 2 ? 1 : n * fact(n - 1); }
__attribute__((noinline)) int through(int (*f)(int), int x) { return f(x) + 1; }
__attribute__((noinline)) int divide(int a, int b) { return a / b; }
__attribute__((noinline)) int grown(unsigned n) { int *p = malloc(64); p[n & 7] = 9; int r = p[n & 7]; free(p); return r; }

static int by_value(const void *a, const void *b) { return *(const unsigned char *)a - *(const unsigned char *)b; }
__attribute__((noinline)) int sorted(unsigned char *v) { qsort(v, 3, 1, by_value); return v[1]; }

int main(void) {
    struct node c = {0, 30}, b = {&c, 20}, a = {&b, 10};
    char text[16] = "412", other[16] = "412x", to[16] = "";
    unsigned char v[4] = {9, 4, 7, 0};
    int cell = 1;
    long all = two(&cell) + classify(5) + classify(6) + look_up(2) + store_at(1, 2) + sum(&a) + number(text);
    all += length(text) + same(text, other) + fact(4) + through(classify, 3) + divide(7, 2) + grown(3);
    copy(to, text, 4);
    all += sorted(v) + to[0];
    return (int)(all & 1);
}
