// String functions of the C library, which compare sixteen bytes at a time.
#include <stdio.h>
#include <string.h>
#include <unistd.h>
void target(void) { puts("REACHED"); fflush(stdout); _exit(42); }
int main(void) {
    char in[33] = {0};
    if (read(0, in, 32) != 32) return 1;
    if (strlen(in) != 21) return 2;
    const char *colon = strchr(in, ':');
    if (!colon || colon - in != 16) return 3;
    if (memcmp(in, "content-encoding:", 17) != 0) return 4;
    if (strspn(colon + 1, "gzip") != 4 || strcmp(colon + 1, "gzip") != 0) return 5;
    target();
}
