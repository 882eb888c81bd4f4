// Functions that only 64-bit processors do without the help of a library.
#include "common.c"

FN w_div(u64 *io) {
  u64 a = io[0], b = io[1] ? io[1] : 9;
  i64 sa = (i64)a, sb = (i64)b == -1 ? 4 : (i64)b;
  io[2] = a / b;
  io[3] = a % b;
  io[4] = (u64)(sa / sb);
  io[5] = (u64)(sa % sb);
  io[6] = a / 1000;
  io[7] = (u64)(sa / -13);
}
FN w_mul_high(u64 *io) {
  io[2] = (u64)(((unsigned __int128)io[0] * io[1]) >> 64);
  io[3] = (u64)(((__int128)(i64)io[0] * (i64)io[1]) >> 64);
}
FN w_add_wide(u64 *io) {
  unsigned __int128 a = (unsigned __int128)io[0] << 64 | io[1], b = (unsigned __int128)io[1] << 64 | io[0];
  unsigned __int128 sum = a + b * 3;
  io[2] = (u64)sum;
  io[3] = (u64)(sum >> 64);
  io[4] = a < b;
}
FN w_convert(u64 *io) {
  io[2] = of_double((double)(i64)io[0]);
  io[3] = of_double((double)io[1]);
  io[4] = of_float((float)(i64)io[0]);
  io[5] = of_float((float)io[1]);
  double d = (double)(i64)io[0] / 1024;
  io[6] = (u64)(i64)d;
  io[7] = (u64)((double)io[1] / 2);
}
FN w_square_root(u64 *io) {
  io[2] = of_double(__builtin_sqrt(as_double(io[0])));
  io[3] = of_float(__builtin_sqrtf(as_float((u32)io[1])));
}
FN w_popcount(u64 *io) {
  io[2] = __builtin_popcountll(io[0]);
  io[3] = __builtin_bitreverse64(io[1]);
  io[4] = io[0] & -io[0];
  io[5] = io[0] & (io[0] - 1);
}
