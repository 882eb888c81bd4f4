//! What traces and EditHAMTs cost: a million items, and the micro-benchmarks of the dissertation's section 4.4 on its
//! test program, whose calls come from a list instead of a recording.

use parallax_trace::{Domain, EditHamt, INF, Item, Lazy, List, Options, Result, Time, Trace, World, mix};
use rpds::RedBlackTreeMapSync;
use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Instant;

/// Counts the bytes that are in use.
struct Counting;

static USED: AtomicUsize = AtomicUsize::new(0);

// SAFETY: forwards to the system's allocator and only counts.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        USED.fetch_add(layout.size(), Relaxed);
        // SAFETY: the contract of the caller is that of the system allocator.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        USED.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller's contract is the system allocator's.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

struct Numbers;

impl Domain for Numbers {
    type Key = i64;
    type Value = Time;
    fn hash(key: &i64) -> Result<u64> {
        Ok(mix(*key as u64, Self::BITS))
    }
    fn same_key(one: &i64, other: &i64) -> Result<bool> {
        Ok(one == other)
    }
    fn same_value(one: &Time, other: &Time) -> Result<bool> {
        Ok(one == other)
    }
    fn of_key(key: &i64) -> Time {
        *key as Time
    }
}

/// Runs something, and prints how long it took and how many bytes it left in use.
fn measured<T>(name: &str, run: impl FnOnce() -> T) -> T {
    let before = USED.load(Relaxed);
    let begun = Instant::now();
    let result = run();
    let seconds = begun.elapsed().as_secs_f64();
    let left = USED.load(Relaxed).saturating_sub(before);
    println!("{name}-time {:.3} ms", seconds * 1e3);
    println!("{name}-memory {:.1} KiB", left as f64 / 1024.0);
    result
}

fn million() {
    let list = List::new(1..2_000_001).with("x", (1..=1_000_000).map(|n| 2 * n)).unwrap();
    let world = World::new(Arc::new(list), Options::default());
    let x = world.trace("x".to_owned(), Ok);
    measured("million-len", || x.len().unwrap());
    let filtered = x.filter(|v| Ok(v % 3 == 0));
    measured("million-filter", || filtered.len().unwrap());
    let mapped = x.map(|v| Ok(v + 1));
    measured("million-map", || mapped.iter().count());
    let sums = x.scan(|before, v| Ok(before.force()? + v), 0);
    measured("million-scan", || sums.last().unwrap());
    let before = USED.load(Relaxed);
    drop((filtered, mapped, sums, x));
    drop(world);
    println!("million-left {:.1} KiB", USED.load(Relaxed).min(before) as f64 / 1024.0);
}

/// The calls of the test program (Fig. 4.8): times and arguments.
struct Program {
    /// foo's x and y by time.
    foo: HashMap<Time, (i64, i64)>,
    bar: HashMap<Time, i64>,
    end: Time,
}

fn program() -> Program {
    let mut program = Program { foo: HashMap::new(), bar: HashMap::new(), end: 1 };
    for i in 0..16 {
        for j in 0..16 {
            for k in 0..16 {
                program.end += 10;
                program.bar.insert(program.end, i * 16 + k);
            }
            program.end += 10;
            program.foo.insert(program.end, (i, i * 16 + j));
            for l in 0..8 {
                program.end += 10;
                program.bar.insert(program.end, i * 8 + l);
            }
        }
    }
    program.end += 10;
    program
}

fn world() -> (World<List>, Arc<Program>) {
    let program = Arc::new(program());
    let list = List::new(1..program.end)
        .with("foo", program.foo.keys().copied())
        .and_then(|list| list.with("bar", program.bar.keys().copied()))
        .unwrap();
    (World::new(Arc::new(list), Options::default()), program)
}

/// All items, one query each.
fn walk<V: parallax_trace::Value>(trace: &Trace<V>, forward: bool) -> usize {
    let mut cursor = if forward { 0 } else { INF };
    let mut count = 0;
    let next = |cursor| if forward { trace.get_after(cursor) } else { trace.get_before(cursor) };
    while let Some(Item { time, .. }) = next(cursor).unwrap() {
        cursor = time;
        count += 1;
    }
    count
}

/// Section 4.4.3: even and odd calls of foo, walked one by one; strictly, everything is found first.
fn laziness() {
    for (name, strict, forward) in [
        ("lazy-after", false, true),
        ("strict-after", true, true),
        ("lazy-before", false, false),
        ("strict-before", true, false),
    ] {
        // The median of 31 runs: one takes less than a turn of the scheduler.
        let mut runs: Vec<f64> = (0..31).map(|_| halves(strict, forward)).collect();
        runs.sort_by(f64::total_cmp);
        println!("{name}-time {:.3} ms", runs[15] * 1e3);
    }
}

/// The time it takes to walk the even, then the odd calls of foo.
fn halves(strict: bool, forward: bool) -> f64 {
    let (world, program) = world();
    let foos = world.trace("foo".to_owned(), move |time| Ok(program.foo[&time].0));
    let begun = Instant::now();
    for odd in [0, 1] {
        let half = foos.filter(move |x| Ok(x % 2 == odd));
        if strict {
            foos.len().unwrap();
            half.len().unwrap();
        }
        assert_eq!(walk(&half, forward), 128);
    }
    begun.elapsed().as_secs_f64()
}

/// Section 4.4.4: at each call of foo(x, y), the latest bar(z) with z = y, from maps of all calls of bar so far.
fn maps() {
    for (direction, forward) in [("after", true), ("before", false)] {
        let (world, program) = world();
        let args = program.clone();
        let bars = world.trace("bar".to_owned(), move |time| Ok((args.bar[&time], time)));
        let foos = world.trace("foo".to_owned(), move |time| Ok(program.foo[&time].1));

        let edits = bars.map(|(z, time)| EditHamt::<Numbers>::addkeyvalue(EditHamt::empty().into(), z, time));
        let maps =
            edits.scan(|before, edit| Ok(EditHamt::concat(before.into(), edit.into())), EditHamt::empty());
        let found = foos.trailing_merge(
            |y, maps: Lazy<Option<EditHamt<Numbers>>>| maps.force()?.map_or(Ok(None), |map| map.find(y)),
            &maps,
        );
        measured(&format!("edithamt-{direction}"), || assert_eq!(walk(&found, forward), 256));
        let edithamt: Vec<Option<Time>> = found.iter().map(|item| item.unwrap().value).collect();
        drop((found, maps, edits));

        let maps = bars.scan(
            |before: Lazy<RedBlackTreeMapSync<i64, Time>>, (z, time)| Ok(before.force()?.insert(z, time)),
            RedBlackTreeMapSync::new_sync(),
        );
        let found = foos.trailing_merge(
            |y, maps: Lazy<Option<RedBlackTreeMapSync<i64, Time>>>| {
                Ok(maps.force()?.and_then(|map| map.get(&y).copied()))
            },
            &maps,
        );
        measured(&format!("redblack-{direction}"), || assert_eq!(walk(&found, forward), 256));
        assert!(found.iter().map(|item| item.unwrap().value).eq(edithamt.iter().copied()));
        drop((found, maps));

        let maps = bars.scan(
            |before: Lazy<Arc<HashMap<i64, Time>>>, (z, time)| {
                let mut map = (*before.force()?).clone();
                map.insert(z, time);
                Ok(Arc::new(map))
            },
            Arc::default(),
        );
        let found = foos.trailing_merge(
            |y, maps: Lazy<Option<Arc<HashMap<i64, Time>>>>| {
                Ok(maps.force()?.and_then(|map| map.get(&y).copied()))
            },
            &maps,
        );
        measured(&format!("hashmap-{direction}"), || assert_eq!(walk(&found, forward), 256));
    }
}

fn main() {
    println!(
        "# a list target: searching costs next to nothing, so what is measured is the traces themselves"
    );
    million();
    laziness();
    maps();
}
