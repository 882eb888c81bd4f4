// Executes single instructions from given states, for comparison: reads records, writes them back changed. Freestanding:
// the only thing asked of the system is to read, to write, to exit and to be told of signals. The instruction is put at
// `slot`, the memory it works on at `arena`; the linker is told where those are. One general register holds the record
// and belongs to the harness. An instruction that raises a signal leaves the record as it was, but for the signal.
typedef unsigned char byte;
typedef unsigned long word;

struct record {
  byte code[16];
  unsigned signal, length, unused[2];
  word general[32];
  word special[8];
  unsigned long long vectors[64];
  byte memory[1024];
};

__asm__(".section .slot,\"awx\",%progbits\n.globl slot\nslot: .space 4096\n"
        ".section .arena,\"aw\",%progbits\n.globl arena\narena: .space 4096\n.text\n");
extern byte slot[], arena[];
extern void run(struct record *);
void go(void);
struct record record;
word saved_stack;
static byte other_stack[65536] __attribute__((aligned(16)));

#ifndef THUMB
#define THUMB 0
#endif
#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

#if defined(__aarch64__)
enum { READ = 63, WRITE = 64, EXIT = 93, SIGACTION = 134, ALTSTACK = 132 };
static long call(long number, long a, long b, long c, long d) {
  register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c,
                x3 __asm__("x3") = d;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
  return x0;
}
#define PAIRS(M) M(0, 1) M(2, 3) M(4, 5) M(6, 7) M(8, 9) M(10, 11) M(12, 13) M(14, 15) M(16, 17) M(18, 19) M(20, 21) \
  M(22, 23) M(24, 25) M(26, 27)
#define LAST(M) M(28, 29) M(30, 31)
#define X(op, a, b) #op " x" #a ", x" #b ", [x28, #32+8*" #a "]\n"
#define Q(op, a, b) #op " q" #a ", q" #b ", [x0, #16*" #a "]\n"
#define LDX(a, b) X(ldp, a, b)
#define STX(a, b) X(stp, a, b)
#define LDQ(a, b) Q(ldp, a, b)
#define STQ(a, b) Q(stp, a, b)
__asm__(
    ".globl _start\n_start:\n b go\n.globl run\n.globl recover\n"
    "run:\n sub sp, sp, #176\n stp x19, x20, [sp]\n stp x21, x22, [sp, #16]\n stp x23, x24, [sp, #32]\n"
    " stp x25, x26, [sp, #48]\n stp x27, x28, [sp, #64]\n stp x29, x30, [sp, #80]\n stp d8, d9, [sp, #96]\n"
    " stp d10, d11, [sp, #112]\n stp d12, d13, [sp, #128]\n stp d14, d15, [sp, #144]\n"
    " mov x28, x0\n adrp x1, saved_stack\n add x1, x1, :lo12:saved_stack\n mov x2, sp\n str x2, [x1]\n"
    " ldr x0, [x28, #288]\n msr nzcv, x0\n ldr x0, [x28, #296]\n msr fpcr, x0\n ldr x0, [x28, #304]\n msr fpsr, x0\n"
    " ldr x0, [x28, #312]\n mov sp, x0\n add x0, x28, #352\n" PAIRS(LDQ) LAST(LDQ) PAIRS(LDX)
    " ldr x29, [x28, #264]\n ldr x30, [x28, #272]\n b slot\n"
    ".globl back\nback:\n" PAIRS(STX) " str x29, [x28, #264]\n str x30, [x28, #272]\n"
    " mrs x0, nzcv\n str x0, [x28, #288]\n mrs x0, fpcr\n str x0, [x28, #296]\n mrs x0, fpsr\n str x0, [x28, #304]\n"
    " mov x0, sp\n str x0, [x28, #312]\n add x0, x28, #352\n" PAIRS(STQ) LAST(STQ)
    "recover:\n adrp x1, saved_stack\n add x1, x1, :lo12:saved_stack\n ldr x2, [x1]\n mov sp, x2\n msr fpcr, xzr\n"
    " ldp x19, x20, [sp]\n ldp x21, x22, [sp, #16]\n ldp x23, x24, [sp, #32]\n ldp x25, x26, [sp, #48]\n"
    " ldp x27, x28, [sp, #64]\n ldp x29, x30, [sp, #80]\n ldp d8, d9, [sp, #96]\n ldp d10, d11, [sp, #112]\n"
    " ldp d12, d13, [sp, #128]\n ldp d14, d15, [sp, #144]\n add sp, sp, #176\n ret\n");
#define RECOVER "b recover"
#endif

#if defined(__riscv)
enum { READ = 63, WRITE = 64, EXIT = 93, SIGACTION = 134, ALTSTACK = 132 };
static long call(long number, long a, long b, long c, long d) {
  register long a7 __asm__("a7") = number, a0 __asm__("a0") = a, a1 __asm__("a1") = b, a2 __asm__("a2") = c,
                a3 __asm__("a3") = d;
  __asm__ volatile("ecall" : "+r"(a0) : "r"(a7), "r"(a1), "r"(a2), "r"(a3) : "memory");
  return a0;
}
#define ALL(M) M(1) M(2) M(3) M(4) M(5) M(6) M(7) M(8) M(9) M(10) M(11) M(12) M(13) M(14) M(15) M(16) M(17) M(18) \
  M(19) M(20) M(21) M(22) M(23) M(24) M(25) M(26) M(27) M(28) M(29) M(30)
#define KEPT(M) M(1) M(2) M(3) M(4) M(8) M(9) M(18) M(19) M(20) M(21) M(22) M(23) M(24) M(25) M(26) M(27)
#define LDX(n) "ld x" #n ", 32+8*" #n "(x31)\n"
#define STX(n) "sd x" #n ", 32+8*" #n "(x31)\n"
#define LDF(n) "fld f" #n ", 352+8*" #n "(x31)\n"
#define STF(n) "fsd f" #n ", 352+8*" #n "(x31)\n"
#define KEEP(n) "sd x" #n ", 8*" #n "(t0)\n"
#define TAKE(n) "ld x" #n ", 8*" #n "(t0)\n"
word kept[32];
__asm__(
    ".option norvc\n.globl _start\n_start:\n.option push\n.option norelax\n la gp, __global_pointer$\n.option pop\n j go\n"
    ".globl run\nrun:\n la t0, kept\n" KEPT(KEEP) " mv x31, a0\n ld a0, 288(x31)\n fscsr a0\n" ALL(LDF) LDF(0) LDF(31)
    ALL(LDX) " j slot\n"
    ".globl back\nback:\n" ALL(STX) ALL(STF) STF(0) STF(31) " frcsr a0\n sd a0, 288(x31)\n"
    ".globl recover\nrecover:\n la t0, kept\n" KEPT(TAKE) " fscsr zero\n ret\n");
#define RECOVER "j recover"
#endif

#if defined(__arm__)
enum { READ = 3, WRITE = 4, EXIT = 1, SIGACTION = 174, ALTSTACK = 186 };
static long call(long number, long a, long b, long c, long d) {
  register long r7 __asm__("r7") = number, r0 __asm__("r0") = a, r1 __asm__("r1") = b, r2 __asm__("r2") = c,
                r3 __asm__("r3") = d;
  __asm__ volatile("svc 0" : "+r"(r0) : "r"(r7), "r"(r1), "r"(r2), "r"(r3) : "memory");
  return r0;
}
__asm__(
    ".arm\n.globl _start\n_start:\n b go\n"
    ".globl run\nrun:\n push {r4-r12, lr}\n vpush {d8-d15}\n ldr r1, =saved_stack\n str sp, [r1]\n mov r11, r0\n"
    " add r0, r11, #192\n vldmia r0!, {d0-d15}\n vldmia r0, {d16-d31}\n"
    " ldr r0, [r11, #160]\n msr cpsr_fs, r0\n ldr r0, [r11, #164]\n vmsr fpscr, r0\n"
    " ldr sp, [r11, #84]\n ldr lr, [r11, #88]\n add r0, r11, #32\n ldmia r0, {r0-r10}\n ldr r12, [r11, #80]\n"
    " ldr pc, =slot+" TEXT(THUMB) "\n .ltorg\n"
    ".thumb\n.globl back_thumb\n.balign 4\nback_thumb:\n bx pc\n nop\n"
    ".arm\n.globl back\nback:\n str r0, [r11, #32]\n add r0, r11, #36\n stmia r0, {r1-r10}\n str r12, [r11, #80]\n"
    " str sp, [r11, #84]\n str lr, [r11, #88]\n mrs r0, cpsr\n str r0, [r11, #160]\n vmrs r0, fpscr\n"
    " str r0, [r11, #164]\n add r0, r11, #192\n vstmia r0!, {d0-d15}\n vstmia r0, {d16-d31}\n"
    ".globl recover\nrecover:\n ldr r1, =saved_stack\n ldr sp, [r1]\n mov r0, #0\n vmsr fpscr, r0\n vpop {d8-d15}\n"
    " pop {r4-r12, pc}\n .ltorg\n");
#define RECOVER "b recover"
extern byte back_thumb[];
#endif

#if defined(__mips__)
enum { READ = 4003, WRITE = 4004, EXIT = 4001, SIGACTION = 4194, ALTSTACK = 4206 };
static long call(long number, long a, long b, long c, long d) {
  register long v0 __asm__("$2") = number, a0 __asm__("$4") = a, a1 __asm__("$5") = b, a2 __asm__("$6") = c,
                a3 __asm__("$7") = d;
  __asm__ volatile("syscall" : "+r"(v0), "+r"(a3) : "r"(a0), "r"(a1), "r"(a2)
                   : "memory", "$1", "$3", "$8", "$9", "$10", "$11", "$12", "$13", "$14", "$15", "$24", "$25", "hi", "lo");
  return a3 ? -v0 : v0;
}
#define ALL(M) M(1) M(2) M(3) M(4) M(5) M(6) M(7) M(8) M(9) M(10) M(11) M(12) M(13) M(14) M(15) M(16) M(17) M(18) \
  M(19) M(20) M(21) M(22) M(23) M(24) M(25) M(26) M(28) M(29) M(30) M(31)
#define KEPT(M) M(16) M(17) M(18) M(19) M(20) M(21) M(22) M(23) M(28) M(29) M(30) M(31)
#define LDX(n) "lw $" #n ", 32+4*" #n "($27)\n"
#define STX(n) "sw $" #n ", 32+4*" #n "($27)\n"
#define LDF(n) "lwc1 $f" #n ", 192+4*" #n "($27)\n"
#define STF(n) "swc1 $f" #n ", 192+4*" #n "($27)\n"
#define KEEP(n) "sw $" #n ", 4*" #n "($8)\n"
#define TAKE(n) "lw $" #n ", 4*" #n "($8)\n"
word kept[32];
__asm__(
    ".set noreorder\n.set noat\n.globl __start\n.globl _start\n__start:\n_start:\n j go\n nop\n"
    ".globl run\nrun:\n lui $8, %hi(kept)\n addiu $8, $8, %lo(kept)\n" KEPT(KEEP) " move $27, $4\n"
    " lw $8, 160($27)\n mthi $8\n lw $8, 164($27)\n mtlo $8\n lw $8, 168($27)\n ctc1 $8, $31\n" ALL(LDF) LDF(0) LDF(27)
    ALL(LDX) " j slot\n nop\n"
    ".globl back\nback:\n" ALL(STX) ALL(STF) STF(0) STF(27)
    " mfhi $8\n sw $8, 160($27)\n mflo $8\n sw $8, 164($27)\n cfc1 $8, $31\n sw $8, 168($27)\n"
    ".globl recover\nrecover:\n lui $8, %hi(kept)\n addiu $8, $8, %lo(kept)\n" KEPT(TAKE) " ctc1 $0, $31\n jr $31\n nop\n"
    ".set reorder\n.set at\n");
#define RECOVER "j recover\n nop"
#endif

extern byte back[];

static void put(byte *at, unsigned value, int bytes) {
  for (int i = 0; i < bytes; i++) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    at[i] = value >> (8 * (bytes - 1 - i));
#else
    at[i] = value >> (8 * i);
#endif
  }
}

// A branch back to the harness, behind the instruction.
static void put_return(byte *at) {
#if defined(__aarch64__)
  put(at, 0x14000000 | ((unsigned)(back - at) >> 2 & 0x3ffffff), 4);
#elif defined(__riscv)
  unsigned far = back - at;
  put(at, (far >> 20 & 1) << 31 | (far >> 1 & 0x3ff) << 21 | (far >> 11 & 1) << 20 | (far >> 12 & 0xff) << 12 | 0x6f, 4);
#elif defined(__arm__) && THUMB
  unsigned far = back_thumb - at - 4;
  unsigned s = far >> 24 & 1, i1 = far >> 23 & 1, i2 = far >> 22 & 1;
  put(at, 0xf000 | s << 10 | (far >> 12 & 0x3ff), 2);
  put(at + 2, 0x9000 | (i1 ^ s ^ 1) << 13 | (i2 ^ s ^ 1) << 11 | (far >> 1 & 0x7ff), 2);
#elif defined(__arm__)
  put(at, 0xea000000 | ((unsigned)(back - at - 8) >> 2 & 0xffffff), 4);
#elif defined(__mips__)
  put(at, 0x08000000 | ((unsigned)back >> 2 & 0x3ffffff), 4);
  put(at + 4, 0, 4);
#endif
}

static void on_signal(int signal) {
  record.signal = signal;
  __asm__ volatile(RECOVER);
}

static void listen(int signal) {
  static word action[16];
#if defined(__mips__)
  action[0] = 0x48000000;
  action[1] = (word)on_signal;
  call(SIGACTION, signal, (long)action, 0, 16);
#else
  action[0] = (word)on_signal;
  action[1] = 0x48000000;
  call(SIGACTION, signal, (long)action, 0, 8);
#endif
}

static int all(int file, void *bytes, long count, int writes) {
  for (byte *at = bytes; count > 0;) {
    long done = call(writes ? WRITE : READ, file, (long)at, count, 0);
    if (done <= 0) return 0;
    at += done;
    count -= done;
  }
  return 1;
}

static void copy(byte *to, const byte *from, int count) {
  for (int i = 0; i < count; i++) ((volatile byte *)to)[i] = from[i];
}

void go(void) {
  static word stack[3];
  stack[0] = (word)other_stack;
  stack[2] = sizeof other_stack;
#if defined(__mips__)
  stack[1] = sizeof other_stack;
  stack[2] = 0;
#endif
  call(ALTSTACK, (long)stack, 0, 0, 0);
  listen(4), listen(5), listen(7), listen(8), listen(10), listen(11);
  while (all(0, &record, sizeof record, 0)) {
    record.signal = 0;
    copy(arena, record.memory, sizeof record.memory);
    copy(slot, record.code, record.length);
    put_return(slot + record.length);
    run(&record);
    copy(record.memory, arena, sizeof record.memory);
    if (!all(1, &record, sizeof record, 1)) break;
  }
  call(EXIT, 0, 0, 0, 0);
  for (;;) {
  }
}
