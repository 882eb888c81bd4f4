//! Mixed analysis against the truth: small programs run on every input, with random blocks and both starts. A null error
//! that some run makes must be reported, where the rules say it belongs.
//!
//! Not made: what the library returns or scans, pointers to functions, memory that is copied byte by byte, `_Nonnull`; see
//! `crashes`, `library` and `refine` for these.

use crate::common;

use common::{Dice, found, load};
use parallax_cexplore::Program;
use parallax_cexplore::run::{Closed, GivenMemory, Outcome, Settings as RunSettings, Start, run_from};
use parallax_cmachine::Problem;
use parallax_mixy::{Mode, Settings, check};
use parallax_op::Bits;
use std::collections::BTreeSet;
use std::time::Duration;

/// Statements that fit anywhere; `@` is replaced by the prefix of the program.
const ANYWHERE: &[&str] = &[
    "@g = 0;",
    "@g = &@v;",
    "@h = @g;",
    "@g = @h;",
    "@h = &@w;",
    "*@g = 1;",
    "*@h = 1;",
    "@gg = &@h;",
    "@gg = &@g;",
    "*@gg = 0;",
    "*@gg = &@w;",
    "**@gg = 2;",
    "@sp->f = 0;",
    "@sp->f = @g;",
    "@sp->f = &@v;",
    "*@sp->f = 3;",
    "@sp = &@t;",
    "@sp = &@s;",
    "@sp->n = &@t;",
    "@sp->n->f = 0;",
    "@g = @sp->f;",
    "@s.f = @h;",
    "*@t.f = 4;",
    "@gg = &@sp->f;",
    "if (N()) @g = 0;",
    "if (N()) *@g = 1;",
    "if (@g) *@g = 1;",
    "if (@g == 0) @g = &@v;",
    "if (@gg == &@g) @g = 0;",
    "if (N()) *@gg = 0; else *@gg = &@v;",
    "if (@sp->f) *@sp->f = 1;",
    "if (@sp == &@t) @t.f = 0;",
    "if (N()) return;",
    "{ int *l = 0; @set(&l); *l = 1; }",
    "{ int *l = &@v; @set(&l); *l = 1; }",
    "{ int *l = &@v, **m = &l; @gg = m; @two(); *l = 2; @gg = &@g; }",
    "@one();",
    "@two();",
    "@set(&@g);",
    "@set(@gg);",
    "@set(&@sp->f);",
    "@g = @id(@h);",
    "@h = @id(@g);",
    "@rec(@sp);",
    "@rec(&@t);",
    "@sp = @pick(&@s, @sp);",
    "if (N()) @one();",
    "if (N()) @rec(@sp->n);",
    "{ struct S *q = @make(); @sp = q; }",
    "*@g = 1; *@h = 2; **@gg = 3;",
    "@two(); *@g = 1; *@h = 1;",
    "{ int *l = &@sp->n->k; if (l) *l = 1; }",
    "@g = &@sp->n->k;",
    "if (N()) @sp->n = 0;",
    "@h = @place(@sp->n);",
    "{ int *l = @place(@sp); @set(&l); if (l) *l = 1; }",
    "{ struct S *l = @sp->n + N(); if (l) l->k = 1; }",
    "{ struct S *l = OF(@sp->n); if (l) l->k = 1; }",
    "@a[N() != 0].f = 0;",
    "*@a[1].f = 5;",
    "@sp = &@a[1];",
    "@a[0] = *@sp;",
    "__sync_lock_test_and_set(&@g, 0);",
    "__sync_bool_compare_and_swap(&@h, &@w, 0);",
    "__atomic_store_n(&@sp->f, 0, __ATOMIC_SEQ_CST);",
    "{ char z[8]; memset(z, 0, 8); memcpy(&@g, z, 8); }",
    "{ char *z = calloc(1, 8); memcpy(@gg, z, 8); }",
    "memset(&@a[0], 0, 8);",
];
/// Statements of functions with a parameter.
const WITH_SET: &[&str] = &[
    "*p = 0;",
    "*p = &@v;",
    "if (*p) **p = 1;",
    "**p = 1;",
    "if (N()) *p = 0;",
    "@g = *p;",
    "*p = @h;",
    "@gg = p;",
    "if (p == &@g) @h = 0;",
];
const WITH_REC: &[&str] = &[
    "s->f = 0;",
    "s->f = @g;",
    "*s->f = 1;",
    "if (s->f) *s->f = 1;",
    "if (N()) @rec(s->n);",
    "s->n->f = 0;",
    "@sp = s;",
    "if (s == @sp) @sp->f = 0;",
];

/// The text of one program, all names of which begin with a prefix.
fn program(dice: &mut Dice, prefix: &str, declarations: &mut String) -> String {
    let mark = |dice: &mut Dice| {
        ["", "", "MIX(typed) ", "MIX(symbolic) ", "MIX(symbolic) "][dice.below(5)].to_string()
    };
    let lines = |dice: &mut Dice, own: &[&str], most: usize| {
        let mut text = String::new();
        for _ in 0..1 + dice.below(most) {
            let from = if !own.is_empty() && dice.below(2) == 0 { own } else { ANYWHERE };
            text.push_str("  ");
            text.push_str(dice.pick(from));
            text.push('\n');
        }
        text
    };
    let names = "int @v, @w; struct S @a[2] = { { &@v, @a, 0 }, { &@w, @a + 1, 0 } }; int *@g = &@v, *@h = &@w; int **@gg = &@g;\n\
        struct S @t = { &@w, &@t }, @s = { &@v, &@t }, *@sp = &@s;\n\
        void @one(void); void @two(void); void @set(int **p); int *@id(int *q); int *@place(struct S *s); void @rec(struct S *s);\n\
        struct S *@pick(struct S *a, struct S *b); struct S *@make(void);\n";
    declarations.push_str(&names.replace('@', prefix));
    let mut text = String::new();
    text.push_str(&format!("{}void @one(void) {{\n{}}}\n", mark(dice), lines(dice, &[], 3)));
    text.push_str(&format!("{}void @two(void) {{\n{}}}\n", mark(dice), lines(dice, &[], 3)));
    text.push_str(&format!("{}void @set(int **p) {{\n{}}}\n", mark(dice), lines(dice, WITH_SET, 3)));
    let id = dice.pick(&[
        "return q;",
        "if (N()) return 0; return q;",
        "*q = 1; return q;",
        "if (!q) return &@v; return q;",
    ]);
    text.push_str(&format!("{}int *@id(int *q) {{ {id} }}\n", mark(dice)));
    text.push_str(&format!("{}void @rec(struct S *s) {{\n{}}}\n", mark(dice), lines(dice, WITH_REC, 3)));
    text.push_str(&format!("{}int *@place(struct S *s) {{ return &s->k; }}\n", mark(dice)));
    let pick = dice.pick(&["return a;", "return N() ? a : b;", "return b->n;"]);
    text.push_str(&format!("{}struct S *@pick(struct S *a, struct S *b) {{ {pick} }}\n", mark(dice)));
    let make = dice.pick(&[
        "q->f = 0; q->n = &@s; return q;",
        "q->n = &@t; return q;",
        "q->f = &@v; q->n = q; return q;",
    ]);
    text.push_str(&format!(
        "{}struct S *@make(void) {{ struct S *q = calloc(1, sizeof *q); {make} }}\n",
        mark(dice)
    ));
    text.push_str(&format!("void @main(void) {{\n{}}}\n", lines(dice, &[], 9)));
    text.replace('@', prefix)
}

/// What a violation must be reported as: `line kind where`, and the line where it happens.
fn required(
    program: &Program,
    text_modes: &dyn Fn(&str) -> Option<Mode>,
    start: Mode,
    stack: &[(parallax_cmodule::FunctionId, parallax_cmodule::LocationId)],
) -> (String, u32) {
    let module = &program.module;
    let line = |at| module.location(at).line;
    // Outermost first.
    let mut mode = start;
    let mut outermost_typed = true;
    let mut switched_at = None;
    let frames: Vec<_> = stack.iter().rev().collect();
    for (depth, (function, _)) in frames.iter().enumerate() {
        let before = mode;
        if let Some(marked) = text_modes(&module.function(*function).name) {
            mode = marked;
        }
        if depth == 0 {
            outermost_typed = mode == Mode::Typed;
            continue;
        }
        if before == Mode::Symbolic && mode == Mode::Typed {
            switched_at = Some(line(frames[depth - 1].1));
        }
        if mode == Mode::Symbolic {
            outermost_typed = false;
            switched_at = None;
        }
    }
    let here = line(stack[0].1);
    let shown = match (mode, outermost_typed, switched_at) {
        (Mode::Typed, true, _) => format!("{here} null-dereference typed"),
        (Mode::Typed, false, Some(call)) => format!("{call} null-dereference symbolic"),
        _ => format!("{here} null-dereference symbolic"),
    };
    (shown, here)
}

/// Null errors that running with every short input makes.
fn truth(
    program: &Program,
    entry: &str,
    modes: &dyn Fn(&str) -> Option<Mode>,
    start: Mode,
) -> BTreeSet<(String, u32)> {
    const INPUTS: u32 = 5;
    let mut found = BTreeSet::new();
    for bits in 0..1u32 << INPUTS {
        let inputs = (0..INPUTS).map(|n| Bits::new(32, u128::from(bits >> n & 1))).collect();
        let settings = RunSettings { steps: Some(20_000), inputs, ..RunSettings::default() };
        let memory = GivenMemory::default();
        let mut world = Closed::default();
        let ran =
            run_from(&program.module, Start::Function(entry, &memory), &mut world, &settings, &mut |_| {});
        if let Outcome::Mistake(mistake) = ran.outcome
            && mistake.problem == Problem::NullDereference
        {
            found.insert(required(program, modes, start, &mistake.stack));
        }
    }
    found
}

/// Which mode a function is marked with in a text.
fn marks(text: &str) -> impl Fn(&str) -> Option<Mode> + '_ {
    move |name: &str| {
        let line = text.lines().find(|line| {
            line.contains(&format!("{name}(")) && line.contains(") {") && !line.starts_with(' ')
        })?;
        if line.starts_with("MIX(typed)") {
            Some(Mode::Typed)
        } else if line.starts_with("MIX(symbolic)") {
            Some(Mode::Symbolic)
        } else {
            None
        }
    }
}

fn batch(seed: u64, count: usize) -> (usize, usize) {
    let mut dice = Dice::new(seed);
    let mut head = String::from(
        "#include <parallax.h>\n#include <stdlib.h>\n#include <string.h>\nint __VERIFIER_nondet_int(void);\n#define N() __VERIFIER_nondet_int()\nstruct S { int *f; struct S *n; int k; };\n#define OF(p) ((struct S *)((char *)(p) - 8))\n",
    );
    let mut body = String::new();
    for number in 0..count {
        body.push_str(&program(&mut dice, &format!("p{number}_"), &mut head));
    }
    let text = format!("{head}{body}");
    let loaded = load(&text);
    let modes = marks(&text);
    let (mut errors, mut demoted) = (0, 0);
    for number in 0..count {
        let entry = format!("p{number}_main");
        for start in [Mode::Typed, Mode::Symbolic] {
            let truth = truth(&loaded, &entry, &modes, start);
            // Only a program with an error can lose one.
            if truth.is_empty() {
                continue;
            }
            // Also with what the text of single functions refutes: that must lose nothing either.
            for refine in [None, Some(Duration::ZERO)] {
                let settings = Settings { entry: entry.clone(), start, refine, ..Settings::default() };
                let report = check(&loaded.module, &settings).unwrap_or_else(|e| panic!("{e}"));
                let reported = found(&loaded, &report);
                errors += truth.len();
                demoted += usize::from(!report.gaps.is_empty());
                for (wanted, line) in &truth {
                    // A block that could not be explored to the end is typed: the same place, found by the other analysis.
                    let instead = !report.gaps.is_empty()
                        && reported.iter().any(|r| r.starts_with(&format!("{line} null-dereference")));
                    // What typed code has by itself is reported there, and not at the call.
                    let own = reported.contains(&format!("{line} null-dereference typed"));
                    if !reported.contains(wanted) && !instead && !own {
                        let source: String = text
                            .lines()
                            .enumerate()
                            .filter(|(at, l)| l.contains(&format!("p{number}_")) || *at + 1 == *line as usize)
                            .map(|(at, l)| format!("{}: {l}\n", at + 1))
                            .collect();
                        panic!(
                            "lost: {wanted} (seed {seed}, start {start:?}, {refine:?})\nreported {reported:?}\ngaps {:?}\n{source}",
                            report.gaps
                        );
                    }
                }
            }
        }
    }
    (errors, demoted)
}

#[test]
fn no_null_error_is_lost_whatever_the_blocks() {
    let mut errors = 0;
    let more: u64 = std::env::var("NULL_SEEDS").map_or(0, |text| text.parse().expect("a number"));
    for seed in [0x9e3779b97f4a7c15, 0xdeadbeefcafef00d].into_iter().chain(1..=more) {
        errors += batch(seed, 60).0;
    }
    println!("{} programs, {errors} errors, none lost", 60 * (2 + more));
    assert!(errors > 30, "the programs make few errors ({errors}): they would show nothing");
}
