#include "lend.h"
#include <stdio.h>

static FILE *journal;
static int is_open;

void journal_open(const char *name)
{
    journal = fopen(name, "w");
    is_open = journal != NULL;
}

void journal_note(const char *what, char which)
{
    if (is_open)
        fprintf(journal, "day %d: %s %c\n", today(), what, which);
}

void journal_close(void)
{
    if (is_open)
        fclose(journal);
}
