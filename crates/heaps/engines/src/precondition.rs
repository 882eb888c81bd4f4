//! A precondition as one condition: its paths are run side by side and become one where they meet.
//!
//! The paths of a precondition multiply (one for each shape of a search tree), though nobody asks which of them an
//! input took. States meet when they hand a value down to the same frames, or come to the same place in one. The deepest
//! stack runs first, and of those the state that is least far, so whoever can still come to a meeting has come before
//! those who wait go on. States that are told apart by a known value, such
//! as the answer `false`, stay apart: those are rejected sooner than a mixture would be.

use crate::engine::Ending;
use crate::explore::Run;
use crate::machine::{End, EndOf, Machine, MachineState, Step, Urgency};
use crate::memory::{Memory, Stop};
use std::collections::BTreeMap;

impl<L: Machine, M: Memory> Run<'_, L, M> {
    /// The memories in which the precondition holds: one, if the memory can be merged.
    pub fn accepted(&mut self, memory: M) -> Result<Vec<M>, Stop> {
        let mut accepted = Vec::new();
        let mut ended = Vec::new();
        let mut pending = BTreeMap::new();
        self.sort(self.task.start(memory)?, &mut pending, &mut ended)?;
        while let Some((_, now)) = pending.pop_last() {
            let (waiting, others): (Vec<_>, Vec<_>) = now.into_iter().partition(MachineState::waits);
            let met = together(waiting, kin, MachineState::meets, MachineState::merged)?;
            for state in others.into_iter().chain(met) {
                match state.verdict() {
                    None => {
                        let steps = self.task.step(state)?;
                        self.sort(steps, &mut pending, &mut ended)?;
                    }
                    Some(holds) => {
                        let answers = state.into_memory().branch(&holds)?;
                        self.count(answers.len(), pending.values().map(Vec::len).sum())?;
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
        together(accepted, M::kinship, |_, _| true, nothing)
    }

    fn sort(
        &mut self,
        steps: Vec<Step<L, M>>,
        pending: &mut BTreeMap<Urgency, Vec<L::State<M>>>,
        ended: &mut Vec<(M, EndOf<L, M>)>,
    ) -> Result<(), Stop> {
        self.count(steps.len(), pending.values().map(Vec::len).sum())?;
        for step in steps {
            match step {
                Step::On(state) => pending.entry(state.urgency()).or_default().push(state),
                Step::Done(_, End::Discarded) => self.progress.discarded += 1,
                Step::Done(state, end) => ended.push((state.into_memory(), end)),
            }
        }
        Ok(())
    }

    /// Errors and bounds of the precondition itself: one end for each kind.
    fn report(&mut self, mut ended: Vec<(M, EndOf<L, M>)>) -> Result<(), Stop> {
        ended.sort_by_key(|(_, end)| Ending::from(end));
        let nothing = |memory: M, other| memory.merged(other, &[]).map(|(memory, _)| memory);
        while let Some((_, end)) = ended.last() {
            let end = end.clone();
            let kind = Ending::from(&end);
            let first = ended.iter().position(|(_, end)| Ending::from(end) == kind).unwrap_or(0);
            let alike: Vec<M> = ended.drain(first..).map(|(memory, _)| memory).collect();
            for memory in together(alike, M::kinship, |_, _| true, nothing)? {
                self.end(L::State::ended(memory), end.clone())?;
            }
        }
        Ok(())
    }
}

/// How closely the memories of two states are related.
fn kin<M: Memory, S: MachineState<M>>(one: &S, other: &S) -> Option<usize> {
    one.memory().kinship(other.memory())
}

/// Merges what can be merged, closest kin first.
fn together<T>(
    mut all: Vec<T>,
    kinship: impl Fn(&T, &T) -> Option<usize>,
    meet: impl Fn(&T, &T) -> bool,
    merge: impl Fn(T, T) -> Result<T, Stop>,
) -> Result<Vec<T>, Stop> {
    loop {
        let mut best: Option<(usize, usize, usize)> = None;
        for (b, other) in all.iter().enumerate() {
            for (a, one) in all[..b].iter().enumerate() {
                if !meet(one, other) {
                    continue;
                }
                let Some(close) = kinship(one, other) else { return Ok(all) };
                if best.is_none_or(|(most, ..)| close > most) {
                    best = Some((close, a, b));
                }
            }
        }
        let Some((_, a, b)) = best else { return Ok(all) };
        let other = all.remove(b);
        let one = all.remove(a);
        all.insert(a, merge(one, other)?);
    }
}
