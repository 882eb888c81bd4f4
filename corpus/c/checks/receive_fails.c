// native: the path depends on what code without a model returns
#include <sys/socket.h>
#include <sys/types.h>
int main(void) {
  char buffer[8] = "abc";
  int s = socket(AF_INET, SOCK_STREAM, 0);
  if (s < 0) return 1;
  long got = recv(s, buffer, sizeof buffer - 1, 0);
  if (got < 0) return buffer[0] == 'a' && buffer[2] == 'c' ? 2 : *(volatile char *)0;
  if (got < 3 && buffer[3]) return *(volatile char *)0;
  if (got == 0 && buffer[0] != 'a') return *(volatile char *)0;
  return buffer[got - 1]; //~ out-of-bounds
}
