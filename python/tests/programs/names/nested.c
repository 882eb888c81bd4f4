// Inlined functions in inlined functions, and functions that call themselves.
volatile int sink;
static inline int inmost(int x) { sink += x; return sink; }
static inline int middle(int x) { int sum = inmost(x); if (x & 1) sum += inmost(x + 1); return sum; }
static inline int outmost(int x) { sink ^= 1; return middle(x) + middle(x + 2); }
__attribute__((noinline)) int depth(int n) { if (n < 2) return n; return depth(n - 1) + depth(n - 2); }
__attribute__((noinline)) int use(int x) { return outmost(x); }
int main(int count, char **words)
{
    int sum = outmost(count);
    for (int i = 0; i < 3; i++) sum += use(i);
    return (sum + depth(6)) & 1;
}
