//! Many states in one pass, tests where a search passes, and whose turn it is: each held against the slow way.

use crate::eager::Eager;
use crate::queries::Random;
use parallax_trace::{Direction, Target, Unwatched};
use parallax_travel::{Examine, Filter, Numbers, Ranges, Side, State, Test, Travel, Unanswered};
use std::sync::Arc;

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
fn passes(state: &State) -> bool {
    let word = state.register("RSP").unwrap_or(0) ^ state.register("RDI").unwrap_or(0);
    (word >> 3 ^ state.pc() >> 2 ^ u64::from(state.thread())) & 1 == 0
}

struct Odd(Side);

impl Examine for Odd {
    fn side(&self) -> Side {
        self.0
    }

    fn holds(&self, state: State) -> Result<bool, Unanswered> {
        Ok(passes(&state))
    }
}

#[derive(Debug, thiserror::Error)]
#[error("no answer at {0}")]
struct NoAnswer(u64);

/// Gives no answer from some time on.
struct Fails(u64);

impl Examine for Fails {
    fn side(&self) -> Side {
        Side::Before
    }

    fn holds(&self, state: State) -> Result<bool, Unanswered> {
        let time = state.time();
        if time < self.0 { Ok(passes(&state)) } else { Err(Unanswered(Arc::new(NoAnswer(time)))) }
    }
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
    for plain in [Filter::Call(Ranges::all()), Filter::SystemCall(Numbers::All), Filter::Return] {
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
        let tested = Filter::When(Box::new(plain.clone()), Test(Arc::new(Odd(sides))));
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
        // A test without an answer is an error of the search that meets it, and of no other.
        if let Some(middle) = all.hits.get(all.hits.len() / 2) {
            let failing = [Filter::When(Box::new(plain.clone()), Test(Arc::new(Fails(middle.time))))];
            let search = |within| travel.search(&failing, within, Direction::Forward, usize::MAX, &Unwatched);
            let early =
                if within.start < middle.time { search(within.start..middle.time).err() } else { None };
            if early.is_some() || search(within.clone()).is_ok() {
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
