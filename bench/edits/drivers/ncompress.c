/* The program's own main is called once with a file that two threads have written; a buffer is not set, another is never freed. */
#undef main
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int compress_main(int argc, char *argv[]);

static char text[3000];
static int written;

static void *fill(void *letter)
{
    for (unsigned at = 0; at < sizeof text; at++) {
        text[at] = *(char *)letter;
        written++;
    }
    return NULL;
}

static void leak_name(const char *name)
{
    char *copy = malloc(strlen(name) + 1);
    strcpy(copy, name);
    if (copy[0] == 0)
        printf("empty\n");
}

static int unset(void)
{
    char *raw = malloc(40);
    int sum = 0;
    raw[0] = 1;
    for (int at = 0; at < 8; at++)
        if (raw[at] == 1)
            sum++;
    free(raw);
    return sum;
}

static int late(void)
{
    char *raw = malloc(40);
    memset(raw, 3, 40);
    free(raw);
    return raw[3];
}

int main(void)
{
    pthread_t one, two;
    static char a = 'a', b = 'b';
    char *words[] = {(char *)"compress", (char *)"-c", (char *)"-f", (char *)"/proc/self/cmdline", NULL};
    pthread_create(&one, NULL, fill, &a);
    pthread_create(&two, NULL, fill, &b);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    leak_name("one");
    leak_name("another");
    if (unset() + late() > 900)
        return 1;
    return compress_main(4, words);
}
