// finds: out-of-bounds
// bounds: stands-in
// with: part_show.c
// What comes from a socket can be anything.
#include "show.h"
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>
int main(void) {
  char got[5];
  int table[4] = {0};
  int s = socket(AF_INET, SOCK_STREAM, 0);
  if (s < 0) return 1;
  ssize_t n = recv(s, got, sizeof got - 1, 0);
  if (n <= 0) return 1;
  got[n] = 0;
  if (got[0] >= '0' && got[0] <= '9') table[got[0] - '0']++; //~ out-of-bounds
  close(s);
  return table[0];
}
