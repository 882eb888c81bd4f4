//! What a run leaves out it admits: each program here leaves something out on another way out of the search, or asks for something
//! that used to be assumed in silence.

use crate::corpus::{case, load};
use parallax_cexplore::Program;
use parallax_cexplore::callers;
use parallax_cexplore::confirm::{Replay, Verdict, replay};
use parallax_cexplore::explore::{Entry, Exploration, Merge, Settings, explore};
use parallax_cexplore::native::Native;
use parallax_cmachine::Problem;
use parallax_path::{Bound, Strategy};
use parallax_term::Store;
use std::path::PathBuf;
use std::time::Duration;

pub fn program(name: &str, text: &str) -> Program {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("left-out");
    std::fs::create_dir_all(&folder).expect("a folder for the test");
    let file = folder.join(format!("{name}.c"));
    std::fs::write(&file, text).expect("the program is written");
    let mut program = load(&case(file));
    program.annotate().expect("it is annotated");
    program
}

pub fn explored(program: &Program, settings: &Settings) -> Exploration {
    let store = Store::new();
    let solver = parallax_smt::solver(&store);
    explore(&store, &program.module, settings, solver, &mut |_, _, _| {}).expect("it explores")
}

fn stdin(bytes: u64) -> Settings {
    let entry =
        Entry::Main { arguments: Vec::new(), stdin: bytes, files: Vec::new(), environment: Vec::new() };
    Settings { entry, ..Settings::default() }
}

fn entered(name: &str) -> Settings {
    Settings { entry: Entry::Function(name.into()), ..Settings::default() }
}

fn names(explored: &Exploration) -> Vec<&'static str> {
    explored.completeness.bounds().map(Bound::name).collect()
}

fn kinds(explored: &Exploration) -> Vec<Problem> {
    explored.findings.iter().map(|finding| finding.problem).collect()
}

/// Something is left out at each of these places, and the path that does so then goes out of the search in its own way.
#[test]
fn no_way_out_of_the_search_loses_an_entry() {
    let ways = [
        ("returns", "return 0;"),
        ("exits", "exit(3);"),
        ("discarded", "klee_assume(c == 300);"),
        ("assumed_away", "klee_assume(0);"),
        ("mistake", "int *p = 0; *p = 1;"),
        ("leaves_by_a_jump", "longjmp(where, 1);"),
        ("both_ways", "c = c > 5 ? 1 : 2;"),
        ("unsupported", "fork();"),
        ("loops", "while (getchar_() != c) {}"),
    ];
    for (name, way) in ways {
        let text = format!(
            "#include <setjmp.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n\
             void klee_assume(unsigned long);\nint elsewhere(int);\nint getchar_(void) {{ return getchar() & 255; }}\n\
             jmp_buf where;\n\
             int main(void) {{\n  int c = getchar();\n  if (setjmp(where)) return 7;\n\
             if (c == 'x') {{ elsewhere(c); {way} }}\n  if (c == 'y') return 2;\n  return 1;\n}}\n"
        );
        let program = program(name, &text);
        for merge in [Merge::Never, Merge::Always] {
            for strategy in [Strategy::Depth, Strategy::Breadth, Strategy::Interleaved] {
                for (first, states) in [(false, 1000), (true, 1000), (false, 1)] {
                    let settings =
                        Settings { merge, strategy, first, states, leaks: true, steps: 5_000, ..stdin(3) };
                    let found = explored(&program, &settings);
                    assert!(
                        !found.completeness.is_complete(),
                        "{name}: {merge:?} {strategy:?} {first} {states}"
                    );
                    if states > 1 && !first {
                        assert!(names(&found).contains(&"stands-in"), "{name}: {:?}", names(&found));
                        let places: Vec<_> = found.completeness.entries().map(|e| e.place.clone()).collect();
                        assert!(places.iter().flatten().any(|p| p.contains(".c:")), "{name}: {places:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_floating_point_number_in_a_text_is_itself_or_is_said_not_to_be() {
    let text = "#include <stdio.h>\n#include <string.h>\n\
        int main(void) {\n  int c = getchar() & 7;\n  char text[64];\n  sprintf(text, \"%f\", c / 2.0);\n\
        if (!strcmp(text, \"3.500000\")) return 7;\n  if (!strcmp(text, \"0.500000\")) return 1;\n  return 0;\n}\n";
    let found = explored(&program("format_few", text), &Settings { tests: true, ..stdin(1) });
    let statuses = statuses(&found);
    assert!(found.completeness.is_complete(), "{:?}", found.completeness);
    assert_eq!(statuses, [0, 1, 7]);
    let many = text.replace("& 7", "");
    let found = explored(&program("format_many", &many), &Settings { tests: true, ..stdin(1) });
    assert!(names(&found).contains(&"stands-in"), "{:?}", found.completeness);
}

fn statuses(found: &Exploration) -> Vec<u8> {
    let status = |record: &parallax_cexplore::explore::PathRecord| match record.end {
        parallax_cexplore::explore::PathEnd::Exit(status) => Some(status),
        parallax_cexplore::explore::PathEnd::Mistake(_) => None,
    };
    let mut statuses: Vec<u8> = found.records.iter().filter_map(status).collect();
    statuses.sort_unstable();
    statuses.dedup();
    statuses
}

#[test]
fn one_seed_gives_one_sequence_of_random_numbers() {
    let text = "#include <assert.h>\n#include <stdio.h>\n#include <stdlib.h>\n\
        int main(void) {\n  unsigned s = getchar();\n  srand(s);\n  int a = rand(), b = rand();\n  srand(s);\n\
        assert(a == rand() && b == rand());\n  srand(5);\n  assert(rand() == 590011675);\n  return 0;\n}\n";
    let program = program("seeds", text);
    let settings = Settings { random_inputs: program.seeds_unknown(), ..stdin(1) };
    let found = explored(&program, &settings);
    assert_eq!(kinds(&found), [], "{:?}", found.findings);
    assert!(names(&found).contains(&"stands-in"), "{:?}", found.completeness);
}

#[test]
fn what_rests_on_random_numbers_alone_is_a_guess() {
    let text = "#include <assert.h>\n#include <stdio.h>\n#include <stdlib.h>\n\
        int main(void) {\n  srand(getchar());\n  assert(rand() != 12345);\n  return 0;\n}\n";
    let program = program("guess", text);
    let settings = Settings { random_inputs: program.seeds_unknown(), ..stdin(1) };
    let found = explored(&program, &settings);
    assert_eq!(kinds(&found), [Problem::Assertion]);
    let replayed: Replay = replay(&program, &found.findings[0], &settings);
    assert!(replayed.confirmed, "{:?}", replayed.outcome);
    let native = Native::NotRun("not asked for".into());
    assert_eq!(Verdict::of(&found.findings[0], &replayed, &native), Verdict::Guessed);
}

#[test]
fn a_global_that_nothing_defines_holds_anything() {
    let text = "#include <assert.h>\nextern int elsewhere[3];\n\
        int main(void) {\n  if (elsewhere[1] == 4) assert(elsewhere[2] != 9);\n  return 0;\n}\n";
    let program = program("undefined", text);
    let found = explored(&program, &Settings::default());
    assert_eq!(kinds(&found), [Problem::Assertion], "{:?}", found.findings);
    assert!(names(&found).contains(&"stands-in"), "{:?}", found.completeness);
    let replayed = replay(&program, &found.findings[0], &Settings::default());
    assert!(replayed.confirmed, "{:?}", replayed.outcome);
}

#[test]
fn premises_that_leave_no_input_are_no_complete_answer() {
    let text = "void klee_assume(unsigned long);\nint klee_int(const char *);\n\
        int main(void) {\n  int n = klee_int(\"n\");\n  klee_assume(n > 3);\n  if (n & 1) klee_assume(n < 2);\n\
        else klee_assume(n == 3);\n  return n;\n}\n";
    let found = explored(&program("vacuous", text), &Settings::default());
    assert_eq!((found.paths, names(&found)), (0, vec!["vacuous"]), "{:?}", found.completeness);
    let some = text.replace("n < 2", "n < 8");
    assert!(explored(&program("kept", &some), &Settings::default()).completeness.is_complete());
}

#[test]
fn a_contract_beyond_the_bound_on_arrays_raises_it() {
    let header = |needed: u32| {
        format!(
            "int f(const unsigned char *p) {{\n  if (p[{}] != 1) return 1;\n  if (p[0] == 7) return 2;\n  return 3;\n}}\n",
            needed - 1
        )
    };
    for needed in [2, 4, 5, 9, 33, 64] {
        let found = explored(&program(&format!("header_{needed}"), &header(needed)), &entered("f"));
        let coverage = found.coverage;
        assert_eq!(
            (coverage.branches_covered, coverage.branches),
            (4, 4),
            "{needed}: {:?}",
            found.completeness
        );
        assert!(found.completeness.is_complete(), "{needed}: {:?}", found.completeness);
    }
    let found = explored(&program("header_65", &header(65)), &entered("f"));
    assert!(names(&found).contains(&"array"), "{:?}", found.completeness);
    assert_eq!(found.coverage.branches_covered, 0);
    // A number beside the pointer that is compared with a constant.
    let sized = "int f(const unsigned char *p, unsigned long n) {\n  if (n < 12) return 1;\n  if (p[11] == 7) return 2;\n  return 3;\n}\n";
    let found = explored(&program("header_sized", sized), &entered("f"));
    assert_eq!(
        (found.coverage.branches_covered, found.coverage.branches),
        (4, 4),
        "{:?}",
        found.completeness
    );
}

#[test]
fn a_relation_that_is_learned_too_late_is_a_bound() {
    // Ten pairs, one behind the other, each of which is a start of its own.
    let pairs: String = (0..10).map(|n| format!("  if (e[{n}] - p[{n}] != 1) return {n};\n")).collect();
    let text = format!(
        "#include <assert.h>\nint f(const char *p[10], const char *e[10]) {{\n{pairs}  assert(0);\n}}\n"
    );
    let found = explored(
        &program("ten_pairs", &text),
        &Settings { array: 10, time: Duration::from_secs(20), ..entered("f") },
    );
    let is_found = kinds(&found).contains(&Problem::Assertion);
    assert!(is_found || !found.completeness.is_complete(), "{:?} {:?}", found.findings, found.completeness);
}

#[test]
fn callers_that_only_callers_call_are_starts() {
    let text = "int f(int n) { return 1 / n; }\n\
        int alone(int n) { return n > 3 ? alone(n - 1) : f(n); }\n\
        int two(int n);\nint one(int n) { return n > 5 ? two(n) : f(n); }\nint two(int n) { return one(n - 1); }\n\
        int leaf(int n) { return f(n); }\nint top(int n) { return leaf(n + 1); }\n\
        int (*table[])(int) = { f, leaf };\n";
    let program = program("callers", text);
    let module = &program.module;
    let f = module.function_named("f").expect("it is there");
    for (levels, wanted) in
        [(1, &["alone", "leaf", "one"][..]), (2, &["alone", "top", "two"]), (3, &["alone", "top", "two"])]
    {
        let starts = callers::starts(module, f, levels);
        let mut names: Vec<&str> = starts.iter().map(|id| module.function(*id).name.as_str()).collect();
        names.sort_unstable();
        assert_eq!(names, wanted, "{levels}");
    }
    let through = callers::called_through_pointers(module, f, 2);
    let names: Vec<&str> = through.iter().map(|id| module.function(*id).name.as_str()).collect();
    assert_eq!(names, ["f", "leaf"]);
}

#[test]
fn coverage_is_what_inputs_reach() {
    // The assertion is behind a bound: no path that comes to it ends.
    let text = "#include <assert.h>\nint klee_int(const char *);\n\
        int main(void) {\n  int n = klee_int(\"n\");\n  if (n == 3) {\n    int i = 0;\n\
        while (i < 100) i++;\n    assert(n != 3);\n  }\n  return 0;\n}\n";
    let found = explored(&program("dropped", text), &Settings { steps: 60, ..Settings::default() });
    assert_eq!(kinds(&found), []);
    let file = found.covered.values().next().expect("a file");
    assert_eq!((file.lines[&6], file.lines[&10] > 0), (0, true), "{file:?}");
    assert!(found.coverage.branches_undecided > 0, "{:?}", found.coverage);
    // A question that the solver is given no time for decides nothing.
    let hard = "int klee_int(const char *);\n\
        int main(void) {\n  unsigned long a = klee_int(\"a\"), b = klee_int(\"b\"), c = klee_int(\"c\");\n\
        if (a * b * c * (a + b) == 0x123456789abcdef1 && a * c - b * b * b == 77) return 1;\n  return 0;\n}\n";
    let settings = Settings { solver_time: Duration::ZERO, ..Settings::default() };
    let found = explored(&program("hard", hard), &settings);
    assert!(!found.completeness.is_complete());
    assert!(found.coverage.branches_covered < found.coverage.branches, "{:?}", found.coverage);
    assert!(found.coverage.branches_undecided > 0, "{:?}", found.coverage);
}

#[test]
fn places_to_jump_back_to_keep_states_apart() {
    let text = "#include <assert.h>\n#include <setjmp.h>\n#include <stdio.h>\n\
        jmp_buf one, two;\nint reached;\n\
        int main(void) {\n  int c = getchar();\n  volatile int k = 0;\n\
        if (c == 'a') { if (setjmp(one)) { k = 1; goto out; } } else { if (setjmp(one)) { k = 2; goto out; } }\n\
        if (c == 'a' || c == 'b') longjmp(one, 1);\n  return 5;\n\
        out:\n  if (c == 'a') assert(k == 1);\n  if (c == 'b') assert(k == 2);\n  return k;\n}\n";
    let program = program("jumps", text);
    let found = |merge| {
        let found = explored(&program, &Settings { merge, tests: true, ..stdin(1) });
        assert_eq!(kinds(&found), [], "{merge:?}");
        assert!(found.completeness.is_complete(), "{merge:?} {:?}", found.completeness);
        found
    };
    let apart = found(Merge::Never);
    assert_eq!(statuses(&apart), [1, 2, 5]);
    for merge in [Merge::Auto, Merge::Always] {
        assert_eq!(found(merge).coverage, apart.coverage, "{merge:?}");
    }
}

/// A line behind one that the program certainly ends in is not run, also where both are in one block; where only some input makes the
/// mistake, it is.
#[test]
fn lines_behind_an_end_are_not_run() {
    let ends = [
        ("null", "*p = v;"),
        ("division", "v /= zero;"),
        ("abort", "abort();"),
        ("exit", "exit(3);"),
        ("assertion", "assert(v == 77);"),
        ("inside", "store(p);"),
        ("library", "strcpy((char *)p, \"x\");"),
        ("freed", "{ free(q); *q = 1; }"),
    ];
    for (name, end) in ends {
        let text = format!(
            "#include <assert.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\
             static void store(int *p) {{ *p = 3; }}\n\
             int main(void) {{\n  int c = getchar(), v = 0, zero = 0, *p = 0, *q = malloc(4);\n\
             if (!q) return 9;\n  if (c == 1) {{\n    v += 1;\n    {end}\n    v += 2;\n  }}\n  return v;\n}}\n"
        );
        for merge in [Merge::Never, Merge::Always] {
            let found = explored(&program(&format!("behind_{name}"), &text), &Settings { merge, ..stdin(1) });
            let lines = &found.covered.values().next().expect("a file").lines;
            let runs = |line: u32| lines.get(&line).copied().unwrap_or(0) > 0;
            assert_eq!([10, 11, 12, 14].map(runs), [true, true, false, true], "{name} {merge:?} {lines:?}");
        }
    }
    let text = "#include <stdio.h>\nint main(void) {\n  int c = getchar(), v = 1;\n  v /= c;\n  v += 2;\n  return v;\n}\n";
    let found = explored(&program("behind_some", text), &stdin(1));
    assert_eq!(kinds(&found), [Problem::DivisionByZero]);
    let lines = &found.covered.values().next().expect("a file").lines;
    assert!((3..=6).all(|line| lines[&line] > 0), "{lines:?}");
}
