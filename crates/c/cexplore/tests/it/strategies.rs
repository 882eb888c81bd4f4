//! Strategies differ in the order of states, and in nothing else.

use parallax_cexplore::explore::{Entry, Settings, explore};
use parallax_cexplore::{Sources, program};
use parallax_path::Strategy;
use parallax_term::Store;
use std::path::Path;

#[test]
fn every_strategy_finds_every_path_in_its_own_order() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../bench/c/branches.c");
    let program = program::load(&Sources { files: vec![file], ..Sources::default() }).expect("it loads");
    let most = |strategy| {
        let entry =
            Entry::Main { arguments: Vec::new(), stdin: 7, files: Vec::new(), environment: Vec::new() };
        let settings = Settings { entry, strategy, ..Settings::default() };
        let store = Store::new();
        let solver = parallax_smt::solver(&store);
        let explored =
            explore(&store, &program.module, &settings, solver, &mut |_, _, _| {}).expect("it explores");
        assert_eq!((explored.paths, explored.completeness.is_complete()), (128, true), "{strategy:?}");
        explored.most_states
    };
    // One state waits for each branch of the path at hand, or for each path there is so far.
    assert_eq!(most(Strategy::Depth), 8);
    assert_eq!(most(Strategy::Breadth), 128);
    most(Strategy::Random);
    most(Strategy::Coverage);
}
