/* A lending library of small size: books, members, and who has which book. */
#ifndef LEND_H
#define LEND_H

struct member {
    char name;
    int books;  /* how many the member has at home */
    int fines;  /* in cents */
};

struct book {
    char title;
    int day;                 /* when it was lent */
    struct member *borrower; /* null while it is on the shelf */
};

/* book.c */
struct book *book_find(char title);
struct book *book_at(int place);

/* member.c */
struct member *member_find(char name);
void member_leave(char name);

/* loan.c */
int lend(struct book *book, struct member *member);
void give_back(struct book *book);

/* fine.c */
int fine_for(const struct book *book);
void collect_fines(void);

/* calendar.c */
int today(void);
void next_day(void);

/* report.c */
void report_book(const struct book *book);
void report_all(void);

/* journal.c */
void journal_open(const char *name);
void journal_note(const char *what, char which);
void journal_close(void);

/* command.c */
int command_run(char command);

/* input.c */
int input_letter(void);

#endif
