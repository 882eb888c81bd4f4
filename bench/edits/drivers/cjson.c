/* Trees that are never freed, one tree that two threads write to, a value that is not set, and a use of what was freed. */
#include "cJSON.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cJSON *shared;

static void *add(void *name)
{
    for (int at = 0; at < 20; at++) {
        cJSON_AddItemToObject(shared, name, cJSON_CreateNumber(at));
        cJSON_GetObjectItem(shared, "one");
    }
    return NULL;
}

static void leak_parsed(const char *text)
{
    cJSON *tree = cJSON_Parse(text);
    char *printed = cJSON_Print(tree);
    if (printed == NULL)
        printf("nothing\n");
}

static void leak_made(void)
{
    cJSON *list = cJSON_CreateArray();
    cJSON_AddItemToArray(list, cJSON_CreateString("a"));
    cJSON_AddItemToArray(list, cJSON_CreateString("b"));
    cJSON_AddItemToObject(cJSON_CreateObject(), "list", cJSON_Duplicate(list, 1));
}

static int unset(void)
{
    char *text = malloc(16);
    cJSON *tree;
    text[0] = '[';
    tree = cJSON_ParseWithLength(text, 8);
    free(text);
    return tree != NULL;
}

static int late(void)
{
    cJSON *number = cJSON_CreateNumber(4);
    cJSON_Delete(number);
    return number->valueint + cJSON_IsNumber(number);
}

int main(void)
{
    pthread_t one, two;
    shared = cJSON_CreateObject();
    pthread_create(&one, NULL, add, (void *)"one");
    pthread_create(&two, NULL, add, (void *)"two");
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    leak_parsed("{\"a\": [1, 2, {\"b\": \"text\"}], \"c\": null}");
    leak_parsed("[true, false, \"\\u00e4\"]");
    leak_made();
    leak_made();
    return unset() + late() > 90;
}
