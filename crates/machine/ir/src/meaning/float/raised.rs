//! What a float operation raises, derived from the operation itself: no reading needs to know about exceptions.
//!
//! IEEE 754 defines the exceptions by comparing the rounded result with the exact one. The exact one is never at hand,
//! but two roundings are: a result is inexact where rounding up and down disagree. Overflow and underflow ask what
//! rounding without a bound on the exponent would give; that is the same operation on scaled operands, which brings a
//! result at the edge of the range, or beyond it, back inside.

use crate::meaning::pure::is_nan;
use crate::meaning::value::constant;
use parallax_op::{BoolOp, FloatFormat, FloatRelOp, RelOp, Rounding, Width};
use parallax_sem::Core;

/// The six exceptions in the order of their bits in every x86 status register.
pub(super) struct Raised<C: Core> {
    pub invalid: C::Bool,
    pub denormal: C::Bool,
    pub zero_divide: C::Bool,
    pub overflow: C::Bool,
    pub underflow: C::Bool,
    pub inexact: C::Bool,
}

impl<C: Core> Raised<C> {
    /// Nothing.
    pub fn none(core: &C) -> Self {
        let no = core.boolean(false);
        Raised {
            invalid: no.clone(),
            denormal: no.clone(),
            zero_divide: no.clone(),
            overflow: no.clone(),
            underflow: no.clone(),
            inexact: no,
        }
    }

    fn zip(&self, other: &Self, join: impl Fn(&C::Bool, &C::Bool) -> C::Bool) -> Self {
        Raised {
            invalid: join(&self.invalid, &other.invalid),
            denormal: join(&self.denormal, &other.denormal),
            zero_divide: join(&self.zero_divide, &other.zero_divide),
            overflow: join(&self.overflow, &other.overflow),
            underflow: join(&self.underflow, &other.underflow),
            inexact: join(&self.inexact, &other.inexact),
        }
    }

    /// What either raises.
    pub fn or(&self, core: &C, other: &Self) -> Self {
        self.zip(other, |a, b| core.boolop(BoolOp::Or, a, b))
    }

    /// `self` where `when` holds, `other` elsewhere.
    pub fn choose(&self, core: &C, when: &C::Bool, other: &Self) -> Self {
        self.zip(other, |a, b| core.cond_bool(when, a, b))
    }

    /// Six bits, invalid the lowest.
    pub fn word(&self, core: &C) -> C::Val {
        let all = [
            &self.invalid,
            &self.denormal,
            &self.zero_divide,
            &self.overflow,
            &self.underflow,
            &self.inexact,
        ];
        let bits: Vec<C::Val> = all.iter().map(|raised| core.bool_to_val(1, raised)).collect();
        crate::meaning::vector::join(core, 1, &bits)
    }
}

/// A result and what it raised.
pub(super) struct Outcome<C: Core> {
    pub value: C::Val,
    pub raised: Raised<C>,
    /// Whether the magnitude was rounded up; only the x87 tells.
    pub up: C::Bool,
}

impl<C: Core> Outcome<C> {
    /// A result that raises nothing.
    pub fn quiet(core: &C, value: C::Val) -> Self {
        Outcome { value, raised: Raised::none(core), up: core.boolean(false) }
    }

    /// `self` where `when` holds, `other` elsewhere; values have `w` bits.
    pub fn choose(&self, core: &C, w: Width, when: &C::Bool, other: &Self) -> Self {
        Outcome {
            value: core.cond(w, when, &self.value, &other.value),
            raised: self.raised.choose(core, when, &other.raised),
            up: core.cond_bool(when, &self.up, &other.up),
        }
    }
}

/// The truth value if the reading can tell.
pub(super) fn known<C: Core>(core: &C, truth: &C::Bool) -> Option<bool> {
    match core.targets(8, &core.bool_to_val(8, truth)).as_deref() {
        Some([(_, only)]) => Some(!only.is_zero()),
        _ => None,
    }
}

/// `then` where `when` holds, `otherwise` elsewhere; computes only what the reading cannot exclude.
pub(super) fn decide<C: Core>(
    core: &C,
    w: Width,
    when: &C::Bool,
    then: impl FnOnce() -> Outcome<C>,
    otherwise: impl FnOnce() -> Outcome<C>,
) -> Outcome<C> {
    match known(core, when) {
        Some(true) => then(),
        Some(false) => otherwise(),
        None => then().choose(core, w, when, &otherwise()),
    }
}

/// The rounding mode of a two-bit field, as MXCSR, the x87 control word and the immediate of `roundss` have it.
pub(super) fn rounding(field: u64) -> Rounding {
    match field & 3 {
        0 => Rounding::NearestEven,
        1 => Rounding::Down,
        2 => Rounding::Up,
        _ => Rounding::Zero,
    }
}

/// The outcome under each rounding mode that the two-bit field can be: one where the reading can tell, else a choice of
/// four.
pub(super) fn by_rounding<C: Core>(
    core: &C,
    w: Width,
    field: &C::Val,
    outcome: impl Fn(Rounding) -> Outcome<C>,
) -> Outcome<C> {
    by_field(core, w, field, |mode| outcome(rounding(mode)))
}

/// The outcome for each value that a two-bit field can have.
pub(super) fn by_field<C: Core>(
    core: &C,
    w: Width,
    field: &C::Val,
    outcome: impl Fn(u64) -> Outcome<C>,
) -> Outcome<C> {
    if let Some([(_, only)]) = core.targets(2, field).as_deref() {
        return outcome(only.to_u64().unwrap_or(0));
    }
    (1..4u64).fold(outcome(0), |otherwise, mode| {
        let chosen = core.relop(RelOp::Eq, 2, field, &constant(core, 2, u128::from(mode)));
        outcome(mode).choose(core, w, &chosen, &otherwise)
    })
}

/// The largest finite magnitude of a format, as bits.
fn largest(f: FloatFormat) -> u128 {
    let (exponent, precision) = f.smt2();
    match f {
        FloatFormat::X87 => (0x7ffe << 64) | u128::from(u64::MAX),
        _ => (((1 << exponent) - 1) << (precision - 1)) - 1,
    }
}

/// The smallest normal magnitude.
fn smallest_normal(f: FloatFormat) -> u128 {
    match f {
        FloatFormat::X87 => 1 << 64 | 1 << 63,
        _ => 1 << (f.smt2().1 - 1),
    }
}

/// A power of two as bits of a format; its exponent is in the normal range.
pub(super) fn power_of_two(f: FloatFormat, exponent: i32) -> u128 {
    let (bits, precision) = f.smt2();
    let biased = (exponent + (1 << (bits - 1)) - 1) as u128;
    match f {
        FloatFormat::X87 => biased << 64 | 1 << 63,
        _ => biased << (precision - 1),
    }
}

/// The value without its sign.
pub(super) fn magnitude<C: Core>(core: &C, f: FloatFormat, a: &C::Val) -> C::Val {
    let w = f.width();
    let rest = constant(core, w, (1 << (w - 1)) - 1);
    core.binop(parallax_op::BinOp::And, w, a, &rest)
}

fn compare<C: Core>(core: &C, op: RelOp, f: FloatFormat, a: &C::Val, bits: u128) -> C::Bool {
    core.relop(op, f.width(), &magnitude(core, f, a), &constant(core, f.width(), bits))
}

/// Whether it is a number and not infinite.
pub(super) fn is_finite<C: Core>(core: &C, f: FloatFormat, a: &C::Val) -> C::Bool {
    compare(core, RelOp::Ule, f, a, largest(f))
}

/// Whether it is infinite.
pub(super) fn is_infinite<C: Core>(core: &C, f: FloatFormat, a: &C::Val) -> C::Bool {
    let bits = match f {
        FloatFormat::X87 => 0x7fff << 64 | 1 << 63,
        _ => largest(f) + 1,
    };
    compare(core, RelOp::Eq, f, a, bits)
}

/// Whether it is a zero.
pub(super) fn is_zero<C: Core>(core: &C, f: FloatFormat, a: &C::Val) -> C::Bool {
    compare(core, RelOp::Eq, f, a, 0)
}

/// Whether it is not zero and below every normal magnitude. The 80-bit format has a second way of writing the smallest
/// normal numbers, which counts as denormal too.
pub(super) fn is_denormal<C: Core>(core: &C, f: FloatFormat, a: &C::Val) -> C::Bool {
    let end = match f {
        FloatFormat::X87 => 1 << 64,
        _ => smallest_normal(f),
    };
    let small = compare(core, RelOp::Ult, f, a, end);
    core.boolop(BoolOp::And, &small, &core.not(&is_zero(core, f, a)))
}

/// Whether it is not a number and asks to be noticed.
pub(super) fn is_signalling<C: Core>(core: &C, f: FloatFormat, a: &C::Val) -> C::Bool {
    let w = f.width();
    let quiet = core.binop(parallax_op::BinOp::And, w, a, &constant(core, w, super::quiet_bit(f)));
    let loud = core.not(&core.val_to_bool(w, &quiet));
    core.boolop(BoolOp::And, &is_nan(core, f, a), &loud)
}

/// How much larger or smaller a result is to be made by scaling operands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Scale {
    /// Not at all.
    One,
    /// Twice as large.
    Twice,
    /// Half as large.
    Half,
    /// So much larger that what is tiny is an ordinary number: by the power of two that the x87 itself uses when it
    /// hands a tiny result to a program, and by the like of it in other formats.
    FarUp,
    /// So much smaller that what overflows is an ordinary number.
    FarDown,
}

/// Half of the exponent by which results are scaled far.
pub(super) fn far(f: FloatFormat) -> i32 {
    3 << (f.smt2().0 - 3)
}

/// An operation that rounds once, on scaled operands.
pub(super) struct Once<'a, C: Core> {
    pub core: &'a C,
    /// The format of the result.
    pub f: FloatFormat,
    pub apply: &'a dyn Fn(Rounding, Scale) -> C::Val,
    /// Whether a tiny result may be inexact: sums and roots never are.
    pub may_lose: bool,
    /// Whether operands are finite and the result is too unless it overflows.
    pub finite: C::Bool,
    pub open: &'a Open<C>,
}

/// Which of the late exceptions are not masked.
pub(super) struct Open<C: Core> {
    pub overflow: C::Bool,
    pub underflow: C::Bool,
}

impl<C: Core> Once<'_, C> {
    fn and(&self, a: &C::Bool, b: &C::Bool) -> C::Bool {
        self.core.boolop(BoolOp::And, a, b)
    }

    fn or(&self, a: &C::Bool, b: &C::Bool) -> C::Bool {
        self.core.boolop(BoolOp::Or, a, b)
    }

    /// A value, whether it is inexact, and whether its magnitude was rounded up.
    fn at(&self, r: Rounding, scale: Scale) -> Outcome<C> {
        let (core, f) = (self.core, self.f);
        let value = (self.apply)(r, scale);
        let (above, below) = ((self.apply)(Rounding::Up, scale), (self.apply)(Rounding::Down, scale));
        let exact = core.float_rel(FloatRelOp::Eq, f, &above, &below);
        let inexact = self.and(&self.finite, &core.not(&exact));
        // The magnitude grew if the one between the two that is closer to zero is another.
        let negative = crate::meaning::pure::is_negative(core, f.width(), &value);
        let cut = magnitude(core, f, &core.cond(f.width(), &negative, &above, &below));
        let grown = core.relop(RelOp::Ne, f.width(), &cut, &magnitude(core, f, &value));
        let up = self.and(&inexact, &grown);
        Outcome { value, raised: Raised { inexact, ..Raised::none(core) }, up }
    }

    /// Under one rounding mode: the result, what it raises besides invalid operation, denormal operand and division by
    /// zero, and whether it is tiny. Where overflow or underflow is not masked, the result is the one scaled far.
    pub fn round(&self, r: Rounding) -> (Outcome<C>, C::Bool) {
        let (core, f) = (self.core, self.f);
        let mut outcome = self.at(r, Scale::One);
        // Asking costs little on numbers and saves a lot: most results are neither huge nor tiny.
        let overflow = match known(core, &outcome.raised.inexact) {
            Some(false) => core.boolean(false),
            _ => self.and(&outcome.raised.inexact, &self.overflows(r, &outcome.value)),
        };
        let tiny = self.and(&self.finite, &self.is_tiny(r, &outcome));
        let underflow = self.and(&tiny, &self.or(&outcome.raised.inexact, &self.open.underflow));
        for (when, scale) in [
            (self.and(&overflow, &self.open.overflow), Scale::FarDown),
            (self.and(&tiny, &self.open.underflow), Scale::FarUp),
        ] {
            let before = outcome;
            outcome = match known(core, &when) {
                Some(false) => before,
                _ => self.at(r, scale).choose(core, f.width(), &when, &before),
            };
        }
        outcome.raised.overflow = overflow;
        outcome.raised.underflow = underflow;
        (outcome, tiny)
    }

    fn overflows(&self, r: Rounding, value: &C::Val) -> C::Bool {
        let (core, f) = (self.core, self.f);
        let infinite = is_infinite(core, f, value);
        if r == Rounding::NearestEven {
            return infinite;
        }
        // Cut off at the largest number: was it beyond the end of the range, or just above that number?
        let end = power_of_two(f, (1 << (f.smt2().0 - 1)) - 1);
        let half = (self.apply)(r, Scale::Half);
        self.or(&infinite, &compare(core, RelOp::Uge, f, &half, end))
    }

    /// Below every normal magnitude after rounding as if there were no least exponent, and not zero before.
    fn is_tiny(&self, r: Rounding, outcome: &Outcome<C>) -> C::Bool {
        let (core, f) = (self.core, self.f);
        let (value, inexact) = (&outcome.value, &outcome.raised.inexact);
        let below = compare(core, RelOp::Ult, f, value, smallest_normal(f));
        let nonzero = self.or(inexact, &core.not(&is_zero(core, f, value)));
        let denormal = self.and(&below, &nonzero);
        if !self.may_lose {
            return denormal;
        }
        let edge = self.and(inexact, &compare(core, RelOp::Eq, f, value, smallest_normal(f)));
        if known(core, &edge) == Some(false) {
            return denormal;
        }
        let bias = (1 << (f.smt2().0 - 1)) - 1;
        let double = (self.apply)(r, Scale::Twice);
        let short = compare(core, RelOp::Ult, f, &double, power_of_two(f, 2 - bias));
        self.or(&denormal, &self.and(&edge, &short))
    }
}
