#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <stdio.h>

struct job { int number; char *name; };
static struct job *shared;
static int done;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static struct job *make(int number) {
    struct job *job = malloc(sizeof *job);
    job->number = number;
    job->name = malloc(8);
    strcpy(job->name, "job");
    return job;
}

static void drop(struct job *job) {
    free(job->name);
    free(job);
}

static void *finish(void *argument) {
    drop(argument);
    return NULL;
}

static void *count(void *argument) {
    done += ((struct job *)argument)->number;
    return NULL;
}

static void spawn(void *(*work)(void *), struct job *job, int wait) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, job);
    if (wait)
        pthread_join(thread, NULL);
}

static void *manage(void *argument) {
    spawn(finish, argument, 1);
    return NULL;
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    shared = make(argc);
    if (!strcmp(what, "freed")) {
        spawn(manage, shared, 1);
        spawn(count, shared, 1);
    } else if (!strcmp(what, "race")) {
        pthread_t a, b;
        pthread_create(&a, NULL, count, shared);
        pthread_create(&b, NULL, count, shared);
        pthread_join(a, NULL);
        pthread_join(b, NULL);
    } else if (!strcmp(what, "unset")) {
        int *numbers = malloc(4 * sizeof *numbers);
        if (numbers[argc] > 3)
            puts("large");
        free(numbers);
    } else if (!strcmp(what, "over")) {
        shared->name[8 + argc - 2] = 0;
    } else if (!strcmp(what, "wrong")) {
        free((char *)shared + 4);
    } else if (!strcmp(what, "shift")) {
        printf("%d\n", 1 << (30 + argc));
        int large = 0x7ffffff0 + argc * 8;
        printf("%d\n", large);
    } else if (!strcmp(what, "null")) {
        shared->name = NULL;
        shared->name[argc - 2] = 1;
    } else if (!strcmp(what, "leak")) {
        shared = make(2);
        shared = NULL;
        done = 0;
    } else if (!strcmp(what, "lock")) {
        pthread_mutex_unlock(&gate);
    }
    return done;
}
