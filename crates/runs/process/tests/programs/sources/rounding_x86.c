/* Rounding modes, exception flags, flushing to zero and traps of both float units. */
#define _GNU_SOURCE
#include <fenv.h>
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xmmintrin.h>

#pragma STDC FENV_ACCESS ON

static volatile double doubles[] = {1.0, 3.0, -1.0, 0.1, 1e308, 4.9e-324, 2.5, -2.5, 1e-300, 0.0, 7.25e18};
static volatile float floats[] = {1.0f, 3.0f, -0.1f, 1e-38f, 3e38f, 1.4e-45f, 16777217.0f};
static volatile long double longs[] = {1.0L, 3.0L, 0.1L, 1e4932L, 3.6e-4951L, -2.5L};
static volatile long whole[] = {0x7fffffffffffffff, 0x20000000000001, -0x20000000000001};

static void bits(const char *what, const void *value, size_t size)
{
    const unsigned char *bytes = value;
    printf("%s ", what);
    for (size_t i = size; i-- > 0;)
        printf("%02x", bytes[i]);
    printf(" raised %02x\n", fetestexcept(FE_ALL_EXCEPT));
    feclearexcept(FE_ALL_EXCEPT);
}

#define SHOW(expression) do { __typeof__(expression) r = (expression); bits(#expression, &r, sizeof r); } while (0)
#define SHOW10(expression) do { long double r = (expression); bits(#expression, &r, 10); } while (0)

static void all(int mode)
{
    fesetround(mode);
    printf("mode %x %d\n", mode, fegetround());
    feclearexcept(FE_ALL_EXCEPT);
    for (int i = 0; i < 11; i++)
        for (int j = 0; j < 11; j += 3) {
            SHOW(doubles[i] + doubles[j]);
            SHOW(doubles[i] * doubles[j]);
            SHOW(doubles[i] / doubles[j]);
            SHOW((float)(doubles[i] * doubles[j]));
        }
    for (int i = 0; i < 11; i++) {
        SHOW(sqrt(doubles[i]));
        SHOW(rint(doubles[i]));
        SHOW(nearbyint(doubles[i]));
        SHOW(lrint(doubles[i]));
        SHOW((float)doubles[i]);
        SHOW((long)doubles[i]);
    }
    for (int i = 0; i < 7; i++)
        for (int j = 0; j < 7; j += 2) {
            SHOW(floats[i] * floats[j]);
            SHOW(floats[i] - floats[j]);
            SHOW(floats[i] / floats[j]);
        }
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) {
            SHOW10(longs[i] + longs[j]);
            SHOW10(longs[i] * longs[j]);
            SHOW10(longs[i] / longs[j]);
            SHOW((double)(longs[i] * longs[j]));
        }
    for (int i = 0; i < 3; i++) {
        SHOW((double)whole[i]);
        SHOW((float)whole[i]);
        SHOW10((long double)whole[i]);
    }
    printf("%.17g %.21Lg %a\n", doubles[0] / doubles[1], longs[0] / longs[1], doubles[3]);
    fesetround(FE_TONEAREST);
}

static jmp_buf back;
static volatile int code;

static void handler(int signal, siginfo_t *information, void *context)
{
    (void)context;
    code = signal * 100 + information->si_code;
    siglongjmp(back, 1);
}

int main(void)
{
    all(FE_TONEAREST);
    all(FE_UPWARD);
    all(FE_DOWNWARD);
    all(FE_TOWARDZERO);
    /* Flush to zero, denormals are zero. */
    unsigned before = _mm_getcsr();
    _mm_setcsr(before | 0x8040);
    SHOW(doubles[8] * doubles[8]);
    SHOW(doubles[5] + doubles[9]);
    SHOW(doubles[5] * doubles[0]);
    SHOW(floats[3] * floats[2]);
    printf("csr %x\n", _mm_getcsr());
    _mm_setcsr(before);
    /* Precision control of the x87. */
    for (int precision = 0; precision < 4; precision++) {
        unsigned short control;
        if (precision == 1)
            continue;
        __asm__ volatile("fnstcw %0" : "=m"(control));
        unsigned short other = (control & ~0x300) | precision << 8;
        __asm__ volatile("fldcw %0" : : "m"(other));
        SHOW10(longs[0] / longs[1]);
        SHOW10(longs[2] * longs[2]);
        SHOW10(longs[2] + longs[1]);
        __asm__ volatile("fldcw %0" : : "m"(control));
    }
    /* The environment as a whole. */
    fenv_t environment;
    feholdexcept(&environment);
    volatile double third = doubles[0] / doubles[1];
    feupdateenv(&environment);
    printf("updated %02x %d\n", fetestexcept(FE_ALL_EXCEPT), third > 0.3);
    /* Exceptions that are not masked. */
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigaction(SIGFPE, &action, NULL);
    static const int which[] = {FE_DIVBYZERO, FE_INVALID, FE_OVERFLOW, FE_UNDERFLOW, FE_INEXACT};
    for (int i = 0; i < 5; i++) {
        for (int unit = 0; unit < 2; unit++) {
            feclearexcept(FE_ALL_EXCEPT);
            code = 0;
            if (sigsetjmp(back, 1) == 0) {
                feenableexcept(which[i]);
                volatile double d = 0;
                volatile long double l = 0;
                switch (i + 10 * unit) {
                case 0: d = doubles[0] / doubles[9]; break;
                case 1: d = sqrt(doubles[2]); d = doubles[9] / doubles[9]; break;
                case 2: d = doubles[4] * doubles[4]; break;
                case 3: d = doubles[8] * doubles[8]; break;
                case 4: d = doubles[0] / doubles[1]; break;
                case 10: l = longs[0] / (longs[0] - longs[0]); l = l + 1; break;
                case 11: l = (longs[0] - longs[0]) / (longs[1] - longs[1]); l = l + 1; break;
                case 12: l = longs[3] * longs[3]; l = l + 1; break;
                case 13: l = longs[4] / longs[3]; l = l + 1; break;
                default: l = longs[0] / longs[1]; l = l + 1; break;
                }
                (void)d;
                (void)l;
            }
            fedisableexcept(FE_ALL_EXCEPT);
            feclearexcept(FE_ALL_EXCEPT);
            fesetenv(FE_DFL_ENV);
            printf("unmasked %d %d: %d\n", i, unit, code);
        }
    }
    return 0;
}
