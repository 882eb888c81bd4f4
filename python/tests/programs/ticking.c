/* Says a number now and then, and never ends by itself. */
#include <stdio.h>
#include <unistd.h>

__attribute__((noinline)) static void tick(int number)
{
    printf("tick %d\n", number);
    fflush(stdout);
}

int main(void)
{
    for (int number = 1;; number++) {
        tick(number);
        usleep(50000);
    }
}
