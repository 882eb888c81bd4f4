/* Parsers that are never freed, one that two threads feed, a row that is not set. */
#include "csv.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct csv_parser shared;
static int fields, rows;

static void on_field(void *text, size_t length, void *data)
{
    (void)text;
    (void)data;
    fields += (int)length;
}

static void on_row(int letter, void *data)
{
    (void)letter;
    (void)data;
    rows++;
}

static void *feed(void *text)
{
    for (int turn = 0; turn < 5; turn++)
        csv_parse(&shared, text, strlen(text), on_field, on_row, NULL);
    return NULL;
}

static void leak_parser(const char *text)
{
    struct csv_parser parser;
    csv_init(&parser, CSV_STRICT);
    csv_parse(&parser, text, strlen(text), on_field, on_row, NULL);
    memset(&parser, 0, sizeof parser);
}

static void leak_longer(void)
{
    char text[400];
    struct csv_parser parser;
    memset(text, 'x', sizeof text);
    csv_init(&parser, 0);
    csv_parse(&parser, text, sizeof text, on_field, on_row, NULL);
    memset(&parser, 0, sizeof parser);
}

static int unset(void)
{
    char *row = malloc(20);
    char out[60];
    size_t length;
    row[0] = 'a';
    length = csv_write(out, sizeof out, row, 20);
    free(row);
    return (int)length;
}

static int late(void)
{
    char *row = malloc(20);
    char out[60];
    memset(row, 'a', 20);
    free(row);
    return (int)csv_write(out, sizeof out, row, 4);
}

int main(void)
{
    pthread_t one, two;
    csv_init(&shared, CSV_APPEND_NULL);
    pthread_create(&one, NULL, feed, (void *)"a,b,c\n");
    pthread_create(&two, NULL, feed, (void *)"\"d\",e\n");
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    leak_parser("a,\"b\"\n");
    leak_parser("one,two\nthree,four\n");
    leak_longer();
    return unset() + late() > 900;
}
