/* The guest list of a hotel. Lines on standard input:
     in NAME ROOM     a guest takes a room
     out NAME         the guest leaves
     where NAME       prints the guest's room                                                    */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct guest {
    char name[12];
    int room;
    struct guest *next;
};

static struct guest *guests; /* the newest first */

static struct guest *find(const char *name)
{
    for (struct guest *guest = guests; guest; guest = guest->next)
        if (strcmp(guest->name, name) == 0)
            return guest;
    return NULL;
}

static void check_in(const char *name, int room)
{
    struct guest *guest = malloc(sizeof *guest);
    if (!guest)
        exit(2);
    guest->next = guests;
    strcpy(guest->name, name);
    guest->room = room;
    guests = guest;
}

static void check_out(const char *name)
{
    for (struct guest **link = &guests; *link; link = &(*link)->next) {
        struct guest *guest = *link;
        if (strcmp(guest->name, name) == 0) {
            *link = guest->next;
            free(guest);
            return;
        }
    }
}

int main(void)
{
    char line[80], name[40];
    int room;
    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "in %39s %d", name, &room) == 2)
            check_in(name, room);
        else if (sscanf(line, "out %39s", name) == 1)
            check_out(name);
        else if (sscanf(line, "where %39s", name) == 1) {
            struct guest *guest = find(name);
            printf("%s: room %d\n", name, guest ? guest->room : 0);
        }
    }
    return 0;
}
