/* What debug information of C can say: every kind of type, of place, of frame. Lines with "stop:" are stopped at,
   and the expressions behind it are evaluated there. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node {
    int value;
    struct node *next;
    char name[12];
};

enum colour { RED, GREEN = 5, BLUE };
enum flags { READ = 1, WRITE = 2, EXECUTE = 4 };

struct packed {
    unsigned a : 3;
    int b : 5;
    unsigned long long c : 40;
    enum colour d : 4;
    uint8_t tail;
};

union either {
    int whole;
    float real;
    unsigned char bytes[4];
};

struct mixed {
    union {
        long number;
        char letters[8];
    };
    struct { short x, y; } point;
    double (*apply)(double, int);
    const char *text;
    enum flags allowed;
    union either either;
    struct packed packed;
    _Bool yes;
};

typedef struct mixed mixed_t;
typedef int matrix[2][3];

int counter = 7;
static long hidden = -9;
struct node nodes[3];
const char *const words[] = {"alpha", "beta", 0};
static volatile int handled;
unsigned char raw[4] = {0, 0, 0xc0, 0x3f};
char gapped[12] = "a\0b\0\0\377";
char zeros[5];
struct { char inner[6]; int behind; } holder = {"x\0y", 3};
double _Complex turn = 1 + 2.0i;
float _Complex half = -1.5f - 0.5fi;
long double _Complex wide = 0.25 + 3.0i;
enum { FIRST = -4, SECOND };
_Thread_local int per_thread = 31;

static double scaled(double number, int times)
{
    double product = number * times;
    counter++; /* stop: number, times, product, number * 2 */
    return product;
}

__attribute__((noinline)) static int depth(int n, struct node *list)
{
    int here = n * 2;
    if (n == 0) {
        int sum = 0;
        for (struct node *at = list; at; at = at->next) {
            int twice = at->value * 2;
            sum += twice; /* stop: at->value, list->next->value, list->next->next, sum, at->name, &list->next, *at, hidden, nodes[1].value + n */
        }
        return sum;
    }
    return depth(n - 1, list) + here;
}

static int by_value(const void *one, const void *other)
{
    const struct node *left = one, *right = other;
    int difference = left->value - right->value;
    counter += difference; /* stop: left->value, *right, difference, right - left */
    return difference;
}

static void on_signal(int number)
{
    handled = number; /* stop: number, handled, per_thread */
}

static inline int clamp(int low, int given, int high)
{
    int kept = given < low ? low : given;
    kept = kept > high ? high : kept;
    counter += kept; /* stop: low, given, high, kept */
    return kept;
}

__attribute__((noinline)) static long measured(int length, const char *text)
{
    char copy[length];
    matrix cells = {{1, 2, 3}, {4, 5, 6}};
    static int calls = 40;
    size_t used = strlen(text);
    memset(copy, 'x', length);
    calls++;
    memcpy(copy, text, used < (size_t)length ? used + 1 : (size_t)length);
    counter += cells[1][2] + copy[0]; /* stop: cells, cells[1][2], copy, text, calls, used, length, cells[0] */
    return (long)used + calls + clamp(1, length, 5);
}

int main(int argc, char **argv)
{
    mixed_t all = {.number = 0x4142434445464748, .point = {-3, 4}, .apply = scaled, .text = "line\n\t\"quoted\" \001\377",
                   .allowed = READ | EXECUTE, .either = {.real = 1.5f},
                   .packed = {5, -7, 0x123456789a, BLUE, 200}, .yes = 1};
    enum colour favourite = GREEN, odd = (enum colour)3;
    unsigned char byte = 200;
    signed char small = -100;
    float third = 1.0f / 3;
    long long far = -1234567890123456789;
    unsigned long long most = 18446744073709551615ull;
    for (int i = 0; i < 3; i++) {
        nodes[i].value = 30 - 10 * i;
        nodes[i].next = i < 2 ? &nodes[i + 1] : 0;
        snprintf(nodes[i].name, sizeof nodes[i].name, "node%d", i);
    }
    int total = depth(3, nodes);
    double product = all.apply(2.5, argc + 3);
    struct node *first = &nodes[0];
    total += measured(12, argv[0] ? "measured" : "");
    hidden += total; /* stop: all, all.number, all.letters, all.point.y, all.apply, all.text, all.allowed, all.packed, all.packed.b, all.either.bytes[3], favourite, odd, byte, small, third, far, most, first->next->next->name, words, words[1], *first, &nodes[2], first == nodes, product > 9, (char) 321, total << 2, counter % 5, -small, !byte, ~byte, nodes[1], first + 1, hidden, *words[0], all.yes, sizeless, raw, gapped, zeros, holder, turn, half, wide, GREEN, GREEN + 1, favourite == GREEN, SECOND, WRITE, sizeof nodes, sizeof(struct node), sizeof(int), sizeof(mixed_t), sizeof first->name, sizeof *first, sizeof(char *), sizeof nodes / sizeof nodes[0], *first@2, nodes[0].name@2, words[0]@2, *first@1 + 1, first ? 1 : 2, byte < 3 ? small : first->value, first ? first->name : 0, 'A', 'A' + 1 */
    qsort(nodes, 3, sizeof nodes[0], by_value);
    signal(SIGUSR1, on_signal);
    raise(SIGUSR1);
    printf("%d %g %ld %d %d\n", total, product, hidden, counter, favourite + odd + byte + small + (int)third + (int)far + (int)most);
    return 0;
}
