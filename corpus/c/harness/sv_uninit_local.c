// finds: uninitialised
extern void reach_error(void);
int main() {
  int x;
  if (x == 3) reach_error(); //~ uninitialised
  return 0;
}
