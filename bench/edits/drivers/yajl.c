/* Trees and handles that are never freed, one generator that two threads write to, a text that is not set. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "api/yajl_gen.h"
#include "api/yajl_parse.h"
#include "api/yajl_tree.h"

static yajl_gen shared;

static void *write_numbers(void *unused)
{
    (void)unused;
    for (int at = 0; at < 10; at++)
        yajl_gen_integer(shared, at);
    return NULL;
}

static void leak_tree(const char *text)
{
    char error[100];
    yajl_val tree = yajl_tree_parse(text, error, sizeof error);
    if (tree == NULL)
        printf("%s\n", error);
}

static void leak_handle(void)
{
    yajl_handle handle = yajl_alloc(NULL, NULL, NULL);
    yajl_parse(handle, (const unsigned char *)"[1, {\"a\": 2}", 12);
}

static int unset(void)
{
    unsigned char *text = malloc(24);
    yajl_handle handle = yajl_alloc(NULL, NULL, NULL);
    yajl_status status;
    memcpy(text, "[1, ", 4);
    status = yajl_parse(handle, text, 12);
    free(text);
    yajl_free(handle);
    return (int)status;
}

static int late(void)
{
    char *name = malloc(8);
    strcpy(name, "name");
    free(name);
    return (int)yajl_gen_string(shared, (const unsigned char *)name, 4);
}

int main(void)
{
    pthread_t one, two;
    shared = yajl_gen_alloc(NULL);
    yajl_gen_config(shared, yajl_gen_beautify, 1);
    yajl_gen_array_open(shared);
    pthread_create(&one, NULL, write_numbers, NULL);
    pthread_create(&two, NULL, write_numbers, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    leak_tree("{\"a\": [1, 2.5, {\"b\": \"text\"}], \"c\": null}");
    leak_tree("[true, false, \"\\u00e4\"]");
    leak_handle();
    leak_handle();
    return unset() + late() > 900;
}
