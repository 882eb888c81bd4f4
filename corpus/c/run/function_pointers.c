#include <stdio.h>
static int add(int a, int b) { return a + b; } static int sub(int a, int b) { return a - b; } static int mul(int a, int b) { return a * b; }
typedef int (*op)(int, int); struct entry { char symbol; op apply; }; static const struct entry table[] = {{'+', add}, {'-', sub}, {'*', mul}};
static op find(char c) { for (unsigned i = 0; i < 3; i++) if (table[i].symbol == c) return table[i].apply; return NULL; }
static int twice(op f, int x) { return f(f(x, 2), 3); }
int main(void) { printf("%d %d %d %d\n", find('+')(2, 3), find('-')(2, 3), find('*')(2, 3), find('/') == NULL); printf("%d %d\n", twice(add, 1), twice(mul, 5)); op f = sub; printf("%d %d\n", f == sub, (*f)(9, 4)); }
