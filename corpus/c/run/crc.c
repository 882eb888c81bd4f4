#include <stdint.h>
#include <stdio.h>
#include <string.h>
static uint32_t table[256];
int main(void) { for (uint32_t i = 0; i < 256; i++) { uint32_t c = i; for (int k = 0; k < 8; k++) c = c & 1 ? 0xedb88320u ^ c >> 1 : c >> 1; table[i] = c; } const char *s = "The quick brown fox jumps over the lazy dog"; uint32_t c = ~0u; for (size_t i = 0; i < strlen(s); i++) c = table[(c ^ (uint8_t)s[i]) & 255] ^ c >> 8; printf("%08x\n", ~c); uint64_t f = 14695981039346656037u; for (; *s; s++) f = (f ^ (uint8_t)*s) * 1099511628211u; printf("%016lx\n", f); }
