/* The gate of a car park reads eight bytes of a card: 'C', the kind, five bytes of data, a check byte. */
#include <stdio.h>
#include <unistd.h>

static const char *const lots[8] = {"north", "south", "lower", "upper"};

static unsigned check_byte(const unsigned char *card)
{
    unsigned sum = 0x5a;
    for (int i = 0; i < 7; i++)
        sum = ((sum << 1 | sum >> 7) ^ card[i]) & 0xff;
    return sum;
}

/* A card for guests says which lot, in three bits. */
static const char *guest(const unsigned char *card)
{
    return lots[card[2] & 7];
}

/* A card for trips says how many were paid for, and from which day to which. */
static const char *trips(const unsigned char *card)
{
    int paid = card[2] << 8 | card[3];
    int days = card[5] - card[4];
    return paid / days < 2 ? "come in" : "too many trips";
}

int main(void)
{
    unsigned char card[8];
    if (read(0, card, sizeof card) != sizeof card || card[0] != 'C') {
        puts("no card");
        return 1;
    }
    if (check_byte(card) != card[7]) {
        puts("damaged card");
        return 1;
    }
    if (card[1] == 'g')
        puts(guest(card));
    else if (card[1] == 't')
        puts(trips(card));
    else
        puts("unknown card");
    return 0;
}
