// args: 1 120
// stdio.h: sequences of calls on two streams of one folder.
#define _GNU_SOURCE
#include "probe.h"
static FILE *open_[2];
static void turn(void) {
  static const char *const modes[] = {"r", "w", "a", "r+", "w+", "a+", "wx", "q", "rb", "w+b"};
  int which = (int)below(2);
  FILE *f = open_[which];
  errno = 0;
  if (!f || below(9) == 0) {
    if (f) printf("fclose %d\n", fclose(f));
    const char *mode = modes[below(10)], *path = below(2) ? "one" : "two";
    f = open_[which] = fopen(path, mode);
    printf("fopen %s %s %d %d\n", path, mode, f != NULL, f ? 0 : errno);
    if (f) setvbuf(f, NULL, _IONBF, 0), printf("%d\n", fileno(f) > 2);
    return;
  }
  char line[16];
  /* C wants a call that positions between reading and writing. */
  static int before[2];
  unsigned what = below(17);
  int writes = (what >= 2 && what <= 4) || what == 7, reads = what < 2 || what == 5 || what == 6 || what == 13 || what == 14 || what == 16;
  if ((writes && before[which] == 1) || (reads && before[which] == 2)) fseek(f, 0, SEEK_CUR);
  if (writes || reads) before[which] = writes ? 2 : 1;
  switch (what) {
  case 0: printf("getc %d", fgetc(f)); break;
  case 1: printf("gets "), show(fgets(line, 2 + (int)below(12), f)); break;
  case 2: printf("putc %d", fputc("x\n"[below(2)], f)); break;
  case 3: printf("puts %d", fputs("ab\ncd", f) >= 0); break;
  case 4: printf("printf %d", fprintf(f, "%d,", (int)below(1000))); break;
  case 5: {
    int a = -1;
    printf("scanf %d", fscanf(f, "%d,", &a)), printf(" %d", a);
    break;
  }
  case 6: {
    memset(line, 0, sizeof line);
    printf("read %zu ", fread(line, 1 + below(3), below(5), f)), show(line);
    break;
  }
  case 7: printf("write %zu", fwrite("012345678", 1 + below(3), below(4), f)); break;
  case 8: {
    long by = (long)below(9) - 3;
    int whence = (int)below(3);
    printf("seek %ld %d %d", by, whence, fseek(f, by, whence));
    break;
  }
  case 9: printf("tell %ld", ftell(f)); break;
  case 10: rewind(f), printf("rewind %ld", ftell(f)); break;
  case 11: printf("eof %d error %d", feof(f) != 0, ferror(f) != 0); break;
  case 12: clearerr(f), printf("clear"); break;
  case 13: {
    long here = ftell(f);
    int c = fgetc(f);
    printf("ungetc %ld %d", here, c);
    if (c != EOF) printf(" %d %d", ungetc("uv"[below(2)], f), fgetc(f));
    break;
  }
  case 14: {
    char *made = NULL;
    size_t room = 0;
    long got = getline(&made, &room, f);
    printf("getline %ld ", got), show(got > 0 ? made : "");
    free(made);
    break;
  }
  case 15: printf("flush %d", fflush(f)); break;
  default: {
    fpos_t kept;
    printf("pos %d", fgetpos(f, &kept));
    printf(" %d %d", fgetc(f), fsetpos(f, &kept));
  }
  }
  putchar('\n');
}
int main(int count, char **words) {
  for (unsigned n = rounds(count, words); n; n--) turn();
  for (int i = 0; i < 2; i++) if (open_[i]) fclose(open_[i]);
  for (int i = 0; i < 2; i++) {
    FILE *f = fopen(i ? "one" : "two", "r");
    for (int c; f && (c = getc(f)) != EOF;) printf("%d ", c);
    if (f) fclose(f);
    putchar('\n');
  }
  perror("end");
  return 0;
}
