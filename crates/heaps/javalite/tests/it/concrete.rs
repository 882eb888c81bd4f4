//! The summary against the concrete machine, both ways, on generated programs.

use crate::common;

use common::generate::{Features, Random, program};
use common::heaps;
use common::represents::represents;
use parallax_engines::*;
use parallax_heap::InputValue;
use parallax_javalite::Replay;
use parallax_term::Store;

const ROOTS: [(parallax_heap::Loc, usize); 2] = [(THIS_LOC, 0), (PARAMETERS_LOC, 1)];

/// Sound: every model of every path, unread fields filled in at random, takes that path and ends in that heap.
/// Complete: every random heap takes a path whose summary state, and no other, represents it.
fn check(features: Features, first: u64, count: u64) {
    let count = common::scaled(count);
    let (mut replays, mut heaps, mut cut, mut counted) = (0, 0, 0, 0);
    for seed in first..first + count {
        let text = program(seed, features);
        for k in [Some(1), Some(2), None] {
            let inputs = Inputs { k, array: 2, root_alias: seed % 3 != 0 };
            let store = Store::new();
            let (setup, task) = common::prepare(&store, &text, inputs);
            let ends = engine::summary(&setup, &task, None, &mut common::at_most(300));
            if ends.outcome.is_err() {
                continue;
            }
            let mut random = Random::new(seed);
            for (trace, bucket) in &ends.traces {
                let end = &bucket.finals[0];
                let listed = end.heap().models(40).unwrap();
                if listed.complete {
                    let count = end.heap().count(0).unwrap();
                    let known = listed.models.len() as u64;
                    counted += usize::from(count.exact && known > 1);
                    assert!(
                        !count.exact || count.heaps == known,
                        "seed {seed} k {k:?}: {count:?}, {known}\n{text}"
                    );
                }
                for model in &end.heap().models(6).unwrap().models {
                    let snapshot = end.heap().resolve(model, &end.cells()).unwrap();
                    let input = snapshot
                        .input(&setup.universe, &store, model, |wanted, known| {
                            let fitting: Vec<usize> = known
                                .iter()
                                .filter(|(at, class)| {
                                    setup.universe.admits(wanted, *class) && (*at > 0 || inputs.root_alias)
                                })
                                .map(|(at, _)| *at)
                                .collect();
                            match fitting.is_empty() || random.one_in(3) {
                                true => InputValue::Null,
                                false => InputValue::Object(*random.pick(&fitting)),
                            }
                        })
                        .unwrap();
                    let replay = Replay::new(&task, &setup.universe, &input, inputs.array).unwrap();
                    assert!(replay.follows(trace), "seed {seed} k {k:?}\n{text}\n{input:#?}\n{trace:#?}");
                    if !matches!(trace.ending, engine::Ending::Cut(_)) {
                        assert!(
                            replay.ends_in(&snapshot, &store, model),
                            "seed {seed} k {k:?}\n{text}\n{input:#?}\n{snapshot:#?}"
                        );
                    }
                    replays += 1;
                }
            }
            for _ in 0..12 {
                // Depth follows the chain of discovery, so a heap of k objects is always within the bound.
                let size = random.below(k.unwrap_or(4) + 1);
                let input = heaps::random(&setup, size, &mut random);
                let replay = Replay::new(&task, &setup.universe, &input, inputs.array).unwrap();
                cut += usize::from(matches!(replay.trace.ending, engine::Ending::Cut(_)));
                let mut own = false;
                for (trace, bucket) in &ends.traces {
                    let represented = represents(bucket.finals[0].heap(), &input, &ROOTS);
                    let followed = *trace == replay.trace;
                    own |= followed;
                    assert_eq!(
                        represented, followed,
                        "seed {seed} k {k:?}\n{text}\n{input:#?}\n{trace:#?}\n{:#?}",
                        replay.trace
                    );
                }
                assert!(own, "seed {seed} k {k:?}\n{text}\n{input:#?}\nno path is {:#?}", replay.trace);
                heaps += 1;
            }
        }
    }
    println!("{replays} replays, {heaps} random heaps, {cut} of them cut off; {counted} paths counted");
    assert!(replays > 10 * count as usize && heaps > 20 * count as usize && counted > count as usize);
}

#[test]
fn references() {
    check(Features::REFERENCES, 7_000_000, 15);
}

#[test]
fn calls_and_subclasses() {
    check(Features::CALLS, 8_000_000, 15);
}

#[test]
fn everything() {
    check(Features::ALL, 9_000_000, 20);
}
