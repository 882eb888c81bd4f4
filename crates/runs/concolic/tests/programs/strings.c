// Arguments, the environment and a file, compared by functions of the C library.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
void target(void) { puts("REACHED"); fflush(stdout); _exit(42); }
int main(int argc, char **argv) {
    char line[9] = {0};
    const char *name = getenv("WHO");
    FILE *file = fopen("input.txt", "r");
    if (argc < 2 || !name || !file) return 1;
    if (strcmp(argv[1], "--go") != 0) return 2;
    if (strncmp(name, "me", 3) != 0) return 3;
    if (fread(line, 1, 8, file) != 8) return 4;
    if (strstr(line, "ok") != line + 3) return 5;
    target();
}
