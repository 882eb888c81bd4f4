//! Numbers: integers of either width, floats of either format, and between them. What they mean is up to the reading.

use crate::code::{Instr, Kind};
use crate::machine::{Answer, Done, Task, Trouble, gap};
use crate::state::{Outcome, Slot, State};
use parallax_engines::{BoolOf, IntOf, Memory, Stop};
use parallax_op::{BinOp, Bits, FloatFormat, FloatRelOp, RelOp, Rounding, UnOp, Width};
use parallax_sem::Core;

fn float(double: bool) -> FloatFormat {
    if double { FloatFormat::F64 } else { FloatFormat::F32 }
}

fn width(kind: Kind) -> Width {
    match kind {
        Kind::Long | Kind::Double => 64,
        _ => 32,
    }
}

/// -1, 0 or 1.
fn three_way<M: Memory>(memory: &M, less: &BoolOf<M>, same: &BoolOf<M>) -> IntOf<M> {
    let core = memory.core();
    let rest = core.cond(32, same, &memory.int(0), &memory.int(1));
    core.cond(32, less, &memory.int(-1), &rest)
}

impl Task {
    /// An instruction on numbers alone.
    pub(crate) fn arithmetic<M: Memory>(&self, state: &mut State<M>, instruction: &Instr) -> Answer<M> {
        match instruction {
            Instr::Binary(op, long) => {
                let kind = if *long { Kind::Long } else { Kind::Int };
                let right = state.pop()?;
                let left = state.pop()?;
                // Truth values stay what they are under the operators that Java has for them.
                if let (Slot::Bool(a), Slot::Bool(b)) = (&left, &right)
                    && let Some(op) = match op {
                        BinOp::And => Some(parallax_op::BoolOp::And),
                        BinOp::Or => Some(parallax_op::BoolOp::Or),
                        _ => None,
                    }
                {
                    let both = state.memory()?.core().boolop(op, a, b);
                    state.push(Slot::Bool(both));
                    return Ok(Done::Next);
                }
                state.push(left);
                state.push(right);
                let b = state.pop_number(kind)?;
                let a = state.pop_number(kind)?;
                let value = state.memory()?.core().binop(*op, width(kind), &a, &b);
                state.push_number(kind, value);
            }
            Instr::Shift(op, long) => {
                let kind = if *long { Kind::Long } else { Kind::Int };
                let distance = state.pop_int()?;
                let value = state.pop_number(kind)?;
                let memory = state.memory()?;
                let core = memory.core();
                let mask = memory.int(if *long { 63 } else { 31 });
                let distance = core.binop(BinOp::And, 32, &distance, &mask);
                let distance = if *long { core.zext(32, 64, &distance) } else { distance };
                let value = core.binop(*op, width(kind), &value, &distance);
                state.push_number(kind, value);
            }
            Instr::Divide(op, long) => {
                let kind = if *long { Kind::Long } else { Kind::Int };
                let b = state.pop_number(kind)?;
                let a = state.pop_number(kind)?;
                let core = state.memory()?.core();
                let zero = core.constant(&Bits::zero(width(kind)));
                let fine = core.relop(RelOp::Ne, width(kind), &b, &zero);
                let split = state.split(|memory| memory.branch(&fine))?;
                return self.each(state, split, |state, fine| {
                    self.saw(state, Outcome::Divisor(fine));
                    if !fine {
                        return self.raise(state, "java/lang/ArithmeticException", Some("/ by zero"));
                    }
                    let value = state.memory()?.core().binop(*op, width(kind), &a, &b);
                    state.push_number(kind, value);
                    Ok(Done::Next)
                });
            }
            Instr::Negate(kind) => {
                let value = state.pop_number(*kind)?;
                let core = state.memory()?.core();
                let value = match kind {
                    Kind::Int | Kind::Long | Kind::Ref => core.unop(UnOp::Neg, width(*kind), &value),
                    // The sign bit, of NaN too.
                    Kind::Float | Kind::Double => {
                        let sign = Bits::new(width(*kind), 1 << (width(*kind) - 1));
                        core.binop(BinOp::Xor, width(*kind), &value, &core.constant(&sign))
                    }
                };
                state.push_number(*kind, value);
            }
            Instr::FloatBinary(op, double) => {
                let kind = if *double { Kind::Double } else { Kind::Float };
                let b = state.pop_number(kind)?;
                let a = state.pop_number(kind)?;
                self.known_floats(state, kind, &[&a, &b])?;
                let value =
                    state.memory()?.core().float_bin(*op, float(*double), Rounding::NearestEven, &a, &b);
                state.push_number(kind, value);
            }
            Instr::FloatRemainder(double) => {
                let kind = if *double { Kind::Double } else { Kind::Float };
                let b = state.pop_number(kind)?;
                let a = state.pop_number(kind)?;
                let (Some(x), Some(y)) =
                    (state.known_bits(width(kind), &a)?, state.known_bits(width(kind), &b)?)
                else {
                    return gap("the remainder of floats that are not known");
                };
                let (x, y) = (x.to_u64().unwrap_or(0), y.to_u64().unwrap_or(0));
                let bits = match double {
                    true => Bits::new(64, (f64::from_bits(x) % f64::from_bits(y)).to_bits().into()),
                    false => {
                        let value = f32::from_bits(x as u32) % f32::from_bits(y as u32);
                        Bits::new(32, value.to_bits().into())
                    }
                };
                let value = state.memory()?.core().constant(&bits);
                state.push_number(kind, value);
            }
            Instr::Convert(from, to) => {
                let value = state.pop_number(*from)?;
                if matches!(from, Kind::Float | Kind::Double) || matches!(to, Kind::Float | Kind::Double) {
                    self.known_floats(state, *from, &[&value])?;
                }
                let core = state.memory()?.core();
                let nearest = Rounding::NearestEven;
                let value = match (from, to) {
                    (Kind::Int, Kind::Long) => core.sext(32, 64, &value),
                    (Kind::Long, Kind::Int) => core.extract(64, 0, 32, &value),
                    (Kind::Int | Kind::Long, Kind::Float | Kind::Double) => {
                        let to = float(*to == Kind::Double);
                        core.int_to_float(true, width(*from), to, nearest, &value)
                    }
                    (Kind::Float | Kind::Double, Kind::Int | Kind::Long) => {
                        let from = float(*from == Kind::Double);
                        core.float_to_int(true, from, width(*to), Rounding::Zero, &value)
                    }
                    (Kind::Float, Kind::Double) => {
                        core.float_to_float(FloatFormat::F32, FloatFormat::F64, nearest, &value)
                    }
                    (Kind::Double, Kind::Float) => {
                        core.float_to_float(FloatFormat::F64, FloatFormat::F32, nearest, &value)
                    }
                    _ => value,
                };
                state.push_number(*to, value);
            }
            Instr::Narrow(ty) => {
                let value = state.pop_int()?;
                let memory = state.memory()?;
                let narrow = self.value(memory, ty, Slot::Int(value))?;
                let slot = self.slot(memory, ty, narrow)?;
                state.push(slot);
            }
            Instr::CompareLong => {
                let b = state.pop_number(Kind::Long)?;
                let a = state.pop_number(Kind::Long)?;
                let core = state.memory()?.core();
                let less = core.relop(RelOp::Slt, 64, &a, &b);
                let same = core.relop(RelOp::Eq, 64, &a, &b);
                let value = three_way(state.memory()?, &less, &same);
                state.push(Slot::Int(value));
            }
            Instr::CompareFloat(double, unordered) => {
                let kind = if *double { Kind::Double } else { Kind::Float };
                let b = state.pop_number(kind)?;
                let a = state.pop_number(kind)?;
                self.known_floats(state, kind, &[&a, &b])?;
                let memory = state.memory()?;
                let core = memory.core();
                let format = float(*double);
                let less = core.float_rel(FloatRelOp::Lt, format, &a, &b);
                let same = core.float_rel(FloatRelOp::Eq, format, &a, &b);
                let more = core.float_rel(FloatRelOp::Lt, format, &b, &a);
                let last = core.cond(32, &more, &memory.int(1), &memory.int(*unordered));
                let last = core.cond(32, &same, &memory.int(0), &last);
                let value = core.cond(32, &less, &memory.int(-1), &last);
                state.push(Slot::Int(value));
            }
            _ => return Err(Stop::Broken("an instruction of another family".into()).into()),
        }
        Ok(Done::Next)
    }

    /// Floats over unknown values are not followed.
    fn known_floats<M: Memory>(
        &self,
        state: &State<M>,
        kind: Kind,
        values: &[&IntOf<M>],
    ) -> Result<(), Trouble> {
        for value in values {
            if self.symbolic && state.known_bits(width(kind), value)?.is_none() {
                return gap("floating point over unknown values");
            }
        }
        Ok(())
    }
}
