//! Depth first through every path of a task.

use crate::machine::{End, State, Step, Task};
use crate::memory::{Memory, Stop, ValueOf};

/// How far an exploration has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Paths that ended, those an assumption or the precondition rejects left out.
    pub paths: usize,
    /// Paths rejected.
    pub discarded: usize,
    /// States at which the exploration branched into: nodes of the tree of choices.
    pub states: usize,
    /// Machine steps.
    pub steps: usize,
    /// States still to visit.
    pub pending: usize,
}

/// Visits every path. `watch` is asked now and then and may stop the run; `on_end` gets each end.
pub fn explore<M: Memory>(
    task: &Task,
    memory: M,
    watch: &mut dyn FnMut(&Progress) -> Result<(), Stop>,
    on_end: &mut dyn FnMut(State<M>, End<ValueOf<M>>) -> Result<(), Stop>,
) -> (Progress, Result<(), Stop>) {
    let mut progress = Progress { states: 1, ..Progress::default() };
    let mut pending = Vec::new();
    let mut next = task.start(memory);
    let outcome = loop {
        let steps = match next {
            Ok(steps) => steps,
            Err(stop) => break Err(stop),
        };
        if steps.len() != 1 {
            progress.states += steps.len();
        }
        let mut failed = None;
        for step in steps.into_iter().rev() {
            match step {
                Step::On(state) => pending.push(state),
                Step::Done(state, end) => {
                    if matches!(end, End::Discarded) {
                        progress.discarded += 1;
                    } else {
                        progress.paths += 1;
                    }
                    failed = failed.or(on_end(state, end).err());
                }
            }
        }
        if let Some(stop) = failed {
            break Err(stop);
        }
        progress.steps += 1;
        progress.pending = pending.len();
        if progress.steps.is_multiple_of(64)
            && let Err(stop) = watch(&progress)
        {
            break Err(stop);
        }
        match pending.pop() {
            Some(state) => next = task.step(state),
            None => break Ok(()),
        }
    };
    (progress, outcome)
}
