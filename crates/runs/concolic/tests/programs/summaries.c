// Calls of library functions that have summaries; what the buffers hold is unknown to the test.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static char text[16] = "hello, 42 w.", other[16] = "hello", set[8] = "eh.l", room[64] = "ab";
static char number[24] = "  -417x";
long volatile sink;
// Through pointers, so that no compiler knows better.
size_t (*volatile length)(const char *) = strlen;
size_t (*volatile bounded_length)(const char *, size_t) = strnlen;
int (*volatile compare)(const char *, const char *) = strcmp;
int (*volatile bounded_compare)(const char *, const char *, size_t) = strncmp;
char *(*volatile find)(const char *, int) = strchr;
char *(*volatile find_last)(const char *, int) = strrchr;
void *(*volatile find_memory)(const void *, int, size_t) = memchr;
size_t (*volatile span)(const char *, const char *) = strspn;
size_t (*volatile unlike_span)(const char *, const char *) = strcspn;
char *(*volatile copy_string)(char *, const char *) = strcpy;
char *(*volatile copy_to_end)(char *, const char *) = stpcpy;
char *(*volatile append)(char *, const char *) = strcat;
void *(*volatile copy)(void *, const void *, size_t) = memcpy;
void *(*volatile move)(void *, const void *, size_t) = memmove;
void *(*volatile copy_memory_to_end)(void *, const void *, size_t) = mempcpy;
void *(*volatile fill)(void *, int, size_t) = memset;
int (*volatile integer)(const char *) = atoi;
long (*volatile long_integer)(const char *) = atol;
void *(*volatile allocate)(size_t) = malloc;
void *(*volatile allocate_many)(size_t, size_t) = calloc;
int main(void) {
    sink += length(text) + bounded_length(text, 6) + compare(text, other) + bounded_compare(text, other, 5);
    sink += (find(text, 'l') - text) + (find_last(text, 'l') - text);
    sink += (char *)find_memory(text, 'l', 9) - text;
    sink += span(text, set) + unlike_span(text, set);
    copy_string(room, text);
    copy_to_end(room, text);
    room[2] = 0;
    append(room, other);
    copy(room + 20, text, 7);
    move(room + 1, room, 9);
    copy_memory_to_end(room + 8, text, 5);
    fill(room, 'x', 11);
    sink += integer(number) + long_integer(number);
    char *a = allocate(40), *b = allocate_many(3, 8);
    sink += a != b;
    return 0;
}
