// Copies that the compiler makes of a function for some callers.
volatile int sink;
struct pair { int left, right, unused; };
static __attribute__((noinline)) int scale(int x, int by) { for (int i = 0; i < by; i++) sink += x; return x * by; }
static __attribute__((noinline)) int sum(struct pair *p) { sink += p->left; return p->left + p->right; }
__attribute__((noinline)) int outer(int x) { return scale(x, 4) + scale(x + 1, 4); }
int main(int count, char **words)
{
    struct pair pair = {count, 2, 3};
    int total = outer(count) + scale(3, 4) + sum(&pair);
    pair.left++;
    return (total + sum(&pair) + outer(7)) & 1;
}
