/* Compute loops without a C library, so that every emulator can run the same file: -DKERNEL=name picks one. */
typedef unsigned long u64;
typedef unsigned int u32;
typedef unsigned char u8;

/* Hashing with table look-ups: loads, stores, multiplications, a data-dependent select. */
static u64 hash(void) {
    static u32 table[4096];
    u64 h = 1469598103934665603ul;
    for (u64 i = 0; i < 4000000; i++) {
        u32 k = (u32)(h >> 40) & 4095;
        table[k] += (u32)i;
        h = (h ^ table[(k + i) & 4095]) * 1099511628211ul;
        h = h & 1 ? h + i : h ^ h >> 7;
    }
    return h;
}

/* The sieve of Eratosthenes: byte stores at growing strides. */
static u64 sieve(void) {
    enum { N = 2000000 };
    static u8 composite[N + 1];
    u64 count = 0;
    for (u64 i = 2; i <= N; i++) {
        if (composite[i]) continue;
        count++;
        for (u64 j = i * i; j <= N; j += i) composite[j] = 1;
    }
    return count;
}

/* Sorting: branches that cannot be predicted. */
static u64 sort(void) {
    enum { N = 200000 };
    static u32 a[N];
    u32 state = 1;
    for (u32 i = 0; i < N; i++) a[i] = state = state * 1664525u + 1013904223u;
    for (u32 gap = 88573; gap > 0; gap /= 3)
        for (u32 i = gap; i < N; i++) {
            u32 value = a[i], j = i;
            for (; j >= gap && a[j - gap] > value; j -= gap) a[j] = a[j - gap];
            a[j] = value;
        }
    return a[N / 2];
}

/* Calls and returns. */
static __attribute__((noinline)) u64 fibonacci(u64 n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
static u64 calls(void) { return fibonacci(31); }

/* Touching 64 MiB, a byte a page: what a page costs. */
static u64 pages(void) {
    static u8 room[64 << 20];
    for (u64 i = 0; i < sizeof room; i += 4096) room[i] = 1;
    return room[4096 * 5];
}

__attribute__((noreturn)) void finish(u64 value) {
    __asm__ volatile("syscall" : : "a"(231), "D"(value & 0x7f) : "rcx", "r11");
    __builtin_unreachable();
}

void start(void) { finish(KERNEL()); }
__asm__(".globl _start\n_start: call start\n");
