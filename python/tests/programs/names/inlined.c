volatile int sink;
static inline int take(int x) { sink += x; return x * 3; }
static int twice(int x) { return take(x) + take(x + 1); }
__attribute__((noinline)) int loops(int n) { int sum = 0; for (int i = 0; i < n; i++) if (i & 1) sum += take(i); return sum; }
int main(int count, char **words)
{
    int sum = loops(9) + twice(count);
    while (count < 5) sum += take(count++);
    return sum & 1;
}
