// failing-calls: 1
// native: nothing native makes a system call fail
// symbolic-file: data=2
#include <fcntl.h>
#include <unistd.h>
int main(void) {
  char bytes[2] = {1, 1};
  int file = open("data", O_RDONLY);
  if (file < 0) return 1;
  long got = read(file, bytes, 2);
  int last = bytes[got - 1]; //~ out-of-bounds
  close(file);
  return last == 3;
}
