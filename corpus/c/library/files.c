// args: 1 150
// Sequences of system calls on few files and folders: what each answers, and what is there afterwards.
#define _GNU_SOURCE
#include "probe.h"
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static const char *const names[] = {"a", "b", "d", "d/x", "d/y", "d/e", "./a", "d/../b", "none/x", "d/", "a/", "", "d/.", "a/x", "d/e/..", ".", "d//x"};
static const char *name(void) { return names[below(below(4) ? 6 : 17)]; }
static int files[4] = {-1, -1, -1, -1};
static void tell(long result) { printf(" = %ld %s\n", result, result < 0 ? strerror(errno) : ""); }
static void status(const struct stat *s) {
  printf(" %o", s->st_mode);
  if (S_ISREG(s->st_mode)) printf(" %ld", s->st_size);
}
static int one(const struct dirent *entry) { return entry->d_name[0] != '.'; }
static void folder(const char *path) {
  struct dirent **list;
  int n = scandir(path, &list, one, alphasort);
  printf(" %d", n);
  for (int i = 0; i < n; i++) printf(" %s", list[i]->d_name), free(list[i]);
  if (n >= 0) free(list);
}
static void turn(void) {
  static const int flags[] = {O_RDONLY, O_WRONLY, O_RDWR, O_RDWR | O_CREAT, O_WRONLY | O_CREAT | O_TRUNC, O_RDWR | O_CREAT | O_EXCL, O_WRONLY | O_APPEND | O_CREAT,
                              O_RDONLY | O_DIRECTORY, O_RDONLY | O_CREAT, O_RDONLY | O_TRUNC};
  int which = (int)below(4), file = files[which];
  const char *path = name(), *other = name();
  char bytes[24];
  struct stat s;
  errno = 0;
  switch (below(26)) {
  case 0:
  case 1:
  case 2:
  case 3: {
    if (file >= 0) close(file);
    int how = flags[below(10)];
    printf("open %s %x", path, (unsigned)how);
    files[which] = open(path, how, 0640);
    tell(files[which]);
    break;
  }
  case 4: {
    memset(bytes, '#', sizeof bytes);
    unsigned n = below(8);
    long got = read(file, bytes, n);
    printf("read %d %u %.*s", which, n, got > 0 ? (int)got : 0, bytes);
    tell(got);
    break;
  }
  case 5:
  case 6: {
    unsigned n = below(8);
    printf("write %d %u", which, n), tell(write(file, "abcdefgh", n));
    break;
  }
  case 7: {
    long by = (long)below(12) - 4;
    int whence = (int)below(below(8) ? 3 : 5);
    /* Where a folder may be sought in depends on its file system. */
    if (fstat(file, &s) == 0 && S_ISDIR(s.st_mode)) break;
    printf("seek %d %ld %d", which, by, whence > 2 ? 9 : whence), tell(lseek(file, by, whence > 2 ? 9 : whence));
    break;
  }
  case 8: {
    long n = (long)below(600) - 2;
    printf("ftruncate %d %ld", which, n), tell(ftruncate(file, n));
    break;
  }
  case 9: {
    long n = (long)below(20) - 2;
    printf("truncate %s %ld", path, n), tell(truncate(path, n));
    break;
  }
  case 10: printf("stat %s", path), tell(stat(path, &s)); if (stat(path, &s) == 0) status(&s), putchar('\n'); break;
  case 11: printf("fstat %d", which), tell(fstat(file, &s)); if (fstat(file, &s) == 0) status(&s), putchar('\n'); break;
  case 12: printf("unlink %s", path), tell(unlink(path)); break;
  case 13: printf("rmdir %s", path), tell(rmdir(path)); break;
  case 14: printf("remove %s", path), tell(remove(path)); break;
  case 15:
  case 16: printf("mkdir %s", path), tell(mkdir(path, 0750)); break;
  case 17: printf("rename %s %s", path, other), tell(rename(path, other)); break;
  case 18: printf("access %s", path), tell(access(path, (int)below(8))); break;
  case 19: printf("chmod %s", path), tell(chmod(path, 0600 | below(64))); break;
  case 20: printf("scandir %s", path), folder(path), putchar('\n'); break;
  case 21: {
    int to = (int)below(4);
    if (to == which) break;
    if (files[to] >= 0) close(files[to]);
    printf("dup %d", which), tell(files[to] = dup(file));
    break;
  }
  case 22: printf("pread %d", which), tell(pread(file, bytes, 5, (long)below(6) - 1)); break;
  case 23: printf("pwrite %d", which), tell(pwrite(file, "PQRSTU", below(6), (long)below(6) - 1)); break;
  case 24: {
    struct iovec parts[2] = {{"one", below(4)}, {"two", below(4)}};
    printf("writev %d", which), tell(writev(file, parts, 2));
    break;
  }
  default: {
    DIR *open = opendir(path);
    printf("opendir %s", path), tell(open ? 0 : -1);
    if (open) closedir(open);
    printf("flags %d", which), tell(fcntl(file, F_GETFL));
  }
  }
}
int main(int count, char **words) {
  umask(022);
  unsigned n = rounds(count, words);
  for (unsigned i = 0; i < n; i++) turn();
  for (int i = 0; i < 4; i++) if (files[i] >= 0) close(files[i]);
  static const char *const all[] = {"a", "b", "d", "d/x", "d/y", "d/e"};
  for (int i = 0; i < 6; i++) {
    char bytes[700];
    int file = open(all[i], O_RDONLY);
    long got = read(file, bytes, sizeof bytes);
    unsigned sum = 0;
    for (long j = 0; j < got; j++) sum = sum * 31 + (unsigned char)bytes[j];
    printf("%s: %ld %u\n", all[i], got, sum);
    close(file);
  }
  return 0;
}
