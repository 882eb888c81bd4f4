//! Abstract interpretation: one state for each place in a program, joined until nothing changes.

use parallax_op::Bits;
use parallax_sem::logic::{Scalar, Struct};
use parallax_sem::{Abstract, Core, Domain, Language, Truth};
use parallax_term::Store;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// What is known at one place.
pub struct Point<D: Domain> {
    /// The program counter.
    pub pc: Bits,
    /// What holds whenever execution comes here.
    pub structure: Struct<Abstract<D>>,
}

/// What an analysis found.
pub struct Analysis<D: Domain> {
    /// Every place that execution may come to, in order; the last ones, without an instruction, are the ends.
    pub points: Vec<Point<D>>,
    /// Why the analysis stopped early, if it did: its result is then not to be relied on.
    pub gave_up: Option<String>,
}

/// Analyses a program from what a structure says of its start.
pub fn analyse<L: Language, D: Domain>(
    language: &L,
    store: &Store,
    core: &Abstract<D>,
    start: &Struct<Abstract<D>>,
    steps: u64,
) -> Analysis<D> {
    let unknown = (Truth::Unknown, D::top());
    let mut known: FxHashMap<(u64, L::Control), L::State<Abstract<D>>> = FxHashMap::default();
    let mut places: Vec<(u64, L::Control)> = Vec::new();
    let mut work: BTreeSet<(u64, usize)> = BTreeSet::new();
    let mut gave_up = None;
    let first = language.at(core, language.state(core, store, start), &language.entry());
    let mut arriving = vec![(language.entry(), first)];
    let mut done = 0;
    loop {
        for (pc, state) in arriving.drain(..) {
            let Some(at) = pc.to_u64() else { continue };
            let key = (at, language.control(&state));
            let joined = match known.get(&key) {
                None => {
                    places.push(key.clone());
                    Some(state)
                }
                Some(old) => {
                    let joined = language.join(core, &unknown, old, &state);
                    (!same(language, store, core, old, &joined)).then_some(joined)
                }
            };
            if let Some(joined) = joined {
                let index = places.iter().position(|place| *place == key).expect("known");
                known.insert(key, joined);
                work.insert((at, index));
            }
        }
        let Some((at, index)) = work.pop_first() else { break };
        let pc = Bits::from_big(language.pc_width(), at.into());
        if !language.has_instruction(&pc) {
            continue;
        }
        if done == steps {
            gave_up = Some(format!("stopped after {steps} steps"));
            break;
        }
        done += 1;
        match language.step(core, known[&places[index]].clone(), &pc) {
            Err(stuck) => gave_up = Some(stuck.message),
            Ok(after) => match core.targets(language.pc_width(), &language.pc(&after)) {
                None => gave_up = Some(format!("a jump from {pc} goes where the analysis cannot follow")),
                Some(targets) => {
                    let to =
                        |(_, pc): ((Truth, D), Bits)| (pc.clone(), language.at(core, after.clone(), &pc));
                    arriving = targets.into_iter().map(to).collect();
                }
            },
        }
    }
    places.sort_by_key(|(at, _)| *at);
    let points = places.iter().map(|key| Point {
        pc: Bits::from_big(language.pc_width(), key.0.into()),
        structure: language.structure(core, store, &known[key]),
    });
    Analysis { points: points.collect(), gave_up }
}

fn same<L: Language, D: Domain>(
    language: &L,
    store: &Store,
    core: &Abstract<D>,
    a: &L::State<Abstract<D>>,
    b: &L::State<Abstract<D>>,
) -> bool {
    let (a, b) = (language.structure(core, store, a), language.structure(core, store, b));
    let scalars = a.constants.iter().all(|(symbol, value)| match (value, b.constants.get(symbol)) {
        (Scalar::Val(x), Some(Scalar::Val(y))) => x == y,
        (Scalar::Bool(x), Some(Scalar::Bool(y))) => x == y,
        _ => false,
    });
    scalars && a.functions.iter().all(|(symbol, map)| b.functions.get(symbol) == Some(map))
}
