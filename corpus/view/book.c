/* A small address book that goes wrong in ways that each analyser can see. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct entry { char *name; struct entry *next; };

static struct entry *find(struct entry *list, const char *name) {
    while (list) {
        if (strcmp(list->name, name) == 0)
            return list;
        list = list->next;
    }
    return NULL;
}

static int length_of(struct entry *list, const char *name) {
    struct entry *found = find(list, name);
    if (!found)
        printf("%s is new\n", name);
    return (int)strlen(found->name);
}

static void forget(int *count) {
    if (count)
        free(count);
}

int main(int argc, char **argv) {
    struct entry *first = malloc(sizeof *first);
    int *count = malloc(sizeof *count);
    if (!first || !count)
        return 1;
    first->name = argv[0];
    first->next = NULL;
    *count = length_of(first, argc > 1 ? argv[1] : argv[0]);
    forget(count);
    printf("%d\n", *count);
    return 0;
}
