#include <stddef.h>
struct s { struct s *peer; int n; };
static void unlink_peer(struct s *x) { if (x->peer) { x->peer->peer = NULL; x->peer = NULL; } }
int main(int argc, char **argv) {
  struct s a = { NULL, 1 }, b = { &a, 2 };
  a.peer = &b;
  if (a.peer) {
    unlink_peer(&b);
    return a.peer->n; //~ 
  }
  return 0;
}
