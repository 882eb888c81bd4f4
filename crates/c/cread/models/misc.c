/* errno, and the small things of unistd.h, signal.h and pthread.h. */
#include "model.h"

void _exit(int status) __attribute__((noreturn));

/* The machine sets it where malloc gives null. */
static int __parallax_errno;
int *__errno_location(void) { return &__parallax_errno; }
int klee_get_errno(void) { return __parallax_errno; }

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

/* Signals come from raise and from kill of the program itself: at once, or when the mask lets them through. */
typedef void (*handler)(int);
struct sigaction {
  handler action;
  unsigned long mask[16];
  int flags;
  void (*restorer)(void);
};
enum { SIGNALS = 65, KILLS = 9, STOPS = 19, WITH_INFORMATION = 4, RESTARTS = 0x10000000, NOT_DEFERRED = 0x40000000 };
#define ONCE 0x80000000u
#define IGNORED ((handler)1L)
static struct sigaction actions[SIGNALS];
static unsigned long blocked, pending[2];
static int is_signal(int number) { return number >= 1 && number < SIGNALS; }
static unsigned long bit(int number) { return 1UL << (number - 1); }
static int is_ignored(int number) {
  return actions[number].action == IGNORED || (!actions[number].action && (number == 17 || number == 18 || number == 23 || number == 28));
}
/* The signal that is delivered next, the lowest of those from raise before those from kill; 0 for none. */
static int next_signal(void) {
  for (int from = 0; from < 2; from++)
    if (pending[from] & ~blocked) {
      int number = 1;
      while (!(pending[from] & ~blocked & bit(number))) number++;
      pending[from] &= ~bit(number);
      return number;
    }
  return 0;
}
/* Delivers what is pending and not blocked. As in the kernel, every one of them enters its handler before the first has run. */
static void let_through(void) {
  for (int number; (number = next_signal());) {
    if (is_ignored(number)) continue;
    struct sigaction action = actions[number];
    if (!action.action) {
      if (number == 6) abort();
      _exit(128 + number); /* without what atexit was given */
    }
    if (action.flags & ONCE) actions[number].action = NULL;
    unsigned long before = blocked;
    blocked |= action.mask[0];
    if (!(action.flags & NOT_DEFERRED)) blocked |= bit(number);
    let_through();
    if (action.flags & WITH_INFORMATION) {
      int information[32];
      char context[968];
      memset(information, 0, sizeof information);
      memset(context, 0, sizeof context);
      information[0] = number, information[2] = -6, information[4] = 4242;
      ((void (*)(int, void *, void *))action.action)(number, information, context);
    } else {
      action.action(number);
    }
    blocked = before;
  }
}
static int sent(int number, int from) {
  if (is_ignored(number) && !(blocked & bit(number))) return 0;
  pending[from] |= bit(number);
  let_through();
  return 0;
}
int raise(int number) { return is_signal(number) ? sent(number, 0) : (errno = EINVAL, -1); }
int kill(int process, int number) {
  if (number < 0 || number >= SIGNALS) return errno = EINVAL, -1;
  if (process != getpid() && process != 0 && process != -getpid()) return errno = 3, -1;
  return number ? sent(number, 1) : 0;
}
static void set_action(int number, const struct sigaction *new) {
  actions[number] = *new;
  actions[number].mask[0] &= ~(bit(KILLS) | bit(STOPS));
  if (is_ignored(number)) pending[0] &= ~bit(number), pending[1] &= ~bit(number);
}
int sigaction(int number, const struct sigaction *new, struct sigaction *old) {
  if (!is_signal(number) || ((number == KILLS || number == STOPS) && new) || number == 32 || number == 33) return errno = EINVAL, -1;
  struct sigaction before = actions[number];
  if (new) set_action(number, new);
  if (old) *old = before;
  return 0;
}
handler signal(int number, handler action) {
  struct sigaction new = {action, {0}, RESTARTS, NULL}, old;
  if (!is_signal(number) || action == (handler)-1L) return errno = EINVAL, (handler)-1L;
  new.mask[0] = bit(number);
  return sigaction(number, &new, &old) < 0 ? (handler)-1L : old.action;
}
int sigemptyset(unsigned long *set) {
  memset(set, 0, 128);
  return 0;
}
int sigfillset(unsigned long *set) {
  memset(set, 255, 128);
  set[0] &= ~(bit(32) | bit(33)); /* the C library's own */
  return 0;
}
int sigaddset(unsigned long *set, int number) {
  if (!is_signal(number) || number == 32 || number == 33) return errno = EINVAL, -1;
  set[0] |= bit(number);
  return 0;
}
int sigdelset(unsigned long *set, int number) {
  if (!is_signal(number) || number == 32 || number == 33) return errno = EINVAL, -1;
  set[0] &= ~bit(number);
  return 0;
}
int sigismember(const unsigned long *set, int number) {
  if (!is_signal(number)) return errno = EINVAL, -1;
  return (set[0] & bit(number)) != 0;
}
int sigprocmask(int how, const unsigned long *new, unsigned long *old) {
  unsigned long before = blocked, given = new ? new[0] & ~(bit(KILLS) | bit(STOPS)) : 0;
  if (new && (how < 0 || how > 2)) return errno = EINVAL, -1;
  if (new) blocked = how == 0 ? blocked | given : how == 1 ? blocked & ~given : given;
  if (old) memset(old, 0, 128), old[0] = before;
  let_through();
  return 0;
}
int pthread_sigmask(int how, const unsigned long *new, unsigned long *old) {
  int kept = errno, result = sigprocmask(how, new, old) < 0 ? errno : 0;
  errno = kept;
  return result;
}
int sigpending(unsigned long *set) {
  memset(set, 0, 128);
  set[0] = (pending[0] | pending[1]) & blocked;
  return 0;
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
