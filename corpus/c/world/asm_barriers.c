#include <stdio.h>
#define barrier() __asm__ __volatile__("" ::: "memory")
static int shared;
static inline void pause_(void) { __asm__ __volatile__("pause" ::: "memory"); }
static inline void fence(void) { __asm__ __volatile__("mfence" ::: "memory"); }
static int hidden(int x) {
  __asm__("" : "+r"(x));
  return x + 1;
}
int main(void) {
  shared = 1;
  barrier();
  shared += 2;
  fence();
  pause_();
  __asm__ __volatile__("nop\n\tlfence\n\tsfence");
  printf("%d %d\n", shared, hidden(4));
  return 0;
}
