#include "lend.h"

int main(int argc, char **argv)
{
    if (argc > 1)
        journal_open(argv[1]);
    int command;
    while ((command = input_letter()) >= 0)
        if (!command_run((char)command))
            break;
    journal_close();
    return 0;
}
