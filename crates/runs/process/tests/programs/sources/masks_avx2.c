// Lanes that a mask leaves out may lie where there is no memory; those that it does not may not.
#pragma GCC target("avx2")
#include <immintrin.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>

static sigjmp_buf back;
static void on_signal(int number) { siglongjmp(back, number); }

static void show(const char *name, __m256i vector) {
    int lanes[8];
    _mm256_storeu_si256((void *)lanes, vector);
    printf("%s", name);
    for (int i = 0; i < 8; i++) printf(" %d", lanes[i]);
    puts("");
}

int main(void) {
    int *page = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap((char *)page + 4096, 4096);
    for (int i = 0; i < 1024; i++) page[i] = i;
    int *end = page + 1024 - 3;
    __m256i three = _mm256_setr_epi32(-1, -1, -1, 0, 0, 0, 0, 0);
    __m256i value = _mm256_maskload_epi32(end, three);
    show("loaded", value);
    _mm256_maskstore_epi32(end, three, _mm256_set1_epi32(77));
    printf("stored %d %d %d\n", end[0], end[1], end[2]);
    _mm256_maskstore_epi32(end + 3, _mm256_setzero_si256(), value);
    __m256i index = _mm256_setr_epi32(1, 2, 3, 100000, 1 << 28, -1000000, 7, 8);
    __m256i mask = _mm256_setr_epi32(-1, -1, -1, 0, 0, 0, -1, -1);
    show("gathered", _mm256_mask_i32gather_epi32(_mm256_set1_epi32(5), page, index, mask, 4));
    signal(SIGSEGV, on_signal);
    for (volatile int round = 0; round < 3; round++) {
        int number = sigsetjmp(back, 1);
        if (number) {
            printf("signal %d in round %d\n", number, round);
        } else if (round == 0) {
            _mm256_maskstore_epi32(end, _mm256_set1_epi32(-1), value), puts("stored");
        } else if (round == 1) {
            show("loaded", _mm256_maskload_epi32(end, _mm256_set1_epi32(-1)));
        } else {
            __m256i far = _mm256_set1_epi32(1 << 28);
            show("gathered", _mm256_i32gather_epi32(page, far, 4));
        }
    }
    return 0;
}
