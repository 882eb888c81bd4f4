// Two functions of one name.
volatile int sink;
int others(int);
static __attribute__((noinline)) int take(int x) { sink += x; return x; }
int main(int count, char **words)
{
    int sum = 0;
    for (int i = 0; i < 3; i++) sum += take(i) + others(i);
    return sum & 1;
}
