/* Strings, sorting, allocation, reading and writing. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

int main(int argc, char **argv) {
    char line[256];
    long total = 0;
    while (fgets(line, sizeof line, stdin))
        for (char *token = strtok(line, " \n"); token; token = strtok(NULL, " \n")) total += strtol(token, NULL, 10);
    printf("%d arguments, total %ld\n", argc, total);
    enum { COUNT = 500 };
    char **words = calloc(COUNT, sizeof *words);
    unsigned seed = 1;
    for (int i = 0; i < COUNT; i++) {
        size_t length = 1 + (seed = seed * 1103515245 + 12345) / 65536 % 40;
        words[i] = malloc(length + 1);
        for (size_t j = 0; j < length; j++) words[i][j] = (char)('a' + (seed = seed * 1103515245 + 12345) / 65536 % 26);
        words[i][length] = 0;
        if (i % 3 == 0) words[i] = realloc(words[i], length + 100 * (size_t)i + 1);
    }
    qsort(words, COUNT, sizeof *words, compare);
    for (int i = 0; i < COUNT; i += 50) printf("%3d %-20.20s|%5zu|%c\n", i, words[i], strlen(words[i]), toupper(words[i][0]));
    char *joined = malloc(1 << 16);
    joined[0] = 0;
    for (int i = 0; i < COUNT; i += 7) strcat(joined, words[i]);
    char *found = strstr(joined, "qu");
    printf("%zu %td %d %s\n", strlen(joined), found ? found - joined : -1, memcmp(joined, words[0], 3), strchr(joined, 'z') ? "z" : "no z");
    memmove(joined + 10, joined, 100);
    printf("%.40s\n", joined);
    for (int i = 0; i < COUNT; i++) free(words[i]);
    free(words), free(joined);
    char *huge = malloc(64 << 20);
    memset(huge, 7, 64 << 20);
    printf("%d\n", huge[(64 << 20) - 1]);
    free(huge);
    (void)argv;
    return 17;
}
