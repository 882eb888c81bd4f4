//! Lines at which generated programs crash natively, each of which must be reported.
//!
//! Two kinds of programs. In the first null arises in one of many ways, moves, is tested, and is followed, behind a loop that
//! execution does not get through: inference has to see it. In the second several globals, each null in another case, are written
//! through by functions that call each other, so that blocks are placed: a finding that moves to a call must not swallow others.
//!
//! Not made: threads, signals, `longjmp`, pointers made of unrelated numbers or copied byte by byte by hand. Programs of the first kind
//! are not executed by blocks: with a second for refinement, some of their lines are still refuted.

use crate::common::{Dice, load};
use crate::native::{HEAD, crashes};
use parallax_mixy::{Report, Settings, check, names::site_location};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::time::Duration;

/// Ways for null to get into `P`, a pointer to a structure.
pub const SOURCES: &[&str] = &[
    "P = 0;",
    "P = lookup(0);",
    "memset(&P, 0, sizeof P);",
    "memset(&P, n - n, sizeof P);",
    "bzero(&P, sizeof P);",
    "explicit_bzero(&P, sizeof P);",
    "wmemset((wchar_t *)&P, 0, 2);",
    "memccpy(&P, zeros, 1, sizeof P);",
    "memcpy(&P, zeros, sizeof P);",
    "memcpy(&P, none, sizeof P);",
    "{ char local[8]; memset(local, 0, 8); memcpy(&P, local, 8); }",
    "{ char *m = calloc(1, 16); memcpy(&P, m + 8, 8); }",
    "{ char *m = calloc(1, 16), l[16]; memcpy(l, m, 16); memmove(&P, l, 8); }",
    "{ struct pair *m = calloc(1, 16); struct pair c = *m; P = c.second; }",
    "sscanf(\"(nil)\", \"%p\", (void **)&P);",
    "sscanf(\"7 (nil)\", \"%d %p\", &n, (void **)&P);",
    "__sync_lock_test_and_set(&P, 0);",
    "__sync_val_compare_and_swap(&P, &o, 0);",
    "__sync_bool_compare_and_swap(&P, &o, 0);",
    "__sync_fetch_and_and((long *)&P, 0);",
    "__atomic_store_n(&P, 0, __ATOMIC_SEQ_CST);",
    "__atomic_exchange_n(&P, 0, __ATOMIC_RELAXED);",
    "{ struct s *e = &o; __atomic_compare_exchange_n(&P, &e, 0, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); }",
    "{ _Atomic(struct s *) a = &o; atomic_store(&a, 0); P = atomic_load(&a); }",
    "{ struct s *z = 0; __atomic_store(&P, &z, __ATOMIC_SEQ_CST); }",
    "P = table[n & 1].second;",
    "P = list.next;",
    "AT P = *(struct s **)tfind(&n, &root, compare) ? &o : 0;",
    "P = (struct s *)fgetws(wide, 4, fopen(\"/dev/null\", \"r\"));",
    "P = (struct s *)fmemopen(zeros, 1, \"no such mode\");",
    "P = (struct s *)ctime(&(long){ 1L << 62 });",
    "P = pthread_getspecific(key);",
];

/// Addresses of a number, computed from `P`.
pub const SHIFTS: &[&str] = &[
    "&P->k",
    "&P->count",
    "&P[1].k",
    "&P[n].count",
    "&container_of(P, struct outer, link)->value",
    "(int *)((char *)P - 8)",
    "field(P)",
    "&P->sub.deep[1]",
];

/// Ways for that address to get into `q`.
pub const ROUTES: &[&str] = &[
    "int *q = Q;",
    "g = Q; int *q = g;",
    "h.slot = Q; int *q = h.slot;",
    "slots[n & 1] = Q; int *q = slots[0]; if (!q) q = slots[1];",
    "int *q = same(Q);",
    "int *q; set(&q, Q);",
    "struct holder c = { Q }, d = c; int *q = d.slot;",
    "struct holder *m = malloc(sizeof *m); m->slot = Q; int *q = m->slot;",
];

/// Ways to test and follow `q`.
pub const USES: &[&str] = &[
    "AT *q = 1;",
    "if (q) { AT *q = 1; }",
    "if (q != 0 && n) { AT *q = 1; }",
    "if (!q) exit(0); AT *q = 1;",
    "if (q == NULL) return; AT n += *q;",
    "bump(q);",
    "check(q); AT *q = 1;",
    "while (q) { AT *q = 1; break; }",
];

pub const DECLARATIONS: &str = "#include <pthread.h>
#include <search.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <wchar.h>
struct s { int k; int count; struct s *next; struct { int pad; int deep[3]; } sub; } o, list;
struct pair { long first; struct s *second; } table[2];
struct outer { long pad[6]; struct s link; int value; };
struct holder { int *slot; } h;
static char zeros[16]; static const char none[16] = { 0 }; wchar_t wide[4]; void *root; pthread_key_t key;
int *g, *slots[2];
#define container_of(p, T, m) ((T *)((char *)(p) - offsetof(T, m)))
int compare(const void *a, const void *b) { return a < b ? -1 : a > b; }
struct s *lookup(int x) { return x ? &o : 0; }
int *field(struct s *x) { return &x->count; }
int *same(int *q) { return q; }
void set(int **to, int *q) { *to = q; }
void check(int *q) { if (!q) exit(0); }
void bump(int *q) { if (q) {
AT (*q)++; } }
";

/// Numbers for loops: more turns than execution takes, few natively.
const LONG_LOOP: &str =
    "long sum = 0; for (long i = 0; i < 100000L + n; i++) sum += i ^ (sum << 1); o.k = (int)sum;";

/// A program whose every number of arguments takes another way for null.
fn unseen(dice: &mut Dice, cases: usize) -> String {
    let mut text = format!("{HEAD}{DECLARATIONS}");
    let mut main =
        format!("int main(int n, char **argv) {{ pthread_key_create(&key, 0); {LONG_LOOP}\nswitch (n) {{\n");
    for case in 1..=cases {
        let source = SOURCES[(dice.below(SOURCES.len()) + case) % SOURCES.len()];
        let shift = dice.pick(SHIFTS);
        let (route, used) = (dice.pick(ROUTES).replace('Q', shift), dice.pick(USES));
        let global = dice.below(3) == 0;
        let pointer = if global { format!("p{case}") } else { "p".into() };
        let declared = format!("struct s *{pointer} = &o;");
        let (outside, inside) = if global { (declared.as_str(), "") } else { ("", declared.as_str()) };
        let body = format!("{inside} {source}\n{route}\n{used}").replace('P', &pointer);
        writeln!(text, "{outside}\nvoid case{case}(int n) {{\n{body}\n}}").expect("text");
        writeln!(main, "case {case}: case{case}(n); break;").expect("text");
    }
    format!("{text}{main}}}\nreturn 0; }}\n")
}

/// A program in which several globals are written through at several depths.
fn shared(dice: &mut Dice) -> String {
    let globals = 2 + dice.below(3);
    let mut text = format!("{HEAD}struct s {{ int *f; }};\nint v;\n");
    for number in 0..globals {
        match dice.below(3) {
            0 => writeln!(text, "int *g{number} = &v;\n#define G{number} g{number}"),
            1 => writeln!(
                text,
                "struct s s{number} = {{ &v }}, *r{number} = &s{number};\n#define G{number} r{number}->f"
            ),
            _ => writeln!(
                text,
                "struct s t{number}[2] = {{ {{ &v }}, {{ &v }} }};\n#define G{number} t{number}[1].f"
            ),
        }
        .expect("text");
    }
    let depth = 1 + dice.below(4);
    for level in 0..depth {
        writeln!(text, "void f{level}(int n) {{").expect("text");
        for _ in 0..1 + dice.below(3) {
            let number = dice.below(globals);
            let line = match dice.below(5) {
                0 if level > 0 => format!("f{}(n);", dice.below(level)),
                1 => format!("if (G{number}) {{ AT *G{number} = n; }}"),
                2 => format!("if (n > {}) {{ AT *G{number} = n; }}", dice.below(4)),
                _ => format!("AT *G{number} = n;"),
            };
            writeln!(text, "{line}").expect("text");
        }
        if level > 0 {
            writeln!(text, "f{}(n);", level - 1).expect("text");
        }
        writeln!(text, "}}").expect("text");
    }
    writeln!(text, "int main(int n, char **argv) {{\nswitch (n) {{").expect("text");
    for number in 0..globals {
        writeln!(text, "case {}: G{number} = 0; break;", number + 2).expect("text");
    }
    writeln!(text, "}}\nf{}(n);\nreturn 0; }}", depth - 1).expect("text");
    text
}

/// Lines at which findings say that null is used.
pub fn reported(program: &parallax_cexplore::Program, report: &Report) -> BTreeSet<usize> {
    let module = &program.module;
    let line = |location| module.location(location).line as usize;
    let ends = report.findings.iter().map(|finding| line(site_location(module, finding.sink)));
    ends.collect()
}

/// Checks one program: lines that crash and are not reported.
fn missed(text: &str, most: usize, times: &[Option<Duration>]) -> (usize, Vec<String>) {
    let folder = tempfile::tempdir().expect("a folder");
    let truth: BTreeSet<usize> = crashes(folder.path(), text, most).into_iter().collect();
    let program = load(text);
    let mut wrong = Vec::new();
    for refine in times {
        let settings = Settings { refine: *refine, ..Settings::default() };
        let report = check(&program.module, &settings).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let found = reported(&program, &report);
        for line in truth.difference(&found) {
            let lines: Vec<&str> = text.lines().collect();
            let around = lines[line.saturating_sub(5)..*line].join("\n");
            wrong.push(format!("refined {refine:?}, line {line}:\n{around}"));
        }
    }
    (truth.len(), wrong)
}

pub fn more() -> u64 {
    std::env::var("NULL_SEEDS").map_or(0, |text| text.parse().expect("a number"))
}

#[test]
fn no_null_behind_a_long_loop_is_lost() {
    let (mut errors, mut wrong) = (0, Vec::new());
    for seed in (1..=4).chain(5..5 + more()) {
        let text = unseen(&mut Dice::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)), 40);
        let times = [None, Some(Duration::ZERO), Some(Duration::from_secs(1))];
        let (count, lost) = missed(&text, 41, &times);
        errors += count;
        wrong.extend(lost.into_iter().map(|lost| format!("seed {seed}, {lost}")));
    }
    assert!(errors > 60, "the programs crash at few lines ({errors})");
    assert!(wrong.is_empty(), "{} lost:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn no_null_of_several_is_lost_however_blocks_are_placed() {
    let (mut errors, mut wrong) = (0, Vec::new());
    for seed in (1..=25).chain(26..26 + more()) {
        let text = shared(&mut Dice::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
        let (count, lost) = missed(&text, 7, &[None, Some(Duration::ZERO), Some(Duration::from_secs(5))]);
        errors += count;
        wrong.extend(lost.into_iter().map(|lost| format!("seed {seed}, {lost}\n{text}")));
    }
    assert!(errors > 40, "the programs crash at few lines ({errors})");
    assert!(wrong.is_empty(), "{} lost:\n{}", wrong.len(), wrong.join("\n"));
}
