//! Automatic placement: warnings of inference that the execution of a function refutes, and those that stay.

use crate::common;

use common::{found, load};
use parallax_mixy::{Settings, check, names::site_location};
use std::time::Duration;

fn refined(text: &str) -> (Vec<String>, usize) {
    let program = load(text);
    let settings = Settings { refine: Some(Duration::from_secs(20)), ..Settings::default() };
    let report = check(&program.module, &settings).expect("it is checked");
    (found(&program, &report), report.refuted.len())
}

#[test]
fn a_test_before_the_use_refutes_a_warning() {
    let text = "int v, *g;
void use(void) {
  if (g) *g = 1;
}
int main(int argc, char **argv) {
  if (argc > 1) g = &v;
  use();
  return 0;
}
";
    assert_eq!(refined(text), (vec![], 1));
}

#[test]
fn an_error_stays_whatever_is_executed() {
    let text = "int v, *g;
void use(void) {
  if (v == 3) *g = 1;
}
int main(int argc, char **argv) {
  v = argc;
  use();
  return 0;
}
";
    let (found, refuted) = refined(text);
    assert_eq!((found.len(), refuted), (1, 0), "{found:?}");
    assert!(found[0].starts_with("3 null-dereference"), "{found:?}");
}

/// A block sees one world, and another run may see another: what depends on files, variables, the clock, on what is read or may fail,
/// or on what the library keeps from call to call, is not refuted by a block. `worlds` makes such programs by the hundred.
#[test]
fn the_world_is_open() {
    let asks = [
        "FILE *f = fopen(\"/etc/passwd\", \"r\"); if (f) g = 0;",
        "if (getenv(\"HOME\")) g = 0;",
        "if (time(0) > 1000000000) g = 0;",
        "char b[9]; if (read(0, b, 9) > 4) g = 0;",
        "char b[9]; if (fgets(b, 9, stdin)) g = 0;",
        "struct stat s; if (!stat(\"/etc/passwd\", &s)) g = 0;",
        "struct stat s; s.st_mode = 0; if (!lstat(\"/etc/passwd\", &s) && s.st_mode) g = 0;",
        "if (!access(\"/etc/passwd\", 4)) g = 0;",
        "if (opendir(\"/etc\")) g = 0;",
        "if (getppid() == 1) g = 0;",
        "if (write(1, \"x\", 1) < 0) g = 0;",
        "if (printf(\"x\") < 0) g = 0;",
        "int n = 0; printf(\"ab%n\", &n); if (n == 2) g = 0;",
        "char b[9] = {0}; struct iovec v = { b, 9 }; readv(0, &v, 1); if (b[0] == 'y') g = 0;",
        "char b[9] = {0}; struct iovec v = { b, 9 }; struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1 }; recvmsg(0, &m, 0); if (b[0] == 'y') g = 0;",
        "size_t n = 9; char *l = malloc(9); if (!l) return 0; *l = 0; char *k = l; getline(&l, &n, stdin); if (k == l && *k == 'y') g = 0;",
        "if (environ[0]) g = 0;",
        "if (isatty(0)) g = 0;",
        "if (getpwuid(0)) g = 0;",
        "if (umask(0) == 0) g = 0;",
        "if (rand() == 7) g = 0;",
        "if (open(\"x\", 0) < 0 && errno == EACCES) g = 0;",
        "fclose(fopen(\"x\", \"r\") ? stdin : 0); g = 0;",
    ];
    for ask in asks {
        let text = format!(
            "#define _GNU_SOURCE\n#include <dirent.h>\n#include <errno.h>\n#include <pwd.h>\n#include <stdio.h>\n\
             #include <stdlib.h>\n#include <sys/socket.h>\n#include <sys/stat.h>\n#include <sys/uio.h>\n#include <time.h>\n#include <unistd.h>\n\
             int x, *g = &x;\nint main(void) {{\n  {ask}\n  return *g;\n}}\n"
        );
        let (found, refuted) = refined(&text);
        let uses = found.iter().filter(|finding| finding.starts_with("15 ")).count();
        assert_eq!((uses, refuted), (1, 0), "{ask}: {found:?}");
    }
    // What asks for nothing is refuted as before: the test can fail.
    let (found, refuted) = refined("int x, *g = &x;\nint main(void) {\n  if (x) g = 0;\n  return *g;\n}\n");
    assert_eq!((found.len(), refuted), (0, 1), "{found:?}");
}

/// Questions to the world do not stop a block: what is right in every world is refuted.
#[test]
fn what_holds_in_every_world_is_refuted() {
    let text = "#include <stdio.h>
#include <stdlib.h>
int v, *g;
static int choose(void) {
  const char *home = getenv(\"HOME\");
  FILE *f = fopen(\"input\", \"r\");
  char line[9];
  if (!home || !f || !fgets(line, 9, f)) return 0;
  g = &v;
  printf(\"%s %s\\n\", home, line);
  fclose(f);
  return 1;
}
int main(void) {
  g = 0;
  int chosen = choose();
  if (chosen) *g = 1;
  return 0;
}
";
    let (found, refuted) = refined(text);
    assert_eq!((found.len(), refuted), (0, 3), "{found:?}");
}

/// Null that is written as bytes is a number for execution, and so is what is computed from it; what a constant holds is null also
/// to typed code that the start of the program calls.
#[test]
fn null_of_other_kinds_reaches_typed_code() {
    let bytes = "#include <string.h>
struct s { long a, b; } o, *p = &o;
MIX(typed) long *same(long *q) { return q; }
MIX(symbolic) void use(int n) {
  memset(&p, n - n, sizeof p);
  long *q = same(&p->b);
  if (q) *q = 1;
}
int main(int n, char **w) { use(n); return 0; }
";
    let constant = "int o;
MIX(typed) void use(int n) {
  int *z[2] = { &o, 0 };
  *z[n != 0] = 1;
}
MIX(symbolic) int main(int n, char **w) { use(n); return 0; }
";
    for (text, line) in [(bytes, 8), (constant, 5)] {
        let program = load(&format!("#include <parallax.h>\n{text}"));
        let settings = Settings { refine: Some(Duration::from_secs(5)), ..Settings::default() };
        let report = check(&program.module, &settings).expect("it is checked");
        let line_of = |site| program.module.location(site_location(&program.module, site)).line;
        let lines: Vec<u32> = report.findings.iter().map(|finding| line_of(finding.sink)).collect();
        assert!(lines.contains(&line), "{lines:?}\n{text}");
    }
}

/// Typed code that a block calls may have several errors of the block's: each is found at the call, and none is refuted by that.
#[test]
fn each_place_below_a_call_is_a_finding() {
    let text = "int v; int *a = &v, *b = &v, *c = &v;
MIX(typed) void leaf(void) {
  *b = 2;
  *c = 3;
}
MIX(symbolic) void F(void) {
  *a = 1;
  leaf();
}
int main(int argc, char **argv) {
  if (argc == 2) a = 0;
  if (argc == 3) b = 0;
  if (argc == 4) c = 0;
  F();
  return 0;
}
";
    let text = text.replace("int v;", "#include <parallax.h>\nint v;");
    let program = load(&text);
    for refine in [None, Some(Duration::ZERO)] {
        let settings = Settings { refine, ..Settings::default() };
        let report = check(&program.module, &settings).expect("it is checked");
        let line = |site| program.module.location(site_location(&program.module, site)).line;
        let mut uses: Vec<(u32, u32)> =
            report.findings.iter().map(|f| (line(f.site), line(f.sink))).collect();
        uses.sort_unstable();
        assert_eq!(uses, [(8, 8), (9, 4), (9, 5)], "{refine:?}");
        assert_eq!((report.typed, report.refuted.len()), (3, 0), "{refine:?}");
        for finding in report.findings.iter().filter(|finding| finding.sink != finding.site) {
            let last = finding.paths[0].steps.last().expect("a step");
            assert_eq!(program.module.location(last.location).line, line(finding.sink));
        }
    }
}

/// What is declared never to be null, at any depth and by any name; line 3 stores null there if `n` is not 0.
const DECLARED: &[(&str, &str, &str)] = &[
    ("a variable", "int *_Nonnull g = &v;", "g = n ? 0 : &v;"),
    ("a variable, through a pointer to it", "int *_Nonnull g = &v, **p = (int **)&g;", "*p = n ? 0 : &v;"),
    ("a field", "struct s { int *_Nonnull f; } o = { &v };", "o.f = n ? 0 : &v;"),
    ("a local", "", "int *_Nonnull l = n ? 0 : &v; use(l);"),
    ("a local, later", "int *x = &v;", "int *_Nonnull l = &v; x = n ? 0 : &v; if (n > 5) l = x; use(l);"),
    ("an element", "int *_Nonnull t[2] = { &v, &v };", "t[n & 1] = n ? 0 : &v;"),
    ("what a variable points to", "int *a = &v; int *_Nonnull *z = &a;", "*z = n ? 0 : &v;"),
    ("the same by another name", "int *a = &v; int *_Nonnull *z = &a;", "a = n ? 0 : &v;"),
    ("what a local points to", "", "int *x = n ? 0 : &v, **y = &x; int *_Nonnull *z = y; use(*z);"),
    ("two levels below", "int *a = &v, **b = &a; int *_Nonnull **z = &b;", "*b = n ? 0 : &v;"),
    ("below a constant pointer", "int *a = &v; int *_Nonnull *const volatile z = &a;", "a = n ? 0 : &v;"),
    ("constant below", "int *a = &v; const int *const volatile _Nonnull *z = (void *)&a;", "a = n ? 0 : &v;"),
    ("below a typedef", "typedef int *_Nonnull ref; int *a = &v; ref *z = &a;", "a = n ? 0 : &v;"),
    ("a typedef of it", "typedef int *_Nonnull *refs; int *a = &v; const refs z = &a;", "a = n ? 0 : &v;"),
    ("a qualified typedef", "typedef int *ip; int *a = &v; ip _Nonnull *z = &a;", "a = n ? 0 : &v;"),
    ("below an array", "int *a = &v; int *_Nonnull *z[2] = { &a, &a };", "a = n ? 0 : &v;"),
    ("a pointer to an array", "int *t[2] = { &v, &v }; int *_Nonnull (*z)[2] = &t;", "t[1] = n ? 0 : &v;"),
    ("below a field", "int *a = &v; struct s { int *_Nonnull *f; } o = { &a };", "a = n ? 0 : &v;"),
    (
        "below a parameter",
        "int *a = &v; void take(int *_Nonnull *z) { use(*z); }",
        "a = n ? 0 : &v; take(&a);",
    ),
    (
        "below a result",
        "int *a = &v; int *_Nonnull *give(void) { return &a; }",
        "a = n ? 0 : &v; use(*give());",
    ),
];

/// Execution checks arguments alone, and refutes no store.
#[test]
fn stores_in_what_is_declared_never_to_be_null_are_found_whatever_is_executed() {
    let mut wrong = Vec::new();
    for (name, declarations, statements) in DECLARED {
        let text = format!(
            "int v; void use(int *q) {{ v += q != 0; }} {declarations}\nvoid store(int n) {{\n{statements}\n}}\n\
             int main(int argc, char **argv) {{ store(argc - 1); return 0; }}\n"
        );
        let program = load(&text);
        for refine in [None, Some(Duration::ZERO), Some(Duration::from_secs(5))] {
            let settings = Settings { refine, ..Settings::default() };
            let report = check(&program.module, &settings).expect("it is checked");
            let found = found(&program, &report);
            if !found.iter().any(|line| line.starts_with("3 null-to-nonnull")) {
                wrong.push(format!("{name}, {refine:?}: {found:?}"));
            }
        }
        let fine = text.replace("n ? 0 : &v", "n ? &v + 0 : &v");
        let (found, _) = refined(&fine);
        if !found.is_empty() {
            wrong.push(format!("{name}, never null: {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
