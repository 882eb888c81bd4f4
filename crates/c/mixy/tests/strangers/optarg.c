#include <unistd.h>
#include <string.h>
int main(int argc, char **argv) {
  int c; size_t n = 0;
  while ((c = getopt(argc, argv, "ab:")) != -1) {
    if (c == 'b') n += strlen(optarg);
    if (c == 'a') n += strlen(optarg); //~ -a
  }
  return n & 1;
}
