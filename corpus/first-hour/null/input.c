#include "lend.h"
#include <stdio.h>

/* The next letter of standard input, without blanks and ends of lines. */
int input_letter(void)
{
    int letter;
    do
        letter = getchar();
    while (letter == ' ' || letter == '\n');
    return letter == EOF ? -1 : letter;
}
