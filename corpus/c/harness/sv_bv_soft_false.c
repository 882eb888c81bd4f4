// finds: reached-error
extern unsigned __VERIFIER_nondet_uint(void);
extern void reach_error(void);
int main() {
  unsigned x = __VERIFIER_nondet_uint(), y = __VERIFIER_nondet_uint();
  if ((x ^ y) + 2 * (x & y) != x + y) reach_error();
  if ((x & (x - 1)) == 0 && x > 1000 && (x & 0x55555555)) reach_error(); //~ reached-error
  return 0;
}
