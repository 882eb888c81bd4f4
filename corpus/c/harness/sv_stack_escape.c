// finds: use-after-free
int *f(void) {
  int x = 3;
  int *p = &x;
  return p;
}
int main() {
  int *p = f();
  return *p; //~ use-after-free
}
