//! The meaning of an instruction: a state to a state.

use crate::meaning::state::Temporaries;
use crate::meaning::value::constant;
use crate::meaning::{MeaningError, State, Value, evaluate};
use crate::{Instruction, Op, Space, Trap, Varnode};
use parallax_op::BoolOp;
use parallax_sem::{Core, Origin, Places};

/// How many operations one instruction may take, and how many times its control may split.
const MAX_STEPS: usize = 100_000;
const MAX_SPLITS: usize = 128;

/// The state after `instruction`, the program counter included.
///
/// Where the reading can tell which way a branch inside the instruction goes, it goes there; elsewhere both ways are
/// taken and joined with `cond`.
pub fn exec<C: Core>(core: &C, instruction: &Instruction, state: State<C>) -> Result<State<C>, MeaningError> {
    exec_with(core, instruction, state, &mut |_, _| Origin::Anywhere)
}

/// The same, with somebody to ask where loads are from that the reading cannot tell: perhaps from read-only memory.
pub fn exec_with<C: Core>(
    core: &C,
    instruction: &Instruction,
    state: State<C>,
    places: &mut Places<'_, C>,
) -> Result<State<C>, MeaningError> {
    let order = state.processor().order;
    let mut run = Run { core, instruction, places, steps: 0, splits: 0 };
    run.from(core.boolean(true), 0, state, Temporaries::new(order))
}

struct Run<'a, 'p, C: Core> {
    core: &'a C,
    instruction: &'a Instruction,
    places: &'a mut Places<'p, C>,
    steps: usize,
    splits: usize,
}

impl<C: Core> Run<'_, '_, C> {
    /// Goes on at an operation, which is reached under the condition `path`.
    fn from(
        &mut self,
        path: C::Bool,
        mut index: usize,
        mut state: State<C>,
        mut temporaries: Temporaries<C>,
    ) -> Result<State<C>, MeaningError> {
        let core = self.core;
        while let Some(op) = self.instruction.ops.get(index) {
            self.steps += 1;
            if self.steps > MAX_STEPS {
                return Err(MeaningError::Loop(MAX_STEPS));
            }
            index += 1;
            match op {
                Op::Load { out, address } => {
                    let key = address.width();
                    let at = read(core, &state, &temporaries, *address)?.word(core, key);
                    let value = state.load(core, key, &at, out.bytes, || (self.places)(&path, &at))?;
                    write(core, &mut state, &mut temporaries, *out, Value::Word(value))?;
                }
                Op::Store { address, value } => {
                    let key = address.width();
                    let at = read(core, &state, &temporaries, *address)?.word(core, key);
                    for touches in state.touches_read_only(core, key, &at, value.bytes) {
                        if core.decided(&touches) == Some(true) {
                            state.stop(touches, Trap::Protection);
                            return self.fault(state);
                        }
                        state.stop(touches, Trap::Protection);
                    }
                    let stored = read(core, &state, &temporaries, *value)?.word(core, value.width());
                    let order = state.processor().order;
                    // Memory is moved, not copied: a table that only this state holds changes in place.
                    state.memory = core.store(state.memory, key, &at, value.bytes, order, &stored);
                    state.note_store();
                }
                Op::Branch { when, to } => {
                    let to = usize::from(*to);
                    match self.decide(when, &state, &temporaries)? {
                        Decision::Always => index = to,
                        Decision::Never => {}
                        Decision::Open(when) => {
                            // Going back under an unknown condition could go on for ever.
                            if to < index {
                                return Err(MeaningError::Loop(self.steps));
                            }
                            self.split()?;
                            let (then, otherwise) = self.both(&path, &when);
                            let taken = self.from(then, to, state.clone(), temporaries.clone())?;
                            let other = self.from(otherwise, index, state, temporaries)?;
                            return Ok(taken.join(core, &when, other));
                        }
                    }
                }
                Op::Jump { when, to, .. } => {
                    let target = read(core, &state, &temporaries, *to)?;
                    match self.decide(when, &state, &temporaries)? {
                        Decision::Always => return self.leave(state, target),
                        Decision::Never => {}
                        Decision::Open(when) => {
                            self.split()?;
                            let (_, otherwise) = self.both(&path, &when);
                            let taken = self.leave(state.clone(), target)?;
                            let other = self.from(otherwise, index, state, temporaries)?;
                            return Ok(taken.join(core, &when, other));
                        }
                    }
                }
                Op::Trap { when, trap } => match self.decide(when, &state, &temporaries)? {
                    Decision::Always => {
                        state.stop(core.boolean(true), *trap);
                        return match trap {
                            Trap::SystemCall | Trap::Breakpoint => self.finish(state),
                            _ => self.fault(state),
                        };
                    }
                    Decision::Never => {}
                    Decision::Open(when) => state.stop(when, *trap),
                },
                _ => {
                    let value = evaluate(core, state.processor(), op, |place| {
                        read(core, &state, &temporaries, place)
                    })?;
                    if let Some(out) = op.out() {
                        write(core, &mut state, &mut temporaries, out, value)?;
                    }
                }
            }
        }
        self.finish(state)
    }

    /// The conditions of the two ways from here.
    fn both(&self, path: &C::Bool, when: &C::Bool) -> (C::Bool, C::Bool) {
        let and = |with: &C::Bool| self.core.boolop(BoolOp::And, path, with);
        (and(when), and(&self.core.not(when)))
    }

    /// A fault leaves the program counter at the instruction that is at fault.
    fn fault(&self, state: State<C>) -> Result<State<C>, MeaningError> {
        let pc = state.processor().pc;
        let here = constant(self.core, pc.width(), u128::from(self.instruction.address));
        self.leave(state, Value::Word(here))
    }

    /// Falls through to the next instruction.
    fn finish(&self, state: State<C>) -> Result<State<C>, MeaningError> {
        let pc = state.processor().pc;
        let next = constant(self.core, pc.width(), u128::from(self.instruction.next()));
        self.leave(state, Value::Word(next))
    }

    fn leave(&self, mut state: State<C>, target: Value<C>) -> Result<State<C>, MeaningError> {
        let pc = state.processor().pc;
        state.write(self.core, pc, target)?;
        Ok(state)
    }

    fn split(&mut self) -> Result<(), MeaningError> {
        self.splits += 1;
        if self.splits > MAX_SPLITS { Err(MeaningError::Loop(self.steps)) } else { Ok(()) }
    }

    fn decide(
        &self,
        when: &Option<Varnode>,
        state: &State<C>,
        temporaries: &Temporaries<C>,
    ) -> Result<Decision<C>, MeaningError> {
        let Some(when) = when else { return Ok(Decision::Always) };
        let truth = read(self.core, state, temporaries, *when)?.truth(self.core, when.width());
        Ok(match self.core.decided(&truth) {
            Some(false) => Decision::Never,
            Some(true) => Decision::Always,
            None => Decision::Open(truth),
        })
    }
}

enum Decision<C: Core> {
    Always,
    Never,
    Open(C::Bool),
}

fn read<C: Core>(
    core: &C,
    state: &State<C>,
    temporaries: &Temporaries<C>,
    place: Varnode,
) -> Result<Value<C>, MeaningError> {
    match place.space {
        Space::Constant => Ok(Value::Word(constant(core, place.width(), u128::from(place.offset)))),
        Space::Register => state.read(core, place),
        Space::Temporary => temporaries.read(core, place),
    }
}

fn write<C: Core>(
    core: &C,
    state: &mut State<C>,
    temporaries: &mut Temporaries<C>,
    place: Varnode,
    value: Value<C>,
) -> Result<(), MeaningError> {
    match place.space {
        Space::Constant => Err(MeaningError::IllFormed("a constant is written".to_owned())),
        Space::Register => state.write(core, place, value),
        Space::Temporary => {
            temporaries.write(core, place, value);
            Ok(())
        }
    }
}
