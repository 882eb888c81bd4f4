// What debug information of C++ can say: classes, bases, namespaces, references, templates.
#include <cstdio>
#include <string>
#include <vector>

namespace zoo {

enum class size : unsigned char { small, large = 9 };

struct animal {
    explicit animal(int legs) : legs(legs) { count++; }
    virtual ~animal() {}
    virtual int noise(int times) const;
    int legs;
    static int count;
};

int animal::count = 0;

int animal::noise(int times) const
{
    int loudness = legs * times;
    count += loudness; // stop: legs, this->legs, loudness, times, count, *this
    return loudness;
}

class dog : public animal {
public:
    dog(const char *name, size how) : animal(4), name(name), how(how) {}
    int noise(int times) const override;

private:
    std::string name;
    size how;
};

int dog::noise(int times) const
{
    int base = animal::noise(times);
    const std::string &reference = name;
    count += (int)reference.size(); // stop: how, legs, base, times
    return base + 1;
}

namespace {
int secret = 11;
struct pair_of {
    int first;
    double second;
};
} // namespace

struct left : virtual animal {
    left() : animal(2), here(20) {}
    int here;
};
struct right {
    int there = 30;
};
struct both : left, right {
    both() : animal(6), more(40) {}
    int more;
};

} // namespace zoo

template <typename T, int N> struct box {
    T content[N];
    T sum() const
    {
        T total = T();
        for (int i = 0; i < N; i++)
            total += content[i];
        zoo::animal::count++; // stop: content, total, this->content[1]
        return total;
    }
};

template <typename T> __attribute__((noinline)) T larger(const T &one, const T &other)
{
    T best = one < other ? other : one;
    zoo::animal::count++; // stop: one, other, best, one + other
    return best;
}

static int through(int &changed, const zoo::animal &pet, zoo::both *join, int &&moved)
{
    changed += pet.noise(3);
    changed += join->there + join->here + join->more + join->legs + moved; // stop: changed, pet.legs, join->more, join->here, join->there, *join, moved, changed * 2
    return changed;
}

int main()
{
    zoo::dog rex("Rex", zoo::size::large);
    zoo::both join;
    box<int, 3> numbers = {{1, 2, 3}};
    box<double, 2> reals = {{1.5, 2.5}};
    zoo::pair_of pair = {zoo::secret, 2.25};
    std::vector<int> list = {4, 5, 6};
    int changed = 1;
    auto add = [&changed](int more) {
        changed += more; // stop: more
        return changed;
    };
    int result = through(changed, rex, &join, 17) + numbers.sum() + (int)reals.sum() + add(5);
    double best = larger(reals.content[0], 2.0) + larger(result, 3);
    std::printf("%d %g %d\n", result, best, pair.first); // stop: numbers, reals.content[1], pair, pair.second, changed, result, best, zoo::animal::count, join, zoo::secret, list, zoo::size::large, zoo::size::small, sizeof pair, result ? zoo::secret : 0
    return 0;
}
