// clean
extern unsigned char __VERIFIER_nondet_uchar(void);
extern void reach_error(void);
static unsigned mp_add(unsigned a, unsigned b) {
  unsigned char r[5];
  unsigned short c = 0;
  for (int i = 0; i < 4; i++) {
    unsigned short s = c + ((a >> 8 * i) & 255) + ((b >> 8 * i) & 255);
    r[i] = s;
    c = s >> 8;
  }
  return r[0] | r[1] << 8 | r[2] << 16 | (unsigned)r[3] << 24;
}
extern unsigned __VERIFIER_nondet_uint(void);
int main() {
  unsigned a = __VERIFIER_nondet_uint(), b = __VERIFIER_nondet_uint();
  if (mp_add(a, b) != a + b) reach_error();
  return 0;
}
