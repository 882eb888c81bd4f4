// entry: area
struct point { int x, y; };
struct box { struct point low, high; struct box *in; };
struct pair { float a, b, c; };
union u { int *p; long v; };
static int count;
static int helper(struct point p) { return p.x - p.y; }
struct box area(struct box b, struct point p, struct pair f, union u w, signed char c, int (*g)(struct point)) {
  struct box r = b;
  count++;
  if (c < 0 && f.c > 2.5f && f.a < f.b) r.low.x = 10 / (p.x - 5); //~ division-by-zero
  if (b.in && p.y == 7 && w.v == 77) r.high.x = 100 / (b.in->low.x - 1); //~ division-by-zero
  if (g && g(p) == 3) r.high.y = 1 / (count - 5); //~ division-by-zero
  return r;
}
int (*table)(struct point) = helper;
int main(void) { return 0; }
