// clean
extern char __VERIFIER_nondet_char(void);
extern unsigned char __VERIFIER_nondet_uchar(void);
extern short __VERIFIER_nondet_short(void);
extern unsigned short __VERIFIER_nondet_ushort(void);
extern long __VERIFIER_nondet_long(void);
extern unsigned long __VERIFIER_nondet_ulong(void);
extern long long __VERIFIER_nondet_longlong(void);
extern unsigned long long __VERIFIER_nondet_ulonglong(void);
extern float __VERIFIER_nondet_float(void);
extern double __VERIFIER_nondet_double(void);
extern unsigned __VERIFIER_nondet_unsigned(void);
extern unsigned long __VERIFIER_nondet_size_t(void);
extern unsigned __VERIFIER_nondet_u32(void);
extern __int128 __VERIFIER_nondet_int128(void);
extern void reach_error(void);
int main() {
  char c = __VERIFIER_nondet_char();
  unsigned char uc = __VERIFIER_nondet_uchar();
  short s = __VERIFIER_nondet_short();
  unsigned short us = __VERIFIER_nondet_ushort();
  long l = __VERIFIER_nondet_long();
  unsigned long ul = __VERIFIER_nondet_ulong();
  long long ll = __VERIFIER_nondet_longlong();
  unsigned long long ull = __VERIFIER_nondet_ulonglong();
  float f = __VERIFIER_nondet_float();
  double d = __VERIFIER_nondet_double();
  unsigned u = __VERIFIER_nondet_unsigned();
  unsigned long z = __VERIFIER_nondet_size_t();
  unsigned w = __VERIFIER_nondet_u32();
  __int128 q = __VERIFIER_nondet_int128();
  if (c < -128 || c > 127 || uc > 255 || s > 32767 || us > 65535) reach_error();
  if (l == 3 && ul == 4 && ll == 5 && ull == 6 && u == 7 && z == 8 && w == 9 && q == 10 &&
      (long)(l + ul + ll + ull + u + z + w + q) != 52)
    reach_error();
  if (f > 1.0f && f < 0.5f) reach_error();
  if (d == d && d - d != 0.0 && d < 1e300 && d > -1e300) reach_error();
  return 0;
}
