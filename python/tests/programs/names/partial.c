// The start of a function may be inlined and the rest be called.
#include <stdio.h>
volatile int sink;
static int check(int x)
{
    if (x < 3) return 0;
    for (int i = 0; i < x; i++) { sink += i * x; sink ^= x; sink -= 3; sink *= 5; }
    for (int i = 0; i < x; i++) { sink -= i * x; sink ^= x; sink += 3; sink *= 7; }
    for (int i = 0; i < x; i++) { sink ^= i * x; sink ^= x; sink -= 1; sink *= 9; }
    return sink;
}
__attribute__((noinline)) int first(int x) { return check(x) + 1; }
__attribute__((noinline)) int second(int x) { return check(x + 1) + 2; }
__attribute__((noinline)) int third(int x) { return check(x * 2) + 3; }
int main(int count, char **words)
{
    int sum = 0;
    for (int i = 0; i < 6; i++) sum += first(i) + second(i) + third(i);
    return sum & 1;
}
