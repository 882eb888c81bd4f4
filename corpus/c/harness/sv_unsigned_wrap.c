// clean
// checks: overflow
extern unsigned __VERIFIER_nondet_uint();
extern void reach_error();
int main() {
  unsigned x = __VERIFIER_nondet_uint();
  unsigned y = x + 1;
  if (y == 0 && x != 4294967295u) reach_error();
  return 0;
}
