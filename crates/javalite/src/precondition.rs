//! A precondition as one condition: its paths are run side by side and become one where they meet.
//!
//! The paths of a precondition multiply (one for each shape of a search tree), though nobody asks which of them an
//! input took. States meet when they hand a value down to the same frames. The deepest stack runs first, so whoever
//! can still come to a meeting has come before those who wait go on. States that are told apart by a known value, such
//! as the answer `false`, stay apart: those are rejected sooner than a mixture would be.

use crate::engine::Ending;
use crate::explore::Run;
use crate::machine::{End, State, Step};
use crate::memory::{Memory, Stop, ValueOf};

impl<M: Memory> Run<'_, M> {
    /// The memories in which the precondition holds: one, if the memory can be merged.
    pub fn accepted(&mut self, memory: M) -> Result<Vec<M>, Stop> {
        let mut accepted = Vec::new();
        let mut ended = Vec::new();
        let mut pending = Vec::new();
        self.sort(self.task.start(memory)?, &mut pending, &mut ended)?;
        while let Some(urgent) = pending.iter().map(State::urgency).max() {
            let (now, later) = pending.into_iter().partition(|state| state.urgency() == urgent);
            pending = later;
            let now = if urgent.1 { now } else { together(now, State::meets, State::merged)? };
            for state in now {
                match state.verdict() {
                    None => {
                        let steps = self.task.step(state)?;
                        self.sort(steps, &mut pending, &mut ended)?;
                    }
                    Some(holds) => {
                        let answers = state.memory.branch(&holds)?;
                        self.count(answers.len(), pending.len())?;
                        for (memory, holds) in answers {
                            if holds {
                                accepted.push(memory);
                            } else {
                                self.progress.discarded += 1;
                            }
                        }
                    }
                }
            }
        }
        self.report(ended)?;
        let nothing = |memory: M, other| memory.merged(other, &[]).map(|(memory, _)| memory);
        together(accepted, |_, _| true, nothing)
    }

    fn sort(
        &mut self,
        steps: Vec<Step<M>>,
        pending: &mut Vec<State<M>>,
        ended: &mut Vec<(M, End<ValueOf<M>>)>,
    ) -> Result<(), Stop> {
        self.count(steps.len(), pending.len())?;
        for step in steps {
            match step {
                Step::On(state) => pending.push(state),
                Step::Done(_, End::Discarded) => self.progress.discarded += 1,
                Step::Done(state, end) => ended.push((state.memory, end)),
            }
        }
        Ok(())
    }

    /// Errors and bounds of the precondition itself: one end for each kind.
    fn report(&mut self, mut ended: Vec<(M, End<ValueOf<M>>)>) -> Result<(), Stop> {
        ended.sort_by_key(|(_, end)| Ending::from(end));
        let nothing = |memory: M, other| memory.merged(other, &[]).map(|(memory, _)| memory);
        while let Some((_, end)) = ended.last() {
            let end = end.clone();
            let kind = Ending::from(&end);
            let first = ended.iter().position(|(_, end)| Ending::from(end) == kind).unwrap_or(0);
            let alike: Vec<M> = ended.drain(first..).map(|(memory, _)| memory).collect();
            for memory in together(alike, |_, _| true, nothing)? {
                self.end(State::ended(memory), end.clone())?;
            }
        }
        Ok(())
    }
}

/// What has a memory that may be merged.
trait Kin {
    fn kinship(&self, other: &Self) -> Option<usize>;
}

impl<M: Memory> Kin for State<M> {
    fn kinship(&self, other: &Self) -> Option<usize> {
        self.memory.kinship(&other.memory)
    }
}

impl<M: Memory> Kin for M {
    fn kinship(&self, other: &Self) -> Option<usize> {
        Memory::kinship(self, other)
    }
}

/// Merges what can be merged, closest kin first.
fn together<T: Kin>(
    mut all: Vec<T>,
    meet: impl Fn(&T, &T) -> bool,
    merge: impl Fn(T, T) -> Result<T, Stop>,
) -> Result<Vec<T>, Stop> {
    loop {
        let mut best: Option<(usize, usize, usize)> = None;
        for (b, other) in all.iter().enumerate() {
            for (a, one) in all[..b].iter().enumerate() {
                let Some(kinship) = one.kinship(other) else { return Ok(all) };
                if best.is_none_or(|(most, ..)| kinship > most) && meet(one, other) {
                    best = Some((kinship, a, b));
                }
            }
        }
        let Some((_, a, b)) = best else { return Ok(all) };
        let other = all.remove(b);
        let one = all.remove(a);
        all.insert(a, merge(one, other)?);
    }
}
