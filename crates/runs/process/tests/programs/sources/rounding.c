/* Rounding modes, exception flags and traps through the C library, on doubles and floats. */
#define _GNU_SOURCE
#include <fenv.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#pragma STDC FENV_ACCESS ON

static volatile double doubles[] = {1.0, 3.0, -1.0, 0.1, 1e308, 4.9e-324, 2.5, -2.5, 1e-300, 0.0, 7.25e18};
static volatile float floats[] = {1.0f, 3.0f, -0.1f, 1e-38f, 3e38f, 1.4e-45f, 16777216.0f};
static const struct { const char *name; int mode; } modes[] = {
    {"nearest", FE_TONEAREST}, {"up", FE_UPWARD}, {"down", FE_DOWNWARD}, {"zero", FE_TOWARDZERO}};
static const struct { const char *name; int flag; } flags[] = {
    {" invalid", FE_INVALID}, {" divide", FE_DIVBYZERO}, {" over", FE_OVERFLOW}, {" under", FE_UNDERFLOW},
    {" inexact", FE_INEXACT}};

static void raised(void)
{
    int all = fetestexcept(FE_ALL_EXCEPT);
    for (int i = 0; i < 5; i++)
        if (all & flags[i].flag)
            fputs(flags[i].name, stdout);
    putchar('\n');
    feclearexcept(FE_ALL_EXCEPT);
}

static void number(const char *what, double value)
{
    int mode = fegetround(), all = fetestexcept(FE_ALL_EXCEPT);
    unsigned long long bits;
    memcpy(&bits, &value, 8);
    /* What is not a number may have either sign. */
    printf("%s %016llx %.5g %.17g %a", what, isnan(value) ? 1ull : bits, value, value, value);
    feclearexcept(FE_ALL_EXCEPT);
    feraiseexcept(all);
    fesetround(mode);
    raised();
}

static void compute(void)
{
    for (int i = 0; i < 11; i++)
        for (int j = 0; j < 11; j += 2) {
            number("+", doubles[i] + doubles[j]);
            number("-", doubles[i] - doubles[j]);
            number("*", doubles[i] * doubles[j]);
            number("/", doubles[i] / doubles[j]);
            number("fma", fma(doubles[i], doubles[j], doubles[(i + j) % 11]));
            number("less", doubles[i] < doubles[j]);
        }
    for (int i = 0; i < 7; i++)
        for (int j = 0; j < 7; j++) {
            number("+f", floats[i] + floats[j]);
            number("*f", floats[i] * floats[j]);
            number("/f", floats[i] / floats[j]);
        }
    for (int i = 0; i < 11; i++) {
        number("sqrt", sqrt(doubles[i]));
        number("rint", rint(doubles[i]));
        number("floor", floor(doubles[i]));
        number("single", (float)doubles[i]);
        if (fabs(doubles[i]) < 1e9) {
            number("int", (int)doubles[i]);
            number("lrint", lrint(doubles[i]));
        }
    }
    number("strtod", strtod("0.1234567890123456789", 0));
}

static sigjmp_buf out;
static volatile int code;

static void stopped(int signal, siginfo_t *information, void *context)
{
    (void)context;
    code = information->si_code;
    siglongjmp(out, signal);
}

/* The library's way uses an instruction that QEMU refuses on processors that would execute it. */
static void enable(int flag)
{
#ifdef __powerpc__
    prctl(PR_SET_FPEXC, PR_FP_EXC_PRECISE);
    __asm__ volatile("mtfsfi 6, 0\n mtfsb0 28");
    if (flag & FE_INVALID) __asm__ volatile("mtfsb1 24");
    if (flag & FE_OVERFLOW) __asm__ volatile("mtfsb1 25");
    if (flag & FE_DIVBYZERO) __asm__ volatile("mtfsb1 27");
    if (flag & FE_INEXACT) __asm__ volatile("mtfsb1 28");
#else
    fedisableexcept(FE_ALL_EXCEPT);
    feenableexcept(flag);
#endif
}

static void trap(const char *what, int flag, volatile double *a, volatile double *b)
{
    volatile double result = 123;
    feclearexcept(FE_ALL_EXCEPT);
    enable(flag);
    if (sigsetjmp(out, 1) == 0) {
        result = *a / *b;
        printf("%s: no signal, %g\n", what, result);
    } else {
        /* Linux tells what is invalid by one code, QEMU by several. */
        printf("%s: code %d\n", what, flag == FE_INVALID ? 0 : code);
    }
    enable(0);
}

int main(void)
{
    for (int i = 0; i < 4; i++) {
        fesetround(modes[i].mode);
        printf("== %s %d\n", modes[i].name, fegetround() == modes[i].mode);
        feclearexcept(FE_ALL_EXCEPT);
        compute();
    }
    fesetround(FE_TONEAREST);
    fenv_t saved;
    feholdexcept(&saved);
    number("held", doubles[0] / doubles[9]);
    feraiseexcept(FE_OVERFLOW);
    feupdateenv(&saved);
    raised();
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = stopped;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGFPE, &action, 0);
    trap("divide", FE_DIVBYZERO, &doubles[0], &doubles[9]);
    static volatile double infinite = INFINITY;
    trap("invalid", FE_INVALID, &infinite, &infinite);
    trap("overflow", FE_OVERFLOW, &doubles[4], &doubles[3]);
    trap("exact", FE_INEXACT, &doubles[1], &doubles[0]);
    return 0;
}
