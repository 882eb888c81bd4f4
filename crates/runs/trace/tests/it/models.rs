//! Random expressions of combinators and random queries, against eager lists.

use crate::common;

use common::Fixture;
use parallax_trace::{Error, INF, Item, Lazy, Options, Result, Time, Trace};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// What traces hold here: a list of numbers, so that every order and every argument shows.
type V = Vec<i64>;
type Eager = BTreeMap<Time, V>;

const END: Time = 65;

/// An expression over the sources.
#[derive(Clone, Debug)]
enum Expr {
    Source(usize),
    Filter(Box<Expr>, i64),
    Map(Box<Expr>, i64),
    Slice(Box<Expr>, Time, Time),
    Merge(Box<Expr>, Box<Expr>),
    Trailing(Box<Expr>, Box<Expr>, bool),
    RevTrailing(Box<Expr>, Box<Expr>, bool),
    Scan(Box<Expr>, i64),
    RevScan(Box<Expr>, i64),
    TreeScan(Box<Expr>, Side),
    RevTreeScan(Box<Expr>, Side),
}

/// Which argument a joining function forces first.
#[derive(Clone, Copy, Debug)]
enum Side {
    Left,
    Right,
    Forced,
}

#[derive(Clone, Debug)]
enum Query {
    At(Time),
    After(Time),
    Before(Time),
    First,
    Last,
    Len,
    IsEmpty,
    Iter,
    Reversed,
}

const NAMES: [&str; 3] = ["foo", "bar", "baz"];

fn wanted(v: &V, k: i64) -> bool {
    (v.iter().sum::<i64>() + k) % 3 != 0
}

fn joined(left: &V, right: &V) -> V {
    let mut all = vec![-1];
    all.extend(left);
    all.push(-2);
    all.extend(right);
    all.truncate(40);
    all
}

/// Whether a function forces its lazy argument.
fn forces(v: &V, k: i64) -> bool {
    (v.iter().sum::<i64>() + k) % 4 != 0
}

fn lazily(v: V, other: Lazy<Option<V>>, always: bool) -> Result<V> {
    Ok(if always || forces(&v, 0) { joined(&v, &other.force()?.unwrap_or_else(|| vec![-9])) } else { v })
}

fn eagerly(v: &V, other: Option<&V>, always: bool) -> V {
    if always || forces(v, 0) { joined(v, other.unwrap_or(&vec![-9])) } else { v.clone() }
}

fn appended(left: Lazy<Option<V>>, right: Lazy<Option<V>>, side: Side) -> Result<V> {
    let right_first = match side {
        Side::Left => false,
        Side::Right => true,
        Side::Forced => right.is_forced(),
    };
    let (left, right) = if right_first {
        let right = right.force()?;
        (left.force()?, right)
    } else {
        (left.force()?, right.force()?)
    };
    Ok(left.into_iter().chain(right).flatten().collect())
}

fn build(world: &Fixture, expr: &Expr) -> Trace<V> {
    match expr {
        Expr::Source(i) => world.list(NAMES[*i]).map(|v| Ok(vec![v])),
        Expr::Filter(of, k) => {
            let k = *k;
            build(world, of).filter(move |v| Ok(wanted(&v, k)))
        }
        Expr::Map(of, k) => {
            let k = *k;
            build(world, of).map(move |v| Ok(joined(&v, &vec![k])))
        }
        Expr::Slice(of, from, to) => build(world, of).slice(*from, *to),
        Expr::Merge(l, m) => build(world, l).merge(Some(|a: V, b: V| Ok(joined(&a, &b))), &build(world, m)),
        Expr::Trailing(l, m, always) => {
            let always = *always;
            build(world, l).trailing_merge(move |v, m| lazily(v, m, always), &build(world, m))
        }
        Expr::RevTrailing(l, m, always) => {
            let always = *always;
            build(world, l).rev_trailing_merge(move |v, m| lazily(v, m, always), &build(world, m))
        }
        Expr::Scan(of, k) => {
            let k = *k;
            let step =
                move |acc: Lazy<V>, v: V| Ok(if forces(&v, k) { joined(&acc.force()?, &v) } else { v });
            build(world, of).scan(step, vec![0])
        }
        Expr::RevScan(of, k) => {
            let k = *k;
            let step =
                move |acc: Lazy<V>, v: V| Ok(if forces(&v, k) { joined(&acc.force()?, &v) } else { v });
            build(world, of).rev_scan(step, vec![0])
        }
        Expr::TreeScan(of, side) => {
            let side = *side;
            build(world, of).tscan(move |l, r| appended(l, r, side))
        }
        Expr::RevTreeScan(of, side) => {
            let side = *side;
            build(world, of).rev_tscan(move |l, r| appended(l, r, side))
        }
    }
}

fn eager(lists: &[Vec<Time>], expr: &Expr) -> Eager {
    let scan = |items: Vec<(Time, V)>, k: i64| {
        let mut acc = vec![0];
        let mut out = Eager::new();
        for (time, v) in items {
            acc = if forces(&v, k) { joined(&acc, &v) } else { v };
            out.insert(time, acc.clone());
        }
        out
    };
    match expr {
        Expr::Source(i) => lists[*i].iter().map(|&time| (time, vec![time as i64])).collect(),
        Expr::Filter(of, k) => eager(lists, of).into_iter().filter(|(_, v)| wanted(v, *k)).collect(),
        Expr::Map(of, k) => {
            eager(lists, of).into_iter().map(|(time, v)| (time, joined(&v, &vec![*k]))).collect()
        }
        Expr::Slice(of, from, to) => {
            eager(lists, of).into_iter().filter(|(time, _)| from <= time && time < to).collect()
        }
        Expr::Merge(l, m) => {
            let mut out = eager(lists, l);
            for (time, v) in eager(lists, m) {
                let both = out.get(&time).map(|left| joined(left, &v));
                out.insert(time, both.unwrap_or(v));
            }
            out
        }
        Expr::Trailing(l, m, always) => {
            let m = eager(lists, m);
            let near = |time| m.range(..time).next_back().map(|(_, v)| v);
            eager(lists, l).iter().map(|(&time, v)| (time, eagerly(v, near(time), *always))).collect()
        }
        Expr::RevTrailing(l, m, always) => {
            let m = eager(lists, m);
            let near = |time: Time| m.range(time + 1..).next().map(|(_, v)| v);
            eager(lists, l).iter().map(|(&time, v)| (time, eagerly(v, near(time), *always))).collect()
        }
        Expr::Scan(of, k) => scan(eager(lists, of).into_iter().collect(), *k),
        Expr::RevScan(of, k) => scan(eager(lists, of).into_iter().rev().collect(), *k),
        Expr::TreeScan(of, _) => {
            let mut acc = V::new();
            let prefix = |(time, v)| {
                acc.extend::<V>(v);
                (time, acc.clone())
            };
            eager(lists, of).into_iter().map(prefix).collect()
        }
        Expr::RevTreeScan(of, _) => {
            let mut acc = V::new();
            let suffix = |(time, v): (Time, V)| {
                acc = v.into_iter().chain(std::mem::take(&mut acc)).collect();
                (time, acc.clone())
            };
            eager(lists, of).into_iter().rev().map(suffix).collect()
        }
    }
}

fn item((&time, value): (&Time, &V)) -> Item<V> {
    Item { time, value: value.clone() }
}

fn check(query: &Query, trace: &Trace<V>, model: &Eager) {
    match query {
        Query::At(t) => assert_eq!(trace.get_at(*t).unwrap(), model.get_key_value(t).map(item)),
        Query::After(t) => {
            let next = model.range(t.saturating_add(1)..).next();
            assert_eq!(trace.get_after(*t).unwrap(), next.map(item));
        }
        Query::Before(t) => {
            assert_eq!(trace.get_before(*t).unwrap(), model.range(..t).next_back().map(item));
        }
        Query::First => assert_eq!(trace.first().unwrap(), model.iter().next().map(item)),
        Query::Last => assert_eq!(trace.last().unwrap(), model.iter().next_back().map(item)),
        Query::Len => assert_eq!(trace.len().unwrap(), model.len()),
        Query::IsEmpty => assert_eq!(trace.is_empty().unwrap(), model.is_empty()),
        Query::Iter => {
            let items: Vec<_> = trace.iter().map(Result::unwrap).collect();
            assert_eq!(items, model.iter().map(item).collect::<Vec<_>>());
        }
        Query::Reversed => {
            let items: Vec<_> = trace.reversed().map(Result::unwrap).collect();
            assert_eq!(items, model.iter().rev().map(item).collect::<Vec<_>>());
        }
    }
}

fn expressions() -> impl Strategy<Value = Expr> {
    let side = prop_oneof![Just(Side::Left), Just(Side::Right), Just(Side::Forced)];
    let leaf = (0..3usize).prop_map(Expr::Source);
    leaf.prop_recursive(4, 16, 2, move |inner| {
        let inner = inner.prop_map(Box::new);
        let number = -5..5i64;
        prop_oneof![
            (inner.clone(), number.clone()).prop_map(|(of, k)| Expr::Filter(of, k)),
            (inner.clone(), number.clone()).prop_map(|(of, k)| Expr::Map(of, k)),
            (inner.clone(), 0..70u64, 0..70u64).prop_map(|(of, a, b)| Expr::Slice(of, a, b)),
            (inner.clone(), inner.clone()).prop_map(|(l, m)| Expr::Merge(l, m)),
            (inner.clone(), inner.clone(), any::<bool>()).prop_map(|(l, m, a)| Expr::Trailing(l, m, a)),
            (inner.clone(), inner.clone(), any::<bool>()).prop_map(|(l, m, a)| Expr::RevTrailing(l, m, a)),
            (inner.clone(), number.clone()).prop_map(|(of, k)| Expr::Scan(of, k)),
            (inner.clone(), number).prop_map(|(of, k)| Expr::RevScan(of, k)),
            (inner.clone(), side.clone()).prop_map(|(of, side)| Expr::TreeScan(of, side)),
            (inner, side.clone()).prop_map(|(of, side)| Expr::RevTreeScan(of, side)),
        ]
    })
}

fn queries() -> impl Strategy<Value = Vec<Query>> {
    let time = || prop_oneof![20 => 0..70u64, 1 => Just(INF)];
    let query = prop_oneof![
        5 => time().prop_map(Query::At),
        5 => time().prop_map(Query::After),
        5 => time().prop_map(Query::Before),
        1 => Just(Query::First),
        1 => Just(Query::Last),
        1 => Just(Query::Len),
        1 => Just(Query::IsEmpty),
        1 => Just(Query::Iter),
        1 => Just(Query::Reversed),
    ];
    prop::collection::vec(query, 1..25)
}

fn lists() -> impl Strategy<Value = Vec<Vec<Time>>> {
    let list = prop::collection::btree_set(1..END, 0..12).prop_map(|set| set.into_iter().collect());
    prop::collection::vec(list, 3)
}

fn options() -> impl Strategy<Value = Options> {
    let values = prop_oneof![4 => Just(usize::MAX), 1 => 1..20usize];
    (any::<bool>(), any::<bool>(), values).prop_map(|(read_ahead, joint, values)| Options {
        read_ahead,
        joint,
        values,
    })
}

/// How many expressions: `TRACE_MODELS=24000` for a long run.
fn cases() -> u32 {
    std::env::var("TRACE_MODELS").ok().and_then(|n| n.parse().ok()).unwrap_or(1500)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn expressions_agree_with_lists(
        expr in expressions(),
        lists in lists(),
        queries in queries(),
        options in options(),
    ) {
        let named: Vec<(&str, &[Time])> = NAMES.iter().zip(&lists).map(|(n, l)| (*n, &l[..])).collect();
        let world = Fixture::of(END, &named, options);
        let trace = build(&world, &expr);
        prop_assert_eq!(world.count(), 0, "building asks nothing");
        let model = eager(&lists, &expr);
        for query in &queries {
            check(query, &trace, &model);
            let before = world.world.target().log.lock().unwrap().len();
            check(query, &trace, &model);
            let after = world.world.target().log.lock().unwrap().len();
            prop_assert_eq!(before, after, "asked again, {:?} searched again", query);
            prop_assert!(!world.searched_twice(), "an instant was searched twice");
        }
    }

    /// A run that grows: what is asked after growth is answered as if it had been there before.
    #[test]
    fn growing_targets_agree_with_lists(
        expr in expressions(),
        lists in lists(),
        rounds in prop::collection::vec((1..END, queries()), 1..4),
        options in options(),
    ) {
        use std::sync::atomic::Ordering::SeqCst;
        let named: Vec<(&str, &[Time])> = NAMES.iter().zip(&lists).map(|(n, l)| (*n, &l[..])).collect();
        let world = Fixture::of(END, &named, options);
        let target = world.world.target();
        target.finished.store(false, SeqCst);
        target.end.store(1, SeqCst);
        let trace = build(&world, &expr);
        let mut ends: Vec<Time> = rounds.iter().map(|(end, _)| *end).collect();
        ends.sort_unstable();
        for (end, (_, queries)) in ends.iter().zip(&rounds) {
            target.end.store(*end, SeqCst);
            let seen: Vec<Vec<Time>> =
                lists.iter().map(|l| l.iter().copied().filter(|t| t < end).collect()).collect();
            let model = eager(&seen, &expr);
            for query in queries {
                check(query, &trace, &model);
            }
            prop_assert!(!world.searched_twice(), "an instant was searched twice");
        }
    }
}

/// A function that fails now and then leaves everything else as it was.
#[test]
fn failures_leave_traces_usable() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
    let times: Vec<Time> = (1..200).collect();
    let world = Fixture::of(200, &[("foo", &times)], Options::default());
    let calls = Arc::new(AtomicU64::new(0));
    let sum = world.foo().filter(|t| Ok(t % 3 != 0)).scan(
        move |acc: Lazy<i64>, v| match calls.fetch_add(1, SeqCst) % 7 {
            6 => Err(Error::user(std::fmt::Error)),
            _ => Ok(acc.force()? + v),
        },
        0,
    );
    let (mut failures, mut rounds) = (0, 0);
    let last = loop {
        rounds += 1;
        assert!(rounds < 10_000, "no progress");
        match sum.last() {
            Ok(item) => break item.unwrap(),
            Err(Error::User(_)) => failures += 1,
            Err(other) => panic!("{other}"),
        }
        // Forward progress: each query remembers what it computed.
        let mut cursor = 0;
        while let Ok(Some(item)) = sum.get_after(cursor) {
            cursor = item.time;
        }
    };
    assert!(failures > 0);
    assert_eq!(last.value, (1..200).filter(|t| t % 3 != 0).sum::<i64>());
}
