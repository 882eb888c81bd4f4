//! What arithmetic means in MIX, said once over the semantic core: the interpreter runs it, the symbolic executor builds
//! terms of it.

use crate::syntax::BinaryOp;
use parallax_op::{BinOp, Bits, FloatBinOp, FloatFormat, FloatRelOp, RelOp, Rounding, UnOp, Width};
use parallax_sem::Core;

/// How wide integers and floats are.
pub const WIDTH: Width = 64;
const FLOAT: FloatFormat = FloatFormat::F64;

/// What an operator makes of two numbers.
pub enum Outcome<C: Core> {
    /// A number.
    Number(C::Val),
    /// A truth value.
    Truth(C::Bool),
    /// A number, but for where the condition holds: there the program stops.
    Unless(C::Bool, C::Val),
}

/// An operator on two integers; none for `**`, whose exponent must be known, and for what is no arithmetic.
pub fn integers<C: Core>(core: &C, op: BinaryOp, a: &C::Val, b: &C::Val) -> Option<Outcome<C>> {
    let number = |op| Outcome::Number(core.binop(op, WIDTH, a, b));
    let relation = |op| Outcome::Truth(core.relop(op, WIDTH, a, b));
    Some(match op {
        BinaryOp::Add => number(BinOp::Add),
        BinaryOp::Sub => number(BinOp::Sub),
        BinaryOp::Mul => number(BinOp::Mul),
        BinaryOp::Div => {
            let zero = core.constant(&Bits::zero(WIDTH));
            Outcome::Unless(core.relop(RelOp::Eq, WIDTH, b, &zero), core.binop(BinOp::Sdiv, WIDTH, a, b))
        }
        BinaryOp::Eq => relation(RelOp::Eq),
        BinaryOp::Lt => relation(RelOp::Slt),
        BinaryOp::Le => relation(RelOp::Sle),
        BinaryOp::Gt => relation(RelOp::Sgt),
        BinaryOp::Ge => relation(RelOp::Sge),
        BinaryOp::Pow | BinaryOp::And | BinaryOp::Or => return None,
    })
}

/// An operator on two floats; none for `**`, which the core does not have, and for what is no arithmetic.
pub fn floats<C: Core>(core: &C, op: BinaryOp, a: &C::Val, b: &C::Val) -> Option<Outcome<C>> {
    let number = |op| Outcome::Number(core.float_bin(op, FLOAT, Rounding::NearestEven, a, b));
    let relation = |op, a, b| Outcome::Truth(core.float_rel(op, FLOAT, a, b));
    Some(match op {
        BinaryOp::Add => number(FloatBinOp::Add),
        BinaryOp::Sub => number(FloatBinOp::Sub),
        BinaryOp::Mul => number(FloatBinOp::Mul),
        BinaryOp::Div => number(FloatBinOp::Div),
        BinaryOp::Eq => relation(FloatRelOp::Eq, a, b),
        BinaryOp::Lt => relation(FloatRelOp::Lt, a, b),
        BinaryOp::Le => relation(FloatRelOp::Le, a, b),
        BinaryOp::Gt => relation(FloatRelOp::Lt, b, a),
        BinaryOp::Ge => relation(FloatRelOp::Le, b, a),
        BinaryOp::Pow | BinaryOp::And | BinaryOp::Or => return None,
    })
}

/// `base ** exponent`, wrapping: a known exponent is a known number of products.
pub fn power<C: Core>(core: &C, base: &C::Val, exponent: u64) -> C::Val {
    let times = |a: &C::Val, b: &C::Val| core.binop(BinOp::Mul, WIDTH, a, b);
    let mut result = core.constant(&Bits::one(WIDTH));
    let (mut square, mut rest) = (base.clone(), exponent);
    while rest > 0 {
        if rest & 1 == 1 {
            result = times(&result, &square);
        }
        square = times(&square, &square);
        rest >>= 1;
    }
    result
}

/// `-` in front of an integer.
pub fn negate<C: Core>(core: &C, a: &C::Val) -> C::Val {
    core.unop(UnOp::Neg, WIDTH, a)
}
