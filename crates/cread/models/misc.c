/* errno, and the small things of unistd.h, signal.h and pthread.h. */
#include "model.h"

static int error_number;
int *__errno_location(void) { return &error_number; }
int klee_get_errno(void) { return error_number; }

unsigned sleep(unsigned seconds) {
  (void)seconds;
  return 0;
}
int usleep(unsigned microseconds) {
  (void)microseconds;
  return 0;
}
int getpid(void) { return 4242; }
int getppid(void) { return 4241; }
char *setlocale(int category, const char *name) {
  (void)category;
  (void)name;
  return "C";
}

/* Handlers are accepted and remembered; only raise calls them. */
typedef void (*handler)(int);
static handler handlers[65];
handler signal(int number, handler action) {
  if (number < 1 || number > 64) {
    errno = EINVAL;
    return (handler)-1L;
  }
  handler before = handlers[number];
  handlers[number] = action;
  return before;
}
struct sigaction {
  handler action;
  unsigned long mask[16];
  int flags;
  void (*restorer)(void);
};
int sigaction(int number, const struct sigaction *new, struct sigaction *old) {
  if (number < 1 || number > 64) {
    errno = EINVAL;
    return -1;
  }
  if (old) {
    memset(old, 0, sizeof *old);
    old->action = handlers[number];
  }
  if (new) handlers[number] = new->action;
  return 0;
}
int sigemptyset(unsigned long *set) {
  memset(set, 0, 128);
  return 0;
}
int sigfillset(unsigned long *set) {
  memset(set, 255, 128);
  return 0;
}
int sigaddset(unsigned long *set, int number) {
  set[0] |= 1UL << (number - 1);
  return 0;
}
int sigprocmask(int how, const unsigned long *new, unsigned long *old) {
  (void)how, (void)new;
  if (old) memset(old, 0, 128);
  return 0;
}
int raise(int number) {
  handler action = number >= 1 && number <= 64 ? handlers[number] : NULL;
  if (action == (handler)1L) return 0;
  if (action) {
    action(number);
    return 0;
  }
  if (number == 17 || number == 18 || number == 23 || number == 28) return 0; /* ignored unless caught */
  if (number == 6) abort();
  exit(128 + number);
}
unsigned alarm(unsigned seconds) {
  (void)seconds;
  return 0;
}

/* One thread: locks are free, and stay so. */
int pthread_mutex_init(void *lock, const void *how) { return (void)lock, (void)how, 0; }
int pthread_mutex_destroy(void *lock) { return (void)lock, 0; }
int pthread_mutex_lock(void *lock) { return (void)lock, 0; }
int pthread_mutex_trylock(void *lock) { return (void)lock, 0; }
int pthread_mutex_unlock(void *lock) { return (void)lock, 0; }
unsigned long pthread_self(void) { return 1; }
