// Variables that the program sets, replaces and takes away; signals that it raises.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static volatile sig_atomic_t seen;
static void note(int number) { seen += number; }
static const char *shown(const char *name) { return getenv(name) ? getenv(name) : "(none)"; }
int main(void) {
  setenv("PARALLAX_ONE", "1", 0);
  setenv("PARALLAX_ONE", "2", 0);
  puts(shown("PARALLAX_ONE"));
  setenv("PARALLAX_ONE", "3", 1);
  puts(shown("PARALLAX_ONE"));
  static char pair[] = "PARALLAX_TWO=x=y";
  putenv(pair);
  puts(shown("PARALLAX_TWO"));
  unsetenv("PARALLAX_ONE");
  puts(shown("PARALLAX_ONE"));
  printf("%d %s\n", setenv("a=b", "c", 1), shown("PARALLAX_NOT_SET_ANYWHERE"));
  signal(SIGUSR1, note);
  raise(SIGUSR1);
  struct sigaction action = {0}, old;
  action.sa_handler = note;
  sigemptyset(&action.sa_mask);
  sigaction(SIGTERM, &action, &old);
  raise(SIGTERM);
  signal(SIGINT, SIG_IGN);
  raise(SIGINT);
  printf("%d %d\n", seen == SIGUSR1 + SIGTERM, old.sa_handler == SIG_DFL);
  return 0;
}
