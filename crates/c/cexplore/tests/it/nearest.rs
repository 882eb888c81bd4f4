//! The default search goes where code is that no path has run: behind a loop that forks at each turn.

use parallax_cexplore::explore::{Merge, Settings, explore};
use parallax_cexplore::{Sources, program};
use parallax_path::Strategy;
use parallax_term::Store;

/// Bytes are counted in a loop, and what comes after it is far from where most states are. One arm of the switch lies in a function behind a
/// pointer.
const TEXT: &str = "
char __VERIFIER_nondet_char(void);
static int deeper(int n) { switch (n) { case 3: return 30; case 5: return 50; case 7: return 70; default: return 0; } }
static int (*const act)(int) = deeper;
int main(void) {
    int a = 0, b = 0;
    for (int i = 0; i < 24; i++) {
        char c = __VERIFIER_nondet_char();
        if (c == 'a') a++; else if (c == 'b') b++;
    }
    if (a > b) return act(a - b) & 0;
    if (b > a + 20) return 0;
    return 0;
}
";

/// In few instructions, compared with each other strategy, over some seeds.
#[test]
fn the_default_covers_more_than_each_other_strategy() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("counts.c");
    std::fs::write(&file, TEXT).expect("a file");
    let program = program::load(&Sources { files: vec![file], ..Sources::default() }).expect("a program");
    let branches = |strategy| {
        let covered = (0..8).map(|seed| {
            let settings = Settings {
                strategy,
                seed,
                instructions: Some(100_000),
                merge: Merge::Never,
                ..Settings::default()
            };
            let store = Store::new();
            let solver = parallax_smt::solver(&store);
            let explored = explore(&store, &program.module, &settings, solver, &mut |_, _, _| {})
                .expect("it is explored");
            explored.coverage.branches_covered
        });
        covered.sum::<usize>()
    };
    let default = branches(Strategy::Interleaved);
    for other in [Strategy::Depth, Strategy::Breadth, Strategy::Random, Strategy::Coverage] {
        let covered = branches(other);
        assert!(default > covered, "{other:?} covers {covered} branches, the default {default}");
    }
}
