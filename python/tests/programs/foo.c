/* Section 4.1.2: calls of foo, some with 0, some with 1. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node {
    int value;
    struct node *next;
    char name[8];
};

static struct node *list;
int counter;

static int foo(int x)
{
    counter += x;
    return x * 2;
}

static double mean(double sum, int count, const char *what)
{
    double result = sum / count;
    printf("%s %g\n", what, result);
    return result;
}

int main(void)
{
    int total = 0;
    for (int i = 0; i < 30; i++) {
        total += foo(i % 3);
        if (i % 10 == 0) {
            struct node *one = malloc(sizeof *one);
            one->value = i;
            one->next = list;
            snprintf(one->name, sizeof one->name, "n%d", i);
            list = one;
        }
    }
    int gone = rand();
    srand(gone);
    mean(total, 30, "mean");
    free(list);
    return counter == 30 ? 0 : 1;
}
