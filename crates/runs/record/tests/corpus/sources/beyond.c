/* An instruction that nobody models, in a function with a name. */
#include <stdio.h>

static void __attribute__((noinline)) beyond(void) { __asm__ volatile(".byte 0x0f, 0x01, 0xcf"); } /* ENCLS */

int main(void) {
  puts("before");
  fflush(stdout);
  beyond();
  puts("after");
  return 0;
}
