// native: the runtime is called by hand
// c: handlers of a runtime, called by hand as instrumented code calls them
int klee_range(int, int, const char *);
void __ubsan_handle_builtin_unreachable(void *);
void __ubsan_handle_out_of_bounds(void *, unsigned long);
void __ubsan_handle_shift_out_of_bounds(void *, unsigned long, unsigned long);
void *__asan_memcpy(void *, const void *, unsigned long);
void __msan_unpoison(const void *, unsigned long);
void __sanitizer_cov_trace_pc(void);
int main(void) {
  char from[4] = "abc", to[4] = "";
  __sanitizer_cov_trace_pc();
  __asan_memcpy(to, from, 4);
  if (to[2] != 'c') return *(volatile char *)0;
  __msan_unpoison(to, 4);
  int n = klee_range(0, 4, "n");
  if (n == 1) __ubsan_handle_builtin_unreachable(0); //~ assertion
  if (n == 2) __ubsan_handle_out_of_bounds(0, 9); //~ out-of-bounds
  if (n == 3) __ubsan_handle_shift_out_of_bounds(0, 1, 99); //~ bad-shift
  return 0;
}
