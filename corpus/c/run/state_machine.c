// stdin: x = 12; // comment\ny="a;b" # \n
#include <stdio.h>
enum state { CODE, SLASH, COMMENT, STRING, STATES }; enum input { SL, NL, QU, OT, INPUTS };
static const enum state next[STATES][INPUTS] = {[CODE] = {SLASH, CODE, STRING, CODE}, [SLASH] = {COMMENT, CODE, STRING, CODE}, [COMMENT] = {COMMENT, CODE, COMMENT, COMMENT}, [STRING] = {STRING, CODE, CODE, STRING}};
int main(void) { enum state s = CODE; int c, n[STATES] = {0}; while ((c = getchar()) != EOF) { enum input i = c == '/' ? SL : c == '\n' ? NL : c == '"' ? QU : OT; s = next[s][i]; n[s]++; } for (int i = 0; i < STATES; i++) printf("%d ", n[i]); puts(""); }
