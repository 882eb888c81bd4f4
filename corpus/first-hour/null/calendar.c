#include "lend.h"

static int day = 1;

int today(void)
{
    return day;
}

void next_day(void)
{
    day++;
}
