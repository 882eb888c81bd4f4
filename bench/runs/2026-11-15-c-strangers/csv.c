#include "../libcsv-3.0.3/libcsv.c"
#include <stdio.h>
static int fields, rows;
static void f(void *s, size_t n, void *d) { (void)d; fields++; printf("[%.*s]", (int)n, (char *)s); }
static void r(int c, void *d) { (void)c; (void)d; rows++; puts(""); }
int main(void) {
  struct csv_parser p; if (csv_init(&p, CSV_STRICT)) return 2;
  char buf[6]; size_t n;
  while ((n = fread(buf, 1, sizeof buf, stdin)) > 0)
    if (csv_parse(&p, buf, n, f, r, 0) != n) { fprintf(stderr, "%s\n", csv_strerror(csv_error(&p))); csv_free(&p); return 1; }
  csv_fini(&p, f, r, 0); csv_free(&p);
  printf("%d %d\n", fields, rows);
}
