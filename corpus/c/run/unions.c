#include <stdio.h>
#include <string.h>
union mix { int i; float f; unsigned char b[8]; void *p; long l; };
struct shape { enum { CIRCLE, SQUARE } kind; union { double radius; struct { int w, h; } box; }; };
static double area(const struct shape *s) { return s->kind == CIRCLE ? 3 * s->radius * s->radius : s->box.w * s->box.h; }
int main(void) {
  union mix m; m.l = 0; m.f = 1.5f; printf("%x %d %d\n", m.i, m.b[3], m.b[2]);
  int x = 42; m.p = &x; printf("%d\n", *(int *)m.p);
  struct shape s[2] = {{CIRCLE, .radius = 2}, {SQUARE, .box = {3, 4}}};
  printf("%.1f %.1f\n", area(&s[0]), area(&s[1]));
  float f = -2.25f; unsigned u; memcpy(&u, &f, 4); printf("%08x\n", u);
}
