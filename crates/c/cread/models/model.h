/* What the models stand on: functions of the machine itself, and a few types. */
#ifndef PARALLAX_MODEL_H
#define PARALLAX_MODEL_H

typedef unsigned long size_t;
typedef long ssize_t;
#define NULL ((void *)0)
#define EOF (-1)

/* The body of a function `f(..., text, ...)` that is its relative on a list of arguments. */
#define WITH_LIST(call)                                                                                                \
  va_list list;                                                                                                        \
  va_start(list, text);                                                                                                \
  int result = call;                                                                                                   \
  va_end(list);                                                                                                        \
  return result

/* The outside world. A result below zero is an error number, negated. */
long __parallax_write(int file, const void *bytes, size_t count);
long __parallax_read(int file, void *bytes, size_t count);
long __parallax_open(const char *path, int flags, unsigned mode);
long __parallax_close(int file);
long __parallax_seek(int file, long offset, int whence);
long __parallax_remove(const char *path);
long __parallax_make_folder(const char *path, unsigned mode);
long __parallax_remove_folder(const char *path);
long __parallax_rename(const char *from, const char *to);
long __parallax_duplicate(int file, int least);
long __parallax_duplicate_to(int file, int to);
long __parallax_flags(int file);
long __parallax_truncate(int file, long length);
long __parallax_change_mode(const char *path, unsigned mode);
long __parallax_set_time(const char *path, long seconds);
long __parallax_change_folder(const char *path);
/* The standard stream that a file number writes to, or 0. */
long __parallax_stream(int file);
/* What stat tells: kind (0 file, 1 folder, 2 pipe, 3 device), permissions, size, time, number, whether a terminal.
   Without a path, of a file number. */
long __parallax_status(const char *path, int file, long *out);
/* The name in a folder with this number, with room for 256 characters: its length, 0 after the last. */
long __parallax_entry(const char *path, long number, char *out);
/* Whether the system call at hand is to fail, where some are. */
int __parallax_fails(void);
void __parallax_failed(void);
/* Whether all of a text is constant; and names that exist, by number, as for folders. */
int __parallax_known_text(const char *text);
long __parallax_name(long number, char *out);
/* A variable of the environment was asked for that is not set. */
void __parallax_unset(const char *name);
long __parallax_time(void);
/* As glibc calls them inside: a program may define the others itself. */
long __read(int file, void *bytes, size_t count);
long __write(int file, const void *bytes, size_t count);
int __open(const char *path, int flags, unsigned mode);
int __close(int file);
long __lseek(int file, long offset, int whence);
char *getenv(const char *name);
/* Whether the seed that the running function was given is not constant, or was computed where such seeds count as
   unknown; and any number that rand may give. */
int __parallax_unknown_seed(unsigned long seed);
int __parallax_random(void);
/* Any number, and bytes made unknown: what the outside world answers. */
long __parallax_unknown(const char *what);
/* Of `room` bytes the first `count`. */
void __parallax_forget(void *bytes, size_t room, size_t count);
void klee_assume(unsigned long condition);
/* Size of an allocation, checked as for free. */
size_t __parallax_size(void *pointer);
/* Whether a value is constant, and a number that is not, written to a standard stream. Flags: 1 left, 2 plus, 4 space,
   8 zero. */
int __parallax_known(unsigned long value);
void __parallax_write_number(int file, unsigned long value, int conversion, int flags, int width, int precision);
/* Numbers as text; see the machine's library. */
/* A precision below zero is none. */
int __parallax_format_double(char *out, int conversion, int precision, int alternate, double value);
int __parallax_format_long_double(char *out, int conversion, int precision, int alternate, long double value);
/* The number that exactly these characters are, and whether it is out of range. */
double __parallax_parse_double(const char *text, long len, int *range);
float __parallax_parse_float(const char *text, long len, int *range);
long double __parallax_parse_long_double(const char *text, long len, int *range);

/* Ends the run: this is not modelled. */
void __parallax_refuse(const char *what) __attribute__((noreturn));

void *malloc(size_t size);
void *__parallax_malloc_aligned(size_t align, size_t size);
void *__parallax_zeroed(size_t size);
void free(void *pointer);
void *memcpy(void *to, const void *from, size_t count);
void *memmove(void *to, const void *from, size_t count);
void *memset(void *to, int byte, size_t count);
void abort(void) __attribute__((noreturn));
void exit(int status) __attribute__((noreturn));

size_t strlen(const char *s);
int isspace(int c);
int isdigit(int c);
int isalpha(int c);
int isupper(int c);
int tolower(int c);

int *__errno_location(void);
#define errno (*__errno_location())
#define EINVAL 22
#define ERANGE 34
#define ENOENT 2
#define EACCES 13
#define EEXIST 17
#define EBADF 9
#define ENOMEM 12
#define EIO 5
#define ENOTDIR 20
#define EISDIR 21
#define ENOTTY 25
#define ESPIPE 29
#define EBUSY 16
#define ENOTEMPTY 39
#define ENAMETOOLONG 36
#define ENOSYS 38

enum { O_WRONLY = 1, O_RDWR = 2, O_CREAT = 0100, O_EXCL = 0200, O_TRUNC = 01000, O_APPEND = 02000, O_DIRECTORY = 0200000 };

#endif
