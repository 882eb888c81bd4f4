// Loops around calls that are inlined, which compilers unroll, turn round and take apart.
volatile int sink;
static inline int take(int x)
{
    sink += x * 3;
    return x + sink;
}
static inline int many(int from)
{
    int sum = 0;
    for (int i = 0; i < 4; i++) sum += take(from + i);
    return sum;
}
static inline int pairs(int *row, int count)
{
    int sum = 0;
    for (int i = 0; i < count; i++) {
        sink += row[i];
        sum += row[i] ^ sink;
    }
    return sum;
}
int main(int count, char **words)
{
    int sum = 0, row[5] = {1, 2, 3, 4, count};
    for (int i = 0; i < 3; i++) sum += many(i + count);
    for (int i = 0; i < 2; i++) sum += pairs(row, 5 - i);
    sink = sum;
    return 0;
}
