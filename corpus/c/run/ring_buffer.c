#include <stdbool.h>
#include <stdio.h>
#define CAP 4
static int buf[CAP]; static unsigned head, tail;
static bool put(int x) { if (head - tail == CAP) return false; buf[head++ % CAP] = x; return true; }
static bool get(int *x) { if (head == tail) return false; *x = buf[tail++ % CAP]; return true; }
int main(void) { int x, lost = 0; for (int i = 0; i < 20; i++) { if (!put(i)) lost++; if (i % 3 == 0 && get(&x)) printf("%d ", x); } while (get(&x)) printf("%d ", x); printf("lost %d\n", lost); }
