// finds: null-dereference out-of-bounds
// bounds: values
extern void *__VERIFIER_nondet_pointer(void);
int main() {
  int *p = __VERIFIER_nondet_pointer();
  if (p == 0) return 0;
  return *p; //~ null-dereference out-of-bounds
}
