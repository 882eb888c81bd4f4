/* Documents and parsers that are never freed, one parser that two threads feed from, a text that is not set. */
#include "yaml.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static yaml_parser_t shared;
static int events;

static void *next_event(void *unused)
{
    yaml_event_t event;
    (void)unused;
    if (yaml_parser_parse(&shared, &event)) {
        events++;
        yaml_event_delete(&event);
    }
    return NULL;
}

static void leak_document(const char *text)
{
    yaml_parser_t parser;
    yaml_document_t document;
    yaml_parser_initialize(&parser);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, strlen(text));
    if (!yaml_parser_load(&parser, &document))
        printf("broken\n");
    memset(&document, 0, sizeof document);
    memset(&parser, 0, sizeof parser);
}

static int unset(void)
{
    unsigned char *text = malloc(24);
    yaml_parser_t parser;
    yaml_event_t event;
    int result = 0;
    memcpy(text, "a: [b, ", 7);
    yaml_parser_initialize(&parser);
    yaml_parser_set_input_string(&parser, text, 14);
    for (int turn = 0; turn < 4; turn++)
        result += yaml_parser_parse(&parser, &event);
    free(text);
    return result;
}

static int late(void)
{
    char *name = malloc(8);
    strcpy(name, "name");
    free(name);
    return name[2];
}

int main(void)
{
    pthread_t one, two;
    const char *text = "one: 1\ntwo: [a, b]\n";
    yaml_parser_initialize(&shared);
    yaml_parser_set_input_string(&shared, (const unsigned char *)text, strlen(text));
    next_event(NULL);
    pthread_create(&one, NULL, next_event, NULL);
    pthread_create(&two, NULL, next_event, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    leak_document("a: {b: [1, 2], c: 'text'}\n");
    leak_document("- x\n- y: z\n");
    return unset() + late() > 900;
}
