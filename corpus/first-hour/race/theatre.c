/* A theatre sells ten seats, at its box office and by telephone, each in a thread of its own. */
#include <pthread.h>
#include <stdio.h>

enum { SEATS = 10 };

struct seat {
    int taken;
    char price[16];
};

static struct seat seats[SEATS];
static int tickets;
static pthread_mutex_t desk = PTHREAD_MUTEX_INITIALIZER;

static int first_free(void)
{
    for (int i = 0; i < SEATS; i++)
        if (!seats[i].taken)
            return i;
    return -1;
}

static void sell(int seat, int cents)
{
    snprintf(seats[seat].price, sizeof seats[seat].price, "%d.%02d", cents / 100, cents % 100);
    seats[seat].taken = 1;
    tickets++;
}

static void *box_office(void *unused)
{
    for (;;) {
        pthread_mutex_lock(&desk);
        int seat = first_free();
        if (seat >= 0)
            sell(seat, 1850);
        pthread_mutex_unlock(&desk);
        if (seat < 0)
            return unused;
    }
}

/* Whether the number of a credit card has a right check digit: what the caller says while the clerk looks at the seats. */
static int is_right(const char *card)
{
    int sum = 0;
    for (int i = 0; card[i]; i++) {
        int digit = (card[i] - '0') << (i % 2 == 0);
        sum += digit / 10 + digit % 10;
    }
    return sum % 10 == 0;
}

static void *telephone(void *unused)
{
    for (;;) {
        int seat = first_free();
        if (seat < 0 || !is_right("4539148803436467"))
            return unused;
        pthread_mutex_lock(&desk);
        sell(seat, 2050);
        pthread_mutex_unlock(&desk);
    }
}

int main(void)
{
    pthread_t office, line;
    pthread_create(&office, NULL, box_office, NULL);
    pthread_create(&line, NULL, telephone, NULL);
    pthread_join(office, NULL);
    pthread_join(line, NULL);
    printf("%d tickets for %d seats\n", tickets, SEATS);
    return 0;
}
