// stdin: int main() { return x1 + 0x2F - 'c' ; } /* note */ "str\\"ing" <= >>=
#include <ctype.h>
#include <stdio.h>
#include <string.h>
int main(void) { char text[256]; size_t n = fread(text, 1, 255, stdin); text[n] = 0; for (char *p = text; *p;) { char *s = p; const char *kind; if (isspace((unsigned char)*p)) { p++; continue; } if (isalpha((unsigned char)*p)) { while (isalnum((unsigned char)*p)) p++; kind = "name"; } else if (isdigit((unsigned char)*p)) { while (isalnum((unsigned char)*p)) p++; kind = "number"; } else if (!strncmp(p, "/*", 2)) { p = strstr(p + 2, "*/"); p = p ? p + 2 : text + n; kind = "comment"; } else if (*p == '"' || *p == '\'') { char q = *p++; while (*p && *p != q) p += *p == '\\' ? 2 : 1; p++; kind = "literal"; } else { p++; while (*p && strchr("=<>", *p) && strchr("<>=", *s)) p++; kind = "sign"; } printf("%-8s %.*s\n", kind, (int)(p - s), s); } }
