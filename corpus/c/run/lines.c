// stdin: first line\nsecond\n\nlast without end
#include <stdio.h>
#include <string.h>
int main(void) { char line[16]; int n = 0; while (fgets(line, sizeof line, stdin)) { size_t k = strlen(line); printf("%d: %zu%s\n", ++n, k, k && line[k - 1] == '\n' ? "" : " (cut)"); } printf("%d %d\n", feof(stdin) != 0, ferror(stdin)); }
