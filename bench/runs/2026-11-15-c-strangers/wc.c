#include <stdio.h>
#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <getopt.h>
static int count(FILE *f, const char *n, int fl) { unsigned long l = 0, w = 0, c = 0; int in = 0, ch; while ((ch = getc(f)) != EOF) { c++; if (ch == '\n') l++; if (isspace(ch)) in = 0; else if (!in) { in = 1; w++; } } if (ferror(f)) return 1; if (fl & 1) printf(" %lu", l); if (fl & 2) printf(" %lu", w); if (fl & 4) printf(" %lu", c); printf(" %s\n", n); return 0; }
int main(int argc, char **argv) { int o, fl = 0, rc = 0; while ((o = getopt(argc, argv, "lwc")) != -1) switch (o) { case 'l': fl |= 1; break; case 'w': fl |= 2; break; case 'c': fl |= 4; break; default: return 2; } if (!fl) fl = 7; if (optind == argc) return count(stdin, "", fl); for (; optind < argc; optind++) { FILE *f = fopen(argv[optind], "r"); if (!f) { fprintf(stderr, "%s: %s\n", argv[optind], strerror(errno)); rc = 1; continue; } rc |= count(f, argv[optind], fl); fclose(f); } return rc; }
