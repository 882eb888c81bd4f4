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

/* The outside world. */
long __parallax_write(int file, const void *bytes, size_t count);
long __parallax_read(int file, void *bytes, size_t count);
int __parallax_open(const char *path, int flags); /* 0 read, 1 write, 2 append, 3 both, 4 both and made empty */
int __parallax_close(int file);
long __parallax_seek(int file, long offset, int whence);
int __parallax_remove(const char *path);
long __parallax_time(void);
char *__parallax_environment(const char *name);
/* Whether random numbers of a seeded generator are inputs, and one of these. */
int __parallax_random_inputs(void);
int __parallax_random(void);
/* Any number, and bytes made unknown: what the outside world answers. */
long __parallax_unknown(const char *what);
void __parallax_forget(void *bytes, size_t count);
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

void *malloc(size_t size);
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

#endif
