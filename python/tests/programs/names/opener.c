// Libraries that come and go: at one address one after the other, and one that is built anew in between.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
volatile int sink;
static __attribute__((noinline)) int use(const char *library, const char *name, int count)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", getenv("LIBRARIES"), library);
    void *opened = dlopen(path, RTLD_NOW);
    if (!opened) { fprintf(stderr, "%s\n", dlerror()); exit(1); }
    int (*function)(int) = (int (*)(int)) dlsym(opened, name);
    for (int i = 0; i < count; i++) sink += function(i);
    return dlclose(opened);
}
int main(int count, char **words)
{
    char from[4096], to[4096];
    use("first.so", "first_name", 3);
    use("second.so", "second_name", 5);
    use("first.so", "first_name", 2);
    use("changing.so", "first_name", 4);
    snprintf(from, sizeof from, "%s/after.so", getenv("LIBRARIES"));
    snprintf(to, sizeof to, "%s/changing.so", getenv("LIBRARIES"));
    rename(from, to);
    use("changing.so", "first_name", 6);
    return 0;
}
