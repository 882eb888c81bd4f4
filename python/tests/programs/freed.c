/* A list whose node is read after it was freed, a block that is freed twice behind malloc's back, and one that leaks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node {
    int value;
    int pad[11];
    struct node *next;
};

__attribute__((noinline)) static struct node *push(struct node *list, int value)
{
    struct node *node = malloc(sizeof *node);
    memset(node, 0, sizeof *node);
    node->value = value;
    node->next = list;
    return node;
}

__attribute__((noinline)) static int sum(struct node *list)
{
    int sum = 0;
    for (struct node *node = list; node; node = node->next)
        sum += node->value;
    return sum;
}

__attribute__((noinline)) static void drop(struct node *node)
{
    free(node);
}

int main(void)
{
    struct node *list = 0;
    for (int i = 1; i <= 3; i++)
        list = push(list, i);
    struct node *second = list->next;
    int before = sum(list);
    drop(second);
    second->pad[5] = 7; /* Written after it was freed. */
    int again = second->pad[5];
    list->next = 0;
    struct node *other = malloc(200); /* Never freed. */
    drop(list);
    printf("%d %d %d\n", before, again, other != 0);
    return 0;
}
