// Shifts by the width and more: the language does not say what they are, processors take the amount modulo the width.
#include <stdint.h>
#include <stdio.h>

int main(void) {
  volatile unsigned amounts[] = {0, 1, 31, 32, 33, 40, 63, 64, 65, 4294967295u};
  for (unsigned i = 0; i < sizeof amounts / sizeof *amounts; i++) {
    unsigned n = amounts[i];
    uint32_t a = 0x89abcdefu;
    uint64_t b = 0x89abcdef01234567u;
    printf("%u: %x %x %x %llx %llx %llx\n", n, a << n, a >> n, (int32_t)a >> n, (unsigned long long)(b << n),
           (unsigned long long)(b >> n), (unsigned long long)((int64_t)b >> n));
  }
  return 0;
}
