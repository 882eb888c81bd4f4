#include <sys/statvfs.h>
#include <string.h>
static int *p;
static void look(struct statvfs *s) { memset(s, 0, sizeof *s); statvfs("/", s); }
int main(void) {
  struct statvfs s;
  look(&s);
  if (s.f_bsize) *p = 1; //~ 
  return 0;
}
