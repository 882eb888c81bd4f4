/* Section 4.3.2: two threads that write and read two variables, one after the other. */
#include <pthread.h>

int var1, var2;

static void *second(void *unused)
{
    int sum = var2;
    sum += var1;
    return sum ? unused : 0;
}

int main(void)
{
    pthread_t thread;
    var1 = 10;
    var1 = 20;
    pthread_create(&thread, 0, second, 0);
    pthread_join(thread, 0);
    return 0;
}
