/* An INI parser: sections, keys, values, comments, blanks. The target wants `port=80` in section `[net]`. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char text[64];
static char section[16], key[16], value[16];

__attribute__((noinline)) void target(void) { _exit(42); }

static int is_blank(char c) { return c == ' ' || c == '\t'; }

static void entry(void) {
    if (strcmp(section, "net") == 0 && strcmp(key, "port") == 0 && atoi(value) == 80) target();
}

int main(void) {
    long have = 0, got;
    while (have < 63 && (got = read(0, text + have, 63 - have)) > 0) have += got;
    char *at = text, *end = text + have;
    while (at < end) {
        while (at < end && (is_blank(*at) || *at == '\n')) at++;
        if (at == end) break;
        if (*at == ';' || *at == '#') {
            while (at < end && *at != '\n') at++;
            continue;
        }
        if (*at == '[') {
            int n = 0;
            for (at++; at < end && *at != ']' && *at != '\n'; at++)
                if (n < 15) section[n++] = *at;
            section[n] = 0;
            if (at == end || *at != ']') return 2;
            at++;
            continue;
        }
        int n = 0;
        while (at < end && *at != '=' && *at != '\n') {
            if (n < 15) key[n++] = *at;
            at++;
        }
        while (n > 0 && is_blank(key[n - 1])) n--;
        key[n] = 0;
        if (at == end || *at != '=') return 3;
        for (at++; at < end && is_blank(*at); at++) {}
        n = 0;
        while (at < end && *at != '\n') {
            if (n < 15) value[n++] = *at;
            at++;
        }
        value[n] = 0;
        entry();
    }
    return 0;
}
