#include <stdlib.h>
struct vec { int *data; size_t len, cap; };
static void push(struct vec *v, int x) {
  if (v->len == v->cap) {
    v->cap = v->cap ? 2 * v->cap : 4;
    v->data = realloc(v->data, v->cap * sizeof *v->data);
    if (!v->data) abort();
  }
  v->data[v->len++] = x;
}
static int first(const struct vec *v) { return v->data[0]; } //~ 
int main(int argc, char **argv) {
  struct vec v = { 0 };
  for (int i = 1; i < argc; i++) push(&v, i);
  return first(&v);
}
