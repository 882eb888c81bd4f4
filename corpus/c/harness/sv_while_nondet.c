// incomplete
// bounds: loops
// A loop that input can keep going for ever: said to be incomplete, not clean.
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
int main(void) {
  int x = 0;
  while (__VERIFIER_nondet_int()) {
    x++;
    if (x < 0) reach_error();
  }
  return 0;
}
