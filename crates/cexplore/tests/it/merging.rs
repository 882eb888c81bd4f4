//! Merging at joins: as many states as the program has places, not ways; the same findings as without (for which
//! `findings.rs` holds the whole corpus against both).

use parallax_cexplore::confirm::replay;
use parallax_cexplore::explore::{Entry, Exploration, Merge, Settings, explore};
use parallax_cexplore::place::user_place;
use parallax_cexplore::{Program, Sources, program};
use parallax_cmachine::Problem;
use parallax_term::Store;
use std::collections::BTreeSet;
use std::path::PathBuf;
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
