#include <stdio.h>
#include <stdlib.h>
int main(void) {
  /* Nothing here talks to anybody: only conversions. */
  extern unsigned short htons(unsigned short);
  extern unsigned htonl(unsigned);
  extern unsigned inet_addr(const char *);
  printf("%x %x %x\n", htons(0x1234), htonl(0x12345678), inet_addr("127.0.0.1"));
  printf("%x\n", inet_addr("1.2.3"));
  return 0;
}
