// Jumps through a table inside a function are no ends of it.
volatile int sink;
__attribute__((noinline)) int last(int x) { sink += x; return x + 1; }
__attribute__((noinline)) int take(int x)
{
    switch (x) {
    case 0: sink = 3; return 7;
    case 1: sink = 4; break;
    case 2: sink += 5; break;
    case 3: return last(x);
    case 4: sink ^= 9; break;
    case 5: sink -= 2; return 4;
    case 6: return last(x + 1);
    default: sink = 1;
    }
    sink += 8;
    return x;
}
__attribute__((noinline)) int labels(const char *text)
{
    static void *const ways[] = {&&add, &&drop, &&end};
    goto *ways[*text++ - 'a'];
add:
    sink++;
    goto *ways[*text++ - 'a'];
drop:
    sink--;
    goto *ways[*text++ - 'a'];
end:
    return sink;
}
int main(int count, char **words)
{
    int sum = 0;
    for (int i = 0; i < 9; i++) sum += take(i);
    return (sum + labels("abbac") + labels("c")) & 1;
}
