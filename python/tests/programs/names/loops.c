// Functions that begin with a loop are entered once a call.
volatile int sink;
__attribute__((noinline)) int down(int n) { do { sink += n; n--; } while (n > 0); return n; }
__attribute__((noinline)) int leaf(unsigned n) { while (n & 1) n >>= 1; return n; }
__attribute__((noinline)) int forever(int n) { for (;;) { sink++; if (--n < 0) return n; } }
static inline int inner(int n) { do { sink ^= n; n -= 2; } while (n > 0); return n; }
__attribute__((noinline)) int bare(int n) { do n -= 3; while (n > 0); return n; }
int main(int count, char **words)
{
    int sum = 0;
    for (int i = 1; i < 6; i++) sum += down(i) + leaf(i * 7) + forever(i) + inner(i) + bare(i * 4);
    return sum & 1;
}
