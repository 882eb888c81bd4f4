extern volatile int sink;
static __attribute__((noinline)) int take(int x) { sink -= x; return x + 2; }
int others(int x) { return take(x) + take(x + 1); }
