#include "lend.h"
#include <stddef.h>

enum { MEMBERS = 2 };

static struct member members[MEMBERS] = {{.name = 'X'}, {.name = 'Y'}};

struct member *member_find(char name)
{
    for (int i = 0; i < MEMBERS; i++)
        if (members[i].name == name)
            return &members[i];
    return NULL;
}

/* A member who leaves keeps no book: they belong to nobody until they come back. */
void member_leave(char name)
{
    struct member *member = member_find(name);
    if (!member)
        return;
    struct book *book;
    for (int place = 0; (book = book_at(place)); place++)
        if (book->borrower == member)
            book->borrower = NULL;
    member->name = 0;
    journal_note("left", name);
}
