#include <stdio.h>
int main(void) { static void *labels[] = {&&push, &&add, &&mul, &&print, &&stop}; int code[] = {0, 3, 0, 4, 1, 0, 5, 2, 3, 4}, stack[8], sp = 0, pc = 0;
  goto *labels[code[pc++]];
push: stack[sp++] = code[pc++]; goto *labels[code[pc++]];
add: sp--; stack[sp - 1] += stack[sp]; goto *labels[code[pc++]];
mul: sp--; stack[sp - 1] *= stack[sp]; goto *labels[code[pc++]];
print: printf("%d\n", stack[sp - 1]); goto *labels[code[pc++]];
stop: return 0; }
