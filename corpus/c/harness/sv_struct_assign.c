// clean
extern int __VERIFIER_nondet_int();
extern void reach_error();
struct P {
  int x, y;
  struct {
    char c[3];
  } in;
};
static struct P mk(int a) {
  struct P p = {a, a + 1, {"ab"}};
  return p;
}
static int sum(struct P p) {
  p.x++;
  return p.x + p.y;
}
int main() {
  int a = __VERIFIER_nondet_int() & 0xff;
  struct P p = mk(a), q = p;
  int s = sum(q);
  if (s != 2 * a + 2 || q.x != a || q.in.c[1] != 'b') reach_error();
  return 0;
}
