#include <stdio.h>
static int add(int *p, int n) {
  int old = n;
  __asm__ __volatile__("lock xaddl %0,%1" : "+r"(old), "+m"(*p) : : "memory", "cc");
  return old;
}
static int exchange(int *p, int n) {
  __asm__ __volatile__("xchgl %0,%1" : "+r"(n), "+m"(*p) : : "memory");
  return n;
}
static void set(unsigned long *p) { __asm__("movq $77,%0" : "=m"(*p)); }
int main(void) {
  int x = 5;
  unsigned long y = 0;
  int a = add(&x, 3), b = exchange(&x, 100);
  set(&y);
  printf("%d %d %d %lu\n", a, b, x, y);
  return 0;
}
