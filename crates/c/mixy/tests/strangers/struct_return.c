#include <stddef.h>
struct slice { const char *at; size_t len; };
static struct slice take(const char *s, size_t n) { struct slice r = { n ? s : NULL, n }; return r; }
static int head(struct slice s) { return s.at[0]; } //~ 
static int careful(struct slice s) { return s.len ? s.at[0] : 0; }
int main(int argc, char **argv) {
  struct slice s = take("abc", argc - 1);
  return careful(s) + head(s);
}
