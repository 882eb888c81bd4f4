/* Errors of each kind that the tools at run time look for, some of them inside a real library. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef USE_BZIP2
#include "bzlib.h"
#endif
#ifdef USE_CRC
/* Info-ZIP's, which makes its table when it is first asked. */
unsigned long crc32(unsigned long crc, const unsigned char *text, size_t length);
#endif

static int shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg)
{
    int i;
    for (i = 0; i < 100; i++)
        shared += *(int *)arg;
#ifdef USE_CRC
    shared += crc32(0, (const unsigned char *)"text", 4) & 1;
#endif
    pthread_mutex_lock(&lock);
    shared++;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void race(void)
{
    pthread_t one, two;
    int by = 1;
    pthread_create(&one, NULL, worker, &by);
    pthread_create(&two, NULL, worker, &by);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    printf("%d\n", shared);
}

static char *copy(const char *text)
{
    char *place = malloc(strlen(text));
    strcpy(place, text);
    return place;
}

static void memory(void)
{
    char *text = copy("one too short");
#ifdef USE_BZIP2
    unsigned int size = 8;
    char *out = malloc(size);
    /* The library is told that there is more room than there is. */
    unsigned int claimed = 400;
    BZ2_bzBuffToBuffCompress(out, &claimed, text, strlen(text), 9, 0, 30);
    free(out);
#endif
    free(text);
    printf("%c\n", text[0]);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "memory";
    if (strcmp(mode, "race") == 0)
        race();
    else if (strcmp(mode, "undefined") == 0)
        printf("%d\n", (argc + 0x7ffffffd) + argc);
    else if (strcmp(mode, "leak") == 0)
        copy("lost");
    else
        memory();
    return 0;
}
