// The C++ library: containers, exceptions, streams, virtual functions.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

struct Shape {
    virtual ~Shape() = default;
    virtual double area() const = 0;
};
struct Square : Shape {
    double side;
    explicit Square(double s) : side(s) {}
    double area() const override { return side * side; }
};
struct Circle : Shape {
    double radius;
    explicit Circle(double r) : radius(r) {}
    double area() const override { return M_PI * radius * radius; }
};

static int depth(int n) {
    if (n == 0) throw std::runtime_error("bottom");
    std::string local(static_cast<size_t>(n), 'x');
    return depth(n - 1) + static_cast<int>(local.size());
}

int main() {
    std::vector<std::unique_ptr<Shape>> shapes;
    for (int i = 0; i < 20; i++) {
        if (i % 2) shapes.push_back(std::make_unique<Square>(i * 0.5));
        else shapes.push_back(std::make_unique<Circle>(i * 0.25));
    }
    std::cout << std::accumulate(shapes.begin(), shapes.end(), 0.0, [](double s, auto &x) { return s + x->area(); }) << "\n";
    std::map<std::string, int> counts;
    std::unordered_map<int, std::string> names;
    int number, total = 0;
    while (std::cin >> number) {
        counts["n" + std::to_string(number)]++;
        names[number] = std::string(static_cast<size_t>(number), '*');
        total += number;
    }
    for (auto &[name, count] : counts) std::cout << name << '=' << count << ' ';
    std::cout << names[5] << ' ' << total << '\n';
    try {
        depth(30);
    } catch (const std::exception &error) {
        std::cout << "caught " << error.what() << '\n';
    }
    std::vector<double> values(1000);
    std::iota(values.begin(), values.end(), 1.0);
    std::transform(values.begin(), values.end(), values.begin(), [](double v) { return std::sin(v) / v; });
    std::sort(values.begin(), values.end());
    std::cout.precision(15);
    std::cout << values.front() << ' ' << values[500] << ' ' << values.back() << '\n';
    std::ostringstream text;
    text << std::hex << 255 << std::dec << ' ' << 3.25f << ' ' << std::boolalpha << true;
    std::cout << text.str() << '\n';
    return total;
}
