#include <stdio.h>
static unsigned long long memo[91];
static unsigned long long fib(int n) { if (n < 2) return n; if (memo[n]) return memo[n]; return memo[n] = fib(n - 1) + fib(n - 2); }
int main(void) { for (int i = 0; i <= 90; i += 15) printf("%d %llu\n", i, fib(i)); }
