// A small JSON parser that has to meet {"n":[1,2]}.
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static char in[13];
static const char *at = in;
static int total;
void target(void) { puts("REACHED"); fflush(stdout); _exit(42); }
static int value(void);
static int text(char *into, int room) {
    if (*at++ != '"') return 0;
    int n = 0;
    while (*at && *at != '"' && n < room - 1) into[n++] = *at++;
    into[n] = 0;
    return *at++ == '"';
}
static int list(void) {
    int count = 0;
    at++;
    do { if (!value()) return 0; count++; } while (*at == ',' && at++);
    if (*at++ != ']') return 0;
    total = total * 10 + count;
    return 1;
}
static int object(void) {
    char key[4];
    at++;
    if (!text(key, sizeof key) || strcmp(key, "n") != 0 || *at++ != ':') return 0;
    return value() && *at++ == '}';
}
static int value(void) {
    if (*at == '{') return object();
    if (*at == '[') return list();
    if (!isdigit((unsigned char)*at)) return 0;
    int n = 0;
    while (isdigit((unsigned char)*at)) n = n * 10 + (*at++ - '0');
    total += n;
    return 1;
}
int main(void) {
    if (read(0, in, 12) != 12) return 1;
    if (value() && total == 32 && *at == 0) target();
    return 0;
}
