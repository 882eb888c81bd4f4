// A library that is opened and closed. NAME is its function.
static volatile int sink;
static __attribute__((noinline)) int helper(int x) { sink += x; return x * 2; }
#ifdef MORE
int before_it(int x) { sink = 3; return x; }
#endif
int NAME(int x) { if (x & 1) return helper(x); sink++; return x; }
