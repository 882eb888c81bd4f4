#include <pthread.h>
#include <stddef.h>
struct job { int n; };
static void *work(void *arg) { struct job *j = arg; j->n++; return NULL; } //~ x
static void *idle(void *arg) { return arg; }
int main(int argc, char **argv) {
  pthread_t t;
  struct job j = { 0 };
  pthread_create(&t, NULL, idle, NULL);
  pthread_join(t, NULL);
  pthread_create(&t, NULL, work, argc > 1 ? NULL : &j);
  pthread_join(t, NULL);
  return 0;
}
