#include "lend.h"

/* l TITLE NAME: lend, g TITLE: give back, q NAME: quit, n: next day, f: fines, r: report */
int command_run(char command)
{
    int first, second;
    switch (command) {
    case 'l':
        if ((first = input_letter()) < 0 || (second = input_letter()) < 0)
            return 0;
        lend(book_find((char)first), member_find((char)second));
        return 1;
    case 'g':
        if ((first = input_letter()) >= 0)
            give_back(book_find((char)first));
        return 1;
    case 'q':
        if ((first = input_letter()) >= 0)
            member_leave((char)first);
        return 1;
    case 'n':
        next_day();
        return 1;
    case 'f':
        collect_fines();
        return 1;
    case 'r':
        report_all();
        return 1;
    default:
        return 0;
    }
}
