//! Laziness, counted: every search and every call of a user function, step by step.

use crate::common;

use common::{Counter, Fixture, fixture, fresh};
use parallax_trace::{Error, INF, Item, Lazy, Options, Result, Time, Trace};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

/// The value of the item that a query found.
fn v<V>(item: Result<Option<Item<V>>>) -> Option<V> {
    item.unwrap().map(|item| item.value)
}

#[test]
fn queries_on_one_source() {
    let world = fresh();
    let foo = world.foo();
    assert_eq!(world.searches(), "");
    assert_eq!(v(foo.get_before(100)), Some(50));
    assert_eq!(world.searches(), "<[1,100)=50");
    assert_eq!(v(foo.get_before(100)), Some(50));
    assert_eq!(v(foo.get_before(60)), Some(50));
    assert_eq!(world.searches(), "");
    assert_eq!(v(foo.get_after(50)), None);
    assert_eq!(world.searches(), ">[100,101)");
    assert_eq!(v(foo.get_at(20)), Some(20));
    assert_eq!(v(foo.get_at(21)), None);
    assert_eq!(world.searches(), ">[20,21)=20 >[21,22)");
    assert_eq!(v(foo.get_after(20)), Some(30));
    assert_eq!(world.searches(), ">[22,50)=30");
    assert_eq!(foo.len().unwrap(), 5);
    assert_eq!(world.searches(), ">[1,20)=10 >[11,20) >[31,50)=40 >[41,50)");
    assert_eq!(v(foo.get_before(0)), None);
    assert_eq!(v(foo.get_before(1)), None);
    assert_eq!(v(foo.get_after(INF)), None);
    assert_eq!(v(foo.get_at(INF)), None);
    assert_eq!(world.searches(), "");
}

#[test]
fn a_source_asked_whether_it_is_empty_and_for_its_length() {
    let world = fresh();
    assert!(!world.foo().is_empty().unwrap());
    assert_eq!(world.searches(), ">[1,101)=10");
    let world = fresh();
    let foo = world.foo();
    foo.is_empty().unwrap();
    world.searches();
    assert_eq!(v(foo.get_before(INF)), Some(50));
    assert_eq!(world.searches(), "<[11,101)=50");
    let world = fresh();
    assert_eq!(world.foo().len().unwrap(), 5);
    assert_eq!(world.count(), 6);
    let world = fixture(Options { joint: false, ..Options::default() });
    assert_eq!(world.foo().len().unwrap(), 5);
    assert_eq!(world.count(), 3);
}

#[test]
fn len_reads_no_value() {
    let world = fresh();
    let read = Counter::default();
    let counter = read.clone();
    let foo = world.world.trace("foo".to_owned(), move |time| {
        counter.hit();
        Ok(time)
    });
    assert_eq!(foo.len().unwrap(), 5);
    assert!(!foo.is_empty().unwrap());
    assert_eq!(read.calls(), 0);
    foo.get_at(10).unwrap();
    assert_eq!(read.calls(), 1);
}

/// An interval whose end is not after its start is empty, and nothing is asked for it.
#[test]
fn empty_intervals_ask_nothing() {
    let world = fresh();
    let foo = world.foo();
    for (from, to) in [(40, 20), (30, 30), (0, 1), (101, INF)] {
        let none = foo.slice(from, to);
        assert_eq!(none.len().unwrap(), 0);
        assert!(none.is_empty().unwrap());
        assert_eq!(v(none.get_before(INF)), None);
        assert_eq!(v(none.scan(count(&Counter::default()), 0).get_at(30)), None);
    }
    assert_eq!(world.searches(), "");
    // Time starts at 1: what is after 0 is everything, and what is before 1 is nothing.
    assert_eq!(v(foo.get_after(0)), Some(10));
    assert_eq!(world.searches(), ">[1,101)=10");
    assert_eq!(v(foo.get_before(1)), None);
    assert_eq!(world.searches(), "");
}

/// Building asks nothing, of any combinator.
#[test]
fn building_asks_nothing() {
    let world = fresh();
    let (foo, bar) = (world.foo(), world.bar());
    let calls = Counter::default();
    let _all = (
        foo.filter(|_| unreachable!()),
        foo.map(|_| -> Result<i64> { unreachable!() }),
        foo.slice(20, 40),
        foo.merge(Some(paired(&calls)), &bar),
        foo.trailing_merge(|_, _: Lazy<Option<i64>>| -> Result<i64> { unreachable!() }, &bar),
        foo.rev_trailing_merge(|_, _: Lazy<Option<i64>>| -> Result<i64> { unreachable!() }, &bar),
        foo.scan(count(&calls), 0).rev_scan(count(&calls), 0),
        foo.tscan(|_, _| unreachable!()).rev_tscan(|_, _| unreachable!()),
    );
    assert_eq!((world.searches(), calls.calls()), (String::new(), 0));
}

#[test]
fn equal_sources_share_what_is_known() {
    let world = fresh();
    let (one, other) = (world.foo(), world.foo());
    assert_eq!(one.len().unwrap(), other.len().unwrap());
    assert_eq!(world.count(), 6);
}

#[test]
fn filter() {
    let world = fresh();
    let calls = Counter::default();
    let counter = calls.clone();
    let foo = world.foo();
    let even = foo.filter(move |t| {
        counter.hit();
        Ok(t % 20 == 0)
    });
    assert_eq!(v(even.get_before(INF)), Some(40));
    assert_eq!(world.searches(), "<[1,101)=50 <[1,50)=40");
    assert_eq!(calls.calls(), 2);
    assert_eq!(v(even.get_before(40)), Some(20));
    assert_eq!(world.searches(), "<[1,40)=30 <[1,30)=20");
    assert_eq!(calls.calls(), 4);
    assert_eq!(v(foo.get_before(50)), Some(40));
    assert_eq!(world.searches(), "");
    // What was rejected is not asked again, in either direction.
    assert_eq!(even.len().unwrap(), 2);
    assert_eq!(calls.calls(), 5);
    assert_eq!(even.reversed().count(), 2);
    assert_eq!(calls.calls(), 5);
}

#[test]
fn a_predicate_that_fails_leaves_its_item_undecided() {
    let world = fresh();
    let broken = Arc::new(AtomicBool::new(true));
    let switch = broken.clone();
    let odd = world.foo().filter(move |t| match t {
        30 if switch.load(SeqCst) => Err(Error::user(std::fmt::Error)),
        t => Ok(t % 20 != 0),
    });
    assert!(matches!(odd.get_after(10), Err(Error::User(_))));
    assert_eq!(v(odd.get_after(0)), Some(10));
    assert_eq!(v(odd.get_before(30)), Some(10));
    world.searches();
    broken.store(false, SeqCst);
    assert_eq!(v(odd.get_after(10)), Some(30));
    assert_eq!(world.searches(), "");
    assert_eq!(odd.len().unwrap(), 3);
}

#[test]
fn map() {
    let world = fresh();
    let calls = Counter::default();
    let counter = calls.clone();
    let negated = world.foo().map(move |t| {
        counter.hit();
        Ok(-t)
    });
    assert_eq!(negated.len().unwrap(), 5);
    assert_eq!((world.count(), calls.calls()), (6, 0));
    assert_eq!(v(negated.get_at(30)), Some(-30));
    assert_eq!(v(negated.get_at(30)), Some(-30));
    assert_eq!((world.count(), calls.calls()), (0, 1));
}

#[test]
fn slice() {
    let world = fresh();
    let slice = world.foo().slice(20, 40);
    assert_eq!(v(slice.get_before(INF)), Some(30));
    assert_eq!(world.searches(), "<[20,40)=30");
    assert_eq!(slice.len().unwrap(), 2);
    assert_eq!(world.searches(), ">[20,30)=20 >[21,30)");
    assert_eq!(v(slice.get_at(40)), None);
    assert_eq!(world.searches(), "");
}

type Pair = fn(i64, i64) -> Result<i64>;

/// The two arguments in one number.
fn paired(calls: &Counter) -> impl Fn(i64, i64) -> Result<i64> + Send + Sync + 'static {
    let counter = calls.clone();
    move |left, right| {
        counter.hit();
        Ok(left * 1000 + right)
    }
}

#[test]
fn merge() {
    let world = fresh();
    let calls = Counter::default();
    let both = world.foo().merge(Some(paired(&calls)), &world.bar());
    assert_eq!(v(both.get_before(INF)), Some(50));
    assert_eq!(world.searches(), "<[1,101)=50 bar<[50,101)");
    assert_eq!(v(both.get_before(50)), Some(45));
    assert_eq!(world.searches(), "<[1,50)=40 bar<[40,50)=45");
    assert_eq!(v(both.get_at(30)), Some(30_030));
    assert_eq!(world.searches(), ">[30,31)=30 bar>[30,31)=30");
    assert_eq!(calls.calls(), 1);
    let all: Vec<i64> = both.iter().map(|item| item.unwrap().value).collect();
    assert_eq!(all, [10, 15, 20, 25, 30_030, 40, 45, 50]);
    assert_eq!(calls.calls(), 1);
}

#[test]
fn merged_sources_are_searched_jointly() {
    let world = fixture(Options { read_ahead: false, ..Options::default() });
    let calls = Counter::default();
    let both = world.foo().merge(Some(paired(&calls)), &world.bar());
    assert_eq!(v(both.get_before(INF)), Some(50));
    assert_eq!(world.searches(), "foo+bar<[1,101)=50");
    assert_eq!(v(both.get_before(50)), Some(45));
    assert_eq!(world.searches(), "foo+bar<[1,50)=45");
    assert_eq!(v(both.get_after(0)), Some(10));
    assert_eq!(world.searches(), "foo+bar>[1,45)=10");
    assert_eq!(v(both.get_at(30)), Some(30_030));

    let instants = |joint| {
        let world = fixture(Options { read_ahead: false, joint, ..Options::default() });
        let both = world.bar().merge(None::<Pair>, &world.foo());
        assert_eq!(v(both.get_before(INF)), Some(50));
        world.instants()
    };
    assert_eq!((instants(false), instants(true)), (107, 51));
}

#[test]
fn merge_without_a_function_reports_coincidence() {
    for options in [Options::plain(), Options::default()] {
        let world = fixture(options);
        let both = world.foo().merge(None::<Pair>, &world.bar());
        assert_eq!(v(both.get_before(30)), Some(25));
        assert_eq!(v(both.get_after(30)), Some(40));
        assert!(matches!(both.get_at(30), Err(Error::Coincidence(30))));
        assert!(matches!(both.get_after(25), Err(Error::Coincidence(30))));
        assert!(matches!(both.get_before(40), Err(Error::Coincidence(30))));
        assert!(matches!(both.len(), Err(Error::Coincidence(30))));
        assert!(matches!(both.map(|v| Ok(v + 1)).len(), Err(Error::Coincidence(30))));
        assert_eq!(both.slice(31, 101).len().unwrap(), 3);
    }
}

#[test]
fn trailing_merge() {
    let force = |v: i64, other: Lazy<Option<i64>>| Ok((v, other.force()?));
    let world = fresh();
    let some = world.foo().trailing_merge(
        |v, bar: Lazy<Option<i64>>| Ok((v, if v > 25 { bar.force()? } else { None })),
        &world.bar(),
    );
    assert_eq!(v(some.get_before(INF)), Some((50, Some(45))));
    assert_eq!(world.searches(), "<[1,101)=50 bar<[1,50)=45");
    assert_eq!(v(some.get_at(20)), Some((20, None)));
    assert_eq!(world.searches(), ">[20,21)=20");

    let world = fresh();
    let all = world.foo().trailing_merge(force, &world.bar());
    assert_eq!(v(all.get_after(0)), Some((10, None)));
    assert_eq!(world.searches(), ">[1,101)=10 bar<[1,10)");

    let world = fresh();
    let own = world.foo().trailing_merge(force, &world.foo());
    assert_eq!(v(own.get_at(30)), Some((30, Some(20))));
    assert_eq!(world.searches(), ">[30,31)=30 <[1,30)=20");

    let world = fresh();
    let next = world.foo().rev_trailing_merge(force, &world.bar());
    assert_eq!(v(next.get_at(30)), Some((30, Some(45))));
    assert_eq!(world.searches(), ">[30,31)=30 bar>[31,101)=45");
}

/// acc + 1, counted.
fn count(calls: &Counter) -> impl Fn(Lazy<i64>, i64) -> Result<i64> + Send + Sync + 'static {
    let counter = calls.clone();
    move |before, _| {
        counter.hit();
        Ok(before.force()? + 1)
    }
}

#[test]
fn scan() {
    let world = fresh();
    let calls = Counter::default();
    let counter = calls.clone();
    let since_30 = world.foo().scan(
        move |before, v| {
            counter.hit();
            Ok(if v == 30 { 0 } else { before.force()? + 1 })
        },
        0,
    );
    assert_eq!(v(since_30.get_before(INF)), Some(2));
    assert_eq!(world.searches(), "<[1,101)=50 <[1,50)=40 <[1,40)=30");
    assert_eq!(calls.calls(), 3);

    let world = fresh();
    let calls = Counter::default();
    let counts = world.foo().scan(count(&calls), 0);
    assert_eq!(v(counts.get_at(30)), Some(3));
    assert_eq!(world.count(), 4);
    assert_eq!(v(counts.get_at(50)), Some(5));
    assert_eq!(world.searches(), ">[50,51)=50 <[31,50)=40 <[31,40)");
    assert_eq!(counts.len().unwrap(), 5);
    assert_eq!(world.searches(), ">[51,101)");
    assert_eq!(calls.calls(), 5);

    let world = fresh();
    let counts = world.foo().rev_scan(count(&calls), 0);
    assert_eq!(v(counts.get_at(30)), Some(3));
    assert_eq!(world.searches(), ">[30,31)=30 >[31,101)=40 >[41,101)=50 >[51,101)");
    assert_eq!(v(counts.get_before(INF)), Some(1));
    assert_eq!(world.searches(), "");

    let world = fresh();
    assert_eq!(v(world.foo().slice(25, 60).scan(count(&calls), 0).get_at(40)), Some(2));
    assert_eq!(world.count(), 3);
    let world = fresh();
    assert_eq!(v(world.foo().scan(count(&calls), 0).slice(25, 60).get_at(40)), Some(4));
    assert_eq!(world.count(), 5);
}

#[test]
fn tree_scan() {
    let world = fresh();
    let right = world.foo().map(|v| Ok(vec![v])).tscan(|_, right| Ok(right.force()?.unwrap()));
    assert_eq!(v(right.get_at(50)), Some(vec![50]));
    assert_eq!(world.searches(), ">[50,51)=50");

    let world = fresh();
    let all = world.foo().map(|v| Ok(vec![v])).tscan(|left, right| {
        let mut all = left.force()?.unwrap_or_default();
        all.extend(right.force()?.expect("the right side is never none"));
        Ok(all)
    });
    assert_eq!(v(all.get_at(50)), Some(vec![10, 20, 30, 40, 50]));
    assert_eq!((world.count(), world.instants()), (12, 50));
    assert_eq!(v(all.get_at(40)), Some(vec![10, 20, 30, 40]));
    assert_eq!(world.count(), 0);

    let world = fresh();
    let calls = Counter::default();
    assert_eq!(v(world.foo().scan(count(&calls), 0).get_at(50)), Some(5));
    assert_eq!((world.count(), world.instants()), (6, 50));

    // Read-ahead does not help who forces the left side first: about two searches an item.
    let world = many(4096, Options { joint: false, ..Options::default() });
    let sums = world.foo().tscan(|left, right| Ok(left.force()?.unwrap_or(0) + right.force()?.unwrap_or(0)));
    assert_eq!(v(sums.last()), Some(4096 * 4097 / 2));
    let searches = world.count();
    assert!(searches <= 4096 * 22 / 10, "{searches} searches");

    let world = fresh();
    let rest = world.foo().map(|v| Ok(vec![v])).rev_tscan(|left, right| {
        let mut all = left.force()?.expect("the left side is never none");
        all.extend(right.force()?.unwrap_or_default());
        Ok(all)
    });
    assert_eq!(v(rest.get_at(30)), Some(vec![30, 40, 50]));
    assert_eq!(v(rest.get_after(0)), Some(vec![10, 20, 30, 40, 50]));
}

/// A lazy is forced if forcing it asks nothing, whoever computed it.
#[test]
fn forced_or_not() {
    let world = fresh();
    let foo = world.foo();
    let seen = foo.trailing_merge(|v, bar: Lazy<Option<i64>>| Ok((v, bar.is_forced())), &world.bar());
    assert_eq!(v(seen.get_at(50)), Some((50, false)));
    world.bar().get_before(30).unwrap();
    assert_eq!(v(seen.get_at(30)), Some((30, true)));
    let doubled = world.bar().map(|v| Ok(2 * v));
    let seen = foo.trailing_merge(|v, bar: Lazy<Option<i64>>| Ok((v, bar.is_forced())), &doubled);
    assert_eq!(v(seen.get_at(30)), Some((30, false)));
    doubled.get_at(25).unwrap();
    let seen = foo.trailing_merge(|v, bar: Lazy<Option<i64>>| Ok((v, bar.is_forced())), &doubled);
    assert_eq!(v(seen.get_at(30)), Some((30, true)));
}

fn many(n: u64, options: Options) -> Fixture {
    let times: Vec<Time> = (1..=n).collect();
    Fixture::of(n + 1, &[("foo", &times)], options)
}

/// A long chain is followed exactly as far as it reaches, each function at most twice.
#[test]
fn deep_scans() {
    for back in [5, 32, 100, 1000] {
        let world = many(3000, Options::plain());
        let calls = Counter::default();
        let counter = calls.clone();
        let since = world.foo().scan(
            move |before, v| {
                counter.hit();
                Ok(if v == 3000 - back { 0 } else { before.force()? + 1 })
            },
            0,
        );
        assert_eq!(v(since.get_before(INF)), Some(back));
        assert_eq!(world.count() as i64, back + 1);
        let calls = calls.calls() as i64;
        assert!((back + 1..=2 * (back + 1) - 32.min(back)).contains(&calls), "{calls} calls for {back}");
    }
    let world = many(200_000, Options::default());
    let calls = Counter::default();
    assert_eq!(v(world.foo().scan(count(&calls), 0).last()), Some(200_000));
    assert_eq!(v(world.foo().rev_scan(count(&calls), 0).first()), Some(200_000));
}

#[test]
fn a_failure_in_a_deep_scan() {
    let times: Vec<Time> = (1..=1000).map(|n| 10 * n).collect();
    let world = Fixture::of(20_000, &[("foo", &times)], Options::plain());
    let broken = Arc::new(AtomicBool::new(true));
    let switch = broken.clone();
    let counts = world.foo().scan(
        move |before, v| match v {
            5000 if switch.load(SeqCst) => Err(Error::user(std::fmt::Error)),
            _ => Ok(before.force()? + 1),
        },
        0,
    );
    assert!(matches!(counts.last(), Err(Error::User(_))));
    assert_eq!(world.count(), 501);
    broken.store(false, SeqCst);
    assert_eq!(v(counts.last()), Some(1000));
    assert_eq!(world.count(), 500);
}

/// A function that handles the failure of its accumulator sees it, however deep.
#[test]
fn a_failure_in_a_deep_scan_can_be_handled() {
    for at in [995, 500] {
        let world = many(1000, Options::plain());
        let counts = world.foo().scan(
            move |before: Lazy<i64>, v| match v {
                _ if v == at => Err(Error::user(std::fmt::Error)),
                _ if v == at + 1 => match before.force() {
                    Err(Error::User(_)) => Ok(-1),
                    other => other,
                },
                _ => Ok(before.force()? + 1),
            },
            0,
        );
        assert_eq!(v(counts.last()), Some(1000 - at - 2));
    }
}

/// A function that drops the internal signal spoils the query, not the trace.
#[test]
fn a_swallowed_signal_is_reported() {
    let world = many(1000, Options::plain());
    let swallow = Arc::new(AtomicBool::new(true));
    let switch = swallow.clone();
    let counts = world.foo().scan(
        move |before: Lazy<i64>, _| match before.force() {
            Ok(before) => Ok(before + 1),
            Err(_) if switch.load(SeqCst) => Ok(0),
            Err(error) => Err(error),
        },
        0,
    );
    assert!(matches!(counts.last(), Err(Error::Swallowed)));
    assert_eq!(v(counts.get_at(3)), Some(3));
    swallow.store(false, SeqCst);
    assert_eq!(v(counts.last()), Some(1000));
}

#[test]
fn a_value_that_needs_itself() {
    let world = fresh();
    let slot: Arc<std::sync::OnceLock<Trace<i64>>> = Arc::default();
    let own = slot.clone();
    let knot = world.foo().map(move |v| Ok(own.get().unwrap().get_at(v as u64)?.unwrap().value));
    slot.set(knot.clone()).ok().unwrap();
    assert!(matches!(knot.get_at(20), Err(Error::SelfDependence(20))));
    let own = slot.clone();
    let filtered = world.foo().filter(move |_| own.get().unwrap().is_empty());
    assert_eq!(filtered.len().unwrap(), 0);
}

/// Walking asks for more and more at once.
#[test]
fn read_ahead() {
    let options = Options { joint: false, ..Options::default() };
    let world = many(10_000, options);
    assert_eq!(world.foo().iter().count(), 10_000);
    assert_eq!(world.count(), 28);
    let world = many(10_000, options);
    assert_eq!(world.foo().iter().take(100).count(), 100);
    assert_eq!((world.count(), world.instants()), (7, 127));
    let world = many(10_000, options);
    assert_eq!(world.foo().reversed().take(100).count(), 100);
    assert_eq!((world.count(), world.instants()), (7, 127));
    // A jump starts anew.
    assert_eq!(v(world.foo().get_after(5000)), Some(5001));
    assert_eq!((world.count(), world.instants()), (1, 1));
    // Past the asked bound it goes at most as far as the run has come.
    let world = many(10_000, options);
    assert_eq!(world.foo().slice(100, 120).iter().count(), 20);
    assert!((20..=40).contains(&world.instants()));
}
