// What an order costs: the price is read, and a constant taken off it.
#include <stdio.h>
#include <unistd.h>

int price, total;

static int discounted(int amount) {
    return amount - 3;
}

int main(void) {
    char line[16];
    if (read(0, line, sizeof line) < 2) return 1;
    price = (line[0] - '0') * 10 + (line[1] - '0');
    total = discounted(price);
    printf("%d\n", total);
    return 0;
}
