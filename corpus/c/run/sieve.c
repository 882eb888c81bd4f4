#include <stdio.h>
#include <string.h>
int main(void) { static char composite[500]; int count = 0; memset(composite, 0, sizeof composite);
  for (int i = 2; i < 500; i++) { if (composite[i]) continue; count++; for (int j = i * i; j < 500; j += i) composite[j] = 1; }
  printf("%d primes\n", count); for (int i = 450; i < 500; i++) if (!composite[i]) printf("%d ", i); puts(""); }
