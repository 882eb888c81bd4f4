#include <signal.h>
#include <setjmp.h>
#include <alloca.h>
#include <string.h>
volatile int sink;
static jmp_buf back;
static void hear(int number) { sink += number; }
__attribute__((noinline)) int leaves(int x) { if (x & 1) longjmp(back, 1); sink += x; return x; }
__attribute__((noinline)) int large(int x) { volatile char room[20000]; room[x * 100] = 1; sink += room[x * 100]; return sink; }
__attribute__((noinline)) int asks(int x) { char *room = alloca(x * 64 + 1); memset((void *) room, x, x * 64); sink += room[0]; return sink; }
__attribute__((noinline)) int many(int count, ...) { __builtin_va_list list; __builtin_va_start(list, count); int sum = 0;
    while (count--) sum += __builtin_va_arg(list, int); __builtin_va_end(list); return sum; }
int main(int count, char **words)
{
    volatile int i;
    signal(SIGUSR1, hear);
    for (i = 0; i < 6; i++) if (!setjmp(back)) leaves(i);
    for (i = 0; i < 4; i++) { raise(SIGUSR1); large(i); asks(i); }
    return many(2, 1, 2) + many(0) + many(4, 1, 2, 3, 4) > 100;
}
