/* Runs a static program without a C library under Unicorn, with a hook on every memory access or without. */
#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unicorn/unicorn.h>

static uint64_t accesses;
static void on_access(uc_engine *uc, uc_mem_type type, uint64_t address, int size, int64_t value, void *data) {
    (void)uc, (void)type, (void)address, (void)size, (void)value, (void)data;
    accesses++;
}
static void on_call(uc_engine *uc, void *data) {
    (void)data;
    uc_emu_stop(uc);
}

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    int hooked = strcmp(argv[1], "hooked") == 0;
    FILE *file = fopen(argv[2], "rb");
    static unsigned char image[1 << 22];
    size_t length = fread(image, 1, sizeof image, file);
    (void)length;
    Elf64_Ehdr *header = (Elf64_Ehdr *)image;
    uc_engine *uc;
    if (uc_open(UC_ARCH_X86, UC_MODE_64, &uc)) return 3;
    Elf64_Phdr *segments = (Elf64_Phdr *)(image + header->e_phoff);
    for (int i = 0; i < header->e_phnum; i++) {
        if (segments[i].p_type != PT_LOAD) continue;
        uint64_t first = segments[i].p_vaddr & ~4095ul;
        uint64_t end = (segments[i].p_vaddr + segments[i].p_memsz + 4095) & ~4095ul;
        uc_mem_map(uc, first, end - first, UC_PROT_ALL);
        uc_mem_write(uc, segments[i].p_vaddr, image + segments[i].p_offset, segments[i].p_filesz);
    }
    uint64_t stack = 0x7ffff0000000;
    uc_mem_map(uc, stack, 1 << 20, UC_PROT_ALL);
    stack += (1 << 20) - 64;
    uc_reg_write(uc, UC_X86_REG_RSP, &stack);
    uc_hook call_hook, access_hook;
    uc_hook_add(uc, &call_hook, UC_HOOK_INSN, on_call, NULL, 1, 0, UC_X86_INS_SYSCALL);
    if (hooked) uc_hook_add(uc, &access_hook, UC_HOOK_MEM_READ | UC_HOOK_MEM_WRITE, on_access, NULL, 1, 0);
    struct timespec before, after;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
    uc_err error = uc_emu_start(uc, header->e_entry, 0, 0, 0);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
    uint64_t result;
    uc_reg_read(uc, UC_X86_REG_RDI, &result);
    printf("{\"seconds\": %.6f, \"accesses\": %lu, \"result\": %lu, \"error\": %d}\n",
           (double)(after.tv_sec - before.tv_sec) + (double)(after.tv_nsec - before.tv_nsec) / 1e9, accesses, result & 0x7f, error);
    return 0;
}
