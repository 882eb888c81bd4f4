/* What CBMC is told about the harness functions of the corpus. The analysers of compilers see declarations alone. */
int nondet_int(void);
unsigned long nondet_size(void);

int klee_int(const char *name) { return nondet_int(); }

int klee_range(int begin, int end, const char *name) {
  int value = nondet_int();
  __CPROVER_assume(begin <= value && value < end);
  return value;
}

unsigned long klee_choose(unsigned long count) {
  unsigned long value = nondet_size();
  __CPROVER_assume(value < count);
  return value;
}

void __VERIFIER_assume(int condition) { __CPROVER_assume(condition); }

void reach_error(void) { __CPROVER_assert(0, "reach_error is called"); }
