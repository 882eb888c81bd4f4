volatile int sink;
static inline int inner(int x) { sink += 3; return sink; }
__attribute__((noinline)) int padding(int x) { sink = x; return inner(x); }
__attribute__((noinline)) int take(int x) { do { sink -= x; x--; } while (x > 0); return x; }
int main(void) { for (int i = 0; i < 4; i++) take(i) , padding(i); return 0; }
