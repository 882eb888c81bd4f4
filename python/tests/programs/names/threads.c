#include <pthread.h>
static __thread int own;
volatile int sink;
__attribute__((noinline)) int take(int x) { do { own += x; x--; } while (x > 0); sink++; return own; }
static inline int inner(int x) { own ^= x; sink += own; return own; }
static void *run(void *words)
{
    long sum = 0;
    for (int i = 0; i < 200; i++) sum += take(i % 7) + inner(i);
    return (void *) sum;
}
int main(int count, char **words)
{
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], 0, run, 0);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
    return run(0) != 0;
}
