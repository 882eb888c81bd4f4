#include <stdio.h>
#include <limits.h>
#include <stdint.h>
int main(void) {
  signed char c = -100; unsigned char u = 250; short s = -32768; unsigned short us = 65535;
  printf("%d %d %d %d\n", c + c, (signed char)(c - 100), u + 10, (unsigned char)(u + 10));
  printf("%d %d %u\n", s - 1, (short)(s - 1), us * 2u);
  printf("%d %d %d %d\n", -7 / 2, -7 % 2, 7 / -2, 7 % -2);
  printf("%u %u\n", UINT_MAX / 3, 3000000000u % 7);
  printf("%d %u %d\n", -8 >> 1, 0x80000000u >> 4, 1 << 30);
  printf("%lld %llu\n", LLONG_MIN, ULLONG_MAX);
  int64_t a = INT64_C(1) << 40; uint64_t b = a * a; printf("%lld %llx\n", (long long)a, (unsigned long long)b);
  printf("%d %d\n", (int)3000000000u, (int)(char)200);
  _Bool t = 5; printf("%d %d %d\n", t, !t, (_Bool)0.5);
}
