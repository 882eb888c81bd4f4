//! Merging at joins: as many states as the program has places, not ways; the same findings as without (for which
//! `findings.rs` holds the whole corpus against both).

use parallax_cexplore::confirm::replay;
use parallax_cexplore::explore::{Entry, Exploration, Merge, Settings, explore};
use parallax_cexplore::place::user_place;
use parallax_cexplore::{Program, Sources, program};
use parallax_cmachine::Problem;
use parallax_smt::{Answer, Limits, Reason, Solver};
use parallax_term::{Formula, Node, Store};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

fn compile(name: &str, text: &str) -> Program {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("merging");
    std::fs::create_dir_all(&folder).expect("a folder for the test");
    let file = folder.join(format!("{name}.c"));
    std::fs::write(&file, text).expect("the program is written");
    program::load(&Sources { files: vec![file], ..Sources::default() }).unwrap_or_else(|e| panic!("{e}"))
}

fn explored(program: &Program, settings: &Settings) -> Exploration {
    let store = Store::new();
    let solver = parallax_smt::solver(&store);
    explore(&store, &program.module, settings, solver, &mut |_, _, _| {}).expect("it explores")
}

fn from_main() -> Settings {
    let entry = Entry::Main { arguments: Vec::new(), stdin: 0, files: Vec::new(), environment: Vec::new() };
    Settings { entry, merge: Merge::Always, tests: true, ..Settings::default() }
}

/// Twenty choices in a row, and an assertion that one of the 2^20 ways through them breaks.
fn choices() -> String {
    let mut text = "int klee_int(const char *);\nvoid __assert_fail(const char *, const char *, unsigned, const char *);\n\
                    int main(void) {\n  unsigned x = (unsigned)klee_int(\"x\"), sum = 0, flips = 0;\n"
        .to_string();
    for bit in 0..20 {
        text += &format!("  if (x >> {bit} & 1) {{ sum += {}; flips++; }} else sum ^= {bit};\n", bit + 3);
    }
    text + "  if (flips == 20) __assert_fail(\"flips\", \"\", 1, \"\");\n  return (int)(sum & 63);\n}\n"
}

#[test]
fn a_million_ways_are_one_path() {
    let program = compile("choices", &choices());
    let started = Instant::now();
    let merged = explored(&program, &from_main());
    assert!(merged.completeness.is_complete(), "{:?}", merged.completeness);
    assert!(merged.paths <= 2, "{} paths", merged.paths);
    assert_eq!(merged.findings.len(), 1, "{:?}", merged.findings);
    assert!(replay(&program, &merged.findings[0], &from_main()).confirmed);
    assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
}

/// Which mode it is in decides everything that follows: states that know it differently stay apart. Numbers that are only
/// added up meet.
#[test]
fn the_estimate_keeps_apart_what_much_is_asked_about() {
    let asked = "int klee_int(const char *);
        int main(void) {
          int mode = 0, seen = 0;
          if (klee_int(\"c\") == 'a') mode = 1; else mode = 2;
          for (int k = 0; k < 8; k++) {
            if (mode == k) seen += k;
            if (mode > k) seen -= 2;
            if (mode + k == 4) seen ^= 1;
          }
          return seen;
        }";
    let told = "int klee_int(const char *);
        int main(void) {
          int mode = 0;
          for (int i = 0; i < 6; i++) {
            int c = klee_int(\"c\");
            if (c == 'a') mode += 1; else mode += 2;
          }
          return mode;
        }";
    let paths = |name: &str, text: &str, merge| {
        let explored = explored(&compile(name, text), &Settings { merge, ..from_main() });
        assert!(explored.completeness.is_complete(), "{:?}", explored.completeness);
        explored.paths
    };
    assert_eq!(paths("told", told, Merge::Never), 64);
    assert_eq!(paths("told", told, Merge::Auto), 1);
    assert_eq!(paths("asked", asked, Merge::Always), 1);
    assert_eq!(paths("asked", asked, Merge::Auto), 2);
}

/// One side of a branch does not end within what the search has: the other is not kept waiting for it.
#[test]
fn nobody_waits_for_long() {
    let text = "int klee_int(const char *);
        int main(void) {
          int x = klee_int(\"x\");
          unsigned n = 1;
          if (x == 1) { while (n) n += 2; }
          if (x == 2) return *(volatile int *)0;
          return 0;
        }";
    let program = compile("endless", text);
    for merge in [Merge::Never, Merge::Auto] {
        let settings = Settings { merge, leaks: false, steps: 200_000, loops: u32::MAX, ..from_main() };
        let found = explored(&program, &settings);
        assert_eq!(found.findings.len(), 1, "{merge:?}: {:?}", found.completeness);
        assert!(!found.completeness.is_complete());
    }
}

/// States that nobody waits for any more end as others do.
#[test]
fn who_comes_after_the_waiting_is_over_is_not_counted() {
    let text = "int klee_int(const char *); void exit(int);
        static unsigned some(int n) { unsigned sum = 0; for (int i = 0; i < n; i++) sum += (unsigned)i; return sum; }
        static void leave(int code) { exit(code + (some(1200) == 1)); }
        static int rest(int x, int y) {
          unsigned sum = some(1400);
          if (y > 0) leave(1); else leave(2);
          return (int)(sum + x & 1);
        }
        int main(void) {
          int x = klee_int(\"x\"), y = klee_int(\"y\"), r = 0;
          if (x > 0) r = rest(1, y); else r = rest(2, y);
          return r;
        }";
    let program = compile("late", text);
    for merge in [Merge::Never, Merge::Auto] {
        let settings = Settings { merge, loops: u32::MAX, ..from_main() };
        let found = explored(&program, &settings);
        assert!(found.completeness.is_complete(), "{merge:?}: {:?}", found.completeness);
        assert_eq!(found.findings.len(), 0);
        assert_eq!(found.paths, 4, "{merge:?}");
    }
}

#[test]
fn memory_pointers_and_loops_are_merged() {
    let text = "int klee_range(int, int, const char *);
        int main(void) {
          int a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8};
          int n = klee_range(0, 5, \"n\"), w = klee_range(0, 2, \"w\");
          int *p = a;
          if (w) { p = b; a[2] = 9; }
          for (int i = 0; i < n; i++) p[i] += i;
          int sum = 0;
          for (int i = 0; i < 4; i++) sum += a[i] + b[i];
          return sum;
        }";
    let program = compile("loops", text);
    let merged = explored(&program, &from_main());
    assert!(merged.completeness.is_complete() && merged.findings.is_empty(), "{:?}", merged.findings);
    assert!(merged.paths <= 2, "{} paths", merged.paths);
    let forked = explored(&program, &Settings { merge: Merge::Never, ..from_main() });
    assert_eq!(forked.paths, 10);
}

#[test]
fn unknown_memory_is_merged() {
    let text = "struct S { int x; struct S *n; };
        int f(struct S *a, struct S *b) {
          int r = 0;
          if (a) r += a->x; else r = 7;
          if (b) { b->x = 3; if (b->n) r++; }
          if (a == b) r *= 2;
          return r == 12 ? *(int *)0 : r;
        }";
    let program = compile("unknown", text);
    let settings = Settings { entry: Entry::Function("f".into()), ..from_main() };
    let merged = explored(&program, &settings);
    assert_eq!(merged.findings.len(), 1, "{:?}", merged.findings);
    assert_eq!(merged.findings[0].problem, Problem::NullDereference);
    assert!(replay(&program, &merged.findings[0], &settings).confirmed, "{:?}", merged.findings);
    let forked = explored(&program, &Settings { merge: Merge::Never, ..settings.clone() });
    assert!(merged.paths < forked.paths, "{} and {}", merged.paths, forked.paths);
}

fn found(program: &Program, explored: &Exploration) -> BTreeSet<(&'static str, u32)> {
    let place = |stack: &[_]| program.module.location(user_place(&program.module, stack).1).line;
    explored.findings.iter().map(|finding| (finding.problem.name(), place(&finding.stack))).collect()
}

#[test]
fn what_one_side_loses_is_lost_merged_too() {
    let leaks = [
        // Kept on one side only.
        (
            "kept",
            "static char *kept; int main(void) { char *p = malloc(4); if (klee_int(\"x\")) kept = p; return 0; }",
        ),
        // Freed on one side only, while a local still points to it.
        (
            "freed",
            "int main(void) { char *p = malloc(4); if (klee_int(\"x\")) free(p); p = 0; return p != 0; }",
        ),
        // The only way to it is overwritten on one side.
        (
            "chain",
            "struct n { struct n *next; }; static struct n *head; int main(void) { head = malloc(sizeof *head); \
             if (!head) return 0; head->next = malloc(sizeof *head); if (klee_int(\"x\") > 3) head->next = 0; return 0; }",
        ),
        // A ring that one side cuts off.
        (
            "ring",
            "struct n { struct n *next; }; static struct n *head; int main(void) { head = malloc(sizeof *head); \
             struct n *b = malloc(sizeof *b); if (!head || !b) return 0; head->next = b; b->next = head; \
             if (klee_int(\"x\") == 7) head = 0; return 0; }",
        ),
    ];
    for (name, body) in leaks {
        let text = format!("#include <stdlib.h>\nint klee_int(const char *);\n{body}\n");
        let program = compile(name, &text);
        let merging = Settings { leaks: true, ..from_main() };
        let merged = explored(&program, &merging);
        let forked = explored(&program, &Settings { merge: Merge::Never, ..merging.clone() });
        let kinds: Vec<_> = merged.findings.iter().map(|f| f.problem).collect();
        assert!(!kinds.is_empty() && kinds.iter().all(|&k| k == Problem::Leak), "{name}: {kinds:?}");
        assert_eq!(found(&program, &merged), found(&program, &forked), "{name}");
        for finding in &merged.findings {
            assert!(replay(&program, finding, &merging).confirmed, "{name}: {finding:?}");
        }
    }
}

/// A solver that gives up on what merged states ask, or on whatever it has less than all of its time for.
struct Picky<'s> {
    inner: Box<dyn Solver<'s> + 's>,
    gives_up: fn(&Store, &[Formula], Limits) -> bool,
    given_up: Rc<Cell<u32>>,
}

impl<'s> Solver<'s> for Picky<'s> {
    fn store(&self) -> &'s Store {
        self.inner.store()
    }
    fn check(&mut self, query: &[Formula]) -> Answer {
        if (self.gives_up)(self.store(), query, self.limits()) {
            self.given_up.set(self.given_up.get() + 1);
            return Answer::Unknown(Reason::Time);
        }
        self.inner.check(query)
    }
    fn unsat_core(&self) -> &[Formula] {
        self.inner.unsat_core()
    }
    fn set_limits(&mut self, limits: Limits) {
        self.inner.set_limits(limits);
    }
    fn limits(&self) -> Limits {
        self.inner.limits()
    }
}

/// Whether a query speaks of a value that depends on the way that was taken.
fn asks_of_merged(store: &Store, query: &[Formula]) -> bool {
    let mut waiting: Vec<_> = query.iter().map(|formula| formula.id()).collect();
    let mut seen = BTreeSet::new();
    while let Some(id) = waiting.pop() {
        if seen.insert(format!("{id:?}")) {
            if matches!(store.node(id), Node::Ite(..) | Node::IteBool(..)) {
                return true;
            }
            waiting.extend(store.operands(id));
        }
    }
    false
}

fn with_picky(
    program: &Program,
    settings: &Settings,
    gives_up: fn(&Store, &[Formula], Limits) -> bool,
) -> (Exploration, u32) {
    let store = Store::new();
    let given_up = Rc::new(Cell::new(0));
    let inner = Box::new(parallax_smt::solver(&store));
    let solver = Box::new(Picky { inner, gives_up, given_up: given_up.clone() });
    let found = explore(&store, &program.module, settings, solver, &mut |_, _, _| {}).expect("it explores");
    (found, given_up.get())
}

/// A number that is told at the end, behind many other questions: the estimate lets states meet that know it differently.
fn told_late() -> Program {
    let mut text = String::from(
        "#include <assert.h>\nint klee_int(const char *);\nint main(void) {\n  unsigned x = klee_int(\"x\"), y = klee_int(\"y\"), n = 0;\n",
    );
    for value in 0..14 {
        text += &format!("  if (y == {value}) n = (x ^ {value}) + 1;\n");
    }
    text += "  assert(n != 0x12345);\n  assert(y != 7 || n != 5);\n  return n == 9;\n}\n";
    compile("told_late", &text)
}

/// What one state for two asks may be too hard: the two go on by themselves, and nothing is left out for it.
#[test]
fn a_merge_is_undone_where_its_questions_are_too_hard() {
    let program = told_late();
    let plain = Settings { merge: Merge::Never, tests: false, ..from_main() };
    let never = explored(&program, &plain);
    assert!(never.completeness.is_complete(), "{:?}", never.completeness);
    let kinds = |found: &Exploration| -> BTreeSet<_> {
        found.findings.iter().map(|finding| user_place(&program.module, &finding.stack).1.0).collect()
    };
    assert_eq!(kinds(&never).len(), 2);
    let auto = Settings { merge: Merge::Auto, ..plain };
    let merged = explored(&program, &auto);
    assert!(merged.paths < never.paths, "nothing met: {} of {}", merged.paths, never.paths);
    let (picky, given_up) = with_picky(&program, &auto, |store, query, _| asks_of_merged(store, query));
    assert!(given_up > 0, "no question was too hard");
    assert!(picky.completeness.is_complete(), "{:?}", picky.completeness);
    // Which inputs cover what such a state did is a question about it, too: coverage may stay undecided.
    assert_eq!(kinds(&picky), kinds(&never));
    for finding in &picky.findings {
        assert!(replay(&program, finding, &auto).confirmed, "{finding:?}");
    }
}

/// Questions that take long wait until nothing else does, and are asked again: what they decide is not lost, and nothing impossible is
/// found behind them.
#[test]
fn hard_questions_are_asked_again_at_the_end() {
    let program = compile(
        "asked_again",
        "#include <assert.h>\nint klee_int(const char *);\nint main(void) {\n  unsigned a = klee_int(\"a\") & 255, b = klee_int(\"b\") & 255;\n\
         int n = 0;\n  if (a * b == 221) n = 1;\n  if (a * b == 65026) assert(0);\n  if (a == 3) return 5;\n\
         if (n) assert(a != 13);\n  if (a * a == 3) { int *p = 0; return *p; }\n  return n;\n}\n",
    );
    for merge in [Merge::Never, Merge::Auto] {
        let settings = Settings { merge, tests: false, ..from_main() };
        let (all, _) = with_picky(&program, &settings, |_, _, _| false);
        assert!(all.completeness.is_complete(), "{:?}", all.completeness);
        let (picky, given_up) = with_picky(&program, &settings, |_, _, limits| {
            limits.time.is_some_and(|time| time < Duration::from_secs(9))
        });
        assert!(given_up > 0, "no question was put off");
        assert!(picky.completeness.is_complete(), "{merge:?} {:?}", picky.completeness);
        let kinds =
            |found: &Exploration| -> BTreeSet<_> { found.findings.iter().map(|f| f.problem).collect() };
        assert_eq!((kinds(&picky), picky.coverage), (kinds(&all), all.coverage), "{merge:?}");
    }
}
