#include <signal.h>
#include <string.h>
static int *counter;
static void on_signal(int n) { *counter += n; } //~ 
int main(void) {
  struct sigaction a;
  memset(&a, 0, sizeof a);
  a.sa_handler = on_signal;
  sigaction(SIGUSR1, &a, 0);
  raise(SIGUSR1);
  return 0;
}
