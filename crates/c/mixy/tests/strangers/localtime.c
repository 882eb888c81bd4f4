#include <time.h>
#include <limits.h>
int main(int argc, char **argv) {
  time_t t = argc > 1 ? LONG_MAX : 0;
  struct tm *tm = localtime(&t);
  return tm->tm_year == 3; //~ x
}
