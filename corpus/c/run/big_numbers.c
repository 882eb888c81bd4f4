#include <stdio.h>
#include <string.h>
int main(void) { static unsigned char d[200]; int len = 1; d[0] = 1; for (int k = 2; k <= 60; k++) { int carry = 0; for (int i = 0; i < len; i++) { int v = d[i] * k + carry; d[i] = (unsigned char)(v % 10); carry = v / 10; } while (carry) { d[len++] = (unsigned char)(carry % 10); carry /= 10; } } while (len) putchar('0' + d[--len]); putchar('\n'); }
