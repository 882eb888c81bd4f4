//! Measures travel in a recording: `measure RECORDING ADDRESS [WORKERS]`. The address, hexadecimal, is that of a function
//! whose executions are searched for. Prints one JSON object; times are seconds of the wall clock, seeks milliseconds.

use parallax_record::{Archive, replay};
use parallax_trace::{Direction, Target, Unwatched};
use parallax_travel::{Filter, Settings, Travel};
use std::path::Path;
use std::time::Instant;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let address = u64::from_str_radix(&arguments[1], 16).expect("a hexadecimal address");
    let workers = arguments.get(2).map_or(2, |text| text.parse().expect("a number"));
    let archive = Archive::open(Path::new(&arguments[0])).expect("a recording");
    let log = archive.log("0").expect("its first process");

    let started = Instant::now();
    let mut process = replay(&log, false, false).expect("it can be replayed");
    process.run();
    let replayed = started.elapsed().as_secs_f64();

    let travel = Travel::new(log, Settings { workers, ..Settings::default() }).expect("steps");
    let span = travel.span();
    let calls = [Filter::Execute(address.into())];
    let search = |direction: Direction| {
        let started = Instant::now();
        let found =
            travel.search(&calls, span.clone(), direction, usize::MAX, &Unwatched).expect("an answer");
        (found.hits.len(), started.elapsed().as_secs_f64())
    };
    let (hits, first) = search(Direction::Forward);
    let (_, again) = search(Direction::Forward);
    let (_, backward) = search(Direction::Backward);
    // A condition that was not asked before, and holds nowhere: what the notes on intervals are worth.
    let started = Instant::now();
    let nowhere = [Filter::Write((8..16).into())];
    travel.search(&nowhere, span.clone(), Direction::Forward, usize::MAX, &Unwatched).expect("an answer");
    let cold = started.elapsed().as_secs_f64();

    let mut seeks: Vec<f64> = Vec::new();
    let mut random = 0x2545_f491_4f6c_dd1du64;
    for _ in 0..61 {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let started = Instant::now();
        travel.state(1 + random % (span.end - 1)).expect("a state");
        seeks.push(started.elapsed().as_secs_f64() * 1000.0);
    }
    seeks.sort_by(f64::total_cmp);
    let (keyframes, bytes) = travel.keyframes();
    println!(
        "{{\"steps\": {}, \"replay\": {replayed:.3}, \"workers\": {workers}, \"hits\": {hits}, \"first\": {first:.3}, \"again\": {again:.4}, \"backward\": {backward:.4}, \"cold_watchpoint\": {cold:.4}, \"seek_median_ms\": {:.2}, \"seek_worst_ms\": {:.2}, \"keyframes\": {keyframes}, \"keyframe_bytes\": {bytes}}}",
        span.end - 1,
        seeks[seeks.len() / 2],
        seeks[seeks.len() - 1],
    );
}
