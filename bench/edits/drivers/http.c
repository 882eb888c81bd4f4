/* Requests that are not set, parsers that are never freed, one that two threads feed. */
#include "http_parser.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static http_parser shared;
static http_parser_settings settings;
static const char request[] = "GET /a?b=c HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc";

static void *feed(void *unused)
{
    (void)unused;
    for (int turn = 0; turn < 10; turn++)
        http_parser_execute(&shared, &settings, request, sizeof request - 1);
    return NULL;
}

static void leak_parser(enum http_parser_type type)
{
    http_parser *parser = malloc(sizeof *parser);
    http_parser_init(parser, type);
    http_parser_execute(parser, &settings, request, sizeof request - 1);
}

static int unset(void)
{
    char *text = malloc(60);
    http_parser parser;
    int result;
    memcpy(text, "GET /path", 9);
    http_parser_init(&parser, HTTP_REQUEST);
    result = (int)http_parser_execute(&parser, &settings, text, 30);
    free(text);
    return result;
}

static int unset_url(void)
{
    char *text = malloc(30);
    struct http_parser_url url;
    int result;
    http_parser_url_init(&url);
    memcpy(text, "http://h", 8);
    result = http_parser_parse_url(text, 20, 0, &url);
    free(text);
    return result;
}

static int late(void)
{
    http_parser *parser = malloc(sizeof *parser);
    http_parser_init(parser, HTTP_RESPONSE);
    free(parser);
    return http_should_keep_alive(parser) + (int)parser->method;
}

int main(void)
{
    pthread_t one, two;
    http_parser_settings_init(&settings);
    http_parser_init(&shared, HTTP_BOTH);
    pthread_create(&one, NULL, feed, NULL);
    pthread_create(&two, NULL, feed, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    leak_parser(HTTP_REQUEST);
    leak_parser(HTTP_RESPONSE);
    return unset() + unset_url() + late() > 900;
}
