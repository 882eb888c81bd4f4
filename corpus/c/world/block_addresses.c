#include <stdio.h>
static int run(const unsigned char *code) {
  static const void *const table[] = {&&push, &&add, &&mul, &&stop};
  int stack[8], top = 0;
  goto *table[*code];
push:
  stack[top++] = code[1];
  code += 2;
  goto *table[*code];
add:
  top--;
  stack[top - 1] += stack[top];
  goto *table[*++code];
mul:
  top--;
  stack[top - 1] *= stack[top];
  goto *table[*++code];
stop:
  return stack[0];
}
int main(void) {
  static const unsigned char code[] = {0, 2, 0, 3, 1, 0, 7, 2, 3};
  void *here = &&a, *there = &&b;
  printf("%d %d\n", run(code), here == there);
  goto *there;
a:
  puts("a");
  return 1;
b:
  puts("b");
  return 0;
}
