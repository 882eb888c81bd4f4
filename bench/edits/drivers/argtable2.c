/* Tables of arguments that are never freed, a name that is not set, and one table that two threads parse into. */
#include "argtable2.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct arg_int *shared_number;
static struct arg_str *shared_name;
static struct arg_end *shared_end;

static void *parse_shared(void *unused)
{
    char *words[] = {(char *)"prog", (char *)"-n", (char *)"7", (char *)"--name=x", NULL};
    void *table[3];
    (void)unused;
    table[0] = shared_number;
    table[1] = shared_name;
    table[2] = shared_end;
    for (int turn = 0; turn < 20; turn++)
        arg_parse(4, words, table);
    return NULL;
}

static void leak_one(void)
{
    struct arg_lit *flag = arg_lit0("v", "verbose", "talk");
    struct arg_dbl *ratio = arg_dbl0("r", "ratio", NULL, "a ratio");
    if (flag == NULL)
        printf("no flag\n");
    flag = NULL;
    if (ratio != NULL)
        ratio->count = 0;
    ratio = NULL;
}

static void leak_two(void)
{
    struct arg_file *file = arg_file0("o", NULL, "FILE", "where to");
    struct arg_rem *words = arg_rem("words", "some");
    struct arg_int *number = arg_int0("k", NULL, NULL, "a number");
    if (file == NULL && words == NULL && number == NULL)
        printf("nothing\n");
}

static int unset(void)
{
    char *name = malloc(12);
    int letters = 0;
    name[0] = 'n';
    for (int at = 0; at < 3; at++)
        if (name[at] == 'n')
            letters++;
    free(name);
    return letters;
}

static int late(void)
{
    struct arg_end *end = arg_end(4);
    int count;
    free(end);
    count = end->count;
    return count;
}

int main(void)
{
    pthread_t one, two;
    shared_number = arg_int0("n", NULL, NULL, "a number");
    shared_name = arg_str0(NULL, "name", NULL, "a name");
    shared_end = arg_end(5);
    pthread_create(&one, NULL, parse_shared, NULL);
    pthread_create(&two, NULL, parse_shared, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    leak_one();
    leak_two();
    leak_two();
    return unset() + late() > 90;
}
