// Loads a library by a link to it, and calls it often.
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char **words) {
    void *library = dlopen(words[count - 1], RTLD_NOW);
    if (!library) return 1;
    int (*add)(int, int) = (int (*)(int, int))dlsym(library, "plugin_add");
    int sum = 0;
    for (int i = 0; i < 30000; i++) sum = add(sum, i & 3);
    printf("%d\n", sum);
    dlclose(library);
    return 0;
}
