// A function that is inlined and called by its address.
volatile int sink;
static inline int take(int x) { if (x > 2) sink = x; return sink + x; }
int (*volatile way)(int) = take;
int main(int count, char **words)
{
    int sum = take(count);
    for (int i = 0; i < 4; i++) sum += way(i);
    return sum & 1;
}
