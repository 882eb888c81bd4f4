// incomplete
// bounds: unsupported
// Threads are not run: said so by name.
#include <pthread.h>
static int shared;
static void *work(void *unused) {
  (void)unused;
  shared++;
  return 0;
}
int main(void) {
  pthread_t other;
  if (pthread_create(&other, 0, work, 0)) return 1;
  return pthread_join(other, 0);
}
