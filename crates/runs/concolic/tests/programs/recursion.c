// A parser by recursive descent: nested brackets with a depth.
#include <stdio.h>
#include <unistd.h>
static char in[8];
static int at;
void target(void) { puts("REACHED"); fflush(stdout); _exit(42); }
static int nest(void) {
    int deepest = 0;
    while (at < 8 && in[at] == '(') {
        at++;
        int depth = 1 + nest();
        if (at >= 8 || in[at] != ')') _exit(1);
        at++;
        if (depth > deepest) deepest = depth;
    }
    return deepest;
}
int main(void) {
    if (read(0, in, 8) != 8) return 1;
    int depth = nest();
    if (at == 8 && depth == 4) target();
    return 0;
}
