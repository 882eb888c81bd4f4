//! Nulls that nothing reads cause no warnings: zeros in new memory, initial values, what is freed, and choices. Each kind stands beside
//! programs that differ in little and do go wrong: lines marked `//~` are to be reported, and no others.
//!
//! The generators of `truth`, `crashes` and `worlds` run over the same code.

use crate::common::load;
use parallax_mixy::{Settings, check, names::site_location};
use std::collections::BTreeSet;
use std::time::Duration;

const HEAD: &str = "#include <stdlib.h>
#include <string.h>
struct s { int *p; struct s *n; } *keep, *all[2];
int v;
";

const PROGRAMS: &[(&str, &str)] = &[
    (
        "stored on every way before it is returned",
        "struct s *make(void) { struct s *m = calloc(1, sizeof *m); if (!m) exit(1); m->p = &v; m->n = m; return m; }
int main(int n, char **w) { return *make()->p; }",
    ),
    (
        "stored on one way",
        "struct s *make(int n) { struct s *m = calloc(1, sizeof *m); if (n) m->p = &v; return m; }
int main(int n, char **w) {
  return *make(n - 1)->p; //~
}",
    ),
    (
        "seen before it is stored",
        "void look(void) {
  v = *keep->p; //~
}
int main(int n, char **w) { struct s *m = calloc(1, sizeof *m); keep = m; look(); m->p = &v; return 0; }",
    ),
    (
        "read before it is stored",
        "int main(int n, char **w) {
  struct s *m = calloc(1, sizeof *m);
  int *q = m->p;
  m->p = &v;
  return *q; //~
}",
    ),
    (
        "one object of two",
        "int main(int n, char **w) {
  for (int i = 0; i < 2; i++) { struct s *m = calloc(1, sizeof *m); if (i) m->p = &v; all[i] = m; }
  return *all[0]->p; //~
}",
    ),
    (
        "the older object of a loop",
        "int main(int n, char **w) {
  struct s *m = malloc(sizeof *m), *old = m;
  m->p = &v;
  for (int i = 0; i < 2; i++) { old = m; m = calloc(1, sizeof *m); }
  m->p = &v; keep = m;
  return *old->p; //~
}",
    ),
    (
        "set to zero by hand",
        "struct s *make(void) { struct s *m = malloc(sizeof *m); memset(m, 0, sizeof *m); m->p = &v; return m; }
int main(int n, char **w) { return *make()->p; }",
    ),
    (
        "set to zero again",
        "int main(int n, char **w) {
  struct s *m = malloc(sizeof *m); memset(m, 0, sizeof *m); m->p = &v; keep = m;
  if (n) memset(keep, 0, sizeof *m);
  return *keep->p; //~
}",
    ),
    (
        "through a function that allocates",
        "void *zeros(size_t n) { void *m = calloc(1, n); if (!m) exit(1); return m; }
struct s *make(void) { struct s *m = zeros(sizeof *m); m->p = &v; return m; }
struct s *bare(void) { struct s *m = zeros(sizeof *m); return m; }
int main(int n, char **w) {
  if (n) return *make()->p;
  return *bare()->p; //~
}",
    ),
    (
        "a global that is set first",
        "static int *g;
static void start(void) { g = &v; }
static int use(void) { return *g; }
int main(int n, char **w) { start(); return use(); }",
    ),
    (
        "a global that is used first",
        "static int *g;
static int use(void) {
  return *g; //~
}
int main(int n, char **w) { int first = use(); g = &v; return first; }",
    ),
    (
        "a global that is set on one way",
        "static int *g;
static void start(int n) { if (n) g = &v; }
int main(int n, char **w) {
  start(n - 1);
  return *g; //~
}",
    ),
    (
        "a global that a function at the end reads",
        "static int *g;
static void end(void) {
  v = *g; //~
}
int main(int n, char **w) { atexit(end); if (n) exit(0); g = &v; return 0; }",
    ),
    (
        "an element of a global array",
        "static int *g[2];
int main(int n, char **w) {
  g[0] = &v;
  return *g[1]; //~
}",
    ),
    (
        "stored just before it is freed",
        "struct s *make(void) { struct s *m = malloc(sizeof *m); m->p = &v; return m; }
void drop(struct s *m) { m->p = 0; m->n = 0; free(m); }
int main(int n, char **w) { struct s *a = make(), *b = make(); drop(a); return *b->p; }",
    ),
    (
        "stored, and another one is freed",
        "struct s *make(void) { struct s *m = malloc(sizeof *m); m->p = &v; return m; }
void drop(struct s *m, struct s *o) { m->p = 0; free(o); }
int main(int n, char **w) {
  struct s *a = make(), *b = make(); drop(a, b);
  return *a->p; //~
}",
    ),
    (
        "stored, and read before it is freed",
        "struct s *make(void) { struct s *m = malloc(sizeof *m); m->p = &v; return m; }
int main(int n, char **w) {
  struct s *a = make(), *b = n ? a : make();
  a->p = 0; int *q = b->p; free(a);
  return *q; //~
}",
    ),
    ("a choice", "int main(int n, char **w) { int *p = n ? 0 : &v; int *q = p ? p : &v; return *q; }"),
    ("a choice in short", "int main(int n, char **w) { int *p = n ? 0 : &v; int *q = p ?: &v; return *q; }"),
    ("a choice of a result", "int *f(int n) { return n ? 0 : &v; }\nint main(int n, char **w) { return *(f(n) ?: &v); }"),
    (
        "a choice by something else",
        "int main(int n, char **w) {
  int *p = n ? 0 : &v; int *q = n > 2 ? p : &v;
  return *q; //~
}",
    ),
];

#[test]
fn nulls_that_nothing_reads_are_left_out_and_no_others() {
    let mut wrong = Vec::new();
    for (what, text) in PROGRAMS {
        let text = format!("{HEAD}{text}\n");
        let marked = text.lines().enumerate().filter(|(_, line)| line.contains("//~"));
        let marked: BTreeSet<u32> = marked.map(|(at, _)| at as u32 + 1).collect();
        let program = load(&text);
        let settings = Settings { refine: Some(Duration::ZERO), ..Settings::default() };
        let report = check(&program.module, &settings).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let line = |site| program.module.location(site_location(&program.module, site)).line;
        let found: BTreeSet<u32> = report.findings.iter().map(|finding| line(finding.sink)).collect();
        if found != marked {
            wrong.push(format!("{what}: {found:?} instead of {marked:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
