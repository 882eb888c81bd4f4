// clean
int main() {
  int x;
  int y = x;
  y = 3;
  unsigned char buf[8];
  buf[0] = 1;
  unsigned char c[8];
  __builtin_memcpy(c, buf, 8);
  return c[0] - 1;
}
