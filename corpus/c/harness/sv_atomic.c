// clean
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern void reach_error(void);
int x;
int main() {
  __VERIFIER_atomic_begin();
  x++;
  __VERIFIER_atomic_end();
  if (x != 1) reach_error();
  return 0;
}
