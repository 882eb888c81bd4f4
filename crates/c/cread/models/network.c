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
  /* Bytes beyond what came stay what they were, and all of them when nothing did. */
  ssize_t got = some("recv", count);
  __parallax_forget(bytes, count, got < 0 ? 0 : (size_t)got);
  return got;
}
ssize_t recvfrom(int file, void *bytes, size_t count, int flags, void *address, unsigned *size) {
  ssize_t got = recv(file, bytes, count, flags);
  /* Who sent it is anybody; its address fits, and is said only when something came. */
  if (got >= 0 && address && size) __parallax_forget(address, *size, *size);
  return got;
}
ssize_t send(int file, const void *bytes, size_t count, int flags) {
  (void)file, (void)bytes, (void)flags;
  return some("send", count);
}
ssize_t sendto(int file, const void *bytes, size_t count, int flags, const void *address, unsigned size) {
  (void)address, (void)size;
  return send(file, bytes, count, flags);
}
struct iovec {
  void *base;
  size_t length;
};
struct msghdr {
  void *name;
  unsigned name_length;
  struct iovec *parts;
  size_t count;
  void *control;
  size_t control_length;
  int flags;
};
ssize_t recvmsg(int file, struct msghdr *message, int flags) {
  size_t room = 0;
  for (size_t i = 0; i < message->count; i++) room += message->parts[i].length;
  ssize_t got = some("recvmsg", room);
  (void)file, (void)flags;
  size_t left = got < 0 ? 0 : (size_t)got;
  for (size_t i = 0; i < message->count; i++) {
    size_t here = left < message->parts[i].length ? left : message->parts[i].length;
    __parallax_forget(message->parts[i].base, message->parts[i].length, here);
    left -= here;
  }
  return got;
}
ssize_t sendmsg(int file, const struct msghdr *message, int flags) {
  (void)file, (void)flags;
  size_t room = 0;
  for (size_t i = 0; i < message->count; i++) room += message->parts[i].length;
  return some("sendmsg", room);
}
unsigned short htons(unsigned short value) { return __builtin_bswap16(value); }
unsigned short ntohs(unsigned short value) { return __builtin_bswap16(value); }
unsigned htonl(unsigned value) { return __builtin_bswap32(value); }
unsigned ntohl(unsigned value) { return __builtin_bswap32(value); }
/* One to four numbers, decimal, octal or hexadecimal; the last fills the bytes that are left. */
unsigned long strtoul(const char *s, char **rest, int base);
int inet_aton(const char *text, unsigned *out) {
  unsigned result = 0;
  for (int part = 0; part < 4; part++) {
    if (!isdigit((unsigned char)*text)) return 0;
    char *rest;
    unsigned long value = strtoul(text, &rest, 0);
    text = rest;
    if (*text != '.') {
      if ((*text && !isspace((unsigned char)*text)) || value >> (8 * (4 - part))) return 0;
      if (out) *out = htonl(result | (unsigned)value);
      return 1;
    }
    if (value > 255 || part == 3) return 0;
    result |= (unsigned)value << (24 - 8 * part);
    text++;
  }
  return 0;
}
unsigned inet_addr(const char *text) {
  unsigned result;
  return inet_aton(text, &result) ? result : ~0u;
}

int sprintf(char *out, const char *text, ...);
enum { IPV4 = 2, IPV6 = 10, EAFNOSUPPORT = 97 };
/* Four decimal numbers without leading zeros, and nothing else. */
static int four_numbers(const char *text, unsigned char *out) {
  unsigned char bytes[4];
  for (int part = 0; part < 4; part++) {
    unsigned value = 0;
    int digits = 0;
    for (; isdigit((unsigned char)*text); text++, digits++) {
      if (digits && !value) return 0;
      value = value * 10 + (unsigned)(*text - '0');
      if (value > 255) return 0;
    }
    if (!digits || *text != (part < 3 ? '.' : 0)) return 0;
    text++;
    bytes[part] = (unsigned char)value;
  }
  memcpy(out, bytes, 4);
  return 1;
}
static int digit_of(char c) {
  return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}
/* Eight groups of up to four hexadecimal digits, the last two perhaps as four decimal numbers; "::" is as many zeros as are missing. */
static int eight_groups(const char *text, unsigned char *out) {
  unsigned char bytes[16] = {0};
  int at = 0, gap = -1;
  if (*text == ':' && *++text != ':') return 0;
  while (*text) {
    if (*text == ':') {
      if (gap >= 0) return 0;
      gap = at;
      text++;
      continue;
    }
    const char *group = text;
    unsigned value = 0;
    int digits = 0;
    for (; digit_of(*text) >= 0; text++) {
      if (++digits > 4) return 0;
      value = value << 4 | (unsigned)digit_of(*text);
    }
    if (*text == '.' && at <= 12) {
      if (!four_numbers(group, bytes + at)) return 0;
      at += 4;
      break;
    }
    if (!digits || at > 14) return 0;
    bytes[at++] = (unsigned char)(value >> 8);
    bytes[at++] = (unsigned char)value;
    if (!*text) break;
    if (*text++ != ':' || !*text) return 0;
  }
  if (gap >= 0 ? at == 16 : at != 16) return 0;
  if (gap >= 0) {
    int behind = at - gap;
    for (int i = 1; i <= behind; i++) bytes[16 - i] = bytes[at - i];
    for (int i = gap; i < 16 - behind; i++) bytes[i] = 0;
  }
  memcpy(out, bytes, 16);
  return 1;
}
int inet_pton(int family, const char *text, void *out) {
  if (family == IPV4) return four_numbers(text, out);
  if (family == IPV6) return eight_groups(text, out);
  errno = EAFNOSUPPORT;
  return -1;
}
const char *inet_ntop(int family, const void *address, char *out, unsigned room) {
  const unsigned char *in = address;
  char text[48];
  size_t n = 0;
  if (family == IPV4) {
    n = (size_t)sprintf(text, "%u.%u.%u.%u", in[0], in[1], in[2], in[3]);
  } else if (family == IPV6) {
    /* The first of the longest runs of zeros is left out. */
    int start = -1, longest = 1;
    for (int i = 0; i < 8; i++) {
      int run = 0;
      while (i + run < 8 && !in[2 * (i + run)] && !in[2 * (i + run) + 1]) run++;
      if (run > longest) start = i, longest = run;
      if (run) i += run - 1;
    }
    int mapped = !start && (longest == 6 || (longest == 5 && in[10] == 255 && in[11] == 255));
    for (int i = 0; i < 8; i++) {
      if (start >= 0 && i == start) {
        text[n++] = ':';
        i += longest - 1;
        if (i == 7) text[n++] = ':';
        continue;
      }
      if (i) text[n++] = ':';
      if (i == 6 && mapped) {
        n += (size_t)sprintf(text + n, "%u.%u.%u.%u", in[12], in[13], in[14], in[15]);
        break;
      }
      n += (size_t)sprintf(text + n, "%x", (unsigned)(in[2 * i] << 8 | in[2 * i + 1]));
    }
    text[n] = 0;
  } else {
    errno = EAFNOSUPPORT;
    return NULL;
  }
  if (n >= room) {
    errno = 28; /* ENOSPC */
    return NULL;
  }
  memcpy(out, text, n + 1);
  return out;
}
