// finds: out-of-bounds
// symbolic-file: table.bin=5
// The length is in the file, and is not what the buffer has.
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
int main(void) {
  unsigned char head, body[3];
  int file = open("table.bin", O_RDONLY);
  if (file < 0) return 1;
  if (read(file, &head, 1) != 1) return 1;
  lseek(file, 2, SEEK_SET);
  if (head < 4) {
    if (read(file, body, head) != head) return 2;
  } else if (head == 4) {
    body[head - 1] = 0; //~ out-of-bounds
  }
  close(file);
  return 0;
}
