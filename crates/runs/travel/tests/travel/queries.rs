//! Random searches and states, held against the eager list.

use crate::eager::Eager;
use crate::recorded::recorder::Test;
use crate::recorded::{compile, folder, record_command};
use parallax_process::memory::PAGE;
use parallax_record::Archive;
use parallax_trace::{Direction, Found, Hit, Target, Unwatched};
use parallax_travel::{Filter, Numbers, Ranges, Settings, Travel};
use std::ops::Range;

/// Sources, with flags of the compiler and a seed of the schedule.
const SOURCES: &[(&str, &[&str], Option<u64>)] = &[
    ("hello", &["-static"], None),
    ("locks", &["-static"], Some(3)),
    ("conditions", &["-static"], None),
    ("signals", &["-static"], None),
    ("queued", &["-static"], None),
    ("interrupted", &["-static"], None),
    ("interrupted", &["-static"], Some(7)),
    ("shared", &["-static"], None),
    ("siblings", &["-static"], None),
    ("timers", &["-static"], None),
    ("ownercode", &["-static"], None),
    ("forks", &["-static"], None),
];

/// Steps that are compared at most.
const MOST: u64 = 150_000;

pub fn tests() -> Vec<Test> {
    let mut tests: Vec<Test> = Vec::new();
    for (name, flags, seed) in SOURCES {
        tests.push((
            format!("source: {name}"),
            Box::new(move || {
                let place = folder(name);
                let binary = compile(name, flags, &place.0)?;
                let recording = place.0.join("one.rec");
                record_command(&recording, *seed, &[binary.display().to_string()])?;
                compare(&recording, matches!(*name, "interrupted" | "queued" | "timers"))
            }),
        ));
    }
    tests.push((
        String::from("command: a shell"),
        Box::new(|| {
            let place = folder("shell");
            let recording = place.0.join("one.rec");
            let command = ["/bin/sh", "-c", "echo one; /bin/true; (exit 3); echo $?"];
            record_command(&recording, None, &command.map(String::from))?;
            compare(&recording, false)
        }),
    ));
    tests
}

/// A generator of numbers.
pub struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound.max(1)
    }

    fn pick<'a, T>(&mut self, list: &'a [T]) -> Option<&'a T> {
        list.get(self.below(list.len() as u64) as usize)
    }
}

/// What a recording holds is what the eager list holds.
fn compare(recording: &std::path::Path, signals: bool) -> Result<(), String> {
    let archive = Archive::open(recording).map_err(|error| error.to_string())?;
    for stream in archive.streams() {
        let log = archive.log(&stream).map_err(|error| error.to_string())?;
        let mut random = Random(0x2545_f491_4f6c_dd1d);
        let last = log.last().min(MOST);
        let mut times: Vec<u64> = (0..25).map(|_| 1 + random.below(last)).collect();
        times.extend([1, last]);
        let mut eager = Eager::new(&log, MOST, &times, signals)?;
        // Small intervals, and a budget that only some keyframes fit into.
        let settings = Settings { workers: 2, budget: 3 << 20, interval: 3_000 + random.below(9_000) };
        // Once from nothing, and once from what the first time left in a file.
        for round in 0..2 {
            let travel =
                Travel::open(recording, &stream, settings.clone()).map_err(|error| error.to_string())?;
            let known = if round == 0 { 0 } else { travel.span().end - 1 };
            if travel.known() != known || travel.notice().is_some() {
                return Err(format!("{} of {known} steps are known: {:?}", travel.known(), travel.notice()));
            }
            compare_stream(&stream, &travel, &mut eager, &times, &mut random)?;
            // What was not asked for would not be known the next time.
            travel.prepare(&Unwatched).map_err(|error| error.to_string())?;
        }
    }
    Ok(())
}

fn compare_stream(
    stream: &str,
    travel: &Travel,
    eager: &mut Eager,
    times: &[u64],
    random: &mut Random,
) -> Result<(), String> {
    let calls = eager.steps.iter().filter(|step| step.system_call.is_some()).count();
    println!(
        "  stream {stream}: {} of {} steps, {calls} system calls, {} compared, {} deliveries",
        eager.steps.len(),
        travel.span().end - 1,
        eager.checked,
        eager.steps.iter().filter(|step| step.signal.is_some()).count()
    );
    states(travel, eager, &times[..8], random)?;
    crate::passes::check(travel, eager, random).map_err(|why| format!("stream {stream}: {why}"))?;
    for round in 0..90 {
        query(travel, eager, random).map_err(|why| format!("stream {stream}, query {round}: {why}"))?;
    }
    states(travel, eager, times, random)?;
    let (keyframes, bytes) = travel.keyframes();
    if bytes > 6 << 20 {
        return Err(format!("{keyframes} keyframes hold {bytes} bytes"));
    }
    Ok(())
}

fn query(travel: &Travel, eager: &Eager, random: &mut Random) -> Result<(), String> {
    let end = eager.steps.len() as u64 + 1;
    let mut conditions: Vec<Filter> = Vec::new();
    for _ in 0..1 + random.below(4) {
        let one = filter(eager, random);
        if !conditions.contains(&one) {
            conditions.push(one);
        }
    }
    let start = 1 + random.below(end - 1);
    let within = match random.below(3) {
        0 => 1..end,
        1 => start..end,
        _ => start..(start + 1 + random.below(20_000)).min(end),
    };
    let direction = if random.below(2) == 0 { Direction::Forward } else { Direction::Backward };
    let max = match random.below(3) {
        0 => 1,
        1 => 1 + random.below(20) as usize,
        _ => usize::MAX,
    };
    let found = travel
        .search(&conditions, within.clone(), direction, max, &Unwatched)
        .map_err(|error| error.to_string())?;
    check(eager, &conditions, &within, direction, max, &found)
        .map_err(|why| format!("{conditions:x?} in {within:?} {direction:?}, {max}: {why}"))
}

/// The contract of a target.
fn check(
    eager: &Eager,
    conditions: &[Filter],
    within: &Range<u64>,
    direction: Direction,
    max: usize,
    found: &Found,
) -> Result<(), String> {
    let hit = |time: u64| {
        let holds = |(index, filter): (usize, &Filter)| u64::from(eager.holds(filter, time)) << index;
        let which = conditions.iter().enumerate().map(holds).fold(0, |all, bit| all | bit);
        (which != 0).then_some(Hit { time, which })
    };
    let expected: Vec<Hit> = match direction {
        Direction::Forward => within.clone().filter_map(hit).take(max).collect(),
        Direction::Backward => within.clone().rev().filter_map(hit).take(max).collect(),
    };
    if expected.len() < max && found.decided != *within {
        return Err(format!("decided {:?}", found.decided));
    }
    let reaches = expected.last().is_none_or(|last| found.decided.contains(&last.time));
    let near = match direction {
        Direction::Forward => found.decided.start == within.start && found.decided.end <= within.end,
        Direction::Backward => found.decided.end == within.end && found.decided.start >= within.start,
    };
    if !reaches || !near {
        return Err(format!("decided {:?}", found.decided));
    }
    if found.hits == expected {
        return Ok(());
    }
    let wrong = found.hits.iter().zip(&expected).find(|(found, expected)| found != expected);
    Err(format!(
        "{} hits, first difference {wrong:?}; expected {} hits, first {:?}; step {:x?}",
        found.hits.len(),
        expected.len(),
        expected.first(),
        wrong.map(|(_, expected)| &eager.steps[expected.time as usize - 1])
    ))
}

/// A condition about something that happens in the program, or nearly.
fn filter(eager: &Eager, random: &mut Random) -> Filter {
    let about = |random: &mut Random, address: u64| {
        let length = [1, 1, 4, 8, 64, 4096, 1 << 20][random.below(7) as usize];
        let start = address.saturating_sub(random.below(length));
        start..start.saturating_add(length)
    };
    let some = |random: &mut Random, of: &dyn Fn(&crate::eager::Step) -> Option<u64>| {
        let count = 1 + random.below(3);
        let mut ranges = Vec::new();
        for _ in 0..200 {
            let Some(step) = random.pick(&eager.steps) else { break };
            if let Some(address) = of(step) {
                ranges.push(about(random, address));
            }
            if ranges.len() as u64 == count {
                break;
            }
        }
        Ranges::new(ranges)
    };
    match random.below(12) {
        0 | 1 => Filter::Execute(some(random, &|step| step.address)),
        2 | 3 => Filter::Read(some(random, &|step| step.reads.first().map(|range| range.start))),
        4 | 5 => Filter::Write(some(random, &|step| step.writes.last().map(|range| range.start))),
        6 => Filter::Write(written_by_calls(eager, random)),
        7 => Filter::Call(some(random, &|step| step.call)),
        8 => match random.below(3) {
            0 => Filter::Call(Ranges::all()),
            1 => Filter::Return,
            _ => Filter::Any(vec![Filter::Return, Filter::Signal(Numbers::All)]),
        },
        9 => Filter::SystemCall(Numbers::All),
        10 => {
            let numbers: Vec<u64> = eager.steps.iter().filter_map(|step| step.system_call).collect();
            Filter::SystemCall(random.pick(&numbers).copied().unwrap_or(1).into())
        }
        _ => Filter::Signal(Numbers::All),
    }
}

/// Something that a system call or a delivery wrote.
fn written_by_calls(eager: &Eager, random: &mut Random) -> Ranges {
    let calls = eager.steps.iter().filter(|step| step.system_call.is_some() || step.signal.is_some());
    let writes: Vec<Range<u64>> = calls.flat_map(|step| step.writes.iter().cloned()).collect();
    random.pick(&writes).cloned().unwrap_or(0..1).into()
}

/// The states at some times are those that the eager run was in.
fn states(travel: &Travel, eager: &mut Eager, times: &[u64], random: &mut Random) -> Result<(), String> {
    for time in times {
        let state = travel.state(*time).map_err(|error| error.to_string())?;
        let before = eager.states.get_mut(time).ok_or(format!("no state {time}"))?;
        let wrong = |what: String| Err(format!("state {time}: {what}"));
        if (state.time(), state.thread()) != (*time, before.thread) {
            return wrong(format!("thread {} is {}", before.thread, state.thread()));
        }
        let mut numbers: Vec<u32> = state.threads().collect();
        numbers.sort_unstable();
        if !numbers.iter().eq(before.threads.keys()) {
            return wrong(format!("threads {numbers:?}"));
        }
        for (thread, (registers, pc)) in &before.threads {
            if state.pc_of(*thread) != Some(*pc) {
                return wrong(format!("thread {thread} is at {:x?}, not {pc:#x}", state.pc_of(*thread)));
            }
            if *thread == before.thread {
                let names: Vec<String> = state.registers().map(str::to_owned).collect();
                let differs = |name: &&String| {
                    let shown = state.register_of(*thread, name);
                    let place = eager_place(&eager.places, name);
                    *name != "RAX" && shown != place.and_then(|place| registers.get(place))
                };
                if let Some(name) = names.iter().find(differs) {
                    return wrong(format!("{name} is {:x?}", state.register_of(*thread, name)));
                }
            }
        }
        for mapped in state.mapped() {
            let pages = (mapped.range.end - mapped.range.start) / PAGE;
            for _ in 0..pages.min(16) {
                let address = mapped.range.start + random.below(pages) * PAGE;
                let (mut shown, mut real) = (vec![0; PAGE as usize], vec![0; PAGE as usize]);
                let (one, other) = (state.read(address, &mut shown), before.memory.read(address, &mut real));
                if (one.is_ok(), shown) != (other.is_ok(), real) {
                    return wrong(format!("memory at {address:#x}"));
                }
            }
        }
    }
    Ok(())
}

fn eager_place(places: &[(String, Range<usize>)], name: &str) -> Option<Range<usize>> {
    places.iter().find(|(known, _)| known == name).map(|(_, place)| place.clone())
}
