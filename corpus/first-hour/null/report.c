#include "lend.h"
#include <stdio.h>

void report_book(const struct book *book)
{
    if (book->day > 0)
        printf("%c: %c has it since day %d\n", book->title, book->borrower->name, book->day);
    else
        printf("%c: on the shelf\n", book->title);
}

void report_all(void)
{
    struct book *book;
    for (int place = 0; (book = book_at(place)); place++)
        report_book(book);
}
