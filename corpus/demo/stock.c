/* A small stock. Commands on standard input, two characters each: a new item (aX), an item sold (sX), an item dropped (dX). */
#include <stdio.h>
#include <stdlib.h>

struct item {
    char name;
    int sold;
    struct item *next;
};

static struct item *stock;     /* all items, the newest first */
static struct item *favourite; /* the item that was added last: the next sale is likely one of it */

static struct item *find(char name)
{
    struct item *item = stock;
    while (item && item->name != name)
        item = item->next;
    return item;
}

static void add(char name)
{
    struct item *item = malloc(sizeof *item);
    if (!item)
        exit(2);
    item->name = name;
    item->sold = 0;
    item->next = stock;
    stock = item;
    favourite = item;
}

static void drop(char name)
{
    struct item **link = &stock;
    while (*link && (*link)->name != name)
        link = &(*link)->next;
    struct item *item = *link;
    if (!item)
        return;
    *link = item->next;
    if (item == favourite)
        favourite = NULL;
    free(item);
}

static int sell(char name)
{
    if (!stock)
        return 0;
    struct item *item = favourite->name == name ? favourite : find(name);
    if (!item)
        return 0;
    item->sold++;
    return 1;
}

int main(void)
{
    int command, name, sales = 0;
    while ((command = getchar()) != EOF && (name = getchar()) != EOF) {
        if (command == 'a')
            add(name);
        else if (command == 'd')
            drop(name);
        else if (command == 's')
            sales += sell(name);
    }
    printf("%d sold\n", sales);
    return 0;
}
