#include "lend.h"
#include <stddef.h>

/* Whether the book was on the shelf. */
int lend(struct book *book, struct member *member)
{
    if (!book || !member || book->borrower)
        return 0;
    book->borrower = member;
    book->day = today();
    member->books++;
    journal_note("lent", book->title);
    return 1;
}

void give_back(struct book *book)
{
    if (!book || !book->borrower)
        return;
    book->borrower->fines += fine_for(book);
    book->borrower->books--;
    book->borrower = NULL;
    book->day = 0;
    journal_note("back", book->title);
}
