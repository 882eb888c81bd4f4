//! Abstract interpretation: what holds at each place of a program, however execution came there.
//!
//! States that come to one place in one context are joined until nothing changes. A place that states keep coming back to
//! is widened, so that this comes to an end in domains with endless ascents; once nothing changes any more, every place is
//! computed once more from those before it, which takes back most of what widening gave away. On the way from a branch, a
//! state keeps only what agrees with the outcome.

use parallax_op::Bits;
use parallax_path::Bound;
use parallax_sem::logic::{Scalar, Struct};
use parallax_sem::{Abstract, Condition, Core, Domain, Language};
use parallax_term::Store;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// A place is joined so often before it is widened.
const JOINS: u32 = 3;
/// A place that changes so often is widened whatever comes to it.
const PATIENCE: u32 = 200;
/// How often everything is computed once more after nothing changes.
const NARROWINGS: usize = 2;
/// More places, each in a context, than this are not followed.
const MOST_PLACES: usize = 5_000;

/// What is known at one place.
pub struct Point<D: Domain> {
    /// The program counter.
    pub pc: Bits,
    /// What holds whenever execution comes here.
    pub structure: Struct<Abstract<D>>,
}

/// What an analysis found.
pub struct Analysis<D: Domain> {
    /// Every place that execution may come to, in each of its contexts, in order; the last ones, without an instruction,
    /// are the ends.
    pub points: Vec<Point<D>>,
    /// Why the analysis stopped early, if it did: its result is then not to be relied on.
    pub gave_up: Option<Bound>,
}

impl<D: Domain> Analysis<D> {
    /// The same with one point for each place: what holds in every context.
    pub fn joined(self) -> Self {
        let mut points: Vec<Point<D>> = Vec::new();
        for point in self.points {
            match points.last_mut().filter(|last| last.pc == point.pc) {
                Some(last) => join(&mut last.structure, point.structure),
                None => points.push(point),
            }
        }
        Analysis { points, ..self }
    }
}

/// Widens what one structure says to what either says. Both speak of the same symbols.
fn join<D: Domain>(into: &mut Struct<Abstract<D>>, other: Struct<Abstract<D>>) {
    for (symbol, value) in other.constants {
        match (into.constants.get_mut(&symbol), value) {
            (Some(Scalar::Val(a)), Scalar::Val(b)) => *a = a.join(&b),
            (Some(Scalar::Bool(a)), Scalar::Bool(b)) if *a != b => *a = Condition::unknown(),
            _ => {}
        }
    }
    for (symbol, map) in other.functions {
        if let Some(known) = into.functions.get_mut(&symbol) {
            *known = known.join(&map);
        }
    }
}

/// A place in a context, with what is known there.
struct Place<S> {
    at: u64,
    state: S,
    visits: u32,
}

/// Analyses a program from what a structure says of its start.
pub fn analyse<L: Language, D: Domain>(
    language: &L,
    store: &Store,
    core: &Abstract<D>,
    start: &Struct<Abstract<D>>,
    steps: u64,
) -> Analysis<D> {
    let first = language.at(core, language.state(core, store, start), &language.entry());
    let mut search = Search {
        language,
        store,
        core,
        widening: core.widened(),
        return_addresses: language.return_addresses(core, &first),
        places: Vec::new(),
        index: FxHashMap::default(),
        work: BTreeSet::new(),
        gave_up: None,
    };
    search.arrive(None, &language.entry(), first.clone());
    search.ascend(steps);
    if search.gave_up.is_none() {
        for _ in 0..NARROWINGS {
            search.descend(&first);
        }
    }
    let Search { mut places, gave_up, .. } = search;
    places.sort_by_key(|place| place.at);
    let points = places.iter().map(|place| Point {
        pc: Bits::from_big(language.pc_width(), place.at.into()),
        structure: language.structure(core, store, &place.state),
    });
    Analysis { points: points.collect(), gave_up }
}

type StateOf<L, D> = <L as Language>::State<Abstract<D>>;

struct Search<'a, L: Language, D: Domain> {
    language: &'a L,
    store: &'a Store,
    core: &'a Abstract<D>,
    widening: Abstract<D>,
    return_addresses: Vec<<Abstract<D> as Core>::Val>,
    places: Vec<Place<StateOf<L, D>>>,
    index: FxHashMap<(u64, L::Control), usize>,
    /// Places to be computed, in order of address.
    work: BTreeSet<(u64, usize)>,
    gave_up: Option<Bound>,
}

impl<L: Language, D: Domain> Search<'_, L, D> {
    fn pc(&self, at: u64) -> Bits {
        Bits::from_big(self.language.pc_width(), at.into())
    }

    /// Joins a state that comes from a place to what is known at its own. What comes back in its context is widened: every
    /// round of a loop does so at least once, and elsewhere it would only lose what branches taught.
    fn arrive(&mut self, from: Option<usize>, pc: &Bits, state: StateOf<L, D>) {
        let Some(at) = pc.to_u64() else { return };
        let key = (at, self.language.control(&state));
        let Some(&index) = self.index.get(&key) else {
            if self.places.len() == MOST_PLACES {
                self.gave_up = Some(Bound::Places(MOST_PLACES));
                return;
            }
            self.index.insert(key, self.places.len());
            self.work.insert((at, self.places.len()));
            self.places.push(Place { at, state, visits: 0 });
            return;
        };
        let comes_back = from.map(|from| &self.places[from]).is_some_and(|from| {
            at <= from.at && self.language.control(&from.state) == self.language.control(&state)
        });
        let place = &mut self.places[index];
        let core = if comes_back && place.visits >= JOINS || place.visits >= PATIENCE {
            &self.widening
        } else {
            self.core
        };
        let joined = self.language.join(core, &Condition::unknown(), &place.state, &state);
        if !same(self.language, self.store, self.core, &place.state, &joined) {
            place.state = joined;
            place.visits += 1;
            self.work.insert((at, index));
        }
    }

    /// Computes places until nothing changes.
    fn ascend(&mut self, steps: u64) {
        let mut done = 0;
        while let Some((at, index)) = self.work.pop_first() {
            if done == steps {
                self.gave_up = Some(Bound::Instructions(steps));
            }
            if self.gave_up.is_some() {
                return;
            }
            done += 1;
            for (pc, state) in self.step(at, index) {
                self.arrive(Some(index), &pc, state);
            }
        }
    }

    /// Computes every place from those before it, as they are now.
    fn descend(&mut self, first: &StateOf<L, D>) {
        let mut fresh: Vec<Option<StateOf<L, D>>> = self.places.iter().map(|_| None).collect();
        let mut arriving = vec![(self.language.entry(), first.clone())];
        for index in 0..self.places.len() {
            arriving.extend(self.step(self.places[index].at, index));
            for (pc, state) in arriving.drain(..) {
                let key = (pc.to_u64().unwrap_or(u64::MAX), self.language.control(&state));
                let Some(&to) = self.index.get(&key) else { continue };
                fresh[to] = Some(match fresh[to].take() {
                    Some(known) => self.language.join(self.core, &Condition::unknown(), &known, &state),
                    None => state,
                });
            }
        }
        for (place, fresh) in self.places.iter_mut().zip(fresh) {
            if let Some(state) = fresh {
                place.state = state;
            }
        }
    }

    /// Where one instruction leads, and with which states.
    fn step(&mut self, at: u64, index: usize) -> Vec<(Bits, StateOf<L, D>)> {
        let (language, core) = (self.language, self.core);
        let pc = self.pc(at);
        if !language.has_instruction(&pc) {
            let value = core.constant(&pc);
            if !crate::run::has_ended(language, core, &self.return_addresses, &value) {
                self.gave_up = Some(Bound::Control(crate::run::astray(language, &pc).message));
            }
            return Vec::new();
        }
        let after = match language.step(core, self.places[index].state.clone(), &pc) {
            Ok(after) => after,
            Err(stuck) => {
                self.gave_up = Some(Bound::Stuck(stuck.message));
                return Vec::new();
            }
        };
        let Some(targets) = core.targets(language.pc_width(), &language.pc(&after)) else {
            let place = language.place(&pc);
            self.gave_up =
                Some(Bound::Control(format!("{place}: control goes where the analysis cannot follow")));
            return Vec::new();
        };
        let to = |(condition, pc): (Condition<D>, Bits)| {
            let state = language.assume(core, &condition.holding(), after.clone());
            (pc.clone(), language.at(core, state, &pc))
        };
        targets.into_iter().map(to).collect()
    }
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
