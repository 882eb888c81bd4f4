/* The harness functions of KLEE that Parallax understands. */
#ifndef PARALLAX_KLEE_H
#define PARALLAX_KLEE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Inputs. */
void klee_make_symbolic(void *address, size_t bytes, const char *name);
int klee_int(const char *name);
int klee_range(int begin, int end, const char *name);
uintptr_t klee_choose(uintptr_t count);
unsigned klee_is_symbolic(uintptr_t value);
unsigned klee_is_replay(void);

/* What to take for granted, and what must hold. */
void klee_assume(uintptr_t condition);
void klee_assert(int condition);
void klee_prefer_cex(void *object, uintptr_t condition);
void klee_posix_prefer_cex(void *object, uintptr_t condition);

/* Ends of a path. */
__attribute__((noreturn)) void klee_abort(void);
__attribute__((noreturn)) void klee_silent_exit(int status);
__attribute__((noreturn)) void klee_report_error(const char *file, int line, const char *message, const char *suffix);

/* A value that the argument can have on this path. */
float klee_get_valuef(float value);
double klee_get_valued(double value);
long klee_get_valuel(long value);
long long klee_get_valuell(long long value);
int32_t klee_get_value_i32(int32_t value);
int64_t klee_get_value_i64(int64_t value);

/* Hints. */
size_t klee_get_obj_size(void *object);
void klee_print_expr(const char *message, ...);
void klee_print_range(const char *name, int value);
void klee_mark_global(void *object);
void klee_check_memory_access(const void *address, size_t bytes);
void klee_define_fixed_object(void *address, size_t bytes);
void klee_set_forking(unsigned enable);
void klee_stack_trace(void);
void klee_warning(const char *message);
void klee_warning_once(const char *message);
void klee_alias_function(const char *function, const char *replacement);
void klee_alias_function_regex(const char *pattern, const char *replacement);
void klee_open_merge(void);
void klee_close_merge(void);
int klee_get_errno(void);
int *klee_errno_location(void) __asm__("__errno_location");

#ifdef __cplusplus
}
#endif

#endif
