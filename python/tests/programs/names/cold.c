// Parts of functions that are seldom run are moved away from them.
#include <stdlib.h>
volatile int sink;
__attribute__((noinline, cold)) void seldom(int x) { sink += x; }
__attribute__((noinline)) int take(int x)
{
    if (__builtin_expect(x == 3, 0)) { seldom(x); seldom(x + 1); sink ^= 5; return 9; }
    if (__builtin_expect(x == 5, 0)) { seldom(7); sink *= 3; }
    sink += x;
    return x * 2;
}
int main(int count, char **words)
{
    int sum = 0;
    for (int i = 0; i < 8; i++) sum += take(i);
    return sum & 1;
}
