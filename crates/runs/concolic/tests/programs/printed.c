// A number that is printed, and whose digits are looked at: compilers divide by ten with a product.
#include <stdio.h>
#include <unistd.h>
void target(void) { puts("REACHED"); fflush(stdout); _exit(42); }
int main(void) {
    char in[4], text[32];
    unsigned long n = 0;
    if (read(0, in, 4) != 4) return 1;
    for (int i = 0; i < 4; i++) {
        if (in[i] < '0' || in[i] > '9') return 2;
        n = 10 * n + (in[i] - '0');
    }
    int length = sprintf(text, "%lu", 9 * n);
    if (length == 5 && text[0] == '4' && text[2] == '3' && text[4] == '9') target();
    return 0;
}
