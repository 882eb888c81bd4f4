// Ends at jumps: direct, conditional, through a table, through a pointer.
volatile int sink;
__attribute__((noinline)) int last(int x) { sink += x; return x + 1; }
__attribute__((noinline)) int other(int x) { sink -= x; return x - 1; }
__attribute__((noinline)) int direct(int x) { sink++; return last(x); }
__attribute__((noinline)) int sometimes(int x) { if (x & 1) return other(x); sink += 5; return x; }
__attribute__((noinline)) int either(int x) { if (x > 2) return last(x); return other(x); }
int (*volatile table[2])(int) = {last, other};
__attribute__((noinline)) int computed(int x) { sink++; return table[x & 1](x); }
int main(int count, char **words)
{
    int sum = 0;
    for (int i = 0; i < 7; i++) sum += direct(i) + sometimes(i) + either(i) + computed(i);
    return sum & 1;
}
