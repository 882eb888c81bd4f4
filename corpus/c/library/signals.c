// args: 1 60
// signal.h: sequences of handlers, masks and signals that a program sends to itself.
#define _GNU_SOURCE
#include "probe.h"
#include <signal.h>
#include <unistd.h>
static const int numbers[] = {SIGUSR1, SIGUSR2, SIGTERM, SIGCHLD, SIGWINCH};
static int inside;
static sigset_t now;
static void shown(const sigset_t *set) {
  for (int i = 0; i < 5; i++) putchar('0' + sigismember(set, numbers[i]));
}
/* Whether the program lives on if the signal is sent: one that is handled once must not come a second time. */
static int is_safe(int number) {
  struct sigaction old;
  sigset_t mask;
  sigaction(number, NULL, &old);
  sigprocmask(SIG_BLOCK, NULL, &mask);
  if (old.sa_handler == SIG_DFL) return number == SIGCHLD || number == SIGWINCH;
  return !(old.sa_flags & SA_RESETHAND) || !sigismember(&mask, number);
}
static void handler(int number) {
  sigprocmask(SIG_BLOCK, NULL, &now);
  printf("[%d ", number), shown(&now), printf("]");
  if (inside++ < 1 && number == SIGUSR1 && is_safe(SIGUSR2)) raise(SIGUSR2);
  inside--;
}
static void informed(int number, siginfo_t *info, void *context) {
  printf("{%d %d %d}", number, info->si_signo, context != NULL);
}
static void is(void (*action)(int)) { printf(action == SIG_DFL ? "default" : action == SIG_IGN ? "ignored" : action == SIG_ERR ? "error" : "handled"); }
int main(int count, char **words) {
  for (unsigned n = rounds(count, words); n; n--) {
    int number = numbers[below(5)];
    printf("%d: ", number);
    errno = 0;
    switch (below(9)) {
    case 0: is(signal(number, below(2) ? handler : SIG_IGN)); break;
    case 1:
    case 2: {
      struct sigaction new, old;
      memset(&new, 0, sizeof new);
      new.sa_handler = below(4) ? handler : SIG_IGN;
      sigemptyset(&new.sa_mask);
      for (int i = 0; i < 5; i++) if (below(3) == 0) sigaddset(&new.sa_mask, numbers[i]);
      static const int flags[] = {0, SA_RESETHAND, SA_NODEFER, SA_RESTART, SA_SIGINFO, SA_RESETHAND | SA_NODEFER};
      new.sa_flags = flags[below(6)];
      sigset_t waiting;
      sigpending(&waiting);
      if (sigismember(&waiting, number)) new.sa_flags &= ~(int)SA_RESETHAND;
      if (new.sa_flags & SA_SIGINFO) new.sa_sigaction = informed;
      printf("%x %d ", (unsigned)new.sa_flags, sigaction(number, &new, &old));
      is(old.sa_handler), printf(" %x ", (unsigned)old.sa_flags & ~0x04000000u), shown(&old.sa_mask);
      break;
    }
    case 3: {
      sigset_t set, old;
      sigemptyset(&set);
      for (int i = 0; i < 5; i++) if (below(2)) sigaddset(&set, numbers[i]);
      int how = below(5) ? (int)below(3) : 7;
      printf("mask %d ", how), shown(&set);
      printf(" %d", sigprocmask(how, &set, &old));
      if (how != 7) putchar(' '), shown(&old);
      break;
    }
    case 4: {
      sigset_t set;
      sigemptyset(&set);
      printf("pending %d ", sigpending(&set)), shown(&set);
      break;
    }
    case 5: {
      sigset_t set;
      sigfillset(&set);
      printf("%d %d %d", sigdelset(&set, number), sigismember(&set, number), sigismember(&set, SIGKILL));
      printf(" %d %d", sigaddset(&set, 0), sigismember(&set, 70));
      printf(" %d %d", sigaction(SIGKILL, NULL, NULL), signal(70, handler) == SIG_ERR);
      break;
    }
    default: {
      if (is_safe(number)) printf("raise %d", below(2) ? raise(number) : kill(getpid(), number));
    }
    }
    printf(" %d\n", errno);
  }
  sigset_t none;
  sigemptyset(&none);
  for (int i = 0; i < 5; i++) signal(numbers[i], handler);
  sigprocmask(SIG_SETMASK, &none, NULL);
  printf("\n");
  return 0;
}
