/* The events of a YAML text of four unknown bytes. */
#include <klee/klee.h>
#include <yaml.h>

int main(void) {
  unsigned char text[4];
  klee_make_symbolic(text, sizeof text, "text");
  yaml_parser_t parser;
  if (!yaml_parser_initialize(&parser)) return 2;
  yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
  yaml_parser_set_input_string(&parser, text, sizeof text);
  int ended = 0, failed = 0;
  while (!ended && !failed) {
    yaml_event_t event;
    failed = !yaml_parser_parse(&parser, &event);
    if (failed) break;
    ended = event.type == YAML_STREAM_END_EVENT;
    yaml_event_delete(&event);
  }
  yaml_parser_delete(&parser);
  return failed;
}
