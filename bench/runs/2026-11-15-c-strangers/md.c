#include "../md4c-release-0.4.8/src/md4c.c"
static int depth;
static int eb(MD_BLOCKTYPE t, void *d, void *u) { depth++; return 0; }
static int lb(MD_BLOCKTYPE t, void *d, void *u) { depth--; return 0; }
static int es(MD_SPANTYPE t, void *d, void *u) { depth++; return 0; }
static int ls(MD_SPANTYPE t, void *d, void *u) { depth--; return 0; }
static int tx(MD_TEXTTYPE t, const MD_CHAR *s, MD_SIZE n, void *u) { return 0; }
int main(void) {
  char buf[8]; size_t n = fread(buf, 1, 5, stdin);
  MD_PARSER p = {0, 0, eb, lb, es, ls, tx, 0, 0};
  int r = md_parse(buf, n, &p, 0);
  if (depth != 0 && r == 0) return 9;
  return r;
}
