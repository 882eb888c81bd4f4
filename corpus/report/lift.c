/* A lift that must not travel more than eight floors at once. */
#include <assert.h>
#include <stdlib.h>

static int level;
static int top;

static void initialize(void) {
    level = 0;
    top = 9;
}

static int distance(int from, int to) {
    if (from < to)
        return to - from;
    return from - to;
}

static int travel(int wanted) {
    int steps;

    if (wanted > top)
        wanted = top;
    steps = distance(level, wanted);
    level = wanted;
    return steps;
}

int main(int argc, char **argv) {
    int wanted, moved;

    initialize();
    if (argc < 2)
        return 2;
    wanted = atoi(argv[1]);
    if (wanted < 0)
        return 2;
    moved = travel(wanted);
    assert(moved <= 8);
    return 0;
}
