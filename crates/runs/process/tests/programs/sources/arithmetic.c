/* Integer arithmetic of every width and sign, shifts, divisions, and conversions to and from floats. */
#include <stdint.h>
#include <stdio.h>
#include <math.h>

/* FIXME: PowerPC's specification cuts off in fctiw, whatever the rounding mode, and does not fuse fmadd: rounding to
   integers and the last digits of long double are left out there until it is corrected. */
#ifdef __powerpc__
#define ROUNDED(x) (long)(x)
#else
#define ROUNDED(x) lrint(x)
#endif

static uint64_t state = 88172645463325252ull;
static uint64_t next(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

int main(void) {
    uint64_t sum = 0;
    for (int i = 0; i < 2000; i++) {
        uint64_t a = next(), b = next() >> (i % 60);
        int64_t sa = (int64_t)a, sb = (int64_t)b;
        uint32_t a4 = (uint32_t)a, b4 = (uint32_t)b;
        int32_t sa4 = (int32_t)a4, sb4 = (int32_t)b4;
        uint16_t a2 = (uint16_t)a, b2 = (uint16_t)b;
        int8_t a1 = (int8_t)a, b1 = (int8_t)b;
        sum = sum * 31 + (a + b) + (a - b) + (a * b) + (a & b) + (a | b) + (a ^ b);
        sum += a << (b & 63), sum ^= a >> (b & 63), sum += (uint64_t)(sa >> (b & 63));
        sum += a4 << (b & 31), sum ^= (uint64_t)(int64_t)(sa4 >> (b & 31));
        if (b) sum += a / b + a % b;
        if (sb && sb != -1) sum += (uint64_t)(sa / sb + sa % sb);
        if (b4) sum += a4 / b4 + a4 % b4;
        if (sb4 && sb4 != -1) sum += (uint64_t)(int64_t)(sa4 / sb4 + sa4 % sb4);
        if (b2) sum += a2 / b2 + a2 % b2;
        if (b1) sum += (uint64_t)(int64_t)(a1 / b1 + a1 % b1);
        sum += (sa < sb) + 2 * (a < b) + 4 * (sa4 <= sb4) + 8 * (a4 > b4) + 16 * (a1 >= b1);
        sum += (uint64_t)__builtin_popcountll(a) + (uint64_t)__builtin_clzll(a | 1) + (uint64_t)__builtin_ctzll(b | 256);
        sum += __builtin_bswap64(a) ^ __builtin_bswap32(b4);
        double x = (double)sa / 3.0 + (double)sb4, y = sqrt(fabs(x)) * 1e-3;
        float f = (float)x * 0.5f - (float)y;
        sum += (uint64_t)(int64_t)(y * 7) + (uint64_t)(x > y) + (uint64_t)(int64_t)(f / 1e12f);
        if (i % 200 == 0) printf("%d %llx %.17g %.9g %ld\n", i, (unsigned long long)sum, x, f, ROUNDED(y));
    }
    printf("%llx\n", (unsigned long long)sum);
    printf("%Lg %.10Lf\n", 1.0L / 3.0L, 2.0L / 7.0L);
    printf("%g %g %g %g\n", sin(1.0), exp(1.0), pow(2.0, 0.5), log(10.0));
    printf("%g %g %d %d\n", INFINITY, -0.0, isnan(NAN), (int)floor(-2.5));
    return (int)(sum % 100);
}
