/* Sockets: nobody is known at the other end, so what it says is anything. */
#include "model.h"

static int number(const char *what) {
  int result = (int)__parallax_unknown(what);
  klee_assume(result >= -1);
  return result;
}
static int zero_or_failed(const char *what) {
  int result = (int)__parallax_unknown(what);
  klee_assume((result == 0) | (result == -1));
  return result;
}
/* At most `count`, and -1 for a failure. */
static ssize_t some(const char *what, size_t count) {
  long result = __parallax_unknown(what);
  klee_assume((result >= -1) & (result <= (long)count));
  return result;
}
int socket(int domain, int type, int protocol) { return (void)domain, (void)type, (void)protocol, number("socket"); }
int accept(int file, void *address, unsigned *size) { return (void)file, (void)address, (void)size, number("accept"); }
int connect(int file, const void *address, unsigned size) {
  return (void)file, (void)address, (void)size, zero_or_failed("connect");
}
int bind(int file, const void *address, unsigned size) { return (void)file, (void)address, (void)size, zero_or_failed("bind"); }
int listen(int file, int count) { return (void)file, (void)count, zero_or_failed("listen"); }
int shutdown(int file, int how) { return (void)file, (void)how, zero_or_failed("shutdown"); }
int setsockopt(int file, int level, int name, const void *value, unsigned size) {
  return (void)file, (void)level, (void)name, (void)value, (void)size, zero_or_failed("setsockopt");
}
ssize_t recv(int file, void *bytes, size_t count, int flags) {
  (void)file, (void)flags;
  __parallax_forget(bytes, count);
  return some("recv", count);
}
ssize_t recvfrom(int file, void *bytes, size_t count, int flags, void *address, unsigned *size) {
  (void)address, (void)size;
  return recv(file, bytes, count, flags);
}
ssize_t send(int file, const void *bytes, size_t count, int flags) {
  (void)file, (void)bytes, (void)flags;
  return some("send", count);
}
ssize_t sendto(int file, const void *bytes, size_t count, int flags, const void *address, unsigned size) {
  (void)address, (void)size;
  return send(file, bytes, count, flags);
}
unsigned short htons(unsigned short value) { return __builtin_bswap16(value); }
unsigned short ntohs(unsigned short value) { return __builtin_bswap16(value); }
unsigned htonl(unsigned value) { return __builtin_bswap32(value); }
unsigned ntohl(unsigned value) { return __builtin_bswap32(value); }
unsigned inet_addr(const char *text) {
  unsigned result = 0;
  for (int part = 0; part < 4; part++) {
    unsigned value = 0, digits = 0;
    while (isdigit((unsigned char)*text)) value = value * 10 + (unsigned)(*text++ - '0'), digits++;
    if (!digits || value > 255 || (part < 3 ? *text++ != '.' : *text != 0)) return ~0u;
    result |= value << (8 * part);
  }
  return result;
}
