#include <pthread.h>
#include <stddef.h>
static int cell = 4;
static void *work(void *arg) { return arg ? &cell : NULL; }
int main(int argc, char **argv) {
  pthread_t t;
  void *r = &cell;
  pthread_create(&t, NULL, work, argc > 1 ? NULL : argv);
  pthread_join(t, &r);
  return *(int *)r; //~ x
}
