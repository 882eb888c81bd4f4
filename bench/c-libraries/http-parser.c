/* Eight unknown bytes go through the parser in the middle of a request; then they are parsed as a URL. */
#include "http_parser.h"
#include <klee/klee.h>
#include <string.h>

static int count(http_parser *parser, const char *at, size_t length) {
  (void)at;
  *(size_t *)parser->data += length;
  return 0;
}

int main(void) {
  char text[8];
  klee_make_symbolic(text, sizeof text, "text");
  size_t length = 0;
  http_parser parser;
  http_parser_init(&parser, HTTP_REQUEST);
  parser.data = &length;
  http_parser_settings settings;
  http_parser_settings_init(&settings);
  settings.on_url = settings.on_header_field = settings.on_header_value = settings.on_body = count;
  if (klee_int("url")) {
    struct http_parser_url url;
    http_parser_url_init(&url);
    return http_parser_parse_url(text, sizeof text, 0, &url);
  }
  const char *before = "GET / HTTP/1.1\r\n";
  http_parser_execute(&parser, &settings, before, strlen(before));
  http_parser_execute(&parser, &settings, text, sizeof text);
  return HTTP_PARSER_ERRNO(&parser) != HPE_OK;
}
