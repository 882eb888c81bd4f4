// clean
int klee_int(const char *name);
struct bits { unsigned a : 3, b : 5; int unused; };
static int pick(int x) {
  struct bits s;
  s.a = (unsigned)x & 7, s.b = 3;
  struct bits copy = s;
  if (copy.a == 2) return 5;
  return copy.b == 3 ? 6 : 7;
}
int main(void) { return pick(klee_int("x")); }
