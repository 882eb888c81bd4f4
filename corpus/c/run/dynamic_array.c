#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
typedef struct { int *data; size_t len, cap; } vec;
static void push(vec *v, int x) { if (v->len == v->cap) { v->cap = v->cap ? v->cap * 2 : 1; v->data = realloc(v->data, v->cap * sizeof *v->data); } v->data[v->len++] = x; }
static int pop(vec *v) { assert(v->len > 0); return v->data[--v->len]; }
int main(void) { vec v = {0}; for (int i = 0; i < 33; i++) push(&v, i ^ 5); int s = 0; while (v.len > 3) s += pop(&v); printf("%d %zu %zu\n", s, v.len, v.cap); free(v.data); }
