/* System calls on files and folders: fcntl.h, unistd.h, sys/stat.h, sys/ioctl.h, dirent.h, utime.h. */
#include "model.h"

typedef __builtin_va_list va_list;
#define va_start(list, last) __builtin_va_start(list, last)
#define va_arg(list, type) __builtin_va_arg(list, type)
#define va_end(list) __builtin_va_end(list)

int strcmp(const char *a, const char *b);

static unsigned mask = 022;
/* Numbers that are closed when another program starts; it matters only to who asks. */
static char closes_on_exec[1024];

static long answered(long result) {
  if (result >= 0) return result;
  errno = (int)-result;
  return -1;
}
/* Whether this call fails although it need not. */
static int fails(void) {
  if (!__parallax_fails()) return 0;
  __parallax_failed();
  errno = EIO;
  return 1;
}
static int is_folder(int file) {
  long status[6];
  return __parallax_status(NULL, file, status) == 0 && status[0] == 1;
}

/* A path that is not constant is one of the names that there are, or none of them. */
static const char *named(const char *path) {
  static char name[256];
  if (__parallax_known_text(path)) return path;
  for (long number = 0; __parallax_name(number, name); number++)
    if (!strcmp(path, name)) return name;
  return "";
}

int __open(const char *path, int flags, unsigned mode) {
  if (fails()) return -1;
  const char *there = named(path);
  /* What is made has to have a name. */
  if (*there || !(flags & O_CREAT)) path = there;
  int file = (int)answered(__parallax_open(path, flags, mode & ~mask));
  if (file >= 0) closes_on_exec[file] = (flags & 02000000) != 0;
  return file;
}
long __read(int file, void *bytes, size_t count) {
  if (fails()) return -1;
  long got = __parallax_read(file, bytes, count);
  if (got < 0) errno = is_folder(file) ? EISDIR : EBADF;
  return got;
}
long __write(int file, const void *bytes, size_t count) {
  if (fails()) return -1;
  long done = __parallax_write(file, bytes, count);
  if (done < 0) errno = EBADF;
  return done;
}
int __close(int file) {
  int failed = fails();
  long done = answered(__parallax_close(file));
  return failed ? -1 : (int)done;
}
long __lseek(int file, long offset, int whence) { return answered(__parallax_seek(file, offset, whence)); }

int open(const char *path, int flags, ...) {
  unsigned mode = 0;
  if (flags & O_CREAT) {
    va_list list;
    va_start(list, flags);
    mode = va_arg(list, unsigned);
    va_end(list);
  }
  return __open(path, flags, mode);
}
int open64(const char *path, int flags, ...) {
  unsigned mode = 0;
  if (flags & O_CREAT) {
    va_list list;
    va_start(list, flags);
    mode = va_arg(list, unsigned);
    va_end(list);
  }
  return __open(path, flags, mode);
}
int creat(const char *path, unsigned mode) { return __open(path, O_CREAT | O_WRONLY | O_TRUNC, mode); }
long read(int file, void *bytes, size_t count) { return __read(file, bytes, count); }
long write(int file, const void *bytes, size_t count) { return __write(file, bytes, count); }
int close(int file) { return __close(file); }
long lseek(int file, long offset, int whence) { return __lseek(file, offset, whence); }
long lseek64(int file, long offset, int whence) { return __lseek(file, offset, whence); }
long pread(int file, void *bytes, size_t count, long at) {
  if (at < 0) return errno = EINVAL, -1; /* whatever the file is */
  long here = __lseek(file, 0, 1);
  if (here < 0 || __lseek(file, at, 0) < 0) return -1;
  long got = __read(file, bytes, count);
  __lseek(file, here, 0);
  return got;
}
long pwrite(int file, const void *bytes, size_t count, long at) {
  if (at < 0) return errno = EINVAL, -1; /* whatever the file is */
  long here = __lseek(file, 0, 1);
  if (here < 0 || __lseek(file, at, 0) < 0) return -1;
  long done = __write(file, bytes, count);
  __lseek(file, here, 0);
  return done;
}
struct iovec {
  void *base;
  size_t length;
};
long readv(int file, const struct iovec *parts, int count) {
  long all = 0;
  for (int i = 0; i < count; i++) {
    long got = __read(file, parts[i].base, parts[i].length);
    if (got < 0) return all ? all : -1;
    all += got;
    if ((size_t)got < parts[i].length) break;
  }
  return all;
}
long writev(int file, const struct iovec *parts, int count) {
  long all = 0;
  for (int i = 0; i < count; i++) {
    long done = __write(file, parts[i].base, parts[i].length);
    if (done < 0) return all ? all : -1;
    all += done;
  }
  return all;
}

/* A path below an open folder: only that of the folder the program is in, and paths from the root. */
static int below(int folder, const char *path) {
  if (folder == -100 || *path == '/') return 1;
  errno = is_folder(folder) ? ENOSYS : EBADF;
  return 0;
}
int openat(int folder, const char *path, int flags, ...) {
  unsigned mode = 0;
  if (flags & O_CREAT) {
    va_list list;
    va_start(list, flags);
    mode = va_arg(list, unsigned);
    va_end(list);
  }
  return below(folder, path) ? __open(path, flags, mode) : -1;
}

static int removed(const char *path) {
  return fails() ? -1 : (int)answered(__parallax_remove(named(path)));
}
int unlink(const char *path) { return removed(path); }
int rmdir(const char *path) {
  /* What the last part of a path says decides, wherever it leads. */
  size_t n = strlen(path);
  while (n && path[n - 1] == '/') n--;
  if (!n && *path) return errno = EBUSY, -1;
  size_t start = n;
  while (start && path[start - 1] != '/') start--;
  long status[6];
  int dots = n - start == 1 && path[start] == '.' ? 1 : n - start == 2 && path[start] == '.' && path[start + 1] == '.' ? 2 : 0;
  if (dots) {
    if (answered(__parallax_status(path, -1, status)) < 0) return -1;
    return errno = dots == 1 ? EINVAL : ENOTEMPTY, -1;
  }
  return fails() ? -1 : (int)answered(__parallax_remove_folder(named(path)));
}
int remove(const char *path) {
  if (removed(path) == 0) return 0;
  return errno == EISDIR ? rmdir(path) : -1;
}
int unlinkat(int folder, const char *path, int flags) {
  if (!below(folder, path)) return -1;
  return flags & 0x200 ? rmdir(path) : removed(path);
}
int mkdir(const char *path, unsigned mode) {
  return fails() ? -1 : (int)answered(__parallax_make_folder(path, mode & ~mask));
}
int mkdirat(int folder, const char *path, unsigned mode) { return below(folder, path) ? mkdir(path, mode) : -1; }
int rename(const char *from, const char *to) {
  return fails() ? -1 : (int)answered(__parallax_rename(named(from), to));
}
int renameat(int a, const char *from, int b, const char *to) {
  return below(a, from) && below(b, to) ? rename(from, to) : -1;
}
unsigned umask(unsigned new) {
  unsigned old = mask;
  mask = new & 0777;
  return old;
}
int chmod(const char *path, unsigned mode) { return (int)answered(__parallax_change_mode(named(path), mode)); }
int chown(const char *path, unsigned user, unsigned group) {
  (void)user, (void)group;
  long status[6];
  return (int)answered(__parallax_status(named(path), -1, status));
}
/* Files grow by zeros. */
static int resized(int file, long length) {
  long status[6];
  if (length < 0) return errno = EINVAL, -1;
  if (answered(__parallax_status(NULL, file, status)) < 0) return -1;
  long flags = __parallax_flags(file);
  if (status[0] != 0 || !(flags & (O_WRONLY | O_RDWR))) return errno = EINVAL, -1;
  if (length <= status[2]) return (int)answered(__parallax_truncate(file, length));
  if (length > 1 << 24) __parallax_refuse("a file of more than 16 MiB");
  static const char zeros[512];
  long here = __parallax_seek(file, 0, 1);
  __parallax_seek(file, 0, 2);
  for (long left = length - status[2]; left > 0; left -= 512) __parallax_write(file, zeros, left < 512 ? (size_t)left : 512);
  __parallax_seek(file, here, 0);
  return 0;
}
int ftruncate(int file, long length) { return fails() ? -1 : resized(file, length); }
int truncate(const char *path, long length) {
  if (fails()) return -1;
  if (length < 0) return errno = EINVAL, -1;
  long file = __parallax_open(named(path), O_WRONLY, 0);
  if (file < 0) return (int)answered(file);
  int result = resized((int)file, length);
  __parallax_close((int)file);
  return result;
}
int fsync(int file) { return answered(__parallax_flags(file)) < 0 ? -1 : 0; }
int fdatasync(int file) { return fsync(file); }
void sync(void) {}
int link(const char *from, const char *to) {
  (void)from, (void)to;
  __parallax_refuse("a file with two names");
}
int symlink(const char *from, const char *to) {
  (void)from, (void)to;
  __parallax_refuse("a symbolic link");
}
/* Nothing here is a link to something else. */
ssize_t readlink(const char *path, char *out, size_t room) {
  (void)out, (void)room;
  long status[6];
  if (answered(__parallax_status(named(path), -1, status)) < 0) return -1;
  errno = EINVAL;
  return -1;
}

int dup(int file) { return (int)answered(__parallax_duplicate(file, 0)); }
int dup2(int file, int to) {
  int done = (int)answered(__parallax_duplicate_to(file, to));
  if (done >= 0 && file != to) closes_on_exec[to] = 0;
  return done;
}
int dup3(int file, int to, int flags) {
  if (file == to) return errno = EINVAL, -1;
  int done = dup2(file, to);
  if (done >= 0) closes_on_exec[to] = (flags & 02000000) != 0;
  return done;
}
int fcntl(int file, int command, ...) {
  long given = 0;
  /* Those that only ask are called without a third argument. */
  if (command != 1 && command != 3) {
    va_list list;
    va_start(list, command);
    given = va_arg(list, long);
    va_end(list);
  }
  long flags = __parallax_flags(file);
  if (flags < 0) return errno = EBADF, -1;
  long status[6];
  switch (command) {
  case 0:    /* F_DUPFD */
  case 1030: /* F_DUPFD_CLOEXEC */ {
    int done = (int)answered(__parallax_duplicate(file, (int)given));
    if (done >= 0) closes_on_exec[done] = command != 0;
    return done;
  }
  case 1: return closes_on_exec[file];
  case 2: return closes_on_exec[file] = given & 1, 0;
  case 3:
    /* What the kernel adds for files that may be large: all are. */
    if (__parallax_status(NULL, file, status) == 0 && status[0] < 2) flags |= 0100000;
    return (int)flags;
  case 4: return 0; /* F_SETFL: nothing here would block */
  case 6:
  case 7: return 0; /* locks are free */
  default: return errno = EINVAL, -1;
  }
}
int fcntl64(int file, int command, ...) {
  if (command == 1 || command == 3) return fcntl(file, command);
  va_list list;
  va_start(list, command);
  long given = va_arg(list, long);
  va_end(list);
  return fcntl(file, command, given);
}
int flock(int file, int how) { return (void)how, fsync(file); }

/* Of terminals: whether one is there, and a usual size. */
static int terminal(int file) {
  long status[6];
  if (answered(__parallax_status(NULL, file, status)) < 0) return 0;
  if (status[5]) return 1;
  errno = ENOTTY;
  return 0;
}
int isatty(int file) { return terminal(file); }
int ioctl(int file, unsigned long request, ...) {
  va_list list;
  va_start(list, request);
  void *out = va_arg(list, void *);
  va_end(list);
  if (!terminal(file)) return -1;
  if (request == 0x5413) { /* TIOCGWINSZ */
    unsigned short *size = out;
    size[0] = 24, size[1] = 80, size[2] = size[3] = 0;
    return 0;
  }
  if (request == 0x5401) memset(out, 0, 36); /* TCGETS */
  return 0;
}
int tcgetattr(int file, void *out) {
  if (!terminal(file)) return -1;
  memset(out, 0, 60);
  return 0;
}
int tcsetattr(int file, int when, const void *new) { return (void)when, (void)new, terminal(file) ? 0 : -1; }
char *ttyname(int file) { return terminal(file) ? "/dev/tty" : NULL; }

struct stat {
  unsigned long device, inode, links;
  unsigned mode, user, group, unused;
  unsigned long special;
  long size, block, blocks, times[9];
};
static int described(long result, const long *status, struct stat *out) {
  if (answered(result) < 0) return -1;
  static const unsigned kinds[] = {0100000, 0040000, 0010000, 0020000};
  memset(out, 0, sizeof *out);
  out->device = 1;
  out->inode = (unsigned long)status[4];
  out->links = status[0] == 1 ? 2 : 1;
  out->mode = kinds[status[0]] | (unsigned)status[1];
  out->size = status[2];
  out->block = 4096;
  out->blocks = (status[2] + 511) / 512;
  out->times[0] = out->times[2] = out->times[4] = status[3];
  return 0;
}
int fstat(int file, struct stat *out) {
  long status[6];
  return fails() ? -1 : described(__parallax_status(NULL, file, status), status, out);
}
int stat(const char *path, struct stat *out) {
  long status[6];
  return fails() ? -1 : described(__parallax_status(named(path), -1, status), status, out);
}
int lstat(const char *path, struct stat *out) { return stat(path, out); }
int stat64(const char *path, struct stat *out) { return stat(path, out); }
int fstat64(int file, struct stat *out) { return fstat(file, out); }
int lstat64(const char *path, struct stat *out) { return stat(path, out); }
int fstatat(int folder, const char *path, struct stat *out, int flags) {
  if (!*path && flags & 0x1000) return fstat(folder, out);
  return below(folder, path) ? stat(path, out) : -1;
}
int access(const char *path, int mode) {
  long status[6];
  if (answered(__parallax_status(named(path), -1, status)) < 0) return -1;
  if (mode & 1 && !(status[1] & 0111)) return errno = EACCES, -1;
  return 0;
}
int faccessat(int folder, const char *path, int mode, int flags) {
  return (void)flags, below(folder, path) ? access(path, mode) : -1;
}
int euidaccess(const char *path, int mode) { return access(path, mode); }

struct timespec {
  long seconds, nanoseconds;
};
static int stamped(const char *path, long seconds) { return (int)answered(__parallax_set_time(named(path), seconds)); }
int utime(const char *path, const long *times) { return stamped(path, times ? times[1] : __parallax_time()); }
int utimes(const char *path, const struct timespec *times) {
  return stamped(path, times ? times[1].seconds : __parallax_time());
}
int utimensat(int folder, const char *path, const struct timespec *times, int flags) {
  (void)flags;
  if (!below(folder, path)) return -1;
  if (times && times[1].nanoseconds == 0x3ffffffe) return access(path, 0); /* UTIME_OMIT */
  int now = !times || times[1].nanoseconds == 0x3fffffff;
  return stamped(path, now ? __parallax_time() : times[1].seconds);
}

/* Folders. */
struct dirent {
  unsigned long inode;
  long offset;
  unsigned short length;
  unsigned char type;
  char name[256];
};
typedef struct folder {
  char *path;
  long next;
  struct dirent entry;
  struct folder *other;
} DIR;
/* Folders that are open: forgetting to close one is not losing its memory. */
static DIR *folders;
char *strdup(const char *s);
char *strcpy(char *to, const char *from);
DIR *opendir(const char *path) {
  long status[6];
  if (fails() || answered(__parallax_status(named(path), -1, status)) < 0) return NULL;
  if (status[0] != 1) return errno = ENOTDIR, NULL;
  DIR *folder = malloc(sizeof *folder);
  if (!folder) return NULL;
  memset(folder, 0, sizeof *folder);
  folder->path = strdup(named(path));
  folder->other = folders;
  return folders = folder;
}
struct dirent *readdir(DIR *folder) {
  struct dirent *entry = &folder->entry;
  memset(entry, 0, sizeof *entry);
  long number = folder->next++;
  if (number < 2) {
    strcpy(entry->name, number ? ".." : ".");
    entry->type = 4;
  } else {
    if (__parallax_entry(folder->path, number - 2, entry->name) <= 0) return NULL;
    long status[6];
    size_t n = strlen(folder->path), m = strlen(entry->name);
    char *whole = malloc(n + m + 2);
    if (whole) {
      memcpy(whole, folder->path, n);
      whole[n] = '/';
      memcpy(whole + n + 1, entry->name, m + 1);
      if (__parallax_status(whole, -1, status) == 0) {
        entry->type = status[0] == 1 ? 4 : 8;
        entry->inode = (unsigned long)status[4];
      }
      free(whole);
    }
  }
  entry->offset = folder->next;
  entry->length = sizeof *entry;
  return entry;
}
struct dirent *readdir64(DIR *folder) { return readdir(folder); }
void rewinddir(DIR *folder) { folder->next = 0; }
long telldir(DIR *folder) { return folder->next; }
void seekdir(DIR *folder, long at) { folder->next = at; }
int closedir(DIR *folder) {
  for (DIR **at = &folders; *at; at = &(*at)->other)
    if (*at == folder) {
      *at = folder->other;
      free(folder->path);
      free(folder);
      return 0;
    }
  return errno = EBADF, -1;
}
int alphasort(const struct dirent **a, const struct dirent **b) {
  const char *x = (*a)->name, *y = (*b)->name;
  while (*x && *x == *y) x++, y++;
  return (unsigned char)*x - (unsigned char)*y;
}
void qsort(void *base, size_t count, size_t size, int (*compare)(const void *, const void *));
void *realloc(void *old, size_t size);
int scandir(const char *path, struct dirent ***out, int (*wanted)(const struct dirent *),
            int (*compare)(const struct dirent **, const struct dirent **)) {
  DIR *folder = opendir(path);
  if (!folder) return -1;
  struct dirent **list = malloc(sizeof *list), *entry;
  int count = 0;
  while (list && (entry = readdir(folder))) {
    if (wanted && !wanted(entry)) continue;
    struct dirent **grown = realloc(list, (size_t)(count + 1) * sizeof *list);
    if (!grown) break;
    list = grown;
    list[count] = malloc(sizeof *entry);
    if (!list[count]) break;
    memcpy(list[count++], entry, sizeof *entry);
  }
  closedir(folder);
  if (compare) qsort(list, (size_t)count, sizeof *list, (int (*)(const void *, const void *))compare);
  *out = list;
  return count;
}

/* Where the program is: where it started, as the shell says it, and then where it went. */
static char here[4096];
static const char *current(void) {
  if (here[0]) return here;
  const char *given = getenv("PWD");
  return strcpy(here, given && *given == '/' && strlen(given) < sizeof here ? given : "/");
}
/* A path from the root, without dots and doubled slashes. */
static int whole(const char *path, char *out) {
  size_t n = 0;
  const char *start = *path == '/' ? "" : current();
  if (strlen(start) + strlen(path) + 2 > sizeof here) return errno = ENAMETOOLONG, 0;
  for (int part = 0; part < 2; part++) {
    const char *p = part ? path : start;
    while (*p) {
      while (*p == '/') p++;
      size_t m = 0;
      while (p[m] && p[m] != '/') m++;
      if (m == 2 && p[0] == '.' && p[1] == '.') {
        while (n && out[--n] != '/') {}
      } else if (m && !(m == 1 && *p == '.')) {
        out[n++] = '/';
        memcpy(out + n, p, m);
        n += m;
      }
      p += m;
    }
  }
  if (!n) out[n++] = '/';
  out[n] = 0;
  return 1;
}
int chdir(const char *path) {
  static char next[sizeof here];
  if (answered(__parallax_change_folder(named(path))) < 0 || !whole(path, next)) return -1;
  strcpy(here, next);
  return 0;
}
char *getcwd(char *out, size_t room) {
  const char *path = current();
  size_t n = strlen(path) + 1;
  if (out && room < n) {
    errno = room ? ERANGE : EINVAL;
    return NULL;
  }
  if (!out && !(out = malloc(room > n ? room : n))) return NULL;
  return memcpy(out, path, n);
}
char *realpath(const char *path, char *out) {
  long status[6];
  if (!path) return errno = EINVAL, NULL;
  if (answered(__parallax_status(named(path), -1, status)) < 0) return NULL;
  if (!out && !(out = malloc(sizeof here))) return NULL;
  return whole(path, out) ? out : NULL;
}

/* Names that are free, in order. */
static int filled(char *path) {
  static int count;
  size_t n = strlen(path);
  if (n < 6) return errno = EINVAL, 0;
  for (size_t i = n - 6; i < n; i++)
    if (path[i] != 'X') return errno = EINVAL, 0;
  int number = count++;
  for (size_t i = n; i-- > n - 6; number /= 26) path[i] = (char)('a' + number % 26);
  return 1;
}
int mkstemp(char *path) { return filled(path) ? __open(path, O_RDWR | O_CREAT | O_EXCL, 0600) : -1; }
char *mkdtemp(char *path) { return filled(path) && mkdir(path, 0700) == 0 ? path : NULL; }
