//! What entered code relies on: contracts that callers keep are told from mistakes that they cannot help.
//!
//! The judge is a caller. Each function stands beside a `main` that keeps every contract of the kind, with unknown values
//! for the rest. Where all that goes wrong in the function relies on something, nothing goes wrong for that caller; where a
//! mistake is left, that caller runs into it.

use parallax_cexplore::explore::{Entry, Exploration, Merge, Settings, explore};
use parallax_cexplore::{Program, Sources, program};
use parallax_cmachine::Aliasing;
use parallax_cmodule::FunctionId;
use parallax_term::Store;
use std::collections::BTreeSet;

struct Case {
    /// The function `f` and what it needs.
    code: &'static str,
    /// What it relies on; nothing besides the mistakes is expected.
    relied: &'static [&'static str],
    /// Mistakes that callers cannot help.
    mistakes: &'static [&'static str],
    /// A careful caller.
    caller: &'static str,
}

const BUFFER: &str = "struct buf { char *text; unsigned long size; unsigned long used; int (*act)(int); };\n";
const CAREFUL: &str = "static char room[3]; static int act(int a) { return a; }\n\
     int main(void) { unsigned long n = __VERIFIER_nondet_ulong(); if (n > 3) return 0;\n\
       struct buf b = { room, n, 0, act }; return f(&b) & 0; }\n";

const STACK: &str = "#include <stdlib.h>\nstruct stack { int *start, *end, *top; };\n";
const STACKED: &str = "int main(void) { struct stack s; s.start = malloc(2 * sizeof(int)); if (!s.start) return 0;\n\
       s.end = s.start + 2; s.top = s.start + (__VERIFIER_nondet_ulong() % 3); return f(&s, 1) & 0; }\n";

const CASES: &[Case] = &[
    Case {
        // What is set up is asked for null alone, and its address comes back where it is not.
        code: "struct s { int x; }; static struct s *set_up(void *p) { if (!p) return 0; *(struct s *)p = (struct s){ 7 }; return p; } \
            int f(void *state, int n) { struct s *s = set_up(state); if (n > 5) return s->x; return 0; }",
        relied: &["state is not null"],
        mistakes: &[],
        caller: "int main(void) { int a = 0; return f(&a, 6) & 0; }\n",
    },
    Case {
        // Pointers that are subtracted point into one array, in this order; where none is asked for, it is not empty.
        code: "int f(struct stack *s, int v) { if (s->top == s->end) { long n = s->end - s->start; \
            int *a = realloc(s->start, n * 2 * sizeof *a); if (!a) return 0; s->top = a + (s->top - s->start); \
            s->end = a + n * 2; s->start = a; } *s->top++ = v; return 1; }",
        relied: &[
            "s is not null",
            "s->end is not before s->top",
            "s->start is the start of memory that can be freed",
            "s->top and s->end point into one array",
            "s->top and s->start are different places",
            "s->top and s->start point into one array",
            "s->top is not null",
        ],
        mistakes: &[],
        caller: STACKED,
    },
    Case {
        // Whether it is empty is asked, though late: it may be.
        code: "int f(struct stack *s, int v) { long used = s->top - s->start; int last = s->top[-1]; \
            if (v > 5 && s->top == s->start) return 0; return last + used > 7; }",
        relied: &["s is not null"],
        mistakes: &["out-of-bounds"],
        caller: STACKED,
    },
    Case {
        // Of two numbers that bound the place, the one that it comes up to.
        code: "int f(char *to, int packed, int room) { for (int i = 0; i < room && i + 2 < packed; i++) to[i] = 0; return 1; }",
        relied: &["to is not null", "room bytes are at to"],
        mistakes: &[],
        caller: "int main(void) { char a[3]; return f(a, 9, __VERIFIER_nondet_int() & 3) & 0; }\n",
    },
    Case {
        // How much is before a pointer is no number of bytes behind it.
        code: "int f(int *top) { return top[-1] + top[-2]; }",
        relied: &["top is not null", "what is accessed at top is there"],
        mistakes: &[],
        caller: "int main(void) { int a[2] = { 0 }; return f(a + 2) & 0; }\n",
    },
    Case {
        // Where one is copied to the other, they are apart.
        code: "#include <string.h>\nint f(char *to, const char *from) { memcpy(to + 1, from, 2); return 1; }",
        relied: &[
            "to is not null",
            "from is not null",
            "at least 3 bytes are at to",
            "at least 2 bytes are at from",
            "to and from point to different objects",
        ],
        mistakes: &[],
        caller: "int main(void) { char a[3], b[2] = { 0 }; return f(a, b) & 0; }\n",
    },
    Case {
        // No caller can keep one place apart from the next.
        code: "#include <string.h>\nint f(char *to) { memcpy(to, to + 1, 2); return 1; }",
        relied: &["to is not null", "at least 3 bytes are at to"],
        mistakes: &["overlapping-copy"],
        caller: "int main(void) { char a[3] = { 0 }; return f(a) & 0; }\n",
    },
    Case {
        // Whether there is something is asked before it is known what it is.
        code: "struct pair { int count; struct pair *next; char big[600]; }; struct node { void *data; };\n\
            static int g(void *data) { struct pair *p = data; return p->next ? p->next->count : p->big[599]; }\n\
            int f(struct node *n) { if (n->data) return g(n->data); return 0; }",
        relied: &["n is not null"],
        mistakes: &[],
        caller: "int main(void) { struct pair p = { 1, 0 }; struct node n = { &p }; return f(&n) & 0; }\n",
    },
    Case {
        // What a function answers is asked, not which function it is.
        code: "#include <stdlib.h>\nstruct pool { void *(*get)(size_t); }; void *(*other)(size_t) = malloc;\n\
            int f(struct pool *p) { char *a = p->get(1); if (!a) return 0; free(a); return 1; }",
        relied: &["p is not null", "p->get is not null"],
        mistakes: &[],
        caller: "int main(void) { struct pool p = { malloc }; return f(&p) & 0; }\n",
    },
    Case {
        // Whether there is room is asked, and wrongly.
        code: "int f(struct stack *s, int v) { if (s->top > s->end) return 0; *s->top++ = v; return 1; }",
        relied: &["s is not null", "s->top is not null"],
        mistakes: &["out-of-bounds"],
        caller: STACKED,
    },
    Case {
        code: "int f(const char *p, const char *end) { int n = 0; while (p < end) n += *p++; return n; }",
        relied: &["p is not null", "p and end point into one array"],
        mistakes: &[],
        caller: "int main(void) { char t[3] = { 0 }; return f(t, t + __VERIFIER_nondet_ulong() % 4) & 0; }\n",
    },
    Case {
        // One too far.
        code: "int f(const char *p, const char *end) { int n = 0; while (p <= end) n += *p++; return n; }",
        relied: &["p is not null"],
        mistakes: &["out-of-bounds"],
        caller: "int main(void) { char t[3] = { 0 }; return f(t, t + __VERIFIER_nondet_ulong() % 4) & 0; }\n",
    },
    Case {
        // A buffer that is made when it is needed: null, and then nothing is used of it.
        code: "int f(struct buf *b) { int s = 0; if (!b->text) s = 1; \
            for (unsigned long i = 0; i < b->used; i++) s ^= b->text[i]; return s; }",
        relied: &["b is not null", "b->used bytes are at b->text"],
        mistakes: &[],
        caller: "static char room[3];\n\
            int main(void) { struct buf b = { __VERIFIER_nondet_int() ? room : 0, 3, 0, 0 }; \
            if (b.text) b.used = __VERIFIER_nondet_ulong() % 4; return f(&b) & 0; }\n",
    },
    Case {
        // How much there is stands behind a pointer, since it is handed back.
        code: "int f(const char *t, unsigned *n) { int s = 0; unsigned i = 0; while (i < *n) s ^= t[i++]; *n = 0; return s; }",
        relied: &["n is not null", "t is not null", "*n bytes are at t"],
        mistakes: &[],
        caller: "int main(void) { char t[3] = { 0 }; unsigned n = __VERIFIER_nondet_ulong() % 4; return f(t, &n) & 0; }\n",
    },
    Case {
        code: "int f(const char *t, unsigned *n) { int s = 0; unsigned i = 0; while (i <= *n) s ^= t[i++]; *n = 0; return s; }",
        relied: &["n is not null", "t is not null"],
        mistakes: &["out-of-bounds"],
        caller: "int main(void) { char t[3] = { 0 }; unsigned n = __VERIFIER_nondet_ulong() % 4; return f(t, &n) & 0; }\n",
    },
    Case {
        // A number that an array is made for, and that is a place in it, counts what is there.
        code: "#include <stdlib.h>\nstruct list { long *at; unsigned long n; };\nint f(struct list *l, long v) { \
            long *a = malloc((l->n + 1) * sizeof *a); if (!a) return 0; free(l->at); l->at = a; a[l->n++] = v; return 1; }",
        relied: &["l is not null", "l->n things fit into memory"],
        mistakes: &[],
        caller: "int main(void) { struct list l = { 0, __VERIFIER_nondet_ulong() % 3 }; return f(&l, 1) & 0; }\n",
    },
    Case {
        // What is asserted of the input as it is.
        code: "#include <assert.h>\nstatic int digit(unsigned char c) { if (c >= 'A') c -= 7; c -= '0'; assert(c < 16); return c; }\n\
            int f(const unsigned char *t) { return digit(t[0]); }",
        relied: &["t is not null", "what digit asserts of its input holds"],
        mistakes: &[],
        caller: "int main(void) { unsigned char t = '0' + __VERIFIER_nondet_ulong() % 10; return f(&t) & 0; }\n",
    },
    Case {
        // Somebody looked at it, and not well enough.
        code: "#include <assert.h>\nstatic int digit(unsigned char c) { assert(c <= '9'); return c; }\n\
            int f(const unsigned char *t) { if (t[0] < '0' || t[0] > '9' + 1) return 0; return digit(t[0]); }",
        relied: &["t is not null"],
        mistakes: &["assertion"],
        caller: "int main(void) { unsigned char t = (unsigned char)__VERIFIER_nondet_char(); return f(&t) & 0; }\n",
    },
    Case {
        code: "#include <assert.h>\nint f(const unsigned char *t) { if (t[0] < '0') return 0; assert(t[0] <= '9'); return 1; }",
        relied: &["t is not null"],
        mistakes: &["assertion"],
        caller: "int main(void) { unsigned char t = (unsigned char)__VERIFIER_nondet_char(); return f(&t) & 0; }\n",
    },
    Case {
        // So did the loop around it.
        code: "#include <assert.h>\nint f(const int *n) { for (int i = 0; i <= *n; i++) assert(i < *n); return 0; }",
        relied: &["n is not null"],
        mistakes: &["assertion"],
        caller: "int main(void) { int n = __VERIFIER_nondet_int() & 3; return f(&n) & 0; }\n",
    },
    Case {
        code: "int f(struct buf *b) { int s = 0; for (unsigned long i = 0; i < b->size; i++) s += b->text[i]; return s; }",
        relied: &["b is not null", "b->text is not null", "b->size bytes are at b->text"],
        mistakes: &[],
        caller: CAREFUL,
    },
    Case {
        code: "int f(struct buf *b) { int s = 0; for (unsigned long i = 0; i <= b->size; i++) s += b->text[i]; return s; }",
        relied: &["b is not null", "b->text is not null"],
        mistakes: &["out-of-bounds"],
        caller: CAREFUL,
    },
    Case {
        code: "int f(struct buf *b) { return b->act(1); }",
        relied: &["b is not null", "b->act is not null"],
        mistakes: &[],
        caller: CAREFUL,
    },
    Case {
        code: "int f(struct buf *b) { int n = 0; if (b) n = 1; return n + (int)b->used; }",
        relied: &[],
        mistakes: &["null-dereference"],
        caller: "int main(void) { struct buf b = { 0 }; return f(__VERIFIER_nondet_int() ? &b : 0) & 0; }\n",
    },
    Case {
        // Compared with each other, but with null nowhere.
        code: "int f(int *p, int *q) { if (p == q) return 0; return *p; }",
        relied: &["p is not null"],
        mistakes: &[],
        caller: "int main(void) { int a = 0, b = 0; return f(&a, __VERIFIER_nondet_int() ? &a : &b) & 0; }\n",
    },
    Case {
        code: "int f(const char *p) { int n = 0; while (p[n]) n++; return n; }",
        relied: &["p is not null", "p is a text that ends with a NUL"],
        mistakes: &[],
        caller: "int main(void) { char t[3] = { __VERIFIER_nondet_char(), __VERIFIER_nondet_char(), 0 }; return f(t) & 0; }\n",
    },
    Case {
        code: "int f(const unsigned char *k) { return k[0] + k[2]; }",
        relied: &["k is not null", "at least 3 bytes are at k"],
        mistakes: &[],
        caller: "int main(void) { unsigned char k[3] = { 0 }; return f(k) & 0; }\n",
    },
    Case {
        code: "int f(int *a, int n) { int s = 0; for (int i = 0; i < n; i++) s ^= a[i]; return s; }",
        relied: &["a is not null", "n elements are at a"],
        mistakes: &[],
        caller: "int main(void) { int a[3] = { 0 }; int n = __VERIFIER_nondet_int(); return n <= 3 ? f(a, n) & 0 : 0; }\n",
    },
    Case {
        // A negative place passes the test.
        code: "int f(int *a, int n, int i) { if (i < n) return a[i]; return 0; }",
        relied: &["a is not null"],
        mistakes: &["out-of-bounds"],
        caller: "int main(void) { int a[3] = { 0 }; return f(a, 3, __VERIFIER_nondet_int()) & 0; }\n",
    },
    Case {
        // A length that the code looks at says how much there is, also where a constant place is read.
        code: "int f(const char *t, unsigned n) { if (n >= 2) return t[2]; return 0; }",
        relied: &["t is not null"],
        mistakes: &["out-of-bounds"],
        caller: "int main(void) { char t[2] = { 0 }; return f(t, 2) & 0; }\n",
    },
    Case {
        // A place that is taken for granted: nothing says how far it may be.
        code: "int f(int *a, const unsigned char *b) { return a[b[0]]; }",
        relied: &["a is not null", "b is not null", "what is accessed at a is there"],
        mistakes: &[],
        caller: "int main(void) { int a[2] = { 0 }; unsigned char b = __VERIFIER_nondet_int() & 1; return f(a, &b) & 0; }\n",
    },
    Case {
        // So is one of the caller's: that null is not accessed near it says nothing of how large it is.
        code: "int f(struct buf *b, unsigned at, unsigned end) { if (b->text[at] != 'x') return 0; return at + 1 < end; }",
        relied: &["b is not null", "b->text is not null", "what is accessed at b->text is there"],
        mistakes: &[],
        caller: "int main(void) { char t[2] = { 0 }; struct buf b = { t, 2, 0, 0 }; return f(&b, __VERIFIER_nondet_int() & 1, 2) & 0; }\n",
    },
    Case {
        // A number that has nothing to do with the text does not say how long it is.
        code: "int f(const char *p, int mode) { int n = 0; if (mode == 2) return 7; while (p[n]) n++; return n; }",
        relied: &["p is not null", "p is a text that ends with a NUL"],
        mistakes: &[],
        caller: "int main(void) { char t[3] = { 1, __VERIFIER_nondet_char(), 0 }; return f(t, 1) & 0; }\n",
    },
    Case {
        // An assertion says what is relied on; a test that goes on does not.
        code: "#include <assert.h>\nint f(const int *p) { assert(p != 0); return *p; }",
        relied: &["p is not null"],
        mistakes: &[],
        caller: "int main(void) { int a = 0; return f(&a) & 0; }\n",
    },
    Case {
        // What frees takes null as well; that says nothing of what else is done with the pointer.
        code: "#include <stdlib.h>\nstatic void drop(void *p) { if (p) free(p); }\nint f(int *p, int done) { if (done) { drop(p); return 0; } return *p; }",
        relied: &["p is not null"],
        mistakes: &[],
        caller: "#include <stdlib.h>\nint main(void) { int *p = calloc(1, sizeof *p); return p ? f(p, __VERIFIER_nondet_int()) & 0 : 0; }\n",
    },
    Case {
        // What a function takes for possible says nothing of every pointer that is handed to it.
        code: "static int first(const char *p) { if (!p) return 0; return *p; }\nint f(const char *p) { return first(p) + *p; }",
        relied: &["p is not null"],
        mistakes: &[],
        caller: "int main(void) { char a = __VERIFIER_nondet_char(); return f(&a) & 0; }\n",
    },
    Case {
        // Nor does where a pointer is beside another.
        code: "int f(const char *p, int n) { const char *low = p - 1; if (low == p + n) return 1; return *p; }",
        relied: &["p is not null"],
        mistakes: &[],
        caller: "int main(void) { char a[2] = { 0 }; return f(a + 1, __VERIFIER_nondet_int() & 1) & 0; }\n",
    },
    Case {
        // But where it is read from memory and asked about, it may be null wherever it is read.
        code: "static int has(struct buf *b) { if (b->text) return 1; return 0; }\nint f(struct buf *b) { int n = has(b); return n + *b->text; }",
        relied: &["b is not null"],
        mistakes: &["null-dereference"],
        caller: "int main(void) { char t = 0; struct buf b = { __VERIFIER_nondet_int() ? &t : 0, 0, 0, 0 }; return f(&b) & 0; }\n",
    },
    Case {
        // A word is read where there may be half of one: the length was asked for, but not for enough.
        code: "int f(const char *t, unsigned n) { long w = 0; if (n >= 4) __builtin_memcpy(&w, t, 8); return (int)w; }",
        relied: &["t is not null"],
        mistakes: &["out-of-bounds"],
        caller: "int main(void) { char t[4] = { 0 }; return f(t, 4) & 0; }\n",
    },
    Case {
        // Nothing was asked of the number: it is one of something else.
        code: "int f(const char *t, unsigned seed) { long w = 0; __builtin_memcpy(&w, t, 8); return (int)(w ^ seed); }",
        relied: &["t is not null", "at least 8 bytes are at t"],
        mistakes: &[],
        caller: "int main(void) { char t[8] = { 0 }; return f(t, 3) & 0; }\n",
    },
    Case {
        // What the code itself made is as large as the code made it.
        code: "int f(const unsigned char *t) { int seen[200] = { 0 }; return seen[t[0]]; }",
        relied: &["t is not null"],
        mistakes: &["out-of-bounds"],
        caller: "int main(void) { unsigned char t[1] = { (unsigned char)__VERIFIER_nondet_char() }; return f(t) & 0; }\n",
    },
    Case {
        // The text is looked at before its length is.
        code: "int f(const char *t, unsigned n) { unsigned i = 0; do { if (t[i] == 'x') i++; else break; } while (i <= n); return (int)i; }",
        relied: &["t is not null"],
        mistakes: &["out-of-bounds"],
        caller: "int main(void) { char t[2] = { __VERIFIER_nondet_char(), __VERIFIER_nondet_char() }; return f(t, 2) & 0; }\n",
    },
    Case {
        // What stands before a pointer is bounded by no number.
        code: "struct depths { int depth; int *top; };\nint f(struct depths *s) { if (s->depth > 0) return *--s->top; return 0; }",
        relied: &[
            "s is not null",
            "s->top is not null",
            "s and s->top point to different objects",
            "what is accessed at s->top is there",
        ],
        mistakes: &[],
        caller: "int main(void) { int a[2] = { 0 }; struct depths s = { __VERIFIER_nondet_int(), a + 1 }; return f(&s) & 0; }\n",
    },
    Case {
        // Of two numbers one is a place, and nothing is asked of it: it stays below the other.
        code: "int f(struct buf *b) { if (b->size < 2) return 0; b->text[b->used] = 1; return 1; }",
        relied: &["b is not null", "b->text is not null", "what is accessed at b->text is there"],
        mistakes: &[],
        caller: CAREFUL,
    },
    Case {
        // Of one number nobody knows better: it says how much there is.
        code: "int f(char *t, unsigned n) { if (n > 2) return 0; t[n] = 0; return 1; }",
        relied: &["t is not null"],
        mistakes: &["out-of-bounds"],
        caller: "int main(void) { char t[2] = { 0 }; return f(t, 2) & 0; }\n",
    },
    Case {
        // Only a length that no text has makes the size wrap around.
        code: "#include <stdlib.h>\nint f(const char *t, unsigned long n) { long *a = malloc((n + 1) * sizeof *a); if (!a) return 0; \
            a[0] = 0; for (unsigned long i = 0; i < n && i < 2; i++) a[0] += t[i]; free(a); return 1; }",
        relied: &["t is not null", "n bytes are at t", "n things fit into memory"],
        mistakes: &[],
        caller: "int main(void) { char t[3] = { 0 }; unsigned long n = __VERIFIER_nondet_ulong(); return n <= 3 ? f(t, n) & 0 : 0; }\n",
    },
    Case {
        // A number of nothing in particular may be large.
        code: "#include <stdlib.h>\nint f(unsigned long n) { long *a = malloc((n + 1) * sizeof *a); if (!a) return 0; \
            a[0] = 0; free(a); return 1; }",
        relied: &[],
        mistakes: &["out-of-bounds"],
        caller: "int main(void) { return f(__VERIFIER_nondet_ulong()) & 0; }\n",
    },
    Case {
        code: "#include <stdlib.h>\nint f(int *p, int *q) { free(p); return *q; }",
        relied: &["q is not null", "p and q point to different objects"],
        mistakes: &[],
        caller: "#include <stdlib.h>\nint main(void) { int q = 0; return f(malloc(4), &q) & 0; }\n",
    },
    Case {
        code: "#include <stdlib.h>\nstruct item { int size; char mark; char *text; };\nchar *mark(struct item *i) { return &i->mark; }\nint f(struct item *i) { free(i->text); return i->size; }",
        relied: &["i is not null", "i->text is the start of memory that can be freed"],
        mistakes: &[],
        caller: "#include <stdlib.h>\nint main(void) { struct item i = { 1, 0, malloc(2) }; return f(&i) & 0; }\n",
    },
    Case {
        // Whoever frees one byte further does so for every caller.
        code: "#include <stdlib.h>\nint f(char *t) { free(t + 1); return 0; }",
        relied: &[],
        mistakes: &["invalid-free"],
        caller: "#include <stdlib.h>\nint main(void) { return f(malloc(2)) & 0; }\n",
    },
    Case {
        // Unions hold what they are read as: pointers to different things, numbers of several bytes.
        code: "struct many { int kind; union { char *text; struct { int *at; unsigned long n; } list; long number; } u; };\n\
            int f(struct many *m) { int s = 0; if (m->kind != 2) return 0; \
            for (unsigned long i = 0; i < m->u.list.n; i++) s ^= m->u.list.at[i]; return s; }",
        relied: &["m is not null", "m->u is not null"],
        mistakes: &[],
        caller: "int main(void) { int a[3] = { 0 }; struct many m = { __VERIFIER_nondet_int() }; m.u.list.at = a; m.u.list.n = 3; return f(&m) & 0; }\n",
    },
    Case {
        code: "int f(unsigned a, unsigned b) { return (int)(a / b); }",
        relied: &[],
        mistakes: &["division-by-zero"],
        caller: "int main(void) { return f(1, __VERIFIER_nondet_int()) & 0; }\n",
    },
];

fn load(text: &str) -> Program {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("relied.c");
    std::fs::write(&file, text).expect("a file");
    program::load(&Sources { files: vec![file], ..Sources::default() }).expect("a program")
}

fn explored(program: &Program, entry: Entry, merge: Merge) -> Exploration {
    explored_with(program, Settings { entry, merge, ..Settings::default() })
}

fn explored_with(program: &Program, settings: Settings) -> Exploration {
    let store = Store::new();
    let solver = parallax_smt::solver(&store);
    explore(&store, &program.module, &settings, solver, &mut |_, _, _| {}).expect("it is explored")
}

#[test]
fn what_callers_see_to_is_told_from_what_they_cannot_help() {
    for case in CASES {
        let declared = "unsigned long __VERIFIER_nondet_ulong(void); int __VERIFIER_nondet_int(void); char __VERIFIER_nondet_char(void);\n";
        let program = load(&format!("{BUFFER}{STACK}{declared}{}\n{}", case.code, case.caller));
        for merge in [Merge::Never, Merge::Auto] {
            let alone = explored(&program, Entry::Function("f".into()), merge);
            let relied = alone.findings.iter().flat_map(|finding| &finding.relied);
            let relied: BTreeSet<String> = relied.map(ToString::to_string).collect();
            let wanted: BTreeSet<String> = case.relied.iter().map(|words| words.to_string()).collect();
            assert_eq!(relied, wanted, "{}", case.code);
            let certain = alone.findings.iter().filter(|finding| finding.relied.is_empty());
            let certain: Vec<&str> = certain.map(|finding| finding.problem.name()).collect();
            assert_eq!(certain, case.mistakes, "{}", case.code);
        }
        let main =
            Entry::Main { arguments: Vec::new(), stdin: 0, files: Vec::new(), environment: Vec::new() };
        let called = explored(&program, main, Merge::Never);
        let is_f = |(function, _): &(FunctionId, _)| program.module.function(*function).name == "f";
        let found = called.findings.iter().filter(|finding| finding.stack.iter().any(is_f));
        let found: Vec<&str> = found.map(|finding| finding.problem.name()).collect();
        assert_eq!(found, case.mistakes, "the careful caller of {}", case.code);
    }
}

#[test]
fn what_is_written_to_a_text_does_not_change_the_structure_that_holds_it() {
    let program = load(
        "struct own { char *text; char kind; };\n\
         int f(struct own *o) { int t[2] = { 1, 2 }; if (o->kind < 0 || o->kind > 1) return 0;\n\
           o->text[0] = 100; return t[(int)o->kind]; }",
    );
    let settings =
        |aliasing| Settings { entry: Entry::Function("f".into()), aliasing, ..Settings::default() };
    let found = explored_with(&program, settings(Aliasing::Sub));
    let relied: BTreeSet<String> =
        found.findings.iter().flat_map(|finding| &finding.relied).map(ToString::to_string).collect();
    let wanted = ["o and o->text point to different objects", "o is not null", "o->text is not null"];
    assert_eq!(relied, wanted.map(String::from).into());
    assert!(found.findings.iter().all(|finding| !finding.relied.is_empty()));
    // The contract is what makes the difference: where texts are never parts of structures, nothing relies on it.
    let apart = explored_with(&program, settings(Aliasing::Strict));
    assert_eq!(apart.findings.len() + 1, found.findings.len());
}

#[test]
fn a_function_of_which_the_program_has_none_is_not_null() {
    let program = load("int f(int (*act)(double)) { return act(1.0); }");
    let found = explored(&program, Entry::Function("f".into()), Merge::Never).findings;
    let relied: Vec<String> =
        found.iter().flat_map(|finding| &finding.relied).map(ToString::to_string).collect();
    assert_eq!((found.len(), relied), (1, vec!["act is not null".to_string()]));
}

#[test]
fn a_search_that_starts_again_has_time_left_for_it() {
    // The one state learns something at once, and never ends.
    let program = load(
        "int f(int *start, int *end) { unsigned n = end - start; for (unsigned i = 0; ; i++) n += i; return n; }",
    );
    let settings = Settings {
        entry: Entry::Function("f".into()),
        time: std::time::Duration::from_secs(1),
        steps: u64::MAX,
        ..Settings::default()
    };
    let found = explored_with(&program, settings);
    assert!(found.completeness.is_out_of_time());
    assert!(found.steps > 100, "{}", found.steps);
}
