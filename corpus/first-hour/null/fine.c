#include "lend.h"

enum { FREE_DAYS = 1, CENTS = 20 };

int fine_for(const struct book *book)
{
    int late = today() - book->day - FREE_DAYS;
    return late > 0 ? late * CENTS : 0;
}

void collect_fines(void)
{
    struct book *book;
    for (int place = 0; (book = book_at(place)); place++) {
        struct member *member = book->borrower;
        if (member) {
            member->fines += fine_for(book);
            book->day = today();
        }
    }
}
