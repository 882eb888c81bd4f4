//! Many states in one pass, tests where a search passes, and whose turn it is: each held against the slow way.

use crate::eager::Eager;
use crate::queries::Random;
use parallax_trace::{Direction, Target, Unwatched};
use parallax_travel::{
    Examine, Filter, Look, Numbers, Passing, Ranges, Side, State, Test, Travel, Unanswered,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// What a state shows of the thread that makes its step.
fn shown(state: &State, thread: u32) -> (Option<u64>, Vec<Option<Vec<u8>>>, Vec<u8>) {
    let of = |name: &str| state.register_of(thread, name).map(<[u8]>::to_vec);
    let registers = ["RAX", "RSP", "RDI", "ZF", "CF", "XMM0"].map(of).to_vec();
    let stack = state
        .register_of(thread, "RSP")
        .map_or(0, |bytes| bytes.iter().rev().fold(0, |all, byte| all << 8 | u64::from(*byte)));
    (state.pc_of(thread), registers, state.read_some(stack, 64))
}

/// Some states pass, as odd as programs are.
fn odd(registers: [u64; 3], stack: u64, pc: u64, thread: u32) -> bool {
    let word = registers.iter().fold(stack, |all, one| all ^ one);
    (word >> 3 ^ word ^ pc >> 2 ^ u64::from(thread)) & 1 == 0
}

const SEEN: [&str; 3] = ["RSP", "RDI", "RBX"];

fn passes(state: &State) -> bool {
    let registers = SEEN.map(|name| state.register(name).unwrap_or(0));
    let mut stack = [0; 8];
    // What cannot be read is zero.
    let _ = state.read(registers[0], &mut stack);
    odd(registers, u64::from_le_bytes(stack), state.pc(), state.thread())
}

/// A test, and how often it was asked with a state of its own.
struct Odd {
    side: Side,
    /// Whether it can tell where a replay passes.
    in_place: bool,
    states: AtomicUsize,
}

impl Odd {
    fn new(side: Side, in_place: bool) -> Arc<Odd> {
        Arc::new(Odd { side, in_place, states: AtomicUsize::new(0) })
    }
}

impl Examine for Odd {
    fn side(&self) -> Side {
        self.side
    }

    fn holds(&self, state: Arc<State>) -> Result<bool, Unanswered> {
        self.states.fetch_add(1, SeqCst);
        Ok(passes(&state))
    }

    fn passes(&self, passing: &Passing<'_>) -> Option<bool> {
        // Flags are not told where they may be old.
        assert!(passing.register("RIP").is_none());
        let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap());
        let mut registers = [0; 3];
        for (index, (register, name)) in registers.iter_mut().zip(SEEN).enumerate() {
            *register = word(passing.register(name)?);
            assert_eq!(Some(*register), passing.listed(&LISTED, index).map(word));
        }
        let mut stack = [0; 8];
        let thread = passing.thread().filter(|_| self.in_place && passing.read(registers[0], &mut stack))?;
        Some(odd(registers, u64::from_le_bytes(stack), passing.pc(), thread))
    }
}

static LISTED: [&str; 3] = SEEN;

#[derive(Debug, thiserror::Error)]
#[error("no answer at {0}")]
struct NoAnswer(u64);

/// Gives no answer from some time on.
struct Fails(u64);

impl Examine for Fails {
    fn side(&self) -> Side {
        Side::Before
    }

    fn holds(&self, state: Arc<State>) -> Result<bool, Unanswered> {
        let time = state.time();
        if time < self.0 { Ok(passes(&state)) } else { Err(Unanswered(Arc::new(NoAnswer(time)))) }
    }
}

/// What a look keeps: time, thread, place, some registers, and the top of the stack if it can be read.
type Kept = (u64, u32, u64, Vec<Option<Vec<u8>>>, Option<[u8; 8]>);

fn kept_of(state: &State) -> Kept {
    let registers = SEEN.map(|name| state.register_of(state.thread(), name).map(<[u8]>::to_vec)).to_vec();
    let mut stack = [0; 8];
    let top = state.read(state.register("RSP").unwrap_or(0), &mut stack).ok().map(|()| stack);
    (state.time(), state.thread(), state.pc(), registers, top)
}

/// Looks at hits and at other times, on the way or not, against states.
fn check_looks(
    travel: &Travel,
    eager: &Eager,
    at: Option<&Ranges>,
    mut times: Vec<(u64, Side)>,
    random: &mut Random,
) -> Result<(), String> {
    let text = |error: parallax_travel::TravelError| error.to_string();
    let end = eager.steps.len() as u64 + 1;
    for _ in 0..5 {
        times.push((1 + random.below(end), if random.below(2) == 0 { Side::Before } else { Side::After }));
    }
    times.sort_unstable_by_key(|(time, side)| (*time, *side == Side::After));
    times.dedup();
    let most = random.below(4) as usize * 100 + 5;
    times.truncate(most);
    let stops = Arc::new(AtomicUsize::new(0));
    let stopped = stops.clone();
    let look = move |passing: &Passing<'_>| -> Option<Kept> {
        // Flags are told where the replay was sent, and not on its way.
        let is_sent = passing.register("ZF").is_some();
        assert_eq!(is_sent, passing.registers().get("ZF").is_some());
        stopped.fetch_add(usize::from(is_sent), SeqCst);
        let registers = SEEN.map(|name| passing.register(name).map(<[u8]>::to_vec)).to_vec();
        let mut stack = [0; 8];
        let top = u64::from_le_bytes(registers[0].as_ref()?[..].try_into().ok()?);
        let top = passing.read(top, &mut stack).then_some(stack)?;
        Some((passing.time(), passing.thread()?, passing.pc(), registers, Some(top)))
    };
    let looks = travel.looks(&times, at, look, &Unwatched).map_err(text)?;
    let states = travel.states(&times, &Unwatched).map_err(text)?;
    if looks.len() != states.len() {
        return Err(format!("{} looks at {} states", looks.len(), states.len()));
    }
    for ((look, state), asked) in looks.iter().zip(&states).zip(&times) {
        let seen = match look {
            Look::InPlace(seen) => seen.clone(),
            Look::Copied(state) => kept_of(state),
        };
        if seen != kept_of(state) {
            return Err(format!("looking at {asked:?}: {seen:x?} for {:x?}", kept_of(state)));
        }
    }
    // A program alone is sent only where it does not execute what was said, or makes a call that may have waited.
    let passes = |(time, side): &&(u64, Side)| {
        let step = eager.steps.get(*time as usize - 1);
        let is_there = |address| at.is_some_and(|at| at.holds(address));
        *side == Side::Before
            && step.is_some_and(|step| step.system_call.is_none() && step.address.is_some_and(is_there))
    };
    let (sent, most) = (stops.load(SeqCst), times.len() - times.iter().filter(passes).count());
    // Who makes a step is not known on the way after a fork, or in a new program.
    const RENUMBERING: [u64; 6] = [56, 57, 58, 59, 322, 435];
    let is_renumbered =
        eager.steps.iter().any(|step| step.system_call.is_some_and(|n| RENUMBERING.contains(&n)));
    if eager.is_alone() && !is_renumbered && sent > most {
        return Err(format!("stopped at {sent} steps of {}, {most} would do", times.len()));
    }
    Ok(())
}

pub fn check(travel: &Travel, eager: &Eager, random: &mut Random) -> Result<(), String> {
    let end = eager.steps.len() as u64 + 1;
    let text = |error: parallax_travel::TravelError| error.to_string();
    // States, in any order.
    let side = |random: &mut Random| if random.below(2) == 0 { Side::Before } else { Side::After };
    let mut wanted: Vec<(u64, Side)> = (0..40).map(|_| (1 + random.below(end - 1), side(random))).collect();
    wanted.extend([(1, Side::Before), (1, Side::After), (end - 1, Side::After)]);
    let states = travel.states(&wanted, &Unwatched).map_err(text)?;
    wanted.sort_by_key(|(time, side)| (*time, *side == Side::After));
    if states.len() != wanted.len() {
        return Err(format!("{} states of {}", states.len(), wanted.len()));
    }
    for ((time, side), state) in wanted.iter().zip(&states) {
        let at = time + u64::from(*side == Side::After);
        let alone = travel.state(at).map_err(text)?;
        let thread = eager.steps[*time as usize - 1].thread;
        let (one, other) = (shown(state, state.thread()), shown(&alone, state.thread()));
        let is_thread = state.thread() == thread || !state.threads().any(|one| one == thread);
        if state.time() != at || !is_thread || one != other {
            let name = state.thread();
            return Err(format!("{side:?} {time}: thread {name} for {thread}, {one:x?} for {other:x?}"));
        }
    }
    // Tests: the hits of the plain search that pass, whichever way they are asked for.
    // Places in the code that run often, and one at random.
    let mut counts: BTreeMap<u64, usize> = BTreeMap::new();
    let early = &eager.steps[..eager.steps.len().min(30_000)];
    early.iter().filter_map(|step| step.address).for_each(|address| *counts.entry(address).or_default() += 1);
    let mut places: Vec<(usize, u64)> = counts.iter().map(|(address, count)| (*count, *address)).collect();
    places.sort_unstable();
    let mut at: Vec<u64> = places.iter().rev().take(3).map(|(_, address)| *address).collect();
    at.push(places[random.below(places.len() as u64) as usize].1);
    let at = Ranges::new(at.into_iter().map(|address| address..address + 1));
    let conditions = [
        Filter::Execute(at.clone()),
        Filter::Any(vec![Filter::Execute(at), Filter::Return]),
        Filter::Call(Ranges::all()),
        Filter::SystemCall(Numbers::All),
        Filter::Return,
    ];
    for plain in conditions {
        let within = 1..end.min(1 + 30_000 + random.below(30_000));
        let all =
            travel.search(std::slice::from_ref(&plain), within.clone(), Direction::Forward, 400, &Unwatched);
        let all = all.map_err(text)?;
        let within = all.decided.clone();
        let sides = if random.below(2) == 0 { Side::Before } else { Side::After };
        let times: Vec<(u64, Side)> = all.hits.iter().map(|hit| (hit.time, sides)).collect();
        let states = travel.states(&times, &Unwatched).map_err(text)?;
        let hits = all.hits.iter().zip(&states).filter(|(_, state)| passes(state));
        let expected: Vec<u64> = hits.map(|(hit, _)| hit.time).collect();
        let odd = Odd::new(sides, random.below(3) > 0);
        let tested = Filter::When(Box::new(plain.clone()), Test(odd.clone()));
        for (direction, max) in
            [(Direction::Backward, 3), (Direction::Forward, 7), (Direction::Forward, usize::MAX)]
        {
            let both = [tested.clone(), Filter::Signal(Numbers::All)];
            let found = travel.search(&both, within.clone(), direction, max, &Unwatched).map_err(text)?;
            let found: Vec<u64> =
                found.hits.iter().filter(|hit| hit.which & 1 != 0).map(|hit| hit.time).collect();
            let mut wanted = expected.clone();
            if direction == Direction::Backward {
                wanted.reverse();
            }
            let is_right = if max == usize::MAX { found == wanted } else { wanted.starts_with(&found) };
            if !is_right {
                return Err(format!("{plain:?} {sides:?} {direction:?} {max}: {found:?} for {wanted:?}"));
            }
        }
        // Where a replay passes by itself, no state is copied, unless the call that it is waits.
        let is_plain = matches!(plain, Filter::Execute(_)) && sides == Side::Before && odd.in_place;
        let is_call = |hit: &parallax_trace::Hit| eager.steps[hit.time as usize - 1].system_call.is_some();
        let copied = odd.states.load(SeqCst);
        if is_plain && all.hits.iter().all(|hit| !is_call(hit)) && copied > 0 && eager.is_alone() {
            return Err(format!("{plain:?}: {copied} states were copied for nothing"));
        }
        check_looks(travel, eager, plain.executed(), times, random)?;
        // A test without an answer is an error of the search that meets it, and of no other.
        if let Some(middle) = all.hits.get(all.hits.len() / 2) {
            let failing = [Filter::When(Box::new(plain.clone()), Test(Arc::new(Fails(middle.time))))];
            let search = |within| travel.search(&failing, within, Direction::Forward, usize::MAX, &Unwatched);
            let early =
                if within.start < middle.time { search(within.start..middle.time).err() } else { None };
            // What comes before it is told; who goes on from there gets the error.
            let until = search(within.clone()).map_or(within.start, |found| found.decided.end);
            if early.is_some() || until > middle.time || search(until..within.end).is_ok() {
                return Err(format!("{plain:?}: no answer at {} was not said, or too early", middle.time));
            }
        }
    }
    // Turns: who makes a step that is an instruction of its own.
    let turns = travel.turns(&Unwatched).map_err(text)?;
    for (index, step) in eager.steps.iter().enumerate() {
        let time = index as u64 + 1;
        let turn = turns.partition_point(|(from, _)| *from <= time);
        let thread = turns.get(turn.wrapping_sub(1)).map(|(_, thread)| *thread);
        if step.system_call.is_none() && step.signal.is_none() && thread != Some(step.thread) {
            return Err(format!("step {time} of thread {} is in a turn of {thread:?}", step.thread));
        }
    }
    Ok(())
}
