// Functions called through types that are not their own: aliases and casts, as the calling convention has it.
#include <stdio.h>
int narrow(int x, long y) { return x + (int)y + 1; }
double real(double x, double y) { return x - y; }
int mixed(int a, double x, int b) { return a * 100 + (int)(x * 10) + b; }
void nothing(void) { printf("nothing\n"); }
static int other(long x, long y, long z) __attribute__((alias("narrow")));
static int swapped(double x, int a, int b) __attribute__((alias("mixed")));
static void more(int x) __attribute__((alias("nothing")));
int table[3] = {7, 8, 9};
extern long first __attribute__((alias("table")));
int main(void) {
  printf("%d\n", other(0x100000001L, 2, 3));
  printf("%d\n", swapped(2.5, 1, 7));
  more(4);
  double (*wide)(double, double, int) = (double (*)(double, double, int))real;
  printf("%.2f %ld\n", wide(3.5, 1.25, 9), first);
  int (*shorter)(long, long) = (int (*)(long, long))narrow;
  printf("%d\n", shorter(5, 6));
  return 0;
}
