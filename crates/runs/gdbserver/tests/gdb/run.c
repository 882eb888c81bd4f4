// Ten million instructions, with something to look at in their middle.
#include <pthread.h>
#include <stdio.h>

struct point {
    int x, y;
    char name[8];
    struct point *next;
};

static struct point end = {3, 4, "end", 0};
static struct point place = {1, 2, "start", &end};
static unsigned long total;
static __thread int own = 42;

static void move_by(struct point *p, int by) {
    p->x += by;
    p->y -= by;
}

static unsigned long work(int n) {
    unsigned long sum = n;
    for (int i = 0; i < 900; i++) sum = sum * 31 + i;
    return sum;
}

static void *second(void *argument) {
    own = 7;
    for (int i = 0; i < 50; i++) total += work(i);
    return argument;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, second, 0);
    pthread_join(thread, 0);
    for (int i = 0; i < 1000; i++) {
        total += work(i);
        if (i == 500) move_by(&place, 7);
        if (i == 700) move_by(&place, 5);
    }
    printf("%d %d %lu\n", place.x, place.y, total);
    return 0;
}
