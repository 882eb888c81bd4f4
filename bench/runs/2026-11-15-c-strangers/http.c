#include "../http-parser-2.9.4/http_parser.c"
#include <stdio.h>
static int on_url(http_parser *p, const char *at, size_t n) { (void)p; printf("url %.*s\n", (int)n, at); return 0; }
int main(int argc, char **argv) {
  http_parser_settings s; http_parser_settings_init(&s); s.on_url = on_url;
  http_parser p; http_parser_init(&p, HTTP_REQUEST);
  char buf[64]; size_t n = fread(buf, 1, sizeof buf, stdin);
  size_t k = http_parser_execute(&p, &s, buf, n);
  printf("%zu %s\n", k, http_errno_name(HTTP_PARSER_ERRNO(&p)));
  return 0;
}
