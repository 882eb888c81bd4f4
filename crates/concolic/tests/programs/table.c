// A parser driven by a switch that compiles to a jump table.
#include <stdio.h>
#include <unistd.h>
void target(void) { puts("REACHED"); fflush(stdout); _exit(42); }
int main(void) {
    char in[6];
    int state = 0;
    if (read(0, in, 6) != 6) return 1;
    for (int i = 0; i < 6; i++) {
        switch (in[i]) {
        case 'a': state = state * 2 + 1; break;
        case 'b': state = state + 5; break;
        case 'c': state = state ^ 3; break;
        case 'd': state = state - 1; break;
        case 'e': state = state * state; break;
        case 'f': state = state + i; break;
        case 'g': state = state << 1; break;
        case 'h': state = state | 16; break;
        default: return 2;
        }
    }
    if (state == 1234) target();
    return 0;
}
