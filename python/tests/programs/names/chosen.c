// A function that is chosen among several when the program starts.
volatile int sink;
static int slow(int x) { sink += x; return x; }
static int quick(int x) { sink -= x; return x + 1; }
__attribute__((no_instrument_function)) static void *choose(void) { return sink == 0 ? (void *) quick : (void *) slow; }
int take(int x) __attribute__((ifunc("choose")));
int (*volatile way)(int) = take;
int main(int count, char **words)
{
    int sum = 0;
    for (int i = 0; i < 5; i++) sum += take(i) + way(i);
    return sum & 1;
}
