// A program that becomes another one, which has a function of the same name.
#include <stdlib.h>
#include <unistd.h>
volatile int sink;
void tell_counts(void) __attribute__((weak));
__attribute__((noinline)) int take(int x) { sink += x; return x; }
int main(int count, char **words)
{
    for (int i = 0; i < 3; i++) take(i);
    if (tell_counts) tell_counts();
    return execl(getenv("NEXT"), getenv("NEXT"), (char *) 0);
}
