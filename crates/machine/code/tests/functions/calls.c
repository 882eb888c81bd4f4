// Functions that call: helpers that store through their arguments, recursion, tables of functions, locals whose address
// is passed on, what a library would do. Each has the type `int c_NAME(int *a, int *b, int n)`.
//
// Most are ordinary. Some do what ordinary functions do not, such as writing past a local array, and so over the address
// they return to: what the machine does then is what counts, and the two readings must not disagree about it.

#define HELPER static __attribute__((noinline))

typedef unsigned int u32;
typedef int (*unary)(int);
typedef int (*binary)(int *, int);

HELPER void set(int *a) { *a = 7; }
HELPER void put(int *a, int v) { *a = v; }
HELPER int get(const int *a) { return *a; }
HELPER int inc(int v) { return v + 1; }
HELPER int twice(int v) { return v * 2; }
HELPER int flip(int v) { return ~v; }
HELPER int low(int v) { return v & 15; }
HELPER void swap(int *x, int *y) { int t = *x; *x = *y; *y = t; }
HELPER int sum3(int x, int y, int z) { return x + y * 3 - z; }
HELPER int many(int p, int q, int r, int s, int t, int u, int v, int w, int x) {
  return p + 2 * q + 3 * r + 4 * s + 5 * t + 6 * u + 7 * v + 8 * w + 9 * x;
}

int c_two(int *a, int *b, int n) { set(a); return 5; }
int c_put(int *a, int *b, int n) { put(a, n); return *b; }
int c_put_then_read(int *a, int *b, int n) { put(a, n); put(b, 3); return *a + *b; }
int c_local_out(int *a, int *b, int n) { int x; put(&x, n); set(a); return x + *a; }
int c_two_locals(int *a, int *b, int n) { int x, y; put(&x, n); put(&y, *a); swap(&x, &y); return x - y; }
int c_swap(int *a, int *b, int n) { swap(a, b); return *a; }
int c_swap_self(int *a, int *b, int n) { swap(a, a); swap(a + 1, b); return a[1]; }
int c_nested(int *a, int *b, int n) { put(a, inc(twice(get(b)))); return sum3(get(a), inc(n), twice(n)); }
int c_many(int *a, int *b, int n) { return many(n, 1, *a, 3, *b, 5, n + 1, 7, 8); }
int c_kept(int *a, int *b, int n) {
  int p = *a, q = *b, r = n + 1, s = n * 3;
  set(a);
  put(b, p);
  return p + q * 2 + r * 4 + s * 8 + get(a);
}

HELPER int factorial(int n) { return n <= 1 ? 1 : n * factorial(n - 1); }
HELPER int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
HELPER int is_odd(u32 n);
HELPER int is_even(u32 n) { return n == 0 ? 1 : is_odd(n - 1); }
HELPER int is_odd(u32 n) { return n == 0 ? 0 : is_even(n - 1); }
HELPER void fill(int *a, int n) { if (n > 0) { a[n] = n; fill(a, n - 1); } }
HELPER int depth(int *at, int n) { int here = n; if (n == 0) return *at; return depth(&here, n - 1) + here; }
int c_factorial(int *a, int *b, int n) { return factorial(n & 7); }
int c_factorial_fixed(int *a, int *b, int n) { *a = factorial(5); return factorial(4) + n; }
int c_fibonacci(int *a, int *b, int n) { *b = fibonacci(n & 3); return *b; }
int c_mutual(int *a, int *b, int n) { return is_even(n & 7) * 2 + is_odd(n & 3); }
int c_fill(int *a, int *b, int n) { fill(a, n & 3); return a[2]; }
int c_depth(int *a, int *b, int n) { return depth(a, n & 3); }

static const unary TABLE[4] = {inc, twice, flip, low};
HELPER int apply(unary f, int v) { return f(v); }
HELPER int apply_twice(unary f, int v) { return f(f(v)); }
HELPER int through(int *a, binary f, int v) { return f(a, v); }
HELPER int put_get(int *a, int v) { put(a, v); return get(a) + 1; }
int c_table(int *a, int *b, int n) { return TABLE[n & 3](*a); }
int c_table_store(int *a, int *b, int n) { put(a, TABLE[n & 1](n)); return *b; }
int c_pointer(int *a, int *b, int n) { return apply(inc, *a) + apply_twice(twice, n); }
int c_pointer_chosen(int *a, int *b, int n) { return apply(n > 3 ? inc : flip, *b); }
int c_pointer_store(int *a, int *b, int n) { return through(a, put_get, n) + *b; }
int c_pointer_given(int *a, int *b, int n) { unary f = (unary)(long)a[0]; return f(n); }
int c_switch(int *a, int *b, int n) {
  switch (n & 7) {
  case 0: return inc(*a);
  case 1: set(a); return 1;
  case 2: swap(a, b); return 2;
  case 3: put(b, n); return 3;
  case 4: return twice(*b);
  case 5: return low(n);
  case 6: put(a, *b); return get(a);
  default: return flip(n);
  }
}

struct pair { int x, y; };
struct big { int v[6]; };
struct holder { int *p; int k; };
HELPER struct pair make(int x, int y) { struct pair p = {x, y}; return p; }
HELPER int take(struct big s, int i) { return s.v[i] + s.v[0]; }
HELPER void follow(struct holder *h) { *h->p = h->k; h->k = 1; }
int c_struct(int *a, int *b, int n) { struct pair p = make(n, *a); return p.x * 3 + p.y; }
int c_big(int *a, int *b, int n) { struct big s = {{n, 1, *a, 3, *b, 5}}; return take(s, 2); }
int c_holder(int *a, int *b, int n) { int x = 3; struct holder h = {&x, n}; follow(&h); set(a); return x + h.k; }
int c_holder_given(int *a, int *b, int n) { struct holder h = {a, n}; follow(&h); return *a + h.k; }

static int counter;
static int cells[4];
HELPER int bump(int by) { counter += by; return counter; }
int c_global(int *a, int *b, int n) { int before = bump(n); set(a); return before + bump(1); }
int c_global_array(int *a, int *b, int n) { put(&cells[n & 3], *a); set(b); return cells[1]; }

HELPER int total(const int *a, int n) { int t = 0; for (int i = 0; i < n; i++) t += a[i]; return t; }
HELPER void copy(char *to, const char *from, int n) { while (n-- > 0) *to++ = *from++; }
HELPER int length(const char *s, int most) { int n = 0; while (n < most && s[n]) n++; return n; }
int c_loop_of_calls(int *a, int *b, int n) { int t = 0; for (int i = 0; i < (n & 3); i++) t += twice(a[i]); return t; }
int c_loop_of_stores(int *a, int *b, int n) { for (int i = 0; i < 3; i++) put(a + i, get(b + i) + n); return *a; }
int c_local_array(int *a, int *b, int n) { int v[4]; for (int i = 0; i < 4; i++) put(v + i, i * n); return total(v, 3) + *a; }
int c_indexed(int *a, int *b, int n) { int v[4] = {1, 2, 3, 4}; put(&v[n & 3], *a); return get(&v[*b & 3]); }
int c_copy(int *a, int *b, int n) { int v[2]; copy((char *)v, (char *)b, 8); copy((char *)a, (char *)v, 6); return v[1]; }
int c_length(int *a, int *b, int n) { return length((char *)a, 5); }
int c_variable_array(int *a, int *b, int n) { int v[(n & 3) + 1]; put(v, *a); set(b); return v[0]; }

HELPER int plus(int count, ...) {
  __builtin_va_list list;
  int t = 0;
  __builtin_va_start(list, count);
  for (int i = 0; i < count; i++) t += __builtin_va_arg(list, int);
  __builtin_va_end(list);
  return t;
}
int c_variadic(int *a, int *b, int n) { return plus(3, n, *a, *b); }

// Past the end of a local array: the saved registers and the return address are next.
int c_overflow(int *a, int *b, int n) { volatile int v[2] = {1, 2}; v[n & 15] = *a; return v[0] + get(b); }
HELPER void smash(int *v, int i, int x) { v[i] = x; }
int c_smash(int *a, int *b, int n) { int v[2] = {1, 2}; smash(v, n & 15, *a); return v[0] + v[1]; }

// What is somewhere else.
unsigned long strlen(const char *);
void *memcpy(void *, const void *, unsigned long);
void *malloc(unsigned long);
int abs(int);
__attribute__((weak)) int absent(int);
int c_strlen(int *a, int *b, int n) { return (int)strlen((char *)a); }
int c_memcpy(int *a, int *b, int n) { memcpy(a, b, 8); return *a; }
int c_malloc(int *a, int *b, int n) { int *p = malloc(4); put(p, n); return *p; }
int c_abs_perhaps(int *a, int *b, int n) { return n & 1 ? abs(*a) : inc(*a); }
int c_weak(int *a, int *b, int n) { return n & 1 ? absent(n) : twice(n); }
