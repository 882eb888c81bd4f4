#include <setjmp.h>
#include <stddef.h>
static jmp_buf env;
static int v; static int *volatile p = &v;
static void fail(void) { p = NULL; longjmp(env, 1); }
int main(int argc, char **argv) {
  if (setjmp(env)) { return *p; } //~ x
  if (argc > 1) fail();
  return *p;
}
