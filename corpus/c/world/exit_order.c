#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static void first(void) { fprintf(stderr, "first\n"); }
static void second(void) { fprintf(stderr, "second\n"); }
__attribute__((destructor)) static void last(void) { fprintf(stderr, "last\n"); }
__attribute__((constructor)) static void before(void) { fprintf(stderr, "before\n"); }
int main(void) {
  atexit(first);
  atexit(second);
  fprintf(stderr, "main\n");
  exit(3);
}
