//! The rules for unknown memory, one small C program each.

use parallax_cexplore::explore::{Entry, PathEnd, PathRecord, Settings, explore};
use parallax_cexplore::run::{self, Closed, Outcome, Start, run_from};
use parallax_cexplore::{Program, Sources, program};
use parallax_cmachine::{Aliasing, Mistake, Problem};
use parallax_op::RelOp;
use parallax_smt::Answer;
use parallax_term::{Store, Term};
use std::path::PathBuf;

/// A program from its text, in a folder of its own.
fn compile(text: &str, name: &str, optimise: u8) -> Program {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("memory_rules");
    std::fs::create_dir_all(&folder).expect("a folder for the test");
    let file = folder.join(format!("{name}.c"));
    std::fs::write(&file, text).expect("the program is written");
    let mut sources = Sources { files: vec![file], ..Sources::default() };
    sources.options.optimise = optimise;
    program::load(&sources).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn settings(entry: &str) -> Settings {
    Settings {
        entry: Entry::Function(entry.into()),
        array: 3,
        chain: 4,
        loops: 6,
        steps: 20_000,
        tests: true,
        ..Settings::default()
    }
}

/// Ways a function can end: every status or mistake. What a path predicts for the input it gives is compared with a run.
fn ends(text: &str, name: &str, levels: &[u8], change: impl Fn(&mut Settings)) -> Vec<Result<u8, Problem>> {
    let mut all: Option<Vec<Result<u8, Problem>>> = None;
    for &optimise in levels {
        let program = compile(text, &format!("{name}-O{optimise}"), optimise);
        let mut settings = settings("f");
        change(&mut settings);
        let store = Store::new();
        let solver = parallax_smt::solver(&store);
        let explored =
            explore(&store, &program.module, &settings, solver, &mut |_, _, _| {}).expect("it explores");
        let unexpected: Vec<_> = explored.completeness.bounds().filter(|b| b.name() != "chain").collect();
        assert!(unexpected.is_empty(), "{name} -O{optimise}: {unexpected:?}");
        let mut ends = Vec::new();
        for record in &explored.records {
            let ran = replay(&program, record);
            let predicted = match &record.end {
                PathEnd::Exit(status) => Ok(*status),
                PathEnd::Mistake(problem) => Err(*problem),
            };
            assert_eq!(predicted, ran, "{name} -O{optimise}: {:?}", record.input.memory);
            match (&record.end, record.status) {
                (PathEnd::Exit(_), Some(status)) => ends.extend(values(&store, record, status).map(Ok)),
                _ => ends.push(ran),
            }
        }
        ends.sort_by_key(|end| match end {
            Ok(status) => (0, *status, ""),
            Err(problem) => (1, 0, problem.name()),
        });
        ends.dedup();
        match &all {
            None => all = Some(ends),
            Some(first) => assert_eq!(*first, ends, "{name}: -O0 and -O{optimise} end differently"),
        }
    }
    all.expect("some level")
}

fn replay(program: &Program, record: &PathRecord) -> Result<u8, Problem> {
    let concrete = run::Settings { steps: Some(20_000), ..run::Settings::default() };
    let start = Start::Function("f", &record.input.memory);
    match run_from(&program.module, start, &mut Closed::default(), &concrete, &mut |_| {}).outcome {
        Outcome::Exit(status) => Ok(status),
        Outcome::Mistake(mistake) => Err(mistake.problem),
        other => panic!("{other:?} for {:?}", record.input.memory),
    }
}

/// Every status a path can return: optimised code decides little by branching.
fn values(store: &Store, record: &PathRecord, status: Term) -> impl Iterator<Item = u8> {
    let mut solver = parallax_smt::solver(store);
    let mut query = record.conditions.clone();
    let mut found = Vec::new();
    while let Answer::Sat(model) = solver.check(&query) {
        let value = model.term(store, status);
        query.push(store.relop(RelOp::Ne, status, store.constant(&value)));
        found.push(value.to_u128().unwrap_or(0) as u8);
        assert!(found.len() < 20, "statuses are few");
    }
    found.into_iter()
}

const NODE: &str = "struct S { int x; struct S *n; int *p; int y; };\n";

fn check(name: &str, body: &str, wanted: &[Result<u8, Problem>]) {
    check_with(name, body, wanted, &[0, 1, 2], |_| {});
}

fn check_with(
    name: &str,
    body: &str,
    wanted: &[Result<u8, Problem>],
    levels: &[u8],
    change: impl Fn(&mut Settings),
) {
    let ends = ends(&format!("{NODE}{body}"), name, levels, change);
    assert_eq!(ends, wanted, "{name}");
}

fn strict(settings: &mut Settings) {
    settings.aliasing = Aliasing::Strict;
}

const NULL: Result<u8, Problem> = Err(Problem::NullDereference);

/// After its lowest byte changes, a pointer is what it was but for that byte.
const OVERWRITE: &str = "int f(struct S **q) {
           struct S *old = *q;
           ((unsigned char *)q)[0] = 8;
           if ((unsigned long)*q == ((unsigned long)old & ~0xfful) + 8) return 1;
           return 2;
         }";

#[test]
fn a_byte_of_an_undecided_pointer_can_be_overwritten() {
    check("overwrite", OVERWRITE, &[Ok(1), NULL]);
}

#[test]
fn a_byte_put_back_makes_the_pointer_whole() {
    check(
        "put_back",
        "int f(struct S **q) {
           unsigned char kept = ((unsigned char *)q)[3];
           ((unsigned char *)q)[3] = 0x5a;
           ((unsigned char *)q)[3] = kept;
           struct S *s = *q;
           if (!s) return 3;
           s->x = 7;
           return (*q)->x;
         }",
        &[Ok(3), Ok(7), NULL],
    );
}

#[test]
fn pointers_copied_byte_by_byte_are_pointers() {
    check(
        "bytes",
        "int f(struct S **q) {
           struct S *copy;
           for (int i = 0; i < (int)sizeof copy; i++) ((char *)&copy)[i] = ((char *)q)[i];
           if (copy != *q) return 9;
           if (!copy) return 0;
           copy->x = 4;
           return (*q)->x;
         }",
        &[Ok(0), Ok(4), NULL],
    );
}

const NUMERIC: &str = "int f(struct S *s) {
           unsigned v = (unsigned)(unsigned long)s;
           if (v & 1) return 1;
           if (((unsigned long)s >> 3) * 3 == 3) return 2;
           return s ? 4 : 5;
         }";

#[test]
fn an_undecided_pointer_is_decided_before_it_is_a_number() {
    // No object lies at an odd address, or below the first page.
    check("numeric", NUMERIC, &[Ok(4), Ok(5)]);
}

#[test]
fn differences_and_order_keep_the_object() {
    check(
        "difference",
        "int f(int *a, int i) {
           if (i < 0 || i > 2) return 0;
           int *b = a + i;
           if (b < a) return 1;
           return (int)(b - a) == i ? 2 : 3;
         }",
        &[Ok(0), Ok(2)],
    );
}

#[test]
fn two_objects_come_in_either_order() {
    check(
        "order",
        "int f(struct S *a, struct S *b) {
           if (!a || !b) return 0;
           if (a == b) return 1;
           return a < b ? 2 : 3;
         }",
        &[Ok(0), Ok(1), Ok(2), Ok(3)],
    );
}

const APART: &str = "int f(struct S *a, struct S *b) {
           if (!a || !b || a == b) return 0;
           unsigned long distance = (unsigned long)b - (unsigned long)a;
           if (distance < sizeof *a) return 1;
           return 2;
         }";

#[test]
fn objects_do_not_overlap() {
    check_with("apart", APART, &[Ok(0), Ok(2)], &[0, 1, 2], strict);
    // Pointers that are subtracted may be one behind an array, and the next object begins right there.
    check("near", APART, &[Ok(0), Ok(1), Ok(2)]);
}

#[test]
fn order_is_transitive() {
    check(
        "transitive",
        "int f(struct S *a, struct S *b, struct S *c) {
           if (!a || !b || !c) return 0;
           if (a < b && b < c && c < a) return 1;
           return 2;
         }",
        &[Ok(0), Ok(2)],
    );
}

#[test]
fn a_structure_is_found_from_its_field() {
    check(
        "container",
        "int f(struct S *s, int *i) {
           if (!s || !i) return 0;
           if (i != &s->y) return 1;
           struct S *back = (struct S *)((char *)i - __builtin_offsetof(struct S, y));
           back->x = 5;
           return s->x;
         }",
        &[Ok(0), Ok(1), Ok(5)],
    );
}

#[test]
fn flexible_arrays_are_bounded_by_the_object() {
    check(
        "flexible",
        "void *malloc(unsigned long);
         struct V { int n; int a[]; };
         int f(int i) {
           struct V *v = malloc(sizeof(struct V) + 3 * sizeof(int));
           v->n = 3; v->a[0] = v->a[1] = v->a[2] = 6;
           if (i < 0 || i > 3) return 0;
           return v->a[i];
         }",
        &[Ok(0), Ok(6), Err(Problem::OutOfBounds)],
    );
}

#[test]
fn unions_and_small_structures_are_passed_as_numbers() {
    check(
        "coerced",
        "struct pair { int a; float b; };
         union any { long v; struct S *s; };
         int f(struct pair p, union any u) {
           if (p.a == 3 && p.b == 1.5f) return 1;
           if (u.v == 12345) return 2;
           return 3;
         }",
        &[Ok(1), Ok(2), Ok(3)],
    );
}

#[test]
fn a_union_that_is_read_as_a_pointer_holds_one() {
    check(
        "tagged",
        "struct value { int tag; union { long number; struct { struct S *left, *right; } pair; } as; };
         int f(struct value *v) {
           if (!v) return 0;
           if (v->tag == 1) return v->as.number == 7 ? 1 : 2;
           if (v->tag == 2 && v->as.pair.left && v->as.pair.right)
             return v->as.pair.left == v->as.pair.right ? 3 : v->as.pair.left->x == 5 ? 4 : 5;
           return 6;
         }",
        &[Ok(0), Ok(1), Ok(2), Ok(3), Ok(4), Ok(5), Ok(6)],
    );
}

#[test]
fn memory_of_unknown_type_that_is_read_as_a_pointer_holds_one() {
    check(
        "generic",
        "int f(void *v) {
           if (!v) return 0;
           struct S *first = ((struct S **)v)[0], *second = ((struct S **)v)[1];
           if (!first || !second) return 1;
           return first == second ? 2 : first->x == 5 ? 3 : 4;
         }",
        &[Ok(0), Ok(1), Ok(2), Ok(3), Ok(4)],
    );
}

#[test]
fn copies_move_pointers_undecided() {
    check(
        "copies",
        "void *memcpy(void *, const void *, unsigned long);
         int f(struct S *s) {
           if (!s) return 0;
           struct S t = *s, u;
           memcpy(&u, &t, sizeof u);
           if (u.n != s->n || u.p != s->p) return 1;
           s->n = 0; s->p = 0;
           return u.n == s && u.n->x == s->x ? 2 : 3;
         }",
        &[Ok(0), Ok(2), Ok(3)],
    );
}

#[test]
fn what_is_passed_by_value_is_the_callees_own() {
    check(
        "by_value",
        "int f(struct S s, struct S *q) {
           if (q == &s) return 1;
           s.x = 4;
           if (q && q->x == 4) return 2;
           return s.x;
         }",
        &[Ok(2), Ok(4)],
    );
}

#[test]
fn bit_fields_keep_their_neighbours() {
    check(
        "bit_fields",
        "struct B { unsigned a : 3, b : 5, c : 8; };
         int f(struct B *s) {
           if (!s) return 0;
           unsigned a = s->a, c = s->c;
           s->b = 9;
           return s->a == a && s->c == c && s->b == 9 ? 1 : 2;
         }",
        &[Ok(0), Ok(1)],
    );
}

#[test]
fn generic_pointers_take_the_type_they_are_used_with() {
    // Only unoptimised code says with which.
    check_with(
        "generic_fields",
        "int f(void *data, struct S *s) {
           struct S *t = data;
           if (!t || !s) return 0;
           if (t == s) return 1;
           t->n = s;
           return t->n == s ? 2 : 3;
         }",
        &[Ok(0), Ok(1), Ok(2)],
        &[0],
        |_| {},
    );
}

#[test]
fn a_field_of_null_is_null() {
    check("null_field", "int f(struct S *s) { int *y = &s->y; return *y ? 1 : 2; }", &[Ok(1), Ok(2), NULL]);
}

#[test]
fn nonnull_parameters_are_not_null() {
    check(
        "nonnull",
        "__attribute__((nonnull)) int f(struct S *s) { return s->x == 3 ? 1 : 2; }",
        &[Ok(1), Ok(2)],
    );
}

const NUMBER: &str = "int f(unsigned long v) { int *p = (int *)v; return *p == 3 ? 1 : 2; }";

#[test]
fn a_number_may_be_the_address_of_memory_nobody_came_across() {
    check("number", NUMBER, &[Ok(1), Ok(2), NULL, Err(Problem::OutOfBounds)]);
}

const JUNK: &str = "int f(unsigned long v, struct S **q) {
           if (!q) return 0;
           int x = *(int *)v;
           struct S *s = *q;
           if ((unsigned long)s == v && s) return 1;
           return x == 0 ? 2 : 3;
         }";

#[test]
fn what_a_number_did_not_point_to_stays_so() {
    // The first use of v as a pointer fails if v is no address; where it did not fail, s may be there.
    check("junk", JUNK, &[Ok(0), Ok(1), Ok(2), Ok(3), NULL, Err(Problem::OutOfBounds)]);
}

#[test]
fn function_pointers_are_functions_of_their_type() {
    check(
        "functions",
        "static int one(int x) { return x + 1; }
         static int two(int x) { return x + 2; }
         static int other(int *x) { return *x; }
         int (*table[])(int) = {one, two};
         int (*unfit)(int *) = other;
         int f(int (*g)(int)) { return g(10); }",
        &[Ok(11), Ok(12), NULL],
    );
}

#[test]
fn untyped_memory_may_overlap() {
    // Without types, an int may lie in the middle of what a long pointer points to. (The optimiser believes in types.)
    let body = "int f(long *l, int *i) {
           if (!l || !i) return 0;
           *l = 0;
           *i = 7;
           if (*l == 0) return 1;
           return *l == 7 ? 2 : 3;
         }";
    check_with("typed", body, &[Ok(0), Ok(1)], &[0], |s| s.aliasing = Aliasing::Strict);
    check_with("untyped", body, &[Ok(0), Ok(1), Ok(2), Ok(3)], &[0], |s| s.aliasing = Aliasing::Raw);
}

#[test]
fn arrays_may_be_pointed_into() {
    let body = "int f(int *a, int *b) {
           if (!a || !b) return 0;
           if (a == b) return 1;
           return a + 1 == b ? 2 : 3;
         }";
    check_with("starts", body, &[Ok(0), Ok(1), Ok(3)], &[0, 1, 2], |s| s.aliasing = Aliasing::Strict);
    check_with("elements", body, &[Ok(0), Ok(1), Ok(2), Ok(3)], &[0, 1, 2], |s| s.aliasing = Aliasing::Elem);
}

/// The mistakes that random functions hardly meet, each with a program that does.
#[test]
fn planted_mistakes_are_noticed() {
    let planted = [
        (Mistake::TagsKept, "tags", OVERWRITE, vec![Ok(1), NULL]),
        (Mistake::BasesOverlap, "overlap", APART, vec![Ok(0), Ok(2)]),
        (Mistake::TokenIsSymbol, "symbol", NUMERIC, vec![Ok(4), Ok(5)]),
        (
            Mistake::NoUndiscovered,
            "undiscovered",
            NUMBER,
            vec![Ok(1), Ok(2), NULL, Err(Problem::OutOfBounds)],
        ),
    ];
    for (mistake, name, body, wanted) in planted {
        check_with(name, body, &wanted, &[0], strict);
        let noticed = std::panic::catch_unwind(|| {
            check_with(name, body, &wanted, &[0], |settings| {
                strict(settings);
                settings.plant = Some(mistake);
            });
        });
        assert!(noticed.is_err(), "{mistake:?} goes unnoticed");
    }
}

#[test]
fn what_was_no_address_does_not_become_one() {
    // Where v is no address, the comparison that follows must not find an object there.
    let body = "int f(unsigned long v, struct S **q) {
           if (!q || v < 4096 || v % 16) return 0;
           int *p = (int *)v;
           struct S *s;
           if (p == (int *)q) return 1;
           s = *q;
           if (!s) return 2;
           return (unsigned long)s == v ? 3 : 4;
         }";
    check_with("address", body, &[Ok(0), Ok(1), Ok(2), Ok(3), Ok(4)], &[0], |_| {});
}
