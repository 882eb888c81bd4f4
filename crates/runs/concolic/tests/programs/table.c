// A parser driven by switches that compile to jump tables: three assignments to registers, then a call.
#include <stdio.h>
#include <unistd.h>
void target(void) { puts("REACHED"); fflush(stdout); _exit(42); }
enum { START, NAME, EQUALS, CALL, DONE };
int main(void) {
    char in[10];
    int state = START, reg = 0, sum = 0;
    if (read(0, in, 10) != 10) return 1;
    for (int i = 0; i < 10; i++) {
        switch (state) {
        case START:
            switch (in[i]) {
            case 'a': reg = 1; break;
            case 'b': reg = 2; break;
            case 'c': reg = 4; break;
            case 'd': reg = 8; break;
            case 'e': reg = 16; break;
            case 'f': reg = 32; break;
            case '!': state = CALL; continue;
            default: return 2;
            }
            state = NAME;
            break;
        case NAME:
            if (in[i] != '=') return 3;
            state = EQUALS;
            break;
        case EQUALS:
            switch (in[i]) {
            case '0': break;
            case '1': sum += reg; break;
            case '2': sum += 2 * reg; break;
            case '3': sum -= reg; break;
            case '4': sum ^= reg; break;
            default: return 4;
            }
            state = START;
            break;
        case CALL: state = DONE; break;
        case DONE: return 5;
        }
    }
    if (state == CALL && sum > 60) target();
    return 0;
}
