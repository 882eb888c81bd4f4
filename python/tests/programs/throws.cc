// Exceptions that are thrown through frames with something to clean up, caught, and thrown again.
#include <cstdio>
#include <stdexcept>
#include <string>

struct Guard {
    int *count;
    ~Guard() { ++*count; }
};
static int cleaned;

__attribute__((noinline)) static int deep(int n) {
    Guard guard{&cleaned};
    if (n == 0) throw std::runtime_error("deep");
    return deep(n - 1) + 1;
}
__attribute__((noinline)) static int rethrows(int n) {
    try { return deep(n); }
    catch (const std::logic_error &) { return -1; }
    catch (...) { throw; }
}
int main() {
    int caught = 0;
    for (int i = 0; i < 3; i++) {
        try { rethrows(i); } catch (const std::exception &e) { caught += std::string(e.what()).size(); }
    }
    std::printf("%d %d\n", caught, cleaned);
}
