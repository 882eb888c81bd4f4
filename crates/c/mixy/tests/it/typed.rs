//! Qualifier inference alone, construct by construct: lines marked `//~` are exactly those that are reported.

use crate::common;

use common::{checked, found, load};
use parallax_mixy::{Settings, Sinks, check};

/// Lines marked as dereferences (`//~ d`) or as flows to what must not be null (`//~ n`).
fn expected(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let Some((_, mark)) = line.split_once("//~ ") else { continue };
        let kind = match mark.trim() {
            "d" => "null-dereference",
            "n" => "null-to-nonnull",
            other => panic!("no such mark: {other}"),
        };
        lines.push(format!("{} {kind} typed", number + 1));
    }
    lines.sort();
    lines
}

fn deref(text: &str) {
    assert_eq!(checked(text, &Settings::default()), expected(text), "{text}");
}

fn annotated(text: &str) {
    let settings = Settings { sinks: Sinks::Annotated, ..Settings::default() };
    assert_eq!(checked(text, &settings), expected(text), "{text}");
}

#[test]
fn assignments_calls_and_returns_carry_null() {
    annotated(
        "#include <stddef.h>
void free_(int *x) __attribute__((nonnull));
int *id(int *p) { return p; }
int main(void) {
  int *x = NULL;
  int *y = id(x);
  free_(y); //~ n
  return 0;
}
",
    );
    deref(
        "int *id(int *p) { return p; }
int main(void) {
  int v = 1;
  int *x = 0, *y = &v;
  int *z = id(x);
  *y = 2;
  return *z; //~ d
}
",
    );
}

#[test]
fn memory_carries_null_through_aliases_fields_and_arrays() {
    deref(
        "struct s { int *a; int *b; };
int v;
int main(void) {
  struct s s;
  int *t[4], **p = &s.a;
  s.b = &v;
  *p = 0;
  t[0] = &v;
  t[2] = 0;
  *s.b = 1;
  *s.a = 1; //~ d
  return *t[1]; //~ d
}
",
    );
}

#[test]
fn copies_of_structures_keep_fields_apart() {
    deref(
        "#include <string.h>
struct s { int *a; int *b; };
int v;
int get(struct s s) {
  return *s.a //~ d
    + *s.b;
}
int main(void) {
  struct s s = { 0, &v }, t, u;
  t = s;
  memcpy(&u, &t, sizeof u);
  get(u);
  return 0;
}
",
    );
}

#[test]
fn the_heap_is_told_apart_by_where_it_was_allocated() {
    deref(
        "#include <stdlib.h>
struct s { struct s *next; int *v; };
int v;
int main(void) {
  struct s *a = malloc(sizeof *a), *b = malloc(sizeof *b), *c = calloc(1, sizeof *c);
  a->next = 0;
  b->next = a;
  a->v = b->v = &v;
  *b->next->v = 1;
  *a->v = 2;
  c->v = c->v;
  return *c->v //~ d
    + *a->next->v; //~ d
}
",
    );
}

#[test]
fn calls_through_pointers_reach_what_they_point_to() {
    deref(
        "int v;
int *one(void) { return &v; }
int *two(void) { return 0; }
int *three(void) { return 0; }
int *(*table[2])(void) = { one, two };
int *(*alone)(void) = one;
int main(int argc, char **argv) {
  int *(*unused)(void) = three;
  (void)unused;
  int *p = table[argc & 1](), *q = alone();
  return *p //~ d
    + *q;
}
",
    );
}

#[test]
fn the_library_returns_null_where_it_says_so() {
    deref(
        "#include <string.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  char *a = strchr(argv[0], 'x');
  char *b = getenv(\"HOME\");
  char *c = strdup(argv[0]);
  *a = 1; //~ d
  *c = 2;
  return strlen(b); //~ n
}
",
    );
}

#[test]
fn variables_without_initialiser_are_null_where_dereferences_count() {
    let text = "int *g, v;
int main(void) {
  int *_Nonnull p = g; //~ n
  return *g; //~ d
}
";
    deref(text);
    let settings = Settings { sinks: Sinks::Annotated, ..Settings::default() };
    assert_eq!(checked(text, &settings), [""; 0]);
}

#[test]
fn declared_positions_stop_null_and_report_it_once() {
    annotated(
        "int v;
struct s { int *_Nonnull f; int *g; };
void take(int *_Nonnull p) { int *q = p; struct s s = { q, q }; (void)s; }
int *_Nonnull give(int *p) { return p; } //~ n
int main(void) {
  int *n = 0;
  struct s s;
  s.g = n;
  s.f = n; //~ n
  take(n); //~ n
  take(s.f);
  take(give(n));
  return 0;
}
",
    );
}

#[test]
fn variadic_arguments_meet_in_one_cell() {
    deref(
        "#include <stdarg.h>
int v;
int sum(int n, ...) {
  va_list list;
  va_start(list, n);
  int *p = va_arg(list, int *);
  va_end(list);
  return *p; //~ d
}
int main(void) { return sum(2, &v, (int *)0); }
",
    );
}

/// A program with an allocator of its own; `get` is its body, and `use` what `main` does with `a` and `b`.
fn with_allocator(get: &str, uses: &str) -> Vec<String> {
    let text = format!(
        "#include <stdlib.h>\nstruct s {{ int *p; }};\nint v;\n{get}\nint main(void) {{\n  struct s *a = get(8), *b = get(8);\n{uses}\n  return 0;\n}}\n"
    );
    checked(&text, &Settings::default())
}

#[test]
fn each_call_of_an_allocator_of_the_programs_own_makes_memory_of_its_own() {
    let uses = "  a->p = 0; b->p = &v;\n  *b->p = 1;\n  *a->p = 1;";
    for get in [
        "void *get(size_t n) { return malloc(n); }",
        "void *inner(size_t n) { void *m = malloc(n + 8); if (!m) abort(); return m; } void *get(size_t n) { return inner(n); }",
    ] {
        assert_eq!(with_allocator(get, uses), ["9 null-dereference typed"], "{get}");
    }
}

#[test]
fn what_an_allocator_of_the_programs_own_leaves_in_memory_is_not_lost() {
    let uses = "  *b->p = 1;";
    let zeroed = with_allocator("void *get(size_t n) { return calloc(1, n); }", uses);
    assert_eq!(zeroed, ["7 null-dereference typed"]);
    let set = with_allocator("void *get(size_t n) { struct s *m = malloc(n); m->p = 0; return m; }", uses);
    assert_eq!(set, ["7 null-dereference typed"]);
    let kept = "struct s *last; void *get(size_t n) { void *m = malloc(n); last = m; return m; }";
    assert_eq!(with_allocator(kept, "  b->p = &v; last->p = 0; *b->p = 1;"), ["7 null-dereference typed"]);
    let grown =
        "void *get(size_t n) { return malloc(n); } void *grow(void *m, size_t n) { return realloc(m, n); }";
    let uses =
        "  a->p = 0; b->p = &v;\n  *((struct s *)grow(b, 99))->p = 1;\n  *((struct s *)grow(a, 99))->p = 1;";
    assert_eq!(with_allocator(grown, uses), ["9 null-dereference typed"]);
}

#[test]
fn null_is_copied_with_the_memory_it_is_in() {
    let text = "#include <string.h>
struct s { int *p; };
int main(void) {
  struct s x, y;
  x.p = 0;
  memcpy(&y, &x, sizeof y);
  *y.p = 1; //~ d
  return 0;
}
";
    deref(text);
}

#[test]
fn a_structure_that_is_passed_as_one_value_carries_every_pointer_in_it() {
    let text = "struct S { long n; int *p; };
union U { long bits; int *p; };
struct V { int tag; union U u; };
static struct S make(int *p) { struct S s = { 1, p }; return s; }
static struct V nil(void) { struct V v = { 2, { 0 } }; return v; }
int main(void) {
  *make(0).p = 1;
  *nil().u.p = 2;
  return 0;
}
";
    let found = checked(text, &Settings::default());
    assert_eq!(found, ["7 null-dereference typed", "8 null-dereference typed"]);
}

#[test]
fn a_copy_of_an_array_goes_to_every_field_it_covers() {
    let text = "#include <string.h>
#include <stdlib.h>
struct two { int *x, *y; };
struct row { int k; int *p; };
int v;
const struct row table[2] = { { 1, &v }, { 2, 0 } };
int main(int n, char **w) {
  int *all[2] = { &v, n > 1 ? 0 : &v };
  struct two t;
  memcpy(&t, all, sizeof t);
  *t.y = 1;
  struct row *rows = malloc(sizeof table);
  memcpy(rows, table, sizeof table);
  *rows[1].p = 2;
  return 0;
}
";
    let found = checked(text, &Settings::default());
    assert_eq!(found, ["11 null-dereference typed", "14 null-dereference typed"]);
}

#[test]
fn what_runs_around_main_and_what_libraries_call_back_is_checked() {
    let text = "#include <pthread.h>
#include <signal.h>
#include <search.h>
#include <string.h>
int *g;
__attribute__((constructor)) static void early(void) { *g = 1; }
__attribute__((destructor)) static void late(void) { *g = 2; }
static void handler(int n) { *g = n; }
static void *work(void *p) { *(int *)p = 3; return 0; }
static void visit(const void *n, VISIT w, int d) { *g = d; }
int main(void) {
  pthread_t t;
  void *r = &t, *root = 0;
  struct sigaction a;
  memset(&a, 0, sizeof a);
  a.sa_handler = handler;
  sigaction(SIGUSR1, &a, 0);
  pthread_create(&t, 0, work, 0);
  pthread_join(t, &r);
  *(int *)r = 4;
  twalk(root, visit);
  return 0;
}
";
    let found = checked(text, &Settings::default());
    let lines: Vec<&str> = found.iter().map(|line| line.split(' ').next().unwrap_or("")).collect();
    assert_eq!(lines, ["10", "20", "6", "7", "8", "9"]);
}

#[test]
fn a_call_of_what_is_only_null_is_no_gap() {
    let text = "struct ops { void (*a)(void); void (*b)(void); };
static void a(void) {}
static const struct ops table = { a, 0 };
int main(void) {
  table.a();
  if (table.b) table.b();
  return 0;
}
";
    let program = load(text);
    let settings = Settings { refine: Some(std::time::Duration::from_secs(5)), ..Settings::default() };
    let report = check(&program.module, &settings).expect("it is checked");
    assert_eq!((found(&program, &report), report.gaps.len()), (vec![], 0), "{:?}", report.gaps);
}

#[test]
fn a_written_initialiser_is_a_source_whatever_the_sinks() {
    annotated(
        "#include <stddef.h>
void use(int *p) __attribute__((nonnull));
int *shared = NULL, *forgotten;
static struct { int n; int *p; } pair = { 3, NULL };
int main(void) {
  static int *kept = 0, *unset;
  use(shared); //~ n
  use(pair.p); //~ n
  use(kept); //~ n
  use(forgotten);
  use(unset);
  return 0;
}
",
    );
}

/// As the original infers: the text stays where it is, because it says what is `NULL`.
fn as_in_the_paper(text: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("t.c");
    std::fs::write(&file, text).expect("a file");
    let sources = parallax_cexplore::Sources { files: vec![file], ..parallax_cexplore::Sources::default() };
    let mut program = parallax_cexplore::program::load(&sources).expect("a program");
    program.annotate().expect("its declarations are read");
    let settings = Settings { sinks: Sinks::Annotated, paper: true, ..Settings::default() };
    let report = check(&program.module, &settings).expect("a report");
    assert_eq!(found(&program, &report), expected(text), "{text}");
}

#[test]
fn the_original_knows_no_direction() {
    let text = |mark: &str| {
        format!(
            "#include <stddef.h>
void use(int *p) __attribute__((nonnull));
int v;
int main(void) {{
  int *a = &v, *b;
  use(a); {mark}
  b = a;
  b = NULL;
  return 0;
}}
"
        )
    };
    annotated(&text(""));
    as_in_the_paper(&text("//~ n"));
}

#[test]
fn the_original_has_one_qualifier_for_a_field_of_all_structures() {
    let text = |mark: &str| {
        format!(
            "#include <stddef.h>
void use(int *p) __attribute__((nonnull));
int v;
struct s {{ int *p; }} one, two;
int main(void) {{
  one.p = NULL;
  two.p = &v;
  use(two.p); {mark}
  return 0;
}}
"
        )
    };
    annotated(&text(""));
    as_in_the_paper(&text("//~ n"));
}

#[test]
fn the_original_takes_only_the_macro_for_null() {
    let text = |zero: &str, written: &str| {
        format!(
            "#include <stddef.h>
#include <stdlib.h>
void use(int *p) __attribute__((nonnull));
int *shared = 0;
int main(void) {{
  int *a = 0, *b = calloc(1, 8), **c = calloc(1, 8);
  use(a); {zero}
  use(shared); {zero}
  use(*c); {zero}
  int *d =
      NULL;
  use(d); {written}
  (void)b;
  return 0;
}}
"
        )
    };
    annotated(&text("//~ n", "//~ n"));
    as_in_the_paper(&text("", "//~ n"));
}
