//! Operations of lifted instructions as instructions of the module, one by one.

use crate::body::Body;
use parallax_cmodule::{Cast, Operand};
use parallax_ir::{Instruction, Intrinsic, Op, Trap, Varnode};
use parallax_op::{BinOp, BoolOp, RelOp, UnOp};

pub(crate) fn instruction(body: &mut Body<'_>, lifted: &Instruction) -> Result<(), String> {
    for op in &lifted.ops {
        operation(body, op).map_err(|what| format!("{}: {what}", lifted.text))?;
    }
    Ok(())
}

fn operation(body: &mut Body<'_>, op: &Op) -> Result<(), String> {
    let value = match op {
        Op::Copy { a, .. } => body.read(*a),
        Op::Un { op, a, .. } => unary(body, *op, *a),
        Op::Bin { op, a, b, .. } => {
            let (x, mut y) = (body.read(*a), body.read(*b));
            if a.bytes != b.bytes {
                y = distance(body, *a, *b, y);
            }
            body.binary(*op, a.width(), x, y)
        }
        Op::Rel { op, a, b, .. } => {
            let (x, y) = (body.read(*a), body.read(*b));
            body.compare(*op, a.width(), x, y)
        }
        Op::Bool { op, a, b, .. } => {
            let (x, y) = (truth(body, *a), truth(body, *b));
            match op {
                BoolOp::And => body.binary(BinOp::And, 8, x, y),
                BoolOp::Or => body.binary(BinOp::Or, 8, x, y),
                BoolOp::Xor => body.binary(BinOp::Xor, 8, x, y),
                BoolOp::Implies => body.compare(RelOp::Ule, 8, x, y),
                BoolOp::Iff => body.compare(RelOp::Eq, 8, x, y),
            }
        }
        Op::BoolNot { a, .. } => {
            let (x, zero) = (body.read(*a), body.constant(8, 0));
            body.compare(RelOp::Eq, 8, x, zero)
        }
        Op::Carry { a, b, .. } => {
            let (x, y) = (body.read(*a), body.read(*b));
            let sum = body.binary(BinOp::Add, a.width(), x, y);
            body.compare(RelOp::Ult, a.width(), sum, x)
        }
        Op::SignedCarry { a, b, .. } => {
            // The sum has another sign than both.
            let (x, y) = (body.read(*a), body.read(*b));
            let sum = body.binary(BinOp::Add, a.width(), x, y);
            both_negative(body, a.width(), (x, sum), (y, sum))
        }
        Op::SignedBorrow { a, b, .. } => {
            // The operands have different signs, and the difference has not that of the first.
            let (x, y) = (body.read(*a), body.read(*b));
            let difference = body.binary(BinOp::Sub, a.width(), x, y);
            both_negative(body, a.width(), (x, y), (x, difference))
        }
        Op::Zext { out, a } => {
            let x = body.read(*a);
            body.resize(Cast::ZExt, a.width(), out.width(), x)
        }
        Op::Sext { out, a } => {
            let x = body.read(*a);
            body.resize(Cast::SExt, a.width(), out.width(), x)
        }
        Op::Extract { out, a, low } => {
            let x = body.read(*a);
            let by = body.constant(a.width(), u64::from(*low));
            let shifted = body.binary(BinOp::Lshr, a.width(), x, by);
            body.resize(Cast::ZExt, a.width(), out.width(), shifted)
        }
        Op::Concat { out, high, low } => {
            let (h, l) = (body.read(*high), body.read(*low));
            let (h, l) = (
                body.resize(Cast::ZExt, high.width(), out.width(), h),
                body.resize(Cast::ZExt, low.width(), out.width(), l),
            );
            let by = body.constant(out.width(), u64::from(low.width()));
            let h = body.binary(BinOp::Shl, out.width(), h, by);
            body.binary(BinOp::Or, out.width(), h, l)
        }
        Op::Select { out, when, then, otherwise } => {
            let (w, t, o) = (body.read(*when), body.read(*then), body.read(*otherwise));
            body.select(w, out.width(), t, o)
        }
        Op::Load { out, address } => {
            let at = body.read(*address);
            body.load(at, out.width())
        }
        Op::Store { address, value } => {
            let (at, x) = (body.read(*address), body.read(*value));
            body.store(at, x, value.width());
            return Ok(());
        }
        // Dividing by zero where the processor traps lets the machine report it.
        Op::Trap { when: Some(when), trap: Trap::Divide } => {
            let (w, zero, one) = (body.read(*when), body.constant(8, 0), body.constant(8, 1));
            let divisor = body.select(w, 8, zero, one);
            body.binary(BinOp::Udiv, 8, one, divisor);
            return Ok(());
        }
        Op::Intrinsic { call: Intrinsic::TimeStamp, out: Some(out), .. } => {
            body.unknown("rdtsc", out.width())
        }
        Op::Intrinsic { call: Intrinsic::Cpuid, .. } => return Err("what the processor is".into()),
        Op::Branch { .. } | Op::Jump { .. } => return Err("control flow".into()),
        Op::Trap { .. } => return Err("a trap".into()),
        Op::Intrinsic { .. } => return Err("an operation without a simple meaning".into()),
        _ => return Err("floating point".into()),
    };
    match op.out() {
        Some(out) => body.write(out, value),
        None => Ok(()),
    }
}

fn truth(body: &mut Body<'_>, a: Varnode) -> Operand {
    let (x, zero) = (body.read(a), body.constant(8, 0));
    body.compare(RelOp::Ne, 8, x, zero)
}

/// Whether `a ^ b` and `c ^ d` are both negative.
fn both_negative(
    body: &mut Body<'_>,
    width: u16,
    (a, b): (Operand, Operand),
    (c, d): (Operand, Operand),
) -> Operand {
    let (x, y) = (body.binary(BinOp::Xor, width, a, b), body.binary(BinOp::Xor, width, c, d));
    let both = body.binary(BinOp::And, width, x, y);
    let zero = body.constant(width, 0);
    body.compare(RelOp::Slt, width, both, zero)
}

/// The distance of a shift in the width of what is shifted: one that does not fit is the width, which shifts all out.
fn distance(body: &mut Body<'_>, a: Varnode, b: Varnode, y: Operand) -> Operand {
    if b.bytes < a.bytes {
        return body.resize(Cast::ZExt, b.width(), a.width(), y);
    }
    let limit = body.constant(b.width(), u64::from(a.width()));
    let small = body.compare(RelOp::Ult, b.width(), y, limit);
    let kept = body.select(small, b.width(), y, limit);
    body.resize(Cast::ZExt, b.width(), a.width(), kept)
}

fn unary(body: &mut Body<'_>, op: UnOp, a: Varnode) -> Operand {
    let (x, width) = (body.read(a), a.width());
    let zero = body.constant(width, 0);
    match op {
        UnOp::Not => {
            let one = body.constant(width, 1);
            let ones = body.binary(BinOp::Sub, width, zero, one);
            body.binary(BinOp::Xor, width, x, ones)
        }
        UnOp::Neg => body.binary(BinOp::Sub, width, zero, x),
        // Bit by bit: the operators of the module have no such counts.
        UnOp::Popcount => {
            let mut sum = zero;
            for index in 0..width {
                let bit = bit(body, x, width, index);
                sum = body.binary(BinOp::Add, width, sum, bit);
            }
            sum
        }
        UnOp::Clz | UnOp::Ctz => {
            // From the bit that counts least to the one that decides first.
            let mut count = body.constant(width, u64::from(width));
            for step in 0..width {
                let index = if op == UnOp::Clz { step } else { width - 1 - step };
                let distance = if op == UnOp::Clz { width - 1 - index } else { index };
                let is_set = bit(body, x, width, index);
                let is_set = body.resize(Cast::ZExt, width, 8, is_set);
                let here = body.constant(width, u64::from(distance));
                count = body.select(is_set, width, here, count);
            }
            count
        }
    }
}

fn bit(body: &mut Body<'_>, x: Operand, width: u16, index: u16) -> Operand {
    let (by, one) = (body.constant(width, u64::from(index)), body.constant(width, 1));
    let shifted = body.binary(BinOp::Lshr, width, x, by);
    body.binary(BinOp::And, width, shifted, one)
}
