/* Reads a file of names, one a line, and prints each name once, the shortest first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct name {
    char *text;
    struct name *next;
};

static struct name *names;

static char *copy_of(const char *text)
{
    char *copy = malloc(strlen(text) + 1);
    strcpy(copy, text);
    return copy;
}

static int add(const char *text)
{
    struct name *name = malloc(sizeof *name);
    char *copy = copy_of(text);
    if (!name)
        return -1;
    name->text = copy;
    struct name **link = &names;
    while (*link && strlen((*link)->text) < strlen(text))
        link = &(*link)->next;
    name->next = *link;
    *link = name;
    return 0;
}

static void drop_doubles(void)
{
    for (struct name *name = names; name; name = name->next)
        while (name->next && strcmp(name->text, name->next->text) == 0) {
            struct name *second = name->next;
            free(second->text);
            free(second);
            name->next = second->next;
        }
}

static int read_names(const char *path, int quiet)
{
    char line[64];
    FILE *file = NULL;
    int status = 0;
    if (path)
        file = fopen(path, "r");
    if (path && !file) {
        if (!quiet)
            perror(path);
        return -1;
    }
    FILE *from = file ? file : stdin;
    while (status == 0 && fgets(line, sizeof line, from)) {
        line[strcspn(line, "\n")] = '\0';
        status = add(line);
    }
    if (status == 0 && file)
        fclose(file);
    return status;
}

int main(int argc, char **argv)
{
    if (read_names(argc > 1 ? argv[1] : NULL, argc > 2) != 0)
        return 1;
    drop_doubles();
    for (struct name *name = names; name; name = name->next)
        puts(name->text);
    return 0;
}
