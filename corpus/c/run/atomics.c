#include <stdatomic.h>
#include <stdio.h>
static atomic_int counter; static _Atomic long big = 5;
int main(void) { for (int i = 0; i < 10; i++) atomic_fetch_add(&counter, i); int want = 45; _Bool ok = atomic_compare_exchange_strong(&counter, &want, 100); printf("%d %d %d\n", ok, atomic_load(&counter), want); want = 3; ok = atomic_compare_exchange_strong(&counter, &want, 0); printf("%d %d\n", ok, want); big *= 7; atomic_fetch_or(&counter, 3); printf("%ld %d %d\n", big, atomic_exchange(&counter, 1), counter); atomic_thread_fence(memory_order_seq_cst); }
