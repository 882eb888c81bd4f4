// Executes single PowerPC instructions from given states, for comparison: reads records, writes them back changed.
// Built static, at the usual address, with the page for the instruction at 0x11000000 (see the `slot` symbol given to
// the linker) and the data at 0x12000000. Register 31 holds the record and belongs to the harness.
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

struct record {
  uint32_t instruction, unused;
  uint32_t general[32];
  uint32_t cr, xer, ctr, lr;
  uint64_t floats[32];
  uint8_t memory[256];
};

extern void run(struct record *);
extern char back[];
uint32_t saved_stack;

#define TEXT(x) #x
#define EACH(M) M(0) M(1) M(2) M(3) M(4) M(5) M(6) M(7) M(8) M(9) M(10) M(11) M(12) M(13) M(14) M(15) M(16) M(17) \
  M(18) M(19) M(20) M(21) M(22) M(23) M(24) M(25) M(26) M(27) M(28) M(29) M(30)
#define LOAD(n) "lwz " TEXT(n) ", 8+4*" TEXT(n) "(31)\n"
#define STORE(n) "stw " TEXT(n) ", 8+4*" TEXT(n) "(31)\n"
#define LOADF(n) "lfd " TEXT(n) ", 152+8*" TEXT(n) "(31)\n"
#define STOREF(n) "stfd " TEXT(n) ", 152+8*" TEXT(n) "(31)\n"

__asm__(
    ".globl run\n.globl back\n"
    "run:\n stwu 1, -128(1)\n mflr 0\n stw 0, 132(1)\n stmw 13, 16(1)\n stw 2, 12(1)\n"
    " lis 4, saved_stack@ha\n stw 1, saved_stack@l(4)\n mr 31, 3\n"
    EACH(LOADF) "lfd 31, 152+8*31(31)\n"
    " lwz 3, 136(31)\n mtcrf 255, 3\n lwz 3, 140(31)\n mtxer 3\n lwz 3, 144(31)\n mtctr 3\n lwz 3, 148(31)\n mtlr 3\n"
    EACH(LOAD)
    " b slot\n"
    "back:\n"
    EACH(STORE)
    " mfcr 3\n stw 3, 136(31)\n mfxer 3\n stw 3, 140(31)\n mfctr 3\n stw 3, 144(31)\n mflr 3\n stw 3, 148(31)\n"
    EACH(STOREF) "stfd 31, 152+8*31(31)\n"
    " lis 4, saved_stack@ha\n lwz 1, saved_stack@l(4)\n lwz 2, 12(1)\n lmw 13, 16(1)\n lwz 0, 132(1)\n mtlr 0\n"
    " addi 1, 1, 128\n blr\n");

static int all(int file, void *bytes, size_t count, int writes) {
  for (char *at = bytes; count > 0;) {
    ssize_t done = writes ? write(file, at, count) : read(file, at, count);
    if (done <= 0) return 0;
    at += done;
    count -= done;
  }
  return 1;
}

int main(void) {
  uint32_t *slot = mmap((void *)0x11000000, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  uint8_t *data = mmap((void *)0x12000000, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  static struct record record;
  while (all(0, &record, sizeof record, 0)) {
    for (int i = 0; i < 256; i++) data[i] = record.memory[i];
    slot[0] = record.instruction;
    slot[1] = 0x48000000 | (((uint32_t)back - (uint32_t)&slot[1]) & 0x03fffffc);
    __asm__ volatile("dcbst 0,%0\n sync\n icbi 0,%0\n isync" : : "r"(slot) : "memory");
    run(&record);
    for (int i = 0; i < 256; i++) record.memory[i] = data[i];
    if (!all(1, &record, sizeof record, 1)) return 1;
  }
  return 0;
}
