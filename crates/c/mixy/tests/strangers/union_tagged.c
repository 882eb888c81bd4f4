#include <stdlib.h>
enum tag { INT, STR, NIL };
struct value { enum tag tag; union { long i; const char *s; } u; };
static struct value nil(void) { struct value v = { NIL, { 0 } }; return v; }
static struct value str(const char *s) { struct value v; v.tag = STR; v.u.s = s; return v; }
static int head(struct value v) { return v.u.s[0]; } //~ 
static int checked(struct value v) { return v.tag == STR ? v.u.s[0] : 0; }
int main(int argc, char **argv) {
  struct value v = argc > 1 ? str(argv[1]) : nil();
  return checked(v) + head(v);
}
