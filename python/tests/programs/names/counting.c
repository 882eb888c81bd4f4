// Counts how often each function is entered and left by the source, for programs compiled with -finstrument-functions.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define QUIET __attribute__((no_instrument_function))
static struct count { char object[256], name[64]; unsigned long offset, in, out; } counts[256];
static int known;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
QUIET static struct count *count_of(void *function)
{
    Dl_info info;
    if (!dladdr(function, &info)) abort();
    unsigned long offset = (char *) function - (char *) info.dli_fbase;
    for (int i = 0; i < known; i++)
        if (counts[i].offset == offset && !strcmp(counts[i].object, info.dli_fname)
            && (!strcmp(counts[i].name, "-") || info.dli_saddr == function && !strcmp(counts[i].name, info.dli_sname)))
            return &counts[i];
    if (known == 256) abort();
    snprintf(counts[known].object, 256, "%s", info.dli_fname);
    // A file may be another by the time that it is asked for names.
    snprintf(counts[known].name, 64, "%s", info.dli_saddr == function ? info.dli_sname : "-");
    counts[known].offset = offset;
    return &counts[known++];
}
QUIET void __cyg_profile_func_enter(void *function, void *site)
{
    pthread_mutex_lock(&lock);
    count_of(function)->in++;
    pthread_mutex_unlock(&lock);
}
QUIET void __cyg_profile_func_exit(void *function, void *site)
{
    pthread_mutex_lock(&lock);
    count_of(function)->out++;
    pthread_mutex_unlock(&lock);
}
QUIET void tell_counts(void)
{
    FILE *file = fopen(getenv("COUNTS"), "a");
    for (int i = 0; i < known; i++)
        fprintf(file, "%s %s %lx %lu %lu\n", counts[i].object, counts[i].name, counts[i].offset, counts[i].in, counts[i].out);
    fclose(file);
    known = 0;
}
QUIET __attribute__((destructor)) static void tell(void)
{
    tell_counts();
}
