//! The instructions, family by family: here those that move values and control; numbers, arrays and objects have
//! files of their own.

use crate::code::{Constant, Instr, Kind};
use crate::machine::{Answer, Cut, Done, Task, Trouble, gap, kind_of, unverifiable};
use crate::state::{Control, Outcome, Slot, State};
use parallax_engines::{BoolOf, IntOf, Memory};
use parallax_op::{BinOp, Bits, RelOp};
use parallax_sem::Core;

impl Task {
    /// One instruction.
    pub(crate) fn instruction<M: Memory>(&self, state: &mut State<M>) -> Answer<M> {
        let Some(frame) = &mut state.frame else { return unverifiable("nothing to run") };
        let Some(code) = frame.method.code.clone() else { return unverifiable("a method without a body") };
        frame.at = frame.next;
        frame.next += 1;
        if frame.stack.len() > code.stack {
            return unverifiable("more operands than declared");
        }
        let at = frame.at;
        let Some(instruction) = code.instructions.get(at) else {
            return unverifiable("control that leaves the method");
        };
        self.execute(state, at, instruction)
    }

    fn execute<M: Memory>(&self, state: &mut State<M>, at: usize, instruction: &Instr) -> Answer<M> {
        match instruction {
            Instr::Nop => {}
            Instr::Goto(target) => return self.jump_to(state, at, *target),
            Instr::Push(constant) => return self.constant(state, constant),
            Instr::Load(kind, n) => {
                let slot = state.frame.as_ref().and_then(|frame| frame.locals.get(usize::from(*n))).cloned();
                let slot = match slot {
                    Some(slot) if fits(*kind, &slot) => slot,
                    _ => return unverifiable("a variable of another kind"),
                };
                state.push(slot);
            }
            Instr::Store(kind, n) => {
                let slot = state.pop()?;
                if !fits(*kind, &slot) && !matches!((kind, &slot), (Kind::Ref, Slot::Address(_))) {
                    return unverifiable("a value of another kind");
                }
                match state.frame.as_mut().and_then(|frame| frame.locals.get_mut(usize::from(*n))) {
                    Some(local) => *local = slot,
                    None => return unverifiable("a variable that is not there"),
                }
            }
            Instr::Increment(n, by) => {
                let by = state.memory()?.int((*by).into());
                let local = state.frame.as_ref().and_then(|frame| frame.locals.get(usize::from(*n))).cloned();
                let value = match local {
                    Some(Slot::Int(value)) => value,
                    Some(Slot::Bool(value)) => state.memory()?.core().bool_to_val(32, &value),
                    _ => return unverifiable("not an int"),
                };
                let sum = state.memory()?.core().binop(BinOp::Add, 32, &value, &by);
                if let Some(frame) = &mut state.frame {
                    frame.locals[usize::from(*n)] = Slot::Int(sum);
                }
            }
            Instr::Shuffle(shuffle) => return self.shuffle(state, *shuffle),
            Instr::Binary(..)
            | Instr::Shift(..)
            | Instr::Divide(..)
            | Instr::Negate(_)
            | Instr::FloatBinary(..)
            | Instr::FloatRemainder(_)
            | Instr::Convert(..)
            | Instr::Narrow(_)
            | Instr::CompareLong
            | Instr::CompareFloat(..) => return self.arithmetic(state, instruction),
            Instr::IfZero(relation, target) => {
                let condition = match (state.pop()?, relation) {
                    (Slot::Bool(value), RelOp::Ne) => value,
                    (Slot::Bool(value), RelOp::Eq) => state.memory()?.core().not(&value),
                    (slot, _) => {
                        state.push(slot);
                        let value = state.pop_int()?;
                        let memory = state.memory()?;
                        memory.core().relop(*relation, 32, &value, &memory.int(0))
                    }
                };
                return self.branch(state, &condition, at, *target);
            }
            Instr::IfInt(relation, target) => {
                let (right, left) = (state.pop()?, state.pop()?);
                let condition = match (left, right, relation) {
                    (Slot::Bool(a), Slot::Bool(b), RelOp::Eq | RelOp::Ne) => {
                        let core = state.memory()?.core();
                        let same = core.boolop(parallax_op::BoolOp::Iff, &a, &b);
                        if *relation == RelOp::Eq { same } else { core.not(&same) }
                    }
                    (left, right, _) => {
                        state.push(left);
                        state.push(right);
                        let (b, a) = (state.pop_int()?, state.pop_int()?);
                        state.memory()?.core().relop(*relation, 32, &a, &b)
                    }
                };
                return self.branch(state, &condition, at, *target);
            }
            Instr::IfSame(wanted, target) => {
                let (b, a) = (state.pop_ref()?, state.pop_ref()?);
                return self.same(state, &a, &b, *wanted, at, *target);
            }
            Instr::IfNull(wanted, target) => {
                let reference = state.pop_ref()?;
                let null = state.memory()?.null();
                return self.same(state, &reference, &null, *wanted, at, *target);
            }
            Instr::Subroutine(target) => {
                state.push(Slot::Address(at + 1));
                state.jump(*target);
            }
            Instr::SubroutineReturn(n) => {
                match state.frame.as_ref().and_then(|frame| frame.locals.get(usize::from(*n))) {
                    Some(Slot::Address(target)) => {
                        let target = *target;
                        state.jump(target);
                    }
                    _ => return unverifiable("not a return address"),
                }
            }
            Instr::Switch(cases, default) => {
                let value = state.pop_int()?;
                return self.switch(state, &value, cases, *default, 0);
            }
            Instr::Return(kind) => {
                let value = match kind {
                    None => None,
                    Some(kind) => {
                        let slot = state.pop()?;
                        if !fits(*kind, &slot) {
                            return unverifiable("a result of another kind");
                        }
                        Some(slot)
                    }
                };
                let result = state.frame.as_ref().and_then(|frame| frame.method.signature.result.clone());
                let value = match (result, value) {
                    (None, None) => None,
                    (Some(ty), Some(slot)) if kind_of(&ty) == kind.unwrap_or(Kind::Ref) => {
                        let memory = state.memory()?;
                        let value = self.value(memory, &ty, slot)?;
                        Some(self.slot(memory, &ty, value)?)
                    }
                    _ => return unverifiable("a result of another type"),
                };
                state.control = Control::Return(value);
            }
            Instr::Throw => {
                let exception = state.pop_ref()?;
                return self.object(state, &exception.clone(), move |_, state| {
                    state.control = Control::Throw(exception.clone());
                    Ok(Done::Next)
                });
            }
            Instr::GetField(_)
            | Instr::PutField(_)
            | Instr::GetStatic(_)
            | Instr::PutStatic(_)
            | Instr::New(_)
            | Instr::CheckCast(_)
            | Instr::InstanceOf(_) => return self.on_object(state, instruction),
            Instr::NewArray(..) | Instr::ArrayLength | Instr::ArrayLoad(_) | Instr::ArrayStore(_) => {
                return self.array(state, instruction);
            }
            Instr::Invoke(call, member, signature) => return self.invoke(state, *call, member, signature),
            Instr::InvokeDynamic(bootstrap, name, signature) => {
                let Some(frame) = &state.frame else { return unverifiable("nothing to run") };
                let method = self.program.link(&frame.method.clone(), at, *bootstrap, name, signature)?;
                self.inform(state)?;
                let arguments = self.arguments(state, &signature.parameters)?;
                return self.call(state, method, arguments);
            }
            Instr::Monitor(enters) => {
                let (reference, enters) = (state.pop_ref()?, *enters);
                return self.object(state, &reference.clone(), move |_, state| {
                    match enters {
                        true => state.monitors.push(reference.clone()),
                        false => state.leave_monitor(),
                    }
                    Ok(Done::Next)
                });
            }
            Instr::Opaque => {
                if self.symbolic {
                    let text = self.opaque_string(state)?;
                    state.control = Control::Return(Some(Slot::Ref(text)));
                }
            }
            Instr::Unsupported(what) => return gap(format!("not modelled: {what}")),
        }
        Ok(Done::Next)
    }

    fn constant<M: Memory>(&self, state: &mut State<M>, constant: &Constant) -> Answer<M> {
        let memory = state.memory()?;
        let bits = |width, value: u128| memory.core().constant(&Bits::new(width, value));
        let slot = match constant {
            Constant::Null => Slot::Ref(memory.null()),
            Constant::Int(value) => Slot::Int(memory.int(*value)),
            Constant::Long(value) => Slot::Long(bits(64, u128::from(*value as u64))),
            Constant::Float(value) => Slot::Float(bits(32, (*value).into())),
            Constant::Double(value) => Slot::Double(bits(64, (*value).into())),
            Constant::String(text) => Slot::Ref(self.literal(state, text)?),
            Constant::Class(name) => Slot::Ref(self.mirror(state, name)?),
        };
        state.push(slot);
        Ok(Done::Next)
    }

    /// Goes to a place, and counts rounds of loops. Loops within a loop begin anew with each of its rounds.
    fn jump_to<M: Memory>(&self, state: &mut State<M>, from: usize, target: usize) -> Answer<M> {
        let counts = self.bounds.rounds > 0 && state.initialising == 0 && state.quiet == 0 && target <= from;
        if let Some(frame) = &mut state.frame {
            frame.next = target;
            if counts {
                let rounds = frame.rounds_of(target) + 1;
                let flow = frame.method.code.as_ref().map(|code| code.flow());
                let ends =
                    |first: usize| first == target || flow.is_some_and(|flow| flow.is_within(first, target));
                frame.rounds.retain(|(first, _)| !ends(*first));
                frame.rounds.push((target, rounds));
                if rounds > self.bounds.rounds {
                    return Err(Trouble::Cut(Cut::Loop));
                }
            }
        }
        Ok(Done::Next)
    }

    fn branch<M: Memory>(
        &self,
        state: &mut State<M>,
        condition: &BoolOf<M>,
        from: usize,
        target: usize,
    ) -> Answer<M> {
        let split = state.split(|memory| memory.branch(condition))?;
        self.each(state, split, |state, holds| {
            self.saw(state, Outcome::Branch(holds));
            if holds { self.jump_to(state, from, target) } else { Ok(Done::Next) }
        })
    }

    fn same<M: Memory>(
        &self,
        state: &mut State<M>,
        a: &M::Ref,
        b: &M::Ref,
        wanted: bool,
        from: usize,
        target: usize,
    ) -> Answer<M> {
        let split = state.split(|memory| memory.equal(a, b))?;
        self.each(state, split, |state, same| {
            self.saw(state, Outcome::Equal(same));
            if same == wanted { self.jump_to(state, from, target) } else { Ok(Done::Next) }
        })
    }

    fn switch<M: Memory>(
        &self,
        state: &mut State<M>,
        value: &IntOf<M>,
        cases: &[(i32, usize)],
        default: usize,
        at: usize,
    ) -> Answer<M> {
        if let Some(known) = state.known_int(value)? {
            let case = cases.iter().find(|(key, _)| *key == known);
            self.saw(state, Outcome::Case(case.map(|(key, _)| *key)));
            state.jump(case.map_or(default, |(_, target)| *target));
            return Ok(Done::Next);
        }
        let Some(&(key, target)) = cases.get(at) else {
            self.saw(state, Outcome::Case(None));
            state.jump(default);
            return Ok(Done::Next);
        };
        let memory = state.memory()?;
        let here = memory.core().relop(RelOp::Eq, 32, value, &memory.int(key));
        let split = state.split(|memory| memory.branch(&here))?;
        self.each(state, split, |state, here| {
            if here {
                self.saw(state, Outcome::Case(Some(key)));
                state.jump(target);
                return Ok(Done::Next);
            }
            self.switch(state, value, cases, default, at + 1)
        })
    }
}

fn fits<M: Memory>(kind: Kind, slot: &Slot<M>) -> bool {
    matches!(
        (kind, slot),
        (Kind::Int, Slot::Int(_) | Slot::Bool(_))
            | (Kind::Long, Slot::Long(_))
            | (Kind::Float, Slot::Float(_))
            | (Kind::Double, Slot::Double(_))
            | (Kind::Ref, Slot::Ref(_))
    )
}
