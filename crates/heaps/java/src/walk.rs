//! A concrete run, instruction by instruction, for whoever wants to see it: coverage, reports, sequences of calls.

use crate::machine::Task;
use crate::state::{Control, State};
use parallax_engines::{Concrete, EndOf, Machine, Step, Stop};
use parallax_path::Chain;

/// Sees a state before each instruction, and may stop the run.
pub type Seer<'a> = &'a mut dyn FnMut(&State<Concrete>) -> Result<(), Stop>;

/// A state without successors, and how it came to that.
pub type Ended = (State<Concrete>, EndOf<Task, Concrete>);

impl Task {
    /// Runs the task on a heap; `see` is shown the state before each instruction, return and throw.
    pub fn walk(&self, memory: Concrete, see: Seer<'_>) -> Result<Ended, Stop> {
        self.follow(self.start(memory)?, see)
    }

    /// Runs the task once more where another run ended: on its heap, with the classes it initialised.
    pub fn walk_on(&self, mut state: State<Concrete>, see: Seer<'_>) -> Result<Ended, Stop> {
        state.control = Control::Run;
        state.trace = Chain::default();
        state.frame = None;
        state.raised = None;
        state.steps = 0;
        self.follow(self.begin(state, self.rep_ok.as_ref())?, see)
    }

    fn follow(&self, mut steps: Vec<Step<Task, Concrete>>, see: Seer<'_>) -> Result<Ended, Stop> {
        loop {
            match steps.pop() {
                Some(Step::On(mut state)) => {
                    see(&state)?;
                    let answer = self.once(&mut state);
                    steps = self.steps(state, answer)?;
                }
                Some(Step::Done(state, end)) => return Ok((state, end)),
                None => return Stop::broken("a concrete run without an end"),
            }
        }
    }
}
