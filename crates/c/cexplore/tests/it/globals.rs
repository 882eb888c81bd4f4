//! What global variables hold when a function is entered by itself, and which of them are input memory.

use parallax_cexplore::explore::{Entry, Exploration, Globals, PathEnd, PathRecord, Settings, explore};
use parallax_cexplore::place::user_place;
use parallax_cexplore::{Program, Sources, program};
use parallax_term::Store;
use std::collections::BTreeSet;

fn load(text: &str) -> Program {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("globals.c");
    std::fs::write(&file, text).expect("a file");
    program::load(&Sources { files: vec![file], ..Sources::default() }).expect("a program")
}

fn explored(program: &Program, entry: &str, change: impl Fn(&mut Settings)) -> Exploration {
    let mut settings = Settings { entry: Entry::Function(entry.into()), tests: true, ..Settings::default() };
    change(&mut settings);
    let store = Store::new();
    let solver = parallax_smt::solver(&store);
    explore(&store, &program.module, &settings, solver, &mut |_, _, _| {}).expect("it is explored")
}

fn lines(program: &Program, explored: &Exploration) -> BTreeSet<(&'static str, u32)> {
    let place = |at| program.module.location(at).line;
    explored
        .findings
        .iter()
        .map(|f| (f.problem.name(), place(user_place(&program.module, &f.stack).1)))
        .collect()
}

/// Many globals of the types that the entered function uses, which only other functions name.
const CROWDED: &str = "struct node { int value; struct node *next; };\n\
     struct node spare, pool[3]; int counters[4], number; struct node *roots[2]; char *names[3];\n\
     void elsewhere(void) { spare.next = &pool[1]; roots[0] = &spare; counters[number] = 1; names[0] = (char *)pool; }\n\
     int own = 3;\n\
     int total(struct node *n, struct node *m, int *limit, const char *name) {\n\
       int sum = own;\n\
       if (n && n == m) return n->value;\n\
       if (m && limit && m->value < *limit) sum += *limit;\n\
       if (n == (struct node *)limit) return -1;\n\
       return name ? sum / name[1] : sum;\n\
     }\n";

#[test]
fn leaving_out_what_the_code_cannot_name_is_exact() {
    let program = load(CROWDED);
    let few = explored(&program, "total", |_| {});
    let all = explored(&program, "total", |settings| settings.all_globals = true);
    assert_eq!(lines(&program, &few), lines(&program, &all));
    let decisions = |e: &Exploration| -> BTreeSet<String> {
        let end = |record: &PathRecord| match record.end {
            PathEnd::Exit(_) => None,
            PathEnd::Mistake(problem) => Some(problem.name()),
        };
        e.records.iter().map(|record| format!("{:?} {:?}", record.decisions, end(record))).collect()
    };
    assert!(!few.records.is_empty());
    assert_eq!(decisions(&few), decisions(&all), "the same ways through the code");
    // An input shows what its path looked at.
    for record in &few.records {
        let names: Vec<_> = record.input.memory.blocks.iter().map(|b| b.name.as_str()).collect();
        assert!(names.iter().all(|name| !["spare", "pool", "counters", "names"].contains(name)), "{names:?}");
    }
}

const MODES: &str = "static int kept = 4; static int changed = 5; int shown = 6; const int fixed = 7;\n\
     void set(int n) { changed = n; }\n\
     int read(int which) {\n\
       if (which == 1) return 1 / (kept - 9);\n\
       if (which == 2) return 1 / (changed - 9);\n\
       if (which == 3) return 1 / (shown - 9);\n\
       return 1 / (fixed - 9);\n\
     }\n";

#[test]
fn globals_hold_what_is_asked_for() {
    let program = load(MODES);
    let found = |globals| {
        let explored = explored(&program, "read", |settings| settings.globals = globals);
        lines(&program, &explored).into_iter().map(|(_, line)| line).collect::<Vec<_>>()
    };
    assert_eq!(found(Globals::Unknown), [5, 6]);
    assert_eq!(found(Globals::Reachable), [5]);
    assert!(found(Globals::Initial).is_empty());
}

#[test]
fn a_choice_without_candidates_is_never_complete() {
    let text = "struct hooks { int (*before)(int); int (*_Nonnull after)(int); };\n\
         int call(struct hooks *h) { if (!h) return 0; return h->before ? 1 : 2; }\n\
         int sure(struct hooks *h) { return h ? h->after(1) : 0; }\n\
         int none(int n) { return n; }\n";
    let mut program = load(text);
    let plain = explored(&program, "none", |_| {});
    assert!(plain.completeness.is_complete(), "{:?}", plain.completeness);
    for entry in ["call", "sure"] {
        let explored = explored(&program, entry, |_| {});
        assert!(!explored.completeness.is_complete(), "{entry}: no function has the type of the pointer");
    }
    // With one whose address is taken it is.
    program = load(&format!("{text}int twice(int n) {{ return 2 * n; }} int (*keep)(int) = twice;\n"));
    let explored = explored(&program, "call", |_| {});
    assert!(explored.completeness.is_complete(), "{:?}", explored.completeness);
}
