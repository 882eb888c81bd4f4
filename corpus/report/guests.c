/* A guest list with three mistakes in it, for analysers and debuggers to find. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct guest {
    char *name;
    int room;
    struct guest *next;
};

static struct guest *guests;

static struct guest *find(const char *name) {
    struct guest *g;

    for (g = guests; g != NULL; g = g->next)
        if (strcmp(g->name, name) == 0)
            return g;
    return NULL;
}

static void add(const char *name, int room) {
    struct guest *g = malloc(sizeof *g);

    if (g == NULL)
        exit(3);
    g->name = strdup(name);
    g->room = room;
    g->next = guests;
    guests = g;
}

static void set_room(struct guest *g, int room) {
    g->room = room;
}

/* Mistake one: a guest who is not there has no room to change. */
void move(const char *name, int room) {
    struct guest *g = NULL;

    if (room > 0)
        g = find(name);
    set_room(g, room);
}

static void drop(struct guest *g) {
    free(g->name);
    free(g);
}

/* Mistake two: the farewell comes after the guest is gone. */
void check_out(void) {
    struct guest *g = guests;

    if (g == NULL)
        return;
    guests = g->next;
    drop(g);
    printf("goodbye from room %d\n", g->room);
}

/* Mistake three: the label is kept only for rooms that exist. */
int print_label(int room) {
    char *label = malloc(32);

    if (label == NULL)
        return -1;
    if (room < 0)
        return -1;
    snprintf(label, 32, "room %d", room);
    puts(label);
    free(label);
    return 0;
}

int main(int argc, char **argv) {
    add("Ada", 1);
    add("Grace", 2);
    if (argc > 1 && strcmp(argv[1], "move") == 0)
        move("Nobody", 3);
    if (argc > 1 && strcmp(argv[1], "leave") == 0)
        check_out();
    if (argc > 1 && strcmp(argv[1], "label") == 0)
        return print_label(-1) == 0;
    return 0;
}
