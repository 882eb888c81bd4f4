// Output, files, memory and the environment, in one thread.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
    char *text = malloc(100000);
    memset(text, 'a', 99999);
    text[99999] = 0;
    FILE *file = fopen("/etc/passwd", "r");
    int lines = 0, letter;
    while ((letter = fgetc(file)) != EOF) lines += letter == '\n';
    fclose(file);
    printf("hello %zu %d\n", strlen(text), lines > 0);
    free(text);
    return 0;
}
