//! "Every path was explored" is said only where it is true: choices without candidates, calls that end the program.

use parallax_cexplore::explore::{Entry, Exploration, Settings, explore};
use parallax_cexplore::{Sources, program};
use parallax_cmachine::Problem;
use parallax_path::Bound;
use parallax_term::Store;
use std::path::PathBuf;

fn explored(text: &str, name: &str, entry: Entry) -> Exploration {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("completeness");
    std::fs::create_dir_all(&folder).expect("a folder for the test");
    let file = folder.join(format!("{name}.c"));
    std::fs::write(&file, text).expect("the program is written");
    let sources = Sources { files: vec![file], ..Sources::default() };
    let mut program = program::load(&sources).expect("it loads");
    program.annotate().expect("it is annotated");
    let settings = Settings { entry, ..Settings::default() };
    let store = Store::new();
    let solver = parallax_smt::solver(&store);
    explore(&store, &program.module, &settings, solver, &mut |_, _, _| {}).expect("it explores")
}

fn entered(text: &str, name: &str) -> Exploration {
    explored(text, name, Entry::Function("f".into()))
}

#[test]
fn a_function_of_the_library_in_a_table_is_a_candidate() {
    let found = entered(
        "#include <stdlib.h>\n\
         struct hooks { void *(*make)(size_t); };\n\
         struct hooks table = { malloc };\n\
         int f(struct hooks *hooks) {\n\
           if (!hooks || !hooks->make) return 0;\n\
           char *made = hooks->make(4);\n\
           made[4] = 1; // one beyond what malloc gives\n\
           return 1;\n\
         }\n",
        "library",
    );
    let kinds: Vec<Problem> = found.findings.iter().map(|finding| finding.problem).collect();
    assert!(kinds.contains(&Problem::OutOfBounds), "{kinds:?} {:?}", found.completeness);
}

#[test]
fn a_function_pointer_without_a_candidate_is_a_bound() {
    let found = entered(
        "int f(int (*g)(int, long, char) __attribute__((nonnull))) { return g(1, 2, 3); }\n\
         int h(int (*g)(int, long, char)) __attribute__((nonnull));\n\
         int k(int (* _Nonnull g)(int, long, char)) { return g(1, 2, 3); }\n",
        "none",
    );
    let nonnull = explored(
        "int k(int (* _Nonnull g)(int, long, char)) { return g(1, 2, 3); }\n",
        "none_nonnull",
        Entry::Function("k".into()),
    );
    for found in [found, nonnull] {
        let names: Vec<&str> = found.completeness.bounds().map(Bound::name).collect();
        assert!(names.contains(&"choices"), "{:?} {:?}", found.findings, found.completeness);
    }
}

#[test]
fn a_call_that_ends_the_program_ends_only_its_own_path() {
    let found = explored(
        "#include <stdlib.h>\n\
         #include <stdio.h>\n\
         void first(int n) { exit(n); }\n\
         void second(int n) { int *p = 0; *p = n; }\n\
         int main(void) {\n\
           void (*all[2])(int) = { exit, second };\n\
           all[getchar() & 1](3);\n\
           return 0;\n\
         }\n",
        "ends",
        Entry::Main { arguments: Vec::new(), stdin: 1, files: Vec::new(), environment: Vec::new() },
    );
    let kinds: Vec<Problem> = found.findings.iter().map(|finding| finding.problem).collect();
    assert_eq!(kinds, [Problem::NullDereference], "{:?}", found.completeness);
    assert!(found.completeness.is_complete(), "{:?}", found.completeness);
    assert_eq!(found.paths, 2);
}
