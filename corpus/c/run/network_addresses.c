/* Addresses as text and back. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
static const char *const texts[] = {
    "1.2.3.4", "0.0.0.0", "255.255.255.255", "256.1.1.1", "1.2.3", "1.2.3.4.5", "01.2.3.4", "1..2.3", "1.2.3.4 ", "", "a.b.c.d",
    "::", "::1", "1::", "fe80::1:2", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1::2::3", ":1", "1:", ":::", "12345::",
    "::ffff:10.0.0.1", "::10.0.0.1", "1:2:3:4:5:6:7.8.9.10", "1:2:3:4:5:6:7:8.9.10.11", "::1.2.3", "ABCD:ef01::", "g::", "1:0:0:2:0:0:0:3",
    "0:0:1:0:0:1:0:0", "::ffff:0:1", "1:2:3:4:5:6:7::", "::2:3:4:5:6:7:8", "1:2:3:4::5:6:7:8", "1::2:3:4:5:6:7:8", "0:0:0:0:0:ffff:1:2", "1:0:2:3:4:5:6:7",
    "::1:2.3.4.5", "1.2.3.4::", "::00001", "1 ::2", "0:0:0:0:0:0:0:2"};
int main(void) {
  for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++) {
    for (int family = AF_INET; family <= AF_INET6; family += AF_INET6 - AF_INET) {
      unsigned char bytes[16] = {0};
      char text[INET6_ADDRSTRLEN], small[9];
      int result = inet_pton(family, texts[i], bytes);
      printf("%s: %d", texts[i], result);
      for (int j = 0; j < 16; j++) printf(" %02x", bytes[j]);
      printf(" %s", inet_ntop(family, bytes, text, sizeof text) ? text : "none");
      errno = 0;
      const char *said = inet_ntop(family, bytes, small, sizeof small);
      printf(" %s %d\n", said ? said : "none", errno);
    }
  }
  errno = 0;
  int result = inet_pton(77, "1.2.3.4", &result);
  printf("%d %d\n", result, errno);
  return 0;
}
