// Loops that compilers turn into vector instructions. Each works on the eight numbers as two arrays of 32 bytes, in the
// byte order of little-endian machines.
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long long i64;

// `t_NAME`: for each pair of elements of type T, the statement.
#define EACH(NAME, T, STATEMENT)                                       \
  void NAME(u64 *io) {                                                 \
    T *a = (T *)io, *b = (T *)(io + 4);                                \
    for (int i = 0; i < (int)(32 / sizeof(T)); i++) { STATEMENT; }     \
  }
// The same with a sum or the like of type S that goes to the front.
#define OVER(NAME, T, S, FIRST, STATEMENT)                             \
  void NAME(u64 *io) {                                                 \
    T *a = (T *)io, *b = (T *)(io + 4);                                \
    S s = FIRST;                                                       \
    for (int i = 0; i < (int)(32 / sizeof(T)); i++) { STATEMENT; }     \
    io[0] = (u64)s;                                                    \
  }

EACH(t_v_add8, u8, a[i] += b[i])
EACH(t_v_add16, u16, a[i] += b[i])
EACH(t_v_add32, u32, a[i] += b[i])
EACH(t_v_add64, u64, a[i] += b[i])
EACH(t_v_sub32, u32, a[i] -= b[i] * 3)
EACH(t_v_mul8, u8, a[i] *= b[i])
EACH(t_v_mul16, u16, a[i] *= b[i])
EACH(t_v_mul64, u64, a[i] *= b[i])
EACH(t_v_mla32, u32, a[i] += b[i] * a[i])
EACH(t_v_max32, i32, a[i] = a[i] > b[i] ? a[i] : b[i])
EACH(t_v_max64, i64, a[i] = a[i] > b[i] ? a[i] : b[i])
EACH(t_v_min8, u8, a[i] = a[i] < b[i] ? a[i] : b[i])
EACH(t_v_min16, i16, a[i] = a[i] < b[i] ? a[i] : b[i])
EACH(t_v_if32, i32, if (b[i] > 5) a[i] = b[i] * 2)
EACH(t_v_ifu32, u32, a[i] = b[i] >= a[i] ? b[i] & 7 : a[i] | 1)
EACH(t_v_eq8, u8, a[i] = a[i] == b[i])
EACH(t_v_test16, u16, a[i] = (a[i] & b[i]) ? 3 : 9)
EACH(t_v_shift32, u32, a[i] = (a[i] << 5) ^ (a[i] >> 7))
EACH(t_v_shift8, i8, a[i] = (a[i] << 3) ^ (a[i] >> 2))
EACH(t_v_shl32, u32, a[i] = a[i] << (b[i] & 31))
EACH(t_v_shr32, i32, a[i] = a[i] >> (b[i] & 31))
EACH(t_v_shr64, u64, a[i] = a[i] >> (b[i] & 63))
EACH(t_v_abs32, i32, a[i] = a[i] < 0 ? -(u32)a[i] : a[i])
EACH(t_v_abs8, i8, a[i] = a[i] < 0 ? -a[i] : a[i])
EACH(t_v_neg64, u64, a[i] = -a[i])
EACH(t_v_not16, u16, a[i] = ~a[i] & b[i])
EACH(t_v_adds8, u8, int s = a[i] + b[i]; a[i] = s > 255 ? 255 : s)
EACH(t_v_subs8, u8, a[i] = a[i] > b[i] ? a[i] - b[i] : 0)
EACH(t_v_adds16, i16, int s = a[i] + b[i]; a[i] = s > 32767 ? 32767 : s < -32768 ? -32768 : s)
EACH(t_v_average8, u8, a[i] = (a[i] + b[i] + 1) >> 1)
EACH(t_v_half8, u8, a[i] = (a[i] + b[i]) >> 1)
EACH(t_v_half16, i16, a[i] = (a[i] + b[i]) >> 1)
EACH(t_v_swap32, u32, a[i] = __builtin_bswap32(b[i]))
EACH(t_v_swap16, u16, a[i] = __builtin_bswap16(b[i]))
EACH(t_v_rotate32, u32, a[i] = a[i] << 13 | a[i] >> 19)
EACH(t_v_rotate64, u64, a[i] = a[i] << 13 | a[i] >> 51)
EACH(t_v_clz32, u32, a[i] = a[i] ? __builtin_clz(a[i]) : 32)
EACH(t_v_popcount32, u32, a[i] = __builtin_popcount(a[i] ^ b[i]))
EACH(t_v_popcount64, u64, a[i] = __builtin_popcountll(a[i] ^ b[i]))
EACH(t_v_div10, u32, a[i] = a[i] / 10)
EACH(t_v_div7, i32, a[i] = a[i] / 7)
EACH(t_v_lower, u8, if (a[i] >= 'A' && a[i] <= 'Z') a[i] |= 32)
EACH(t_v_iota, u32, a[i] = b[0] + i * 3)
EACH(t_v_fill, u16, a[i] = b[3])
OVER(t_v_sum8, u8, u32, 0, s += a[i] + b[i])
OVER(t_v_sums8, i8, i32, 0, s += a[i] - b[i])
OVER(t_v_sum16, i16, i64, 0, s += a[i])
OVER(t_v_sum32, u32, u64, 0, s += a[i])
OVER(t_v_sums32, i32, i64, 0, s += b[i])
OVER(t_v_dot8, u8, u32, 0, s += a[i] * b[i])
OVER(t_v_dots8, i8, i32, 0, s += a[i] * b[i])
OVER(t_v_dot16, i16, i32, 0, s += (u32)(a[i] * b[i]))
OVER(t_v_dot32, u32, u64, 0, s += (u64)a[i] * b[i])
OVER(t_v_largest, i32, i32, a[0], s = a[i] > s ? a[i] : s)
OVER(t_v_largest8, u8, u8, a[0], s = a[i] > s ? a[i] : s)
OVER(t_v_smallest, u16, u16, a[0], s = a[i] < s ? a[i] : s)
OVER(t_v_differences, u8, u32, 0, i32 d = a[i] - b[i]; s += d < 0 ? -d : d)
OVER(t_v_any, u8, u32, 0, s |= a[i] == 7 || b[i] > 250)
OVER(t_v_xor, u32, u32, 1, s ^= a[i] + b[i])
OVER(t_v_bits, u64, u64, 0, s += __builtin_popcountll(a[i]))

void t_v_widen(u64 *io) {
  u32 *a = (u32 *)io; u8 *b = (u8 *)(io + 4);
  for (int i = 0; i < 8; i++) a[i] = b[i];
}
void t_v_widens(u64 *io) {
  i64 *a = (i64 *)io; i16 *b = (i16 *)(io + 4);
  for (int i = 0; i < 4; i++) a[i] = b[i] * 7;
}
void t_v_narrow(u64 *io) {
  u8 *a = (u8 *)io; u32 *b = (u32 *)(io + 4);
  for (int i = 0; i < 8; i++) a[i] = b[i];
}
void t_v_narrows(u64 *io) {
  u16 *a = (u16 *)io; u32 *b = (u32 *)(io + 4);
  for (int i = 0; i < 8; i++) a[i] = b[i] >> 9;
}
void t_v_saturate(u64 *io) {
  u8 *a = (u8 *)io; i16 *b = (i16 *)(io + 4);
  for (int i = 0; i < 16; i++) a[i] = b[i] < 0 ? 0 : b[i] > 255 ? 255 : b[i];
}
void t_v_reverse(u64 *io) {
  u16 *a = (u16 *)io, *b = (u16 *)(io + 4);
  for (int i = 0; i < 16; i++) a[i] = b[15 - i];
}
void t_v_zip(u64 *io) {
  u16 *a = (u16 *)io, *b = (u16 *)(io + 4);
  for (int i = 0; i < 8; i++) { a[2 * i] = b[i]; a[2 * i + 1] = b[i + 8]; }
}
void t_v_pairs(u64 *io) {
  u32 *a = (u32 *)io, *b = (u32 *)(io + 4);
  for (int i = 0; i < 4; i++) a[i] = b[2 * i] + b[2 * i + 1];
}
void t_v_grey(u64 *io) {
  u8 *a = (u8 *)io, *b = (u8 *)(io + 4);
  for (int i = 0; i < 8; i++) a[i] = (b[4 * i] * 3 + b[4 * i + 1] * 5 + b[4 * i + 2]) >> 4;
}
void t_v_convert(u64 *io) {
  float *a = (float *)io; i32 *b = (i32 *)(io + 4);
  for (int i = 0; i < 8; i++) a[i] = b[i];
}
void t_v_convertu(u64 *io) {
  double *a = (double *)io; u32 *b = (u32 *)(io + 4);
  for (int i = 0; i < 4; i++) a[i] = b[i] * 0.5;
}
void t_v_truncate(u64 *io) {
  i32 *a = (i32 *)io, *b = (i32 *)(io + 4);
  for (int i = 0; i < 8; i++) a[i] = (i32)((float)(b[i] >> 8) * 0.37f + 2.5f);
}
void t_v_floats(u64 *io) {
  float *a = (float *)io; i16 *b = (i16 *)(io + 4);
  for (int i = 0; i < 8; i++) a[i] = (b[i] * 1.25f - 3.0f) / (float)(b[i + 8] | 1);
}
void t_v_doubles(u64 *io) {
  double *a = (double *)io; i32 *b = (i32 *)(io + 4);
  for (int i = 0; i < 4; i++) { double d = b[i]; a[i] = d > 0 ? d * d : -d + 0.5; }
}
