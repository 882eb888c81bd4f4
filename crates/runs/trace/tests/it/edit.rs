//! The EditHAMT: elements filled, nodes visited and versions forced, step by step; and random histories against plain
//! lists of bindings.

use crate::common;

use common::{Fixture, fresh};
use parallax_trace::{Domain, EditHamt, INF, Later, Lazy, Options, Prior, Result, Time, mix};
use proptest::prelude::*;
use std::cell::Cell;
use std::sync::{Arc, Mutex};

thread_local! {
    static FILLED: Cell<usize> = const { Cell::new(0) };
    static VISITED: Cell<usize> = const { Cell::new(0) };
}

/// Elements filled and nodes visited since the last call.
fn work() -> (usize, usize) {
    (FILLED.take(), VISITED.take())
}

/// Six bits in words of two; a key is its hash and a mark that tells colliding keys apart.
struct Small;

impl Domain for Small {
    type Key = (u64, char);
    type Value = String;
    const BITS: u32 = 6;
    const WORD: u32 = 2;
    fn hash(key: &Self::Key) -> Result<u64> {
        Ok(key.0)
    }
    fn same_key(one: &Self::Key, other: &Self::Key) -> Result<bool> {
        Ok(one == other)
    }
    fn same_value(one: &String, other: &String) -> Result<bool> {
        Ok(one == other)
    }
    fn of_key(key: &Self::Key) -> String {
        key.1.to_string()
    }
    fn filled() {
        FILLED.set(FILLED.get() + 1);
    }
    fn visited() {
        VISITED.set(VISITED.get() + 1);
    }
}

/// The real width, with integers as keys.
struct Wide;

impl Domain for Wide {
    type Key = i64;
    type Value = i64;
    fn hash(key: &i64) -> Result<u64> {
        Ok(mix(*key as u64, Self::BITS))
    }
    fn same_key(one: &i64, other: &i64) -> Result<bool> {
        Ok(one == other)
    }
    fn same_value(one: &i64, other: &i64) -> Result<bool> {
        Ok(one == other)
    }
    fn of_key(key: &i64) -> i64 {
        *key
    }
    fn filled() {
        FILLED.set(FILLED.get() + 1);
    }
    fn visited() {
        VISITED.set(VISITED.get() + 1);
    }
}

/// The same without mixing: small integers differ in their last words only.
struct Unmixed;

impl Domain for Unmixed {
    type Key = i64;
    type Value = i64;
    fn hash(key: &i64) -> Result<u64> {
        Ok(*key as u64)
    }
    fn same_key(one: &i64, other: &i64) -> Result<bool> {
        Ok(one == other)
    }
    fn same_value(one: &i64, other: &i64) -> Result<bool> {
        Ok(one == other)
    }
    fn of_key(key: &i64) -> i64 {
        *key
    }
    fn filled() {
        FILLED.set(FILLED.get() + 1);
    }
}

/// A version that writes down its name when it is first forced.
struct Named<D: Domain> {
    name: &'static str,
    version: EditHamt<D>,
    forced: Arc<Mutex<Vec<&'static str>>>,
}

impl<D: Domain> Later<D> for Named<D> {
    fn force(&self) -> Result<EditHamt<D>> {
        let mut forced = self.forced.lock().unwrap();
        if !forced.contains(&self.name) {
            forced.push(self.name);
        }
        Ok(self.version.clone())
    }
}

#[derive(Default)]
struct Forced {
    log: Arc<Mutex<Vec<&'static str>>>,
    told: Cell<usize>,
}

impl Forced {
    fn lazy<D: Domain>(&self, name: &'static str, version: EditHamt<D>) -> Prior<D> {
        Arc::new(Named { name, version, forced: self.log.clone() }).into()
    }
    /// Elements, nodes, and the versions forced for the first time.
    fn work(&self) -> (usize, usize, String) {
        let log = self.log.lock().unwrap();
        let new = log[self.told.replace(log.len())..].join(" ");
        let (filled, visited) = work();
        (filled, visited, new)
    }
}

fn none() -> Prior<Small> {
    EditHamt::empty().into()
}

fn key(hash: u64) -> (u64, char) {
    (hash, 'k')
}

fn bind(prior: Prior<Small>, hash: u64, value: &str) -> EditHamt<Small> {
    EditHamt::addkeyvalue(prior, key(hash), value.to_owned()).unwrap()
}

fn find(version: &EditHamt<Small>, hash: u64) -> Option<String> {
    version.find(key(hash)).unwrap()
}

fn said(filled: usize, visited: usize, forced: &str) -> (usize, usize, String) {
    (filled, visited, forced.to_owned())
}

#[test]
fn look_ups_fill_what_they_need() {
    let forced = Forced::default();
    let p1 = bind(forced.lazy("P0", EditHamt::empty()), 5, "a");
    let v = bind(forced.lazy("P1", p1.clone()), 14, "b");
    assert_eq!(forced.work(), said(0, 0, ""));
    assert_eq!(find(&v, 14).as_deref(), Some("b"));
    assert_eq!(forced.work(), said(3, 1, ""));
    assert_eq!(find(&v, 14).as_deref(), Some("b"));
    assert_eq!(forced.work(), said(0, 1, ""));
    assert_eq!(find(&v, 5).as_deref(), Some("a"));
    assert_eq!(forced.work(), said(4, 1, "P1"));
    assert_eq!(find(&p1, 5).as_deref(), Some("a"));
    assert_eq!(forced.work(), said(0, 1, ""));
    assert_eq!(find(&v, 4), None);
    assert_eq!(forced.work(), said(1, 0, "P0"));
    assert_eq!(find(&v, 63), None);
    assert_eq!(forced.work(), said(2, 0, ""));
    assert_eq!(find(&v, 62), None);
    assert_eq!(forced.work(), said(0, 0, ""));
}

#[test]
fn concatenation() {
    let forced = Forced::default();
    let left = || forced.lazy("L", bind(none(), 5, "a"));
    let v = EditHamt::concat(left(), forced.lazy("R", bind(none(), 14, "b")));
    assert_eq!(forced.work(), said(0, 0, ""));
    assert_eq!(find(&v, 14).as_deref(), Some("b"));
    assert_eq!(forced.work(), said(6, 2, "R"));
    assert_eq!(find(&v, 5).as_deref(), Some("a"));
    assert_eq!(forced.work(), said(5, 1, "L"));
    assert_eq!(find(&v, 63), None);
    assert_eq!(forced.work(), said(3, 0, ""));

    let forced = Forced::default();
    let v = EditHamt::concat(forced.lazy("L", bind(none(), 5, "a")), bind(none(), 14, "b").into());
    assert_eq!(find(&v, 14).as_deref(), Some("b"));
    assert_eq!(forced.work(), said(3, 1, ""));
    assert_eq!(find(&v, 5).as_deref(), Some("a"));
    assert_eq!(forced.work(), said(4, 1, "L"));
}

#[test]
fn multimap_look_ups_go_on_from_where_they_are() {
    let forced = Forced::default();
    let k0 = 14;
    let q1 = bind(forced.lazy("Q0", EditHamt::empty()), k0, "c");
    let q2 = bind(forced.lazy("Q1", q1), k0, "b");
    let q3 = EditHamt::removeone(forced.lazy("Q2", q2), key(k0)).unwrap();
    let v = bind(forced.lazy("Q3", q3), k0, "a");
    let mut values = v.find_multi(key(k0)).unwrap();
    assert_eq!(forced.work(), said(0, 0, ""));
    assert_eq!(values.next().unwrap().unwrap(), "a");
    assert_eq!(forced.work(), said(3, 1, ""));
    assert_eq!(values.next().unwrap().unwrap(), "c");
    assert_eq!(forced.work(), said(9, 3, "Q3 Q2 Q1"));
    assert!(values.next().is_none());
    assert_eq!(forced.work(), said(0, 0, "Q0"));
}

#[test]
fn colliding_keys_are_told_apart() {
    let forced = Forced::default();
    let (k0, k2) = ((14, 'x'), (14, 'y'));
    let q1 = EditHamt::<Small>::addkeyvalue(none(), k0, "x".to_owned()).unwrap();
    let q2 = EditHamt::remove(forced.lazy("Q1", q1), k0).unwrap();
    let v = EditHamt::addkeyvalue(forced.lazy("Q2", q2), k2, "y".to_owned()).unwrap();
    assert_eq!(v.find(k0).unwrap(), None);
    assert_eq!(forced.work(), said(6, 2, "Q2"));
    assert_eq!(v.find(k2).unwrap().as_deref(), Some("y"));
    assert_eq!(forced.work(), said(0, 1, ""));
}

#[test]
fn removals_reach_across_concatenation() {
    let k0 = key(14);
    let ab = bind(bind(none(), 14, "a").into(), 14, "b");
    let one = |prior| EditHamt::<Small>::removeone(prior, k0).unwrap();
    let a = |prior| EditHamt::<Small>::removekeyvalue(prior, k0, "a".to_owned()).unwrap();
    for concat in [EditHamt::concat, EditHamt::concat_plainly] {
        let on_ab = |edits: EditHamt<Small>| concat(ab.clone().into(), edits.into()).find(k0).unwrap();
        assert_eq!(on_ab(one(none())).as_deref(), Some("a"));
        assert_eq!(on_ab(one(a(none()).into())), None);
        assert_eq!(on_ab(a(one(none()).into())), None);
    }
    // Two additions, one removal: still there.
    let twice = EditHamt::<Small>::add(EditHamt::add(none(), k0).unwrap().into(), k0).unwrap();
    assert!(one(twice.clone().into()).contains(k0).unwrap());
    assert!(!one(one(twice.into()).into()).contains(k0).unwrap());
}

/// Access history (4.3.2): var1 written at 10 and 20, var2 read at 30, var1 read at 40.
#[test]
fn access_history_searches_only_what_it_needs() {
    let world = Fixture::of(101, &[("foo", &[10, 20, 30, 40])], Options::plain());
    let (var1, var2, var3) = ((1, '1'), (2, '2'), (50, '3'));
    let write = move |v| {
        let forgotten = EditHamt::<Small>::remove(none(), v)?;
        EditHamt::addkeyvalue(forgotten.into(), v, "write".to_owned())
    };
    let read = move |v| EditHamt::addkeyvalue(none(), v, "read".to_owned());
    let accesses = world.foo().map(move |t| match t {
        30 => read(var2),
        40 => read(var1),
        _ => write(var1),
    });
    let history =
        accesses.scan(|before, edit| Ok(EditHamt::concat(before.into(), edit.into())), EditHamt::empty());
    let last = history.get_before(INF).unwrap().unwrap().value;
    assert_eq!(world.count(), 1);
    assert_eq!(last.find(var1).unwrap().as_deref(), Some("read"));
    assert_eq!(world.count(), 0);
    let mut values = last.find_multi(var1).unwrap();
    assert_eq!(values.next().unwrap().unwrap(), "read");
    assert_eq!(world.count(), 0);
    assert_eq!(values.next().unwrap().unwrap(), "write");
    assert_eq!(world.searches(), "<[1,40)=30 <[1,30)=20");
    assert!(values.next().is_none());
    assert_eq!(world.count(), 0);
    assert!(!last.contains(var3).unwrap());
    assert_eq!(world.count(), 2);
}

#[test]
fn a_scan_of_single_edits() {
    let world = fresh();
    let edits = world.foo().map(|t| EditHamt::<Wide>::addkeyvalue(EditHamt::empty().into(), t % 20, t));
    let maps = edits.scan(|before, edit| Ok(EditHamt::concat(before.into(), edit.into())), EditHamt::empty());
    let last = maps.last().unwrap().unwrap().value;
    world.count();
    assert_eq!(last.find(10).unwrap(), Some(50));
    assert_eq!(world.count(), 0);
    assert_eq!(last.find(0).unwrap(), Some(40));
    assert_eq!(world.count(), 1);
    assert!(!last.contains(7).unwrap());
    assert_eq!(world.count(), 4);
    assert!(!last.contains(8).unwrap());
    assert_eq!(world.count(), 0);
}

fn chain(edits: i64, concat: fn(Prior<Wide>, Prior<Wide>) -> EditHamt<Wide>) -> EditHamt<Wide> {
    (0..edits).fold(EditHamt::empty(), |before, k| {
        let edit = EditHamt::addkeyvalue(EditHamt::empty().into(), k, -k).unwrap();
        concat(before.into(), edit.into())
    })
}

#[test]
fn costs() {
    // The first absent key fills about one element per version, not the whole path of it: hashes are mixed.
    let v = chain(2000, EditHamt::concat);
    work();
    assert!(!v.contains(-7).unwrap());
    let (first, _) = work();
    assert!((2000..3000).contains(&first), "{first}");
    assert!(!v.contains(-7).unwrap());
    assert_eq!(work(), (0, 0));
    // In all: at most so many elements per edit, ever.
    for (concat, parts, each) in
        [(EditHamt::concat as fn(_, _) -> _, 1, 60), (EditHamt::concat_plainly, 2, 121)]
    {
        let v = chain(2000, concat);
        for k in 0..2000 {
            assert_eq!(v.find(k).unwrap(), Some(-k));
        }
        let (filled, _) = work();
        let bound = 2000 * parts * (Wide::BITS / Wide::WORD) as usize * (1 << Wide::WORD);
        assert!(filled <= bound, "{filled} elements, at most {bound}");
        assert_eq!(filled / 2000, each);
    }
    // In a tree scan versions share, and each look-up goes through more of them.
    let times: Vec<Time> = (1..=2000).collect();
    let world = Fixture::of(2001, &[("foo", &times)], Options::default());
    let edits = world.foo().map(|t| EditHamt::<Wide>::addkeyvalue(EditHamt::empty().into(), t, -t));
    let maps = edits.tscan(|left, right| Ok(EditHamt::concat(left.into(), right.into())));
    let last = maps.last().unwrap().unwrap().value;
    work();
    for k in 1..=2000 {
        assert_eq!(last.find(k).unwrap(), Some(-k));
    }
    let each = work().0 / 2000;
    assert!((121..400).contains(&each), "{each} elements per edit");
    // Unmixed, an absent key goes down almost the whole path of every version.
    let v =
        (0..2000).fold(EditHamt::<Unmixed>::empty(), |before, k| EditHamt::add(before.into(), k).unwrap());
    work();
    assert!(!v.contains(4000).unwrap());
    let (unmixed, _) = work();
    assert!(unmixed > 8 * 2000, "{unmixed}");
    // The first absent key in a trace forces the whole history; the next one searches nothing.
    let times: Vec<Time> = (2..=301).collect();
    let world = Fixture::of(302, &[("foo", &times)], Options::plain());
    let edits = world.foo().map(|t| EditHamt::<Wide>::add(EditHamt::empty().into(), t));
    let maps = edits.scan(|before, edit| Ok(EditHamt::concat(before.into(), edit.into())), EditHamt::empty());
    let last = maps.last().unwrap().unwrap().value;
    assert_eq!(world.count(), 1);
    assert!(!last.contains(-1).unwrap());
    assert_eq!(world.count(), 300);
    work();
    assert!(!last.contains(-1).unwrap());
    assert_eq!((world.count(), work()), (0, (0, 0)));
    assert!(!last.contains(-2).unwrap());
    assert_eq!(world.count(), 0);
    // Pairs that cancel out are all visited.
    let mut v = EditHamt::<Wide>::empty();
    for _ in 0..500 {
        v = EditHamt::add(v.into(), 1).unwrap();
        v = EditHamt::removeone(v.into(), 1).unwrap();
    }
    work();
    assert!(!v.contains(1).unwrap());
    assert_eq!(work().1, 1000);
}

#[test]
fn long_histories_need_no_deep_stack() {
    let n = 100_000;
    let mut deep = EditHamt::<Wide>::empty();
    let mut nested = EditHamt::<Wide>::empty();
    for k in 0..n {
        deep = EditHamt::add(deep.into(), k).unwrap();
        let edits =
            EditHamt::add(EditHamt::add(EditHamt::empty().into(), k).unwrap().into(), -k - 1).unwrap();
        nested = EditHamt::concat(nested.into(), edits.into());
    }
    for version in [&deep, &nested] {
        assert!(version.contains(0).unwrap());
        assert!(!version.contains(n).unwrap());
    }
    assert_eq!(deep.keys().unwrap().len(), n as usize);
    drop(nested);
    // A concatenation that is deep on its right.
    let mut right = EditHamt::<Wide>::empty();
    for k in 0..n {
        let edits =
            EditHamt::add(EditHamt::add(EditHamt::empty().into(), k).unwrap().into(), -k - 1).unwrap();
        right = EditHamt::concat(edits.into(), right.into());
    }
    assert!(right.contains(0).unwrap());
    assert!(!right.contains(n).unwrap());
}

/// An edit history: an operation on an earlier version, or two of them concatenated.
#[derive(Clone, Debug)]
enum Step {
    Add(i64),
    AddKeyValue(i64, i64),
    Remove(i64),
    RemoveOne(i64),
    RemoveKeyValue(i64, i64),
    Concat(usize),
}

#[derive(Clone, Debug)]
struct History {
    /// Each with the version it builds on, counted from the newest, and whether that is lazy.
    steps: Vec<(Step, usize, bool)>,
    /// A version, a key, and how many values of it are asked for.
    queries: Vec<(usize, i64, usize)>,
    plainly: bool,
}

type Bindings = Vec<(i64, i64)>;

/// A hash of two bits and words of one: collisions everywhere.
struct Narrow;

impl Domain for Narrow {
    type Key = i64;
    type Value = i64;
    const BITS: u32 = 2;
    const WORD: u32 = 1;
    fn hash(key: &i64) -> Result<u64> {
        Ok((*key as u64) % 4)
    }
    fn same_key(one: &i64, other: &i64) -> Result<bool> {
        Ok(one == other)
    }
    fn same_value(one: &i64, other: &i64) -> Result<bool> {
        Ok(one == other)
    }
    fn of_key(key: &i64) -> i64 {
        *key
    }
}

fn histories(keys: i64) -> impl Strategy<Value = History> {
    let k = move || 0..keys;
    let v = || 0..3i64;
    let step = prop_oneof![
        2 => k().prop_map(Step::Add),
        4 => (k(), v()).prop_map(|(k, v)| Step::AddKeyValue(k, v)),
        1 => k().prop_map(Step::Remove),
        3 => k().prop_map(Step::RemoveOne),
        3 => (k(), v()).prop_map(|(k, v)| Step::RemoveKeyValue(k, v)),
        3 => (0..6usize).prop_map(Step::Concat),
    ];
    let steps =
        prop::collection::vec((step, prop_oneof![3 => Just(0usize), 1 => 0..4usize], any::<bool>()), 1..20);
    let queries = prop::collection::vec((0..20usize, k(), 0..8usize), 1..12);
    (steps, queries, any::<bool>()).prop_map(|(steps, queries, plainly)| History { steps, queries, plainly })
}

/// A model state, and the edits that lead to it from nothing: concatenation applies them elsewhere.
#[derive(Clone, Default)]
struct Model {
    edits: Vec<Step>,
}

impl Model {
    fn state(&self) -> Bindings {
        let mut state = Bindings::new();
        for edit in &self.edits {
            match *edit {
                Step::Add(k) => state.push((k, k)),
                Step::AddKeyValue(k, v) => state.push((k, v)),
                Step::Remove(k) => state.retain(|(key, _)| *key != k),
                Step::RemoveOne(k) => {
                    if let Some(at) = state.iter().rposition(|(key, _)| *key == k) {
                        state.remove(at);
                    }
                }
                Step::RemoveKeyValue(k, v) => {
                    if let Some(at) = state.iter().rposition(|binding| *binding == (k, v)) {
                        state.remove(at);
                    }
                }
                Step::Concat(_) => unreachable!("the model has plain edits only"),
            }
        }
        state
    }
}

fn agree<D: Domain<Key = i64, Value = i64>>(history: &History) {
    let forced = Forced::default();
    let mut versions: Vec<EditHamt<D>> = vec![EditHamt::empty()];
    let mut models = vec![Model::default()];
    for (step, back, lazy) in &history.steps {
        let at = versions.len() - 1 - back.min(&(versions.len() - 1));
        let prior = |at: usize| {
            if *lazy { forced.lazy("x", versions[at].clone()) } else { Prior::Now(versions[at].clone()) }
        };
        let mut model = models[at].clone();
        let version = match *step {
            Step::Add(k) => EditHamt::add(prior(at), k),
            Step::AddKeyValue(k, v) => EditHamt::addkeyvalue(prior(at), k, v),
            Step::Remove(k) => EditHamt::remove(prior(at), k),
            Step::RemoveOne(k) => EditHamt::removeone(prior(at), k),
            Step::RemoveKeyValue(k, v) => EditHamt::removekeyvalue(prior(at), k, v),
            Step::Concat(other) => {
                let other = versions.len() - 1 - other.min(versions.len() - 1);
                model.edits.extend(models[other].edits.clone());
                let concat = if history.plainly { EditHamt::concat_plainly } else { EditHamt::concat };
                Ok(concat(prior(at), Prior::Now(versions[other].clone())))
            }
        };
        if !matches!(step, Step::Concat(_)) {
            model.edits.push(step.clone());
        }
        // Concatenation doubles: keep histories small enough to run.
        if model.edits.len() > 300 {
            continue;
        }
        versions.push(version.unwrap());
        models.push(model);
    }
    for &(at, key, many) in &history.queries {
        let at = at % versions.len();
        let state = models[at].state();
        let expected: Vec<i64> = state.iter().rev().filter(|(k, _)| *k == key).map(|(_, v)| *v).collect();
        let found: Vec<i64> = versions[at].find_multi(key).unwrap().take(many).map(Result::unwrap).collect();
        assert_eq!(found, expected[..many.min(expected.len())]);
        assert_eq!(versions[at].find(key).unwrap(), expected.first().copied());
        assert_eq!(versions[at].contains(key).unwrap(), !expected.is_empty());
        let mut keys = versions[at].keys().unwrap();
        keys.sort_unstable();
        let mut bound: Vec<i64> = state.iter().map(|(k, _)| *k).collect();
        bound.sort_unstable();
        bound.dedup();
        assert_eq!(keys, bound);
    }
}

/// How many histories: `EDIT_HISTORIES=100000` for a long run.
fn cases() -> u32 {
    std::env::var("EDIT_HISTORIES").ok().and_then(|n| n.parse().ok()).unwrap_or(4000)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn histories_agree_with_bindings(history in histories(8)) {
        agree::<Narrow>(&history);
    }

    #[test]
    fn wide_histories_agree_with_bindings(history in histories(40)) {
        agree::<Wide>(&history);
    }

    #[test]
    fn one_key_histories_agree_with_bindings(history in histories(1)) {
        agree::<Wide>(&history);
    }

    /// In traces: scan and tree scan over single edits agree with each other and with bindings at every time.
    #[test]
    fn scans_of_edits_agree_with_bindings(
        edits in prop::collection::vec((0..5i64, 0..3i64, 0..4u8), 1..30),
        queries in prop::collection::vec((0..30usize, 0..5i64, any::<bool>()), 1..20),
    ) {
        let times: Vec<Time> = (1..=edits.len() as u64).collect();
        let world = Fixture::of(100, &[("foo", &times)], Options::default());
        let list = edits.clone();
        let singles = world.foo().map(move |t| {
            let (k, v, op) = list[t as usize - 1];
            let none = EditHamt::<Wide>::empty().into();
            match op {
                0 => EditHamt::removeone(none, k),
                1 => EditHamt::remove(none, k),
                _ => EditHamt::addkeyvalue(none, k, v),
            }
        });
        let concat = |before: Lazy<EditHamt<Wide>>, edit: EditHamt<Wide>| {
            Ok(EditHamt::concat(before.into(), edit.into()))
        };
        let scan = singles.scan(concat, EditHamt::empty());
        let tscan = singles.tscan(|left, right| Ok(EditHamt::concat(left.into(), right.into())));
        for (at, key, tree) in queries {
            let at = at % edits.len();
            let model = Model { edits: edits[..=at].iter().map(|&(k, v, op)| match op {
                0 => Step::RemoveOne(k),
                1 => Step::Remove(k),
                _ => Step::AddKeyValue(k, v),
            }).collect() };
            let expected: Vec<i64> = model.state().iter().rev().filter(|b| b.0 == key).map(|b| b.1).collect();
            let trace = if tree { &tscan } else { &scan };
            let version = trace.get_at(at as u64 + 1).unwrap().unwrap().value;
            let found: Vec<i64> = version.find_multi(key).unwrap().map(Result::unwrap).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
