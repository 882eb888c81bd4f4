// Functions for every processor. Each reads its inputs from `io` and writes its results there, so that one calling
// convention (a pointer in the first argument register) is enough for all of them; calls between them use the others.
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t i8;
typedef int16_t i16;
typedef int32_t i32;
typedef int64_t i64;

#define FN __attribute__((noinline)) void
#define HELPER static __attribute__((noinline))

static double as_double(u64 bits) {
  union { u64 b; double d; } u = {bits};
  return u.d;
}
static float as_float(u32 bits) {
  union { u32 b; float f; } u = {bits};
  return u.f;
}
// What is not a number differs from processor to processor in sign and payload; here it is all one.
static u64 of_double(double d) {
  union { double d; u64 b; } u = {d};
  return d != d ? 0x7ff8000000000000u : u.b;
}
static u32 of_float(float f) {
  union { float f; u32 b; } u = {f};
  return f != f ? 0x7fc00000u : u.b;
}

FN t_add_sub(u64 *io) {
  u32 a = io[0], b = io[1];
  io[2] = (u8)(a + b);
  io[3] = (u16)(a - b);
  io[4] = a + b;
  io[5] = io[0] + io[1];
  io[6] = io[0] - io[1];
  io[7] = (i64)(i8)(a - b);
}
FN t_mul(u64 *io) {
  u32 a = io[0], b = io[1];
  io[2] = a * b;
  io[3] = (u64)a * b;
  io[4] = (i64)(i32)a * (i32)b;
  io[5] = io[0] * io[1];
  io[6] = (u32)(u16)a * (u16)b;
  io[7] = (i64)(i16)a * 1000003;
}
FN t_mul_high(u64 *io) {
  io[2] = (u32)(((u64)(u32)io[0] * (u32)io[1]) >> 32);
  io[3] = (i32)(((i64)(i32)io[0] * (i32)io[1]) >> 32);
}
FN t_div(u64 *io) {
  u32 a = io[0], b = io[1];
  if (b == 0) b = 7;
  i32 sa = a, sb = b;
  if (sb == -1) sb = 3;
  io[2] = a / b;
  io[3] = a % b;
  io[4] = (i64)(sa / sb);
  io[5] = (i64)(sa % sb);
  io[6] = a / 10;
  io[7] = (i64)(sa / 7);
}
FN t_div_narrow(u64 *io) {
  u8 a = io[0], b = io[1] | 1;
  i16 c = io[0], d = (i16)io[1];
  if (d == 0 || d == -1) d = 5;
  io[2] = a / b;
  io[3] = a % b;
  io[4] = (i64)(c / d);
  io[5] = (i64)(c % d);
}
FN t_shifts(u64 *io) {
  u32 a = io[0], n = io[1] & 31;
  io[2] = a << n;
  io[3] = a >> n;
  io[4] = (i64)((i32)a >> n);
  io[5] = (u8)a >> (n & 7);
  io[6] = (u16)(a << (n & 15));
  io[7] = (i64)((i16)a >> (n & 15));
}
FN t_shifts_wide(u64 *io) {
  u64 a = io[0];
  u32 n = io[1] & 63;
  io[2] = a << n;
  io[3] = a >> n;
  io[4] = (i64)a >> n;
  io[5] = a << 32 | a >> 32;
  io[6] = a >> 17;
  io[7] = (i64)a >> 40;
}
FN t_rotate(u64 *io) {
  u32 a = io[0], n = io[1] & 31;
  io[2] = a << n | a >> (-n & 31);
  io[3] = a >> n | a << (-n & 31);
  io[4] = a << 7 | a >> 25;
  u64 w = io[0];
  u32 m = io[1] & 63;
  io[5] = w << m | w >> (-m & 63);
  u16 s = (u16)a;
  io[6] = (u16)(s << 3 | s >> 13);
}
FN t_bits(u64 *io) {
  u32 a = io[0] | 1;
  io[2] = __builtin_clz(a);
  io[3] = __builtin_ctz(a);
  io[4] = __builtin_popcount(a);
  io[5] = __builtin_bswap32(a);
  io[6] = __builtin_bswap64(io[0]);
  io[7] = __builtin_bswap16((u16)a);
}
FN t_bits_wide(u64 *io) {
  u64 a = io[0] | 1;
  io[2] = __builtin_clzll(a);
  io[3] = __builtin_ctzll(a);
  io[4] = __builtin_popcountll(a);
  io[5] = __builtin_parity((u32)io[1]);
  io[6] = __builtin_ffs((i32)io[1]);
}
FN t_reverse_bits(u64 *io) {
  u32 a = io[0];
  a = (a >> 1 & 0x55555555) | (a & 0x55555555) << 1;
  a = (a >> 2 & 0x33333333) | (a & 0x33333333) << 2;
  a = (a >> 4 & 0x0f0f0f0f) | (a & 0x0f0f0f0f) << 4;
  io[2] = __builtin_bswap32(a);
  io[3] = __builtin_bitreverse32((u32)io[1]);
}
FN t_fields(u64 *io) {
  struct { u32 a : 3, b : 7, c : 12; i32 d : 10; } f;
  f.a = io[0];
  f.b = io[0] >> 5;
  f.c = io[1];
  f.d = io[1] >> 9;
  io[2] = f.a;
  io[3] = f.b;
  io[4] = f.c;
  io[5] = (i64)f.d;
  io[6] = (io[0] >> 11) & 0x1ff;
  io[7] = (io[0] & ~0xff0ull) | ((io[1] & 0xff) << 4);
}
FN t_compare(u64 *io) {
  u32 a = io[0], b = io[1];
  i32 sa = a, sb = b;
  io[2] = (a < b) | (a <= b) << 1 | (a == b) << 2 | (a > b) << 3 | (a != b) << 4;
  io[3] = (sa < sb) | (sa <= sb) << 1 | (sa >= sb) << 2 | (sa > sb) << 3;
  io[4] = (io[0] < io[1]) | ((i64)io[0] < (i64)io[1]) << 1 | (io[0] == io[1]) << 2 | ((i64)io[0] >= (i64)io[1]) << 3;
  io[5] = ((u8)a < (u8)b) | ((i8)a < (i8)b) << 1 | ((i16)a > (i16)b) << 2;
  io[6] = sa < 0 ? -1 : sa > 0;
}
FN t_select(u64 *io) {
  u32 a = io[0], b = io[1];
  io[2] = a < b ? a : b;
  io[3] = (i32)a > (i32)b ? a : b;
  io[4] = (i64)((i32)a < 0 ? -(i32)a : (i32)a);
  io[5] = a & 1 ? a * 3 + 1 : a / 2;
  io[6] = io[0] > io[1] ? io[0] - io[1] : io[1] - io[0];
  io[7] = a == b || (a ^ b) == 0x80000000u;
}
FN t_overflow(u64 *io) {
  i32 r;
  u32 u;
  io[2] = __builtin_add_overflow((i32)io[0], (i32)io[1], &r);
  io[3] = (u32)r;
  io[4] = __builtin_sub_overflow((u32)io[0], (u32)io[1], &u);
  io[5] = u;
  io[6] = __builtin_mul_overflow((i32)io[0], (i32)io[1], &r);
  u64 w;
  io[7] = __builtin_add_overflow(io[0], io[1], &w) | w << 1;
}
FN t_saturate(u64 *io) {
  i32 s = (i32)io[0] >> 4;
  io[2] = s < -128 ? (u64)-128 : s > 127 ? 127 : (u64)s;
  i32 t = (i32)(i16)io[0] * 3 + (i16)io[1];
  io[3] = (u64)(i64)(t > 32767 ? 32767 : t < -32768 ? -32768 : t);
}
FN t_collatz(u64 *io) {
  u32 n = (io[0] & 0xff) + 1, steps = 0;
  while (n != 1 && steps < 200) {
    n = n & 1 ? 3 * n + 1 : n / 2;
    steps++;
  }
  io[2] = steps;
  io[3] = n;
}
FN t_gcd(u64 *io) {
  u32 a = io[0] & 0xffff, b = io[1] & 0xffff;
  while (b) {
    u32 t = a % b;
    a = b;
    b = t;
  }
  io[2] = a;
}
FN t_power(u64 *io) {
  u64 base = io[0], result = 1;
  for (u32 n = io[1] & 63; n; n >>= 1) {
    if (n & 1) result *= base;
    base *= base;
  }
  io[2] = result;
}
FN t_crc(u64 *io) {
  u32 crc = 0xffffffff;
  for (u32 i = 0; i < 4; i++) {
    crc ^= (u8)(io[0] >> (8 * i));
    for (int k = 0; k < 8; k++) crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
  }
  io[2] = ~crc;
}
FN t_square_root(u64 *io) {
  u32 n = io[0], r = 0;
  for (u32 bit = 1u << 30; bit; bit >>= 2) {
    if (n >= r + bit) {
      n -= r + bit;
      r = (r >> 1) + bit;
    } else {
      r >>= 1;
    }
  }
  io[2] = r;
}
FN t_sort(u64 *io) {
  for (int i = 1; i < 8; i++) {
    u64 key = io[i];
    int j = i - 1;
    while (j >= 0 && (i64)io[j] > (i64)key) {
      io[j + 1] = io[j];
      j--;
    }
    io[j + 1] = key;
  }
}
FN t_bytes(u64 *io) {
  u8 *b = (u8 *)&io[4], *out = (u8 *)&io[6];
  for (int i = 0; i < 8; i++) b[i] = (u8)(io[0] >> (8 * i));
  for (int i = 0; i < 8; i++) out[i] = (u8)(b[7 - i] + i);
  // The bytes of a word differ with the order, so they are put together again.
  u64 sum = 0;
  for (int i = 0; i < 8; i++) sum = sum << 8 | out[i];
  io[4] = sum;
  io[6] = 0;
}
FN t_halves(u64 *io) {
  i16 h[8];
  for (int i = 0; i < 8; i++) h[i] = (i16)(io[i & 1] >> (i * 7));
  i32 sum = 0, product = 1;
  for (int i = 0; i < 8; i++) {
    sum += h[i];
    product = (i32)((u32)product * (u32)(h[i] | 1));
  }
  io[2] = (i64)sum;
  io[3] = (i64)product;
}
struct point { i16 x; u8 tag; i32 y; u64 weight; };
HELPER struct point shifted(struct point p, int by) {
  p.x += by;
  p.y -= by;
  p.tag ^= 0x5a;
  p.weight = p.weight * 3 + p.tag;
  return p;
}
FN t_struct(u64 *io) {
  struct point p[3];
  for (int i = 0; i < 3; i++) {
    p[i].x = (i16)io[0] + i;
    p[i].tag = (u8)io[1];
    p[i].y = (i32)io[1];
    p[i].weight = io[0] ^ io[1];
    p[i] = shifted(p[i], i * 5);
  }
  io[2] = (i64)p[0].x;
  io[3] = (i64)p[1].y;
  io[4] = p[2].weight;
  io[5] = p[2].tag;
}
FN t_switch_dense(u64 *io) {
  u32 a = io[1];
  switch (io[0] & 15) {
    case 0: io[2] = a + 1; break;
    case 1: io[2] = a * 5; break;
    case 2: io[2] = a ^ 0x1234; break;
    case 3: io[2] = a << 3; break;
    case 4: io[2] = ~a; break;
    case 5: io[2] = a - 99; break;
    case 6: io[2] = a / 3; break;
    case 7: io[2] = a | 0xf0; break;
    case 9: io[2] = a & 0xff; break;
    case 12: io[2] = -a; break;
    default: io[2] = 77;
  }
}
FN t_switch_sparse(u64 *io) {
  switch ((u32)io[0] & 0xfff) {
    case 3: io[2] = 1; break;
    case 500: io[2] = 2; break;
    case 0x777: io[2] = 3; break;
    case 0xfff: io[2] = 4; break;
    default: io[2] = (io[0] & 0xfff) > 1000 ? 5 : 6;
  }
}
static const u32 table[16] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 0xdeadbeef};
static const char *const names[4] = {"zero", "one", "two", "three"};
FN t_table(u64 *io) {
  u64 sum = 0;
  for (int i = 0; i < 8; i++) sum = sum * 31 + table[(io[0] >> (4 * i)) & 15];
  io[2] = sum;
  const char *name = names[io[1] & 3];
  u32 hash = 5381;
  while (*name) hash = hash * 33 + (u8)*name++;
  io[3] = hash;
}
static u32 counter = 40, history[4] = {1, 2, 3, 4};
FN t_globals(u64 *io) {
  counter += (u32)io[0];
  history[io[1] & 3] ^= counter;
  io[2] = counter;
  io[3] = history[0] + history[1] + history[2] + history[3];
  counter = 40;
  history[io[1] & 3] = (u32)(io[1] & 3) + 1;
}
HELPER u32 many(u32 a, u8 b, i16 c, u64 d, i32 e, u32 f, u64 g, u32 h, i8 i, u32 j, u64 k, i32 l) {
  return a + b * 3 + (u32)c * 5 + (u32)(d >> 8) * 7 + (u32)e * 11 + f * 13 + (u32)(g >> 3) * 17 + h * 19 + (u32)i * 23 +
         j * 29 + (u32)(k >> 40) * 31 + (u32)l * 37;
}
FN t_many_arguments(u64 *io) {
  u32 a = io[0], b = io[1];
  io[2] = many(a, (u8)b, (i16)a, io[1], (i32)b, a ^ b, io[0], a + b, (i8)a, b - a, io[0] + io[1], (i32)(a & b));
}
HELPER u32 fibonacci(u32 n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
FN t_recursion(u64 *io) { io[2] = fibonacci((u32)io[0] % 9); }
HELPER u32 is_odd(u32 n);
HELPER u32 is_even(u32 n) { return n == 0 ? 1 : is_odd(n - 1); }
HELPER u32 is_odd(u32 n) { return n == 0 ? 0 : is_even(n - 1); }
FN t_mutual(u64 *io) { io[2] = is_even(io[0] & 31); }
typedef u32 (*operation)(u32, u32);
HELPER u32 op_add(u32 a, u32 b) { return a + b; }
HELPER u32 op_sub(u32 a, u32 b) { return a - b; }
HELPER u32 op_mul(u32 a, u32 b) { return a * b; }
HELPER u32 op_xor(u32 a, u32 b) { return a ^ b; }
static const operation operations[4] = {op_add, op_sub, op_mul, op_xor};
FN t_function_pointers(u64 *io) {
  u32 a = io[0], b = io[1];
  io[2] = operations[a & 3](a, b);
  io[3] = operations[b & 3](b, a);
}
FN t_string(u64 *io) {
  char text[24], *p = text;
  u32 n = io[0];
  do *p++ = (char)('0' + n % 10);
  while (n /= 10);
  *p = 0;
  u32 hash = 0;
  for (char *q = text; *q; q++) hash = hash * 131 + (u32)*q;
  io[2] = hash;
  io[3] = (u64)(p - text);
}
FN t_copy(u64 *io) {
  u32 from[12], to[12];
  for (int i = 0; i < 12; i++) from[i] = (u32)(io[0] >> i) * 3 + (u32)io[1];
  for (int i = 0; i < 12; i++) to[i] = from[11 - i];
  u32 sum = 0;
  for (int i = 0; i < 12; i++) sum = sum * 7 + to[i];
  io[2] = sum;
}
FN t_matrix(u64 *io) {
  i32 a[3][3], b[3][3], c[3][3];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      a[i][j] = (i32)(i8)(io[0] >> (3 * i + 2 * j));
      b[i][j] = (i32)(i8)(io[1] >> (5 * i + j));
    }
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      c[i][j] = 0;
      for (int k = 0; k < 3; k++) c[i][j] += a[i][k] * b[k][j];
    }
  io[2] = (i64)(c[0][0] + c[1][1] * 3 + c[2][2] * 5);
  io[3] = (i64)(c[0][2] - c[2][0]);
}
FN t_volatile(u64 *io) {
  volatile u8 a = (u8)io[0];
  volatile i16 b = (i16)io[1];
  volatile u32 c = (u32)io[0];
  volatile i64 d = (i64)io[1];
  a = (u8)(a + 1);
  b = (i16)(b * 2);
  c ^= (u32)b;
  d -= a;
  io[2] = a;
  io[3] = (u64)(i64)b;
  io[4] = c;
  io[5] = (u64)d;
}
FN t_unaligned(u64 *io) {
  struct __attribute__((packed)) { u8 a; u32 b; u16 c; u64 d; } p;
  p.a = (u8)io[0];
  p.b = (u32)io[1];
  p.c = (u16)io[0];
  p.d = io[0] ^ io[1];
  io[2] = p.b + p.a;
  io[3] = p.d - p.c;
}
FN t_mix_widths(u64 *io) {
  u8 a = (u8)io[0];
  i8 b = (i8)io[0];
  u16 c = (u16)io[1];
  i16 d = (i16)io[1];
  io[2] = (u64)(i64)(a + b * c - d);
  io[3] = (u64)(i64)(i32)(b << 4) + c;
  io[4] = (u64)(i64)((i32)d * b);
  io[5] = (u16)(a * 257) ^ c;
}

FN f_double(u64 *io) {
  double a = as_double(io[0]), b = as_double(io[1]);
  io[2] = of_double(a + b);
  io[3] = of_double(a - b);
  io[4] = of_double(a * b);
  io[5] = of_double(a / b);
  io[6] = of_double(-a);
  io[7] = of_double(__builtin_fabs(b));
}
FN f_single(u64 *io) {
  float a = as_float((u32)io[0]), b = as_float((u32)io[1]);
  io[2] = of_float(a + b);
  io[3] = of_float(a - b);
  io[4] = of_float(a * b);
  io[5] = of_float(a / b);
  io[6] = of_float(-a);
  io[7] = of_float(__builtin_fabsf(b));
}
FN f_compare(u64 *io) {
  double a = as_double(io[0]), b = as_double(io[1]);
  io[2] = (a < b) | (a <= b) << 1 | (a == b) << 2 | (a > b) << 3 | (a >= b) << 4 | (a != b) << 5;
  io[3] = a < b ? 1 : a > b ? 2 : a == b ? 3 : 4;
  float c = as_float((u32)io[0]), d = as_float((u32)io[1]);
  io[4] = (c < d) | (c <= d) << 1 | (c == d) << 2 | (c > d) << 3 | (c >= d) << 4 | (c != d) << 5;
  io[5] = __builtin_isunordered(a, b) | __builtin_isless(a, b) << 1 | __builtin_islessgreater(c, d) << 2;
}
FN f_convert(u64 *io) {
  i32 n = (i32)io[0];
  u32 m = (u32)io[1];
  io[2] = of_double((double)n);
  io[3] = of_double((double)m);
  io[4] = of_float((float)n);
  io[5] = of_float((float)m);
  io[6] = of_float((float)as_double(io[0]));
  io[7] = of_double((double)as_float((u32)io[1]));
}
FN f_truncate(u64 *io) {
  // What does not fit is undefined in C: inputs are brought into range.
  double a = (double)(i32)io[0] / 65536.0, b = (double)(u32)io[1] / 3.0;
  io[2] = (u64)(i64)(i32)a;
  io[3] = (u32)b;
  io[4] = (u64)(i64)(i32)(float)a;
  io[5] = (u64)(i64)(i16)a;
  io[6] = (u8)(u32)(b / 20000000.0);
}
FN f_polynomial(u64 *io) {
  double x = (double)(i32)io[0] / 1e6, y = 1.5;
  for (int i = 0; i < 5; i++) y = y * x + 0.25 * i;
  io[2] = of_double(y);
  float s = (float)x, t = 0.5f;
  for (int i = 1; i < 6; i++) t += s / (float)i;
  io[3] = of_float(t);
}
HELPER double blend(double a, float b, i32 c, double d, float e) { return a * 2 + b - c + d / 4 + e; }
FN f_arguments(u64 *io) {
  double a = (double)(i32)io[0], b = (double)(i32)io[1];
  io[2] = of_double(blend(a, (float)b, (i32)io[0] >> 3, b * 0.5, 1.25f));
}
FN f_newton(u64 *io) {
  double n = (double)(u32)io[0] + 1, x = n;
  for (int i = 0; i < 12; i++) x = 0.5 * (x + n / x);
  io[2] = of_double(x);
}
FN f_select(u64 *io) {
  double a = as_double(io[0]), b = as_double(io[1]);
  io[2] = of_double(a < b ? a : b);
  io[3] = of_double(a > 0 ? a : 0.0);
  float c = as_float((u32)io[0]);
  io[4] = of_float(c > 1.0f ? 1.0f : c < -1.0f ? -1.0f : c);
}
FN f_array(u64 *io) {
  float v[6];
  for (int i = 0; i < 6; i++) v[i] = (float)(i16)(io[0] >> (8 * i)) * 0.125f;
  float sum = 0, largest = v[0];
  for (int i = 0; i < 6; i++) {
    sum += v[i] * v[5 - i];
    if (v[i] > largest) largest = v[i];
  }
  io[2] = of_float(sum);
  io[3] = of_float(largest);
}

#if defined(__powerpc__) && !defined(__powerpc64__) || defined(__mips__) || defined(__i386__)
// What a 32-bit compiler calls for 64-bit division and shifts.
u64 __udivmoddi4(u64 n, u64 d, u64 *r) {
  u64 q = 0, rest = 0;
  for (int i = 63; i >= 0; i--) {
    rest = rest << 1 | (n >> i & 1);
    q <<= 1;
    if (rest >= d) {
      rest -= d;
      q |= 1;
    }
  }
  *r = rest;
  return q;
}
u64 __udivdi3(u64 n, u64 d) {
  u64 r;
  return __udivmoddi4(n, d, &r);
}
u64 __umoddi3(u64 n, u64 d) {
  u64 r;
  __udivmoddi4(n, d, &r);
  return r;
}
#endif
