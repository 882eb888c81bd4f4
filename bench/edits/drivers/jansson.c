/* Values that are never freed, one object that two threads write to, a text that is not set. */
#include "jansson.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static json_t *shared;

static void *add(void *name)
{
    for (int at = 0; at < 10; at++)
        json_object_set_new(shared, name, json_integer(at));
    return NULL;
}

static void leak_loaded(const char *text)
{
    json_error_t error;
    json_t *value = json_loads(text, 0, &error);
    char *printed = json_dumps(value, JSON_INDENT(2));
    if (printed == NULL)
        printf("nothing\n");
}

static void leak_made(void)
{
    json_t *list = json_array();
    json_array_append_new(list, json_string("a"));
    json_array_append_new(list, json_pack("{s:i}", "b", 3));
    json_deep_copy(list);
}

static int unset(void)
{
    char *text = malloc(24);
    json_error_t error;
    json_t *value;
    memcpy(text, "[1, ", 4);
    value = json_loadb(text, 12, 0, &error);
    free(text);
    return value != NULL;
}

static int late(void)
{
    json_t *number = json_integer(4);
    json_decref(number);
    return (int)json_integer_value(number);
}

int main(void)
{
    pthread_t one, two;
    json_object_seed(7);
    shared = json_object();
    pthread_create(&one, NULL, add, (void *)"one");
    pthread_create(&two, NULL, add, (void *)"two");
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    leak_loaded("{\"a\": [1, 2.5, {\"b\": \"text\"}], \"c\": null}");
    leak_loaded("[true, false, \"\\u00e4\"]");
    leak_made();
    leak_made();
    return unset() + late() > 90;
}
