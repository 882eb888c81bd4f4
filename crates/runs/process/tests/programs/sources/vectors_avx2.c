// Loops that a compiler makes vectors of, and instructions that it makes of nothing but their names.
#pragma GCC target("avx2,fma,bmi,bmi2,lzcnt,popcnt,f16c,aes,pclmul")
#include <immintrin.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#define LOOP __attribute__((noinline, optimize("O3")))
#define N 103

static uint64_t state = 88172645463325252ull;
static uint64_t next(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static void show(const char *name, const void *data, int bytes) {
    const unsigned char *at = data;
    printf("%s ", name);
    for (int i = bytes - 1; i >= 0; i--) printf("%02x", at[i]);
    puts("");
}

LOOP void scaled_sum(float *y, const float *x, float a) { for (int i = 0; i < N; i++) y[i] += a * x[i]; }
LOOP double product(const double *x, const double *y) { double s = 0; for (int i = 0; i < N; i++) s += x[i] * y[i]; return s; }
LOOP int64_t squares(const int32_t *x) { int64_t s = 0; for (int i = 0; i < N; i++) s += (int64_t)x[i] * x[i]; return s; }
LOOP int gathered(const int *table, const int *index) { int s = 0; for (int i = 0; i < N; i++) s += table[index[i]] ^ i; return s; }
LOOP void where_positive(int *a, const int *b) { for (int i = 0; i < N; i++) if (b[i] > 0) a[i] = b[i] * 3; }
LOOP void averages(uint8_t *a, const uint8_t *b) { for (int i = 0; i < N; i++) a[i] = (a[i] + b[i] + 1) / 2; }
LOOP void shifted(uint32_t *a, const uint32_t *b) { for (int i = 0; i < N; i++) a[i] = (a[i] << (b[i] & 31)) ^ (a[i] >> (b[i] & 7)); }
LOOP void converted(float *f, int *k, const double *d) { for (int i = 0; i < N; i++) { f[i] = (float)d[i]; k[i] = (int)d[i]; } }
LOOP int counted(const uint64_t *x) {
    int s = 0;
    for (int i = 0; i < N; i++) s += __builtin_popcountll(x[i]) + __builtin_ctzll(x[i] | 1ull << 60) + __builtin_clzll(x[i] | 1);
    return s;
}
LOOP int any(const uint32_t *a, const uint32_t *b) {
    int found = 0;
    for (int i = 0; i + 8 <= N; i += 8) {
        __m256i x = _mm256_loadu_si256((const void *)(a + i)), y = _mm256_loadu_si256((const void *)(b + i));
        if (!_mm256_testz_si256(_mm256_cmpgt_epi32(x, y), _mm256_cmpgt_epi32(y, _mm256_set1_epi32(7)))) found++;
    }
    return found;
}

int main(void) {
    float x[N], y[N], f[N];
    double dx[N], dy[N];
    int32_t index[N], table[N], k[N];
    uint8_t b1[N], b2[N];
    uint32_t u1[N], u2[N];
    uint64_t q[N];
    for (int i = 0; i < N; i++) {
        x[i] = (int)next() / 1e5f, y[i] = (int)next() / 3e4f;
        dx[i] = (int)next() / 7.0, dy[i] = (int)next() / 1e3;
        index[i] = next() % N, table[i] = (int)next();
        b1[i] = next(), b2[i] = next(), u1[i] = next(), u2[i] = next(), q[i] = next();
    }
    scaled_sum(y, x, 1.7f), show("scaled sum", y, sizeof y);
    printf("product %.17g\nsquares %lld\n", product(dx, dy), (long long)squares(table));
    printf("gathered %d\n", gathered(table, index));
    where_positive(index, table), show("where positive", index, sizeof index);
    averages(b1, b2), show("averages", b1, sizeof b1);
    shifted(u1, u2), show("shifted", u1, sizeof u1);
    converted(f, k, dx), show("singles", f, sizeof f), show("integers", k, sizeof k);
    printf("counted %d, any %d\n", counted(q), any(u1, u2));

    __m256i a = _mm256_loadu_si256((void *)table), b = _mm256_loadu_si256((void *)(table + 8)), r;
#define INTEGERS(name, value) r = (value), show(name, &r, 32)
    INTEGERS("lanes by number", _mm256_permutevar8x32_epi32(a, b));
    INTEGERS("bytes by number", _mm256_shuffle_epi8(a, b));
    INTEGERS("halves", _mm256_permute2x128_si256(a, b, 0x21));
    INTEGERS("aligned", _mm256_alignr_epi8(a, b, 5));
    INTEGERS("packed", _mm256_packus_epi32(a, b));
    INTEGERS("under a mask", _mm256_maskload_epi32(table, b));
    _mm256_maskstore_epi32(table + 3, b, a), show("stored", table, 80);
    INTEGERS("differences", _mm256_mpsadbw_epu8(a, b, 0x2d));
    INTEGERS("pairs", _mm256_maddubs_epi16(a, b));
    INTEGERS("blended", _mm256_blendv_epi8(a, b, _mm256_slli_epi32(b, 3)));
    printf("signs %x\n", _mm256_movemask_epi8(a));

    __m256 fa = _mm256_loadu_ps(x), fb = _mm256_loadu_ps(y), fr;
#define FLOATS(name, value) fr = (value), show(name, &fr, 32)
    FLOATS("dot", _mm256_dp_ps(fa, fb, 0xb7));
    FLOATS("neighbours", _mm256_hadd_ps(fa, fb));
    FLOATS("compared", _mm256_cmp_ps(fa, fb, _CMP_NLE_UQ));
    FLOATS("fused", _mm256_fmaddsub_ps(fa, fb, fa));
    FLOATS("rounded", _mm256_round_ps(fa, 3));
    FLOATS("roots", _mm256_sqrt_ps(fb));
    FLOATS("halves", _mm256_cvtph_ps(_mm256_cvtps_ph(fa, 0)));

    __m128i c = _mm_loadu_si128((void *)b1), d = _mm_loadu_si128((void *)b2), e;
#define SHORT(name, value) e = (value), show(name, &e, 16)
    SHORT("round of aes", _mm_aesenc_si128(c, d));
    SHORT("key of aes", _mm_aeskeygenassist_si128(c, 7));
    SHORT("polynomials", _mm_clmulepi64_si128(c, d, 0x10));
    printf("bits %llx %llx %llx\n", (long long)_pdep_u64(q[0], q[1]), (long long)_pext_u64(q[2], q[3]), (long long)_bzhi_u64(q[4], 37));
    printf("fused %.9g %.17g\n", fmaf(x[1], x[2], x[3]), fma(dx[1], dx[2], dx[3]));
    return 0;
}
