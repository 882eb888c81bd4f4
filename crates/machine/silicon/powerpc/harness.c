// Executes single PowerPC instructions from given states, for comparison: reads records, writes them back changed.
// Built static, at the usual address, with the page for the instruction at 0x11000800 (see the `slot` symbol given to
// the linker) and the data at 0x12000000. The record lies where a displacement alone reaches it, at the upper end of the
// addresses, so that all registers belong to the instruction.
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

struct record {
  uint32_t instruction;
  uint32_t signal;  // afterwards: what stopped the instruction, or zero
  uint32_t general[32];
  uint32_t cr, xer, ctr, lr;
  uint32_t pc;  // afterwards: where control went, unless that is the next instruction; before: whether it may
  uint32_t saved_stack;
  uint64_t status;
  uint64_t floats[32];
  uint8_t memory[256];
};

#define RECORD ((struct record *)0xffff8000u)
#define SLOT ((uint32_t *)0x11000000u)
#define DATA ((uint8_t *)0x12000000u)
#define TRAP 0x7fe00008u

extern void run(void);
extern char back[], finish[];

#define TEXT(x) #x
#define EACH(M) M(0) M(1) M(2) M(3) M(4) M(5) M(6) M(7) M(8) M(9) M(10) M(11) M(12) M(13) M(14) M(15) M(16) M(17) \
  M(18) M(19) M(20) M(21) M(22) M(23) M(24) M(25) M(26) M(27) M(28) M(29) M(30) M(31)
#define LOAD(n) "lwz " TEXT(n) ", -32768+8+4*" TEXT(n) "(0)\n"
#define STORE(n) "stw " TEXT(n) ", -32768+8+4*" TEXT(n) "(0)\n"
#define LOADF(n) "lfd " TEXT(n) ", -32768+168+8*" TEXT(n) "(0)\n"
#define STOREF(n) "stfd " TEXT(n) ", -32768+168+8*" TEXT(n) "(0)\n"
#define AT(n) "-32768+" TEXT(n) "(0)"

__asm__(
    ".globl run\n.globl back\n.globl finish\n"
    "run:\n stwu 1, -304(1)\n mflr 0\n stw 0, 308(1)\n stmw 13, 16(1)\n stw 2, 12(1)\n mfcr 0\n stw 0, 8(1)\n"
    " stw 1, " AT(156) "\n"
    " lfd 0, " AT(160) "\n"
    " mtfsf 255, 0\n"
    EACH(LOADF)
    " lwz 3, " AT(136) "\n mtcrf 255, 3\n lwz 3, " AT(140) "\n mtxer 3\n"
    " lwz 3, " AT(144) "\n mtctr 3\n lwz 3, " AT(148) "\n mtlr 3\n"
    EACH(LOAD)
    " b slot\n"
    "back:\n"
    EACH(STORE)
    EACH(STOREF)
    " mfcr 3\n stw 3, " AT(136) "\n mfxer 3\n stw 3, " AT(140) "\n"
    " mfctr 3\n stw 3, " AT(144) "\n mflr 3\n stw 3, " AT(148) "\n"
    " mffs 0\n stfd 0, " AT(160) "\n"
    "finish:\n"
    " mtfsfi 6, 0\n mtfsfi 7, 0\n"
    " lwz 1, " AT(156) "\n lwz 2, 12(1)\n lmw 13, 16(1)\n lwz 0, 8(1)\n mtcr 0\n lwz 0, 308(1)\n mtlr 0\n"
    " addi 1, 1, 304\n blr\n");

// Takes the state from where the instruction stopped; nothing of the interrupted program is used any more.
static void stopped(int signal, siginfo_t *information, void *context) {
  (void)information;
  mcontext_t *registers = ((ucontext_t *)context)->uc_mcontext.uc_regs;
  uint32_t pc = registers->gregs[32];
  if (signal == SIGFPE && pc != (uint32_t)&SLOT[512]) {
    // One of the harness's own moves to the status; it has been made.
    registers->gregs[32] += 4;
    return;
  }
  int landed = signal == SIGTRAP && pc != (uint32_t)&SLOT[512];
  RECORD->signal = landed ? 0 : signal;
  RECORD->pc = landed ? pc : 0;
  for (int i = 0; i < 32; i++) RECORD->general[i] = registers->gregs[i];
  RECORD->ctr = registers->gregs[35];
  RECORD->lr = registers->gregs[36];
  RECORD->xer = registers->gregs[37];
  RECORD->cr = registers->gregs[38];
  memcpy(RECORD->floats, registers->fpregs.fpregs, sizeof RECORD->floats);
  memcpy(&RECORD->status, &registers->fpregs.fpscr, sizeof RECORD->status);
  registers->gregs[32] = (uint32_t)finish;
}

static int all(int file, void *bytes, size_t count, int writes) {
  for (char *at = bytes; count > 0;) {
    ssize_t done = writes ? write(file, at, count) : read(file, at, count);
    if (done <= 0) return 0;
    at += done;
    count -= done;
  }
  return 1;
}

static void *map(void *at, size_t size, int protection) {
  return mmap(at, size, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

int main(void) {
  if (map(SLOT, 4096, PROT_READ | PROT_WRITE | PROT_EXEC) == MAP_FAILED) return 2;
  if (map(DATA, 4096, PROT_READ | PROT_WRITE) == MAP_FAILED) return 2;
  if (map(RECORD, 4096, PROT_READ | PROT_WRITE) == MAP_FAILED) return 2;
  stack_t stack = {.ss_sp = map((void *)0x13000000, 65536, PROT_READ | PROT_WRITE), .ss_size = 65536};
  sigaltstack(&stack, 0);
  struct sigaction action = {.sa_sigaction = stopped, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
  int signals[] = {SIGILL, SIGTRAP, SIGFPE, SIGSEGV, SIGBUS};
  for (int i = 0; i < 5; i++) sigaction(signals[i], &action, 0);
  for (int i = 0; i < 1024; i++) SLOT[i] = TRAP;
  static struct record record;
  while (all(0, &record, sizeof record, 0)) {
    *RECORD = record;
    memcpy(DATA, record.memory, sizeof record.memory);
    SLOT[512] = record.instruction;
    SLOT[513] = record.pc ? TRAP : 0x48000000 | (((uint32_t)back - (uint32_t)&SLOT[513]) & 0x03fffffc);
    __asm__ volatile("dcbst 0,%0\n sync\n icbi 0,%0\n isync" : : "r"(&SLOT[512]) : "memory");
    run();
    memcpy(RECORD->memory, DATA, sizeof record.memory);
    if (!all(1, RECORD, sizeof record, 1)) return 1;
  }
  return 0;
}
