/* errno, time, and the small things of unistd.h. */
#include "model.h"

static int error_number;
int *__errno_location(void) { return &error_number; }

long time(long *out) {
  long now = __parallax_time();
  if (out) *out = now;
  return now;
}
struct timespec { long seconds, nanoseconds; };
int clock_gettime(int clock, struct timespec *out) {
  (void)clock;
  out->seconds = __parallax_time();
  out->nanoseconds = 0;
  return 0;
}
int gettimeofday(struct timespec *out, void *zone) {
  (void)zone;
  out->seconds = __parallax_time();
  out->nanoseconds = 0;
  return 0;
}
long clock(void) { return 0; }
double difftime(long a, long b) { return (double)(a - b); }
long read(int file, void *bytes, size_t count) { return __parallax_read(file, bytes, count); }
long write(int file, const void *bytes, size_t count) { return __parallax_write(file, bytes, count); }
int close(int file) { return __parallax_close(file); }
unsigned sleep(unsigned seconds) {
  (void)seconds;
  return 0;
}
int usleep(unsigned microseconds) {
  (void)microseconds;
  return 0;
}
int isatty(int file) {
  (void)file;
  return 0;
}
char *setlocale(int category, const char *name) {
  (void)category;
  (void)name;
  return "C";
}
typedef void (*handler)(int);
handler signal(int number, handler action) {
  (void)number;
  (void)action;
  return NULL;
}
