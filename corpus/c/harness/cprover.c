// finds: assertion
// CBMC's functions, as its programs use them: undeclared.
int nondet_int(void);
unsigned char nondet_uchar(void);
int main(void) {
  int x = nondet_int(), data[2] = {1, 2};
  __CPROVER_assume(x > 3 && x < 20);
  __CPROVER_assert(x != 3, "excluded");
  if (nondet_uchar() == 200) {
    __CPROVER_havoc_object(data);
    __CPROVER_assert(data[0] == 1, "no longer"); //~ assertion
  }
  __CPROVER_assert(x * x != 81, "nine"); //~ assertion
  return 0;
}
