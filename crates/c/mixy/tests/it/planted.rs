//! Wrong rules, one at a time: each loses the error of a program that was written for it, and only the right rules keep it.

use crate::common;

use common::{found, load};
use parallax_mixy::mix::Mistake;
use parallax_mixy::{Settings, check};

const HEAD: &str = "#include <parallax.h>\n#include <stdlib.h>\nint __VERIFIER_nondet_int(void);\n#define N() __VERIFIER_nondet_int()\n\
    struct S { int *f; struct S *n; };\nint v, w, *g = &v, *k = &v, **box, **other; struct S s = { &v, &s }, *sp = &s;\n";

/// A mistake, a program that shows it, and what must be found in the line marked `//!`.
const CASES: &[(Mistake, &str, &str)] = &[
    // A cell whose bit is set may be null in the block.
    (
        Mistake::NeverNull,
        "MIX(symbolic) void f(void) {\n  *g = 1; //!\n}\nint main(void) { g = 0; f(); return 0; }\n",
        "symbolic",
    ),
    // What typed code changes is not what it was.
    (
        Mistake::NoHavoc,
        "MIX(typed) void clear(void) { g = 0; }\nMIX(symbolic) void f(void) {\n  g = &v; clear();\n  *g = 1; //!\n}\nint main(void) { f(); return 0; }\n",
        "symbolic",
    ),
    // And it may be null.
    (
        Mistake::HavocNeverNull,
        "MIX(typed) void clear(void) { g = 0; }\nMIX(symbolic) void f(void) {\n  g = &v; clear();\n  *g = 1; //!\n}\nint main(void) { f(); return 0; }\n",
        "symbolic",
    ),
    // Typed code may make a pointer point to what the block made.
    (
        Mistake::OwnObjectsDoNotAlias,
        "MIX(typed) void t(void) { other = box; }\nMIX(symbolic) void f(void) {\n  int *l = &v; box = &l; t(); *other = 0;\n  *l = 1; //!\n}\nint main(void) { f(); return 0; }\n",
        "symbolic",
    ),
    // An object of the block stands for several: each gets the null.
    (
        Mistake::OneOfA,
        "MIX(symbolic) void set(int **p) { *p = 0; }\nint main(void) {\n  int *a = &v, *b = &v; set(N() ? &a : &b); *a = 1;\n  *b = 1; //!\n  return 0;\n}\n",
        "typed",
    ),
    // What the block has not read is as it was on entry, for typed code that it calls.
    (
        Mistake::UnreadNotPassed,
        "MIX(typed) void h(void) { *g = 1; }\nMIX(symbolic) void f(void) {\n  int **named = &g; h(); //!\n}\nint main(void) { g = 0; f(); return 0; }\n",
        "symbolic",
    ),
    // So is what the block has not even discovered.
    (
        Mistake::UndiscoveredNotPassed,
        "MIX(typed) void h(void) { *sp->f = 1; }\nMIX(symbolic) void f(void) {\n  h(); //!\n}\nint main(void) { sp = calloc(1, sizeof *sp); f(); return 0; }\n",
        "symbolic",
    ),
    // What typed code did to it comes back.
    (
        Mistake::UndiscoveredNotReturned,
        "MIX(typed) void h(struct S *p) { p->f = 0; }\nMIX(symbolic) void f(struct S *p) { h(p); }\nint main(void) {\n  struct S *q = malloc(sizeof *q); q->f = &v; f(q);\n  *q->f = 1; //!\n  return 0;\n}\n",
        "typed",
    ),
    // A conflict of typed code may be false: the path goes on.
    (
        Mistake::CutAtConflict,
        "MIX(typed) void h(void) { if (N()) *g = 1; }\nMIX(symbolic) void f(void) {\n  h();\n  *k = 1; //!\n}\nint main(void) { g = 0; k = 0; f(); return 0; }\n",
        "symbolic",
    ),
    // One result per context: the bits of the cells are part of it.
    (
        Mistake::KeyWithoutBits,
        "MIX(symbolic) void f(void) {\n  *g = 1; //!\n}\nMIX(symbolic) void left(void) { g = 0; }\nint main(void) { f(); left(); f(); return 0; }\n",
        "symbolic",
    ),
    // So are the arguments.
    (
        Mistake::KeyWithoutActuals,
        "MIX(symbolic) void f(int *p) {\n  *p = 1; //!\n}\nint main(void) { f(&v); f(0); return 0; }\n",
        "symbolic",
    ),
    // A call is visited again when a bit of its context rises.
    (
        Mistake::VisitedOnce,
        "MIX(symbolic) void right(void) {\n  *g = 1; //!\n}\nMIX(symbolic) void left(void) { g = 0; }\nint main(void) { while (N()) { right(); left(); } return 0; }\n",
        "symbolic",
    ),
    // Zeroed memory that the block allocates is null.
    (
        Mistake::ZeroedNotWritten,
        "MIX(symbolic) void make(void) { sp = calloc(1, sizeof *sp); }\nint main(void) {\n  make();\n  *sp->f = 1; //!\n  return 0;\n}\n",
        "typed",
    ),
];

#[test]
fn every_mistake_loses_an_error_that_the_rules_find() {
    for (mistake, text, by) in CASES {
        let text = format!("{HEAD}{text}");
        let line = 1 + text.lines().position(|line| line.contains("//!")).expect("a marked line");
        let wanted = format!("{line} null-dereference {by}");
        let program = load(&text);
        let right = check(&program.module, &Settings::default()).expect("it is checked");
        assert!(right.gaps.is_empty(), "{mistake:?}: {:?}\n{text}", right.gaps);
        assert!(
            found(&program, &right).contains(&wanted),
            "{mistake:?}: {wanted} is not among {:?}\n{text}",
            found(&program, &right)
        );
        let wrong = check(&program.module, &Settings { plant: Some(*mistake), ..Settings::default() })
            .expect("it is checked");
        assert!(!found(&program, &wrong).contains(&wanted), "{mistake:?} changes nothing\n{text}");
    }
}
