//! Depth first through every path of a task.

use crate::machine::{End, EndOf, Machine, Step};
use crate::memory::{Memory, Stop};
use parallax_heap::LeftOut;
use parallax_path::{Bound, Completeness, Frontier, Strategy};

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

/// What an exploration came to.
pub struct Explored {
    /// How far it came.
    pub progress: Progress,
    /// Whether it ran to its end, or why not.
    pub outcome: Result<(), Stop>,
    /// What it left out.
    pub completeness: Completeness,
}

/// Visits every path. `watch` is asked at every step and may stop the run; `on_end` gets each end.
pub fn explore<L: Machine, M: Memory>(
    task: &L,
    memory: M,
    watch: &mut dyn FnMut(&Progress) -> Result<(), Stop>,
    on_end: OnEnd<'_, L, M>,
) -> Explored {
    let progress = Progress { states: 1, ..Progress::default() };
    let left_out = memory.left_out();
    let array = memory.array_bound();
    let mut run = Run { task, progress, left_out: left_out.clone(), array, watch, on_end };
    let mut pending = Frontier::new(Strategy::Depth, 0);
    let outcome = run.all(memory, &mut pending);
    match &outcome {
        Ok(()) => {}
        Err(Stop::Bound(bound)) => left_out.note(bound.clone()),
        Err(broken @ Stop::Broken(_)) => left_out.note(Bound::Unsupported(broken.to_string())),
    }
    Explored { progress: run.progress, outcome, completeness: left_out.close(&pending) }
}

/// What gets each end.
pub type OnEnd<'a, L, M> = &'a mut dyn FnMut(<L as Machine>::State<M>, EndOf<L, M>) -> Result<(), Stop>;

/// An exploration under way.
pub(crate) struct Run<'a, L: Machine, M: Memory> {
    pub task: &'a L,
    pub progress: Progress,
    left_out: LeftOut,
    /// How many elements an array may have.
    array: usize,
    watch: &'a mut dyn FnMut(&Progress) -> Result<(), Stop>,
    on_end: OnEnd<'a, L, M>,
}

impl<L: Machine, M: Memory> Run<'_, L, M> {
    fn all(&mut self, memory: M, pending: &mut Frontier<L::State<M>>) -> Result<(), Stop> {
        if self.task.merges() {
            for mut memory in self.accepted(memory)? {
                memory.enter();
                self.take(self.task.entered(memory)?, pending)?;
            }
        } else {
            self.take(self.task.start(memory)?, pending)?;
        }
        while let Some(state) = pending.pick() {
            let steps = self.task.step(state)?;
            self.take(steps, pending)?;
        }
        Ok(())
    }

    /// Sorts steps into ends and states to visit.
    fn take(&mut self, steps: Vec<Step<L, M>>, pending: &mut Frontier<L::State<M>>) -> Result<(), Stop> {
        self.count(steps.len(), pending.len())?;
        for step in steps.into_iter().rev() {
            match step {
                Step::On(state) => pending.push(state, false),
                Step::Done(state, end) => self.end(state, end)?,
            }
        }
        Ok(())
    }

    /// A path is at its end.
    pub fn end(&mut self, state: L::State<M>, end: EndOf<L, M>) -> Result<(), Stop> {
        match &end {
            End::Discarded => self.progress.discarded += 1,
            _ => self.progress.paths += 1,
        }
        if let End::Cut(cut, _) = &end {
            self.left_out.note(self.task.bound(cut, self.array));
        }
        (self.on_end)(state, end)
    }

    /// One step was made, which led to so many.
    pub fn count(&mut self, successors: usize, pending: usize) -> Result<(), Stop> {
        if successors != 1 {
            self.progress.states += successors;
        }
        self.progress.steps += 1;
        self.progress.pending = pending;
        (self.watch)(&self.progress)
    }
}
