// finds: out-of-bounds
int main() {
  char *p = (char *)"const";
  p[0] = 'C'; //~ out-of-bounds
  return 0;
}
