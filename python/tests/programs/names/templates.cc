volatile int sink;
template <typename T> __attribute__((noinline)) T take(T x) { sink += int(x); return x + 1; }
template <typename T, int N> struct box {
    T values[N];
    box() { for (auto &value : values) value = T(N); }
    __attribute__((noinline)) void put(T x) { values[sink & 1] = x; sink++; }
    T get(int i) const { return values[i]; }
    template <typename U> __attribute__((noinline)) int mix(U u) { sink += int(u); return sink; }
};
namespace deep { namespace er { template <typename T> int lost(T x) { sink -= int(x); return 3; } } }
struct base { virtual int say() { return sink++; } virtual ~base() {} };
struct derived : base { int say() override { return sink += 2; } };
int main(int count, char **)
{
    box<int, 2> a; box<char, 4> b;
    int sum = take(count) + int(take(2.5)) + int(take(7L)) + take(count + 1);
    a.put(1); a.put(2); b.put('x');
    sum += a.get(0) + b.get(1) + a.mix('a') + a.mix(1L) + b.mix(3);
    sum += deep::er::lost(1) + deep::er::lost('2');
    base *one = count > 5 ? new base : new derived;
    for (int i = 0; i < 3; i++) sum += one->say();
    delete one;
    auto twice = [&](int x) { sink += x; return x * 2; };
    for (int i = 0; i < 4; i++) sum += twice(i);
    return sum & 1;
}
