/* Suffixes of a text that is not set, arrays that are never freed, one array that two threads sort. */
#include "divsufsort.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned char text[600];
static int order[600];

static void *sort(void *unused)
{
    (void)unused;
    divsufsort(text, order, sizeof text);
    return NULL;
}

static int *leak_order(int length)
{
    int *own = malloc((size_t)length * sizeof *own);
    if (own != NULL && divsufsort(text, own, length) == 0)
        return own;
    return NULL;
}

static int unset(void)
{
    unsigned char *raw = malloc(40);
    int *own = malloc(40 * sizeof *own);
    int first;
    memset(raw, 'a', 20);
    divsufsort(raw, own, 40);
    first = own[0];
    free(raw);
    return first > 3;
}

static int late(void)
{
    unsigned char *raw = malloc(40);
    int own[40];
    memset(raw, 'b', 40);
    free(raw);
    divsufsort(raw, own, 40);
    return own[0] > 3;
}

int main(void)
{
    pthread_t one, two;
    for (unsigned at = 0; at < sizeof text; at++)
        text[at] = (unsigned char)("abracadabra"[at * at % 11]);
    pthread_create(&one, NULL, sort, NULL);
    pthread_create(&two, NULL, sort, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    leak_order(100);
    leak_order(200);
    return unset() + late() > 90;
}
