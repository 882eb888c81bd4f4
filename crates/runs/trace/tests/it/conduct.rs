//! How traces behave besides giving right answers: interruption, threads, memory, depth.

use crate::common;

use common::{Counter, Fixture};
use parallax_trace::{Error, Lazy, Options, Time, Trace, Watch};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Barrier};

struct Switch(Arc<AtomicBool>);

impl Watch for Switch {
    fn stop(&self) -> bool {
        self.0.load(SeqCst)
    }
    fn progress(&self, _: Time) {}
}

/// What an interrupted search decided is not searched again.
#[test]
fn interruption_loses_nothing() {
    let stop = Arc::new(AtomicBool::new(true));
    let world = Fixture::watched(1001, &[("foo", &[700])], Options::plain(), Switch(stop.clone()));
    world.world.target().patience.store(300, SeqCst);
    let foo = world.foo();
    let interrupted =
        |result: parallax_trace::Result<_>| matches!(result, Err::<Option<_>, _>(Error::Interrupted));
    assert!(interrupted(foo.get_after(0)));
    assert!(interrupted(foo.get_after(0)));
    assert_eq!(world.searches(), ">[1,1001) >[301,1001)");
    assert!(interrupted(foo.get_before(1001)));
    assert_eq!(world.searches(), "<[601,1001)");
    stop.store(false, SeqCst);
    assert_eq!(foo.last().unwrap().unwrap().time, 700);
    assert_eq!(world.searches(), "<[601,701)=700");
    assert!(!world.searched_twice());
}

/// In a deep chain too: what was found stays, and the query can be asked again.
#[test]
fn interruption_of_a_deep_scan() {
    let stop = Arc::new(AtomicBool::new(false));
    let times: Vec<Time> = (1..=1000).map(|n| 10 * n).collect();
    let world = Fixture::watched(10_100, &[("foo", &times)], Options::plain(), Switch(stop.clone()));
    let switch = stop.clone();
    world.world.target().patience.store(0, SeqCst);
    let first = Arc::new(AtomicBool::new(true));
    let counts = world.foo().scan(
        move |before: Lazy<i64>, v| {
            if v == 5000 && first.swap(false, SeqCst) {
                switch.store(true, SeqCst);
            }
            Ok(before.force()? + 1)
        },
        0,
    );
    assert!(matches!(counts.last(), Err(Error::Interrupted)));
    stop.store(false, SeqCst);
    assert_eq!(counts.last().unwrap().unwrap().value, 1000);
    assert!(!world.searched_twice());
}

/// A function runs once per item however many threads ask; the others wait for it.
#[test]
fn threads_share_values() {
    let times: Vec<Time> = (1..=200).collect();
    let world = Fixture::of(201, &[("foo", &times)], Options::default());
    let calls = Counter::default();
    let counter = calls.clone();
    let squares = world.foo().map(move |v| {
        counter.hit();
        std::thread::yield_now();
        Ok(v * v)
    });
    let sums = squares.scan(|before, v| Ok(before.force()? + v), 0);
    let barrier = Barrier::new(4);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                barrier.wait();
                let all: Vec<i64> = sums.iter().map(|item| item.unwrap().value).collect();
                assert_eq!(all.len(), 200);
                assert_eq!(*all.last().unwrap(), (1..=200).map(|v| v * v).sum::<i64>());
            });
        }
    });
    assert_eq!(calls.calls(), 200);
}

/// Two threads whose values need each other's are told, and do not wait for ever.
#[test]
fn a_circle_through_two_threads() {
    type Slot = Arc<std::sync::OnceLock<Trace<i64>>>;
    let world = Fixture::of(101, &[("foo", &[10])], Options::plain());
    let (one, other): (Slot, Slot) = Default::default();
    let barrier = Arc::new(Barrier::new(2));
    let knot = |needs: &Slot| {
        let (needs, barrier, first) = (needs.clone(), barrier.clone(), AtomicBool::new(true));
        world.foo().map(move |_| {
            if first.swap(false, SeqCst) {
                barrier.wait();
            }
            Ok(needs.get().unwrap().get_at(10)?.unwrap().value)
        })
    };
    let (a, b) = (knot(&other), knot(&one));
    one.set(a.clone()).ok().unwrap();
    other.set(b.clone()).ok().unwrap();
    let results = std::thread::scope(|scope| {
        let a = scope.spawn(|| a.get_at(10));
        let b = scope.spawn(|| b.get_at(10));
        [a.join().unwrap(), b.join().unwrap()]
    });
    assert!(results.iter().all(|result| matches!(result, Err(Error::SelfDependence(10)))), "{results:?}");
}

/// A value that counts how many of its kind there are.
struct Alive(Arc<AtomicUsize>);

impl Alive {
    fn new(count: &Arc<AtomicUsize>) -> Arc<Self> {
        count.fetch_add(1, SeqCst);
        Arc::new(Alive(count.clone()))
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}

/// Outputs that hold their accumulators are freed with their trace; one that is kept still works.
#[test]
fn dropping_a_trace_frees_it() {
    type Held = (Arc<Alive>, Option<Arc<Lazies>>);
    #[derive(Clone)]
    struct Lazies(Option<Lazy<Held>>, #[allow(dead_code)] Option<Lazy<Option<Held>>>);
    let alive = Arc::new(AtomicUsize::new(0));
    let times: Vec<Time> = (1..=500).collect();
    let world = Fixture::of(501, &[("foo", &times)], Options::default());
    let count = alive.clone();
    let source = world.foo().map(move |_| Ok((Alive::new(&count), None::<Arc<Lazies>>)));
    let count = alive.clone();
    let start: Held = (Alive::new(&count), None);
    let scan = source.scan(
        move |before: Lazy<Held>, _| Ok((Alive::new(&count), Some(Arc::new(Lazies(Some(before), None))))),
        start,
    );
    let count = alive.clone();
    let tscan = source.tscan(move |left, right| {
        right.force()?;
        Ok((Alive::new(&count), Some(Arc::new(Lazies(None, Some(left))))))
    });
    assert_eq!(scan.iter().count(), 500);
    assert_eq!(tscan.iter().count(), 500);
    let kept = scan.get_at(300).unwrap().unwrap().value;
    drop((source, scan, tscan));
    assert!(alive.load(SeqCst) < 510, "{} values are left", alive.load(SeqCst));
    // What is kept can be followed to the start, after its trace is gone.
    let mut steps = 0;
    let mut held = kept;
    while let Some(Lazies(Some(before), _)) = held.1.as_deref() {
        let before = before.force().unwrap();
        held = before;
        steps += 1;
    }
    assert_eq!(steps, 300);
    drop(held);
    drop(world);
    assert_eq!(alive.load(SeqCst), 0);
}

/// Values beyond the budget are computed again; times are not searched again.
#[test]
fn values_are_bounded() {
    let alive = Arc::new(AtomicUsize::new(0));
    let times: Vec<Time> = (1..=20_000).collect();
    let world = Fixture::of(20_001, &[("foo", &times)], Options { values: 1000, ..Options::default() });
    let count = alive.clone();
    let made = world.foo().map(move |v| Ok((v, Alive::new(&count))));
    let sums = made.map(|(v, _)| Ok(v)).scan(|before, v| Ok(before.force()? + v), 0);
    assert_eq!(made.iter().count(), 20_000);
    assert!(alive.load(SeqCst) <= 1500, "{} values are held", alive.load(SeqCst));
    assert_eq!(sums.last().unwrap().unwrap().value, 20_000 * 20_001 / 2);
    assert_eq!(sums.get_at(10_000).unwrap().unwrap().value, 10_000 * 10_001 / 2);
    assert!(alive.load(SeqCst) <= 1500, "{} values are held", alive.load(SeqCst));
    assert!(!world.searched_twice());
}

/// Hundreds of combinators work; millions say so.
#[test]
fn stacked_combinators() {
    let world = Fixture::of(101, &[("foo", &[10, 20, 30, 40, 50]), ("bar", &[15])], Options::plain());
    let stack = |n: usize| {
        (0..n).fold(world.foo(), |trace, n| match n % 4 {
            0 => trace.filter(|v| Ok(v % 10 == 0)),
            1 => trace.map(Ok),
            2 => trace.slice(0, 90),
            _ => trace.scan(|_, v| Ok(v), 0),
        })
    };
    assert_eq!(stack(1000).last().unwrap().unwrap().value, 50);
    assert!(matches!(stack(1001).last(), Err(Error::TooDeep)));
    assert!(matches!(stack(100_000).len(), Err(Error::TooDeep)));
    let merged = (0..1000).fold(world.foo(), |trace, _| trace.merge(Some(|a, _| Ok(a)), &world.bar()));
    assert_eq!(merged.len().unwrap(), 6);
    assert_eq!(merged.first().unwrap().unwrap().value, 10);
}

/// Scans that need each other, each at the item before.
#[test]
fn scans_in_a_circle() {
    let n = 20_000;
    let times: Vec<Time> = (1..=n).collect();
    let world = Fixture::of(n + 1, &[("foo", &times)], Options::default());
    let slot: Arc<std::sync::OnceLock<Trace<i64>>> = Arc::default();
    let other = slot.clone();
    let one = world.foo().map(move |v| match other.get().unwrap().get_before(v as u64)? {
        Some(before) => Ok(before.value + 1),
        None => Ok(0),
    });
    slot.set(one.map(|v| Ok(v + 1))).ok().unwrap();
    assert_eq!(one.last().unwrap().unwrap().value, 2 * (n as i64 - 1));
}
