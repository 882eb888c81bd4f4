#include <stdint.h>
#include <stdio.h>
static uint64_t gcd(uint64_t a, uint64_t b) { return b ? gcd(b, a % b) : a; }
static uint64_t power(uint64_t b, uint64_t e, uint64_t m) { uint64_t r = 1; for (b %= m; e; e >>= 1, b = (unsigned __int128)b * b % m) if (e & 1) r = (unsigned __int128)r * b % m; return r; }
int main(void) { printf("%lu %lu %lu\n", gcd(1071, 462), gcd(1UL << 40, 6UL << 20), power(3, 1000003, 1000000000039UL)); }
