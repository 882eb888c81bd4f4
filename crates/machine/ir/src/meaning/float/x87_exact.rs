//! The x87 instructions besides arithmetic whose results are exact, or rounded once: remainders, scaling, taking numbers
//! apart, and decimal numbers.

use super::arithmetic::{any_denormal, scaled, significand};
use super::raised::{
    Once, Outcome, Raised, Scale, by_rounding, decide, far, is_denormal, is_infinite, is_zero,
};
use super::x87::{Effect, F, Goes, Unit, W, normalised};
use super::{indefinite, magnitude};
use crate::meaning::pure::is_negative;
use crate::meaning::value::constant;
use parallax_op::{BinOp, BoolOp, FloatBinOp, RelOp, Rounding, Width};
use parallax_sem::Core;

/// Exponents, and what is added to them, as signed numbers.
const E: Width = 32;
const BIAS: i32 = 16383;
const INFINITY: u128 = 0x7fff << 64 | 1 << 63;

impl<C: Core> Unit<'_, C> {
    fn exponent_constant(&self, value: i32) -> C::Val {
        constant(self.core, E, value as u128)
    }

    fn clamped(&self, a: &C::Val, low: i32, high: i32) -> C::Val {
        let core = self.core;
        let (low, high) = (self.exponent_constant(low), self.exponent_constant(high));
        let below = core.relop(RelOp::Slt, E, a, &low);
        let above = core.relop(RelOp::Sgt, E, a, &high);
        core.cond(E, &below, &low, &core.cond(E, &above, &high, a))
    }

    /// The exponent of a finite number that is not zero.
    fn exponent(&self, a: &C::Val) -> C::Val {
        let core = self.core;
        let denormal = is_denormal(core, F, a);
        let normal = core.cond(W, &denormal, &scaled(core, F, a, 65), a);
        let biased = core.zext(15, E, &core.extract(W, 64, 15, &normal));
        let bias = core.cond(E, &denormal, &self.exponent_constant(BIAS + 65), &self.exponent_constant(BIAS));
        core.binop(BinOp::Sub, E, &biased, &bias)
    }

    /// Two to a power within the normal range.
    fn power(&self, exponent: &C::Val) -> C::Val {
        let core = self.core;
        let biased = core.binop(BinOp::Add, E, exponent, &self.exponent_constant(BIAS));
        core.concat(16, 64, &core.extract(E, 0, 16, &biased), &constant(core, 64, 1 << 63))
    }

    /// A number times two to any power, rounded once: a first step stays in the normal range.
    fn times_power(&self, r: Rounding, a: &C::Val, exponent: &C::Val) -> C::Val {
        let core = self.core;
        let first = self.clamped(exponent, 1 - BIAS, BIAS);
        let rest = self.clamped(&core.binop(BinOp::Sub, E, exponent, &first), 1 - BIAS, BIAS);
        let times = |a: &C::Val, power: &C::Val| core.float_bin(FloatBinOp::Mul, F, r, a, &self.power(power));
        times(&times(a, &first), &rest)
    }

    fn with_sign_of(&self, value: &C::Val, a: &C::Val) -> C::Val {
        let core = self.core;
        let sign = core.binop(BinOp::And, W, a, &constant(core, W, 1 << (W - 1)));
        core.binop(BinOp::Or, W, value, &sign)
    }

    fn invalid(&self) -> Outcome<C> {
        let core = self.core;
        let raised = Raised { invalid: core.boolean(true), ..Raised::none(core) };
        Outcome { raised, ..Outcome::quiet(core, indefinite(core, F)) }
    }

    /// `fscale`: the first times two to the second, cut to an integer.
    pub fn scale(&self, a: &C::Val, b: &C::Val) -> C::Val {
        let core = self.core;
        let denormal = any_denormal(core, F, &[a, b]);
        let outcome = self.special(&[a, b], || {
            let (a, b) = (&normalised(core, a), &normalised(core, b));
            let and = |x: &C::Bool, y: &C::Bool| core.boolop(BoolOp::And, x, y);
            let (zero, infinite) = (is_zero(core, F, a), is_infinite(core, F, a));
            let far_away = is_infinite(core, F, b);
            let down = is_negative(core, W, b);
            let bad = core.boolop(
                BoolOp::Or,
                &and(&far_away, &and(&zero, &core.not(&down))),
                &and(&far_away, &and(&infinite, &down)),
            );
            let same = core.boolop(BoolOp::Or, &zero, &infinite);
            let same = core.boolop(BoolOp::Or, &same, &is_zero(core, F, b));
            let scaled = || {
                let distance =
                    self.clamped(&core.float_to_int(true, F, E, Rounding::Zero, b), -99_999, 99_999);
                let start = self.exponent(a);
                let total = core.binop(BinOp::Add, E, &start, &distance);
                let unit = significand(core, F, a);
                let apply = |r: Rounding, scale: Scale| {
                    let more = match scale {
                        Scale::One => 0,
                        Scale::Twice => 1,
                        Scale::Half => -1,
                        Scale::FarUp => 2 * far(F),
                        Scale::FarDown => -2 * far(F),
                    };
                    let exponent = core.binop(BinOp::Add, E, &total, &self.exponent_constant(more));
                    self.times_power(r, &unit, &exponent)
                };
                let once = Once {
                    core,
                    f: F,
                    apply: &apply,
                    may_lose: true,
                    finite: core.boolean(true),
                    open: &self.open,
                };
                by_rounding(core, W, &self.rounding, |r| once.round(r).0)
            };
            let end = || {
                let nothing = constant(core, W, 0);
                let end = core.cond(W, &down, &nothing, &constant(core, W, INFINITY));
                Outcome::quiet(core, self.with_sign_of(&end, a))
            };
            // What a program would be told of by a scaled result may be too far for that too.
            let limit = constant(core, W, (0x3fff + 16) << 64);
            let open = core.cond_bool(&down, &self.open.underflow, &self.open.overflow);
            let beyond = core.relop(RelOp::Uge, W, &magnitude(core, F, b), &limit);
            let beyond = and(&beyond, &open);
            let hopeless = || {
                let late = core.boolean(true);
                let raised = Raised {
                    overflow: core.not(&down),
                    underflow: down.clone(),
                    inexact: late,
                    ..Raised::none(core)
                };
                Outcome { raised, up: core.not(&down), ..end() }
            };
            let mut outcome = decide(
                core,
                W,
                &bad,
                || self.invalid(),
                || {
                    decide(
                        core,
                        W,
                        &same,
                        || Outcome::quiet(core, a.clone()),
                        || decide(core, W, &far_away, end, || decide(core, W, &beyond, hopeless, scaled)),
                    )
                },
            );
            outcome.raised.denormal = and(&denormal, &core.not(&outcome.raised.invalid));
            outcome
        });
        self.close_plain(Goes::ToRegister, outcome)
    }

    /// `fxtract`: the exponent as a number, or the significand with its sign.
    pub fn part(&self, exponent: bool, a: &C::Val) -> C::Val {
        let core = self.core;
        let denormal = is_denormal(core, F, a);
        let outcome = self.special(&[a], || {
            let a = &normalised(core, a);
            let (zero, infinite) = (is_zero(core, F, a), is_infinite(core, F, a));
            let value = if exponent {
                let number = core.int_to_float(true, E, F, Rounding::Zero, &self.exponent(a));
                let least = constant(core, W, INFINITY | 1 << (W - 1));
                let value = core.cond(W, &zero, &least, &number);
                core.cond(W, &infinite, &constant(core, W, INFINITY), &value)
            } else {
                let same = core.boolop(BoolOp::Or, &zero, &infinite);
                core.cond(W, &same, a, &significand(core, F, a))
            };
            let raised = Raised { zero_divide: zero, denormal: denormal.clone(), ..Raised::none(core) };
            Outcome { raised, ..Outcome::quiet(core, value) }
        });
        self.close_plain(Goes::ToRegister, outcome)
    }

    /// `fprem` and, to the nearest quotient, `fprem1`. If the quotient has too many bits only some of them are taken off,
    /// and C2 says so; else C0, C3 and C1 are its last three bits.
    pub fn remainder(&self, nearest: bool, a: &C::Val, b: &C::Val) -> C::Val {
        let core = self.core;
        let denormal = any_denormal(core, F, &[a, b]);
        let and = |x: &C::Bool, y: &C::Bool| core.boolop(BoolOp::And, x, y);
        let numbers = core.not(&super::arithmetic::any_nan(core, F, &[a, b]));
        let (x, y) = (&normalised(core, a), &normalised(core, b));
        let bad = core.boolop(BoolOp::Or, &is_infinite(core, F, x), &is_zero(core, F, y));
        let same = core.boolop(BoolOp::Or, &is_infinite(core, F, y), &is_zero(core, F, x));
        let divided = self.divided(nearest, x, y);
        let ordinary = and(&numbers, &core.not(&core.boolop(BoolOp::Or, &bad, &same)));
        let quotient_bit = |bit: Width| {
            let set = core.val_to_bool(1, &core.extract(128, bit, 1, &divided.quotient));
            and(&set, &and(&ordinary, &core.not(&divided.partial)))
        };
        let partial = and(&ordinary, &divided.partial);
        let outcome = self.special(&[a, b], || {
            let exact = || {
                let apply = |_: Rounding, scale: Scale| match scale {
                    Scale::FarUp => scaled(core, F, &scaled(core, F, &divided.value, far(F)), far(F)),
                    _ => divided.value.clone(),
                };
                let once = Once {
                    core,
                    f: F,
                    apply: &apply,
                    may_lose: false,
                    finite: core.boolean(true),
                    open: &self.open,
                };
                once.round(Rounding::NearestEven).0
            };
            let mut outcome = decide(
                core,
                W,
                &bad,
                || self.invalid(),
                || decide(core, W, &same, || Outcome::quiet(core, x.clone()), exact),
            );
            outcome.raised.denormal = and(&denormal, &core.not(&outcome.raised.invalid));
            outcome.up = quotient_bit(0);
            outcome
        });
        let codes = [quotient_bit(2), partial, quotient_bit(1)];
        self.close(
            W,
            &indefinite(core, F),
            Goes::ToRegister,
            Effect { outcome, codes, says: and(&numbers, &core.not(&bad)) },
        )
    }

    fn divided(&self, nearest: bool, a: &C::Val, b: &C::Val) -> Divided<C> {
        let core = self.core;
        let digits = |a: &C::Val| core.zext(64, 128, &core.extract(W, 0, 64, &significand(core, F, a)));
        let (ea, eb) = (self.exponent(a), self.exponent(b));
        let distance = core.binop(BinOp::Sub, E, &ea, &eb);
        let partial = core.relop(RelOp::Sgt, E, &distance, &self.exponent_constant(63));
        // As many bits of the quotient as the processor takes at once.
        let low = core.binop(BinOp::And, E, &distance, &self.exponent_constant(31));
        let some = core.binop(BinOp::Or, E, &low, &self.exponent_constant(32));
        let taken = core.cond(E, &partial, &some, &distance);
        let below = core.relop(RelOp::Slt, E, &distance, &self.exponent_constant(-1));
        let one_more = core.binop(BinOp::Add, E, &taken, &self.exponent_constant(1));
        let shift = core.zext(E, 128, &self.clamped(&one_more, 0, 64));
        // In halves of the divisor's last place, so that the nearest quotient can be told.
        let dividend = core.binop(BinOp::Shl, 128, &digits(a), &shift);
        let divisor = core.binop(BinOp::Shl, 128, &digits(b), &constant(core, 128, 1));
        let mut quotient = core.binop(BinOp::Udiv, 128, &dividend, &divisor);
        let mut rest = core.binop(BinOp::Urem, 128, &dividend, &divisor);
        let mut negative = is_negative(core, W, a);
        if nearest {
            let half = digits(b);
            let above = core.relop(RelOp::Ugt, 128, &rest, &half);
            let tie = core.relop(RelOp::Eq, 128, &rest, &half);
            let odd = core.val_to_bool(1, &core.extract(128, 0, 1, &quotient));
            let up = core.boolop(BoolOp::Or, &above, &core.boolop(BoolOp::And, &tie, &odd));
            let up = core.boolop(BoolOp::And, &up, &core.not(&partial));
            rest = core.cond(128, &up, &core.binop(BinOp::Sub, 128, &divisor, &rest), &rest);
            quotient = core.binop(BinOp::Add, 128, &quotient, &core.bool_to_val(128, &up));
            negative = core.boolop(BoolOp::Xor, &negative, &up);
        }
        let number = core.int_to_float(false, 128, F, Rounding::Zero, &rest);
        let unit = core.binop(BinOp::Sub, E, &core.binop(BinOp::Add, E, &eb, &distance), &taken);
        let unit = core.binop(BinOp::Sub, E, &unit, &self.exponent_constant(64));
        let value = self.times_power(Rounding::Zero, &number, &unit);
        let sign = core.cond(W, &negative, &constant(core, W, 1 << (W - 1)), &constant(core, W, 0));
        let value = core.binop(BinOp::Or, W, &value, &sign);
        Divided {
            value: core.cond(W, &below, a, &value),
            quotient: core.cond(128, &below, &constant(core, 128, 0), &quotient),
            partial,
        }
    }

    /// `fbld`: eighteen decimal digits and a sign.
    pub fn decimal(&self, a: &C::Val) -> C::Val {
        let core = self.core;
        let ten = constant(core, 64, 10);
        let mut sum = constant(core, 64, 0);
        for digit in (0..18).rev() {
            let next = core.zext(4, 64, &core.extract(W, 4 * digit, 4, a));
            sum = core.binop(BinOp::Add, 64, &core.binop(BinOp::Mul, 64, &sum, &ten), &next);
        }
        let value = core.int_to_float(false, 64, F, Rounding::Zero, &sum);
        self.close_plain(Goes::OnTop, Outcome::quiet(core, self.with_sign_of(&value, a)))
    }

    /// `fbstp`: the same the other way, rounded to an integer; what has more digits is invalid.
    pub fn to_decimal(&self, a: &C::Val) -> C::Val {
        let core = self.core;
        let none = constant(core, W, 0xffff_c000_0000_0000_0000);
        let invalid = || Outcome {
            raised: Raised { invalid: core.boolean(true), ..Raised::none(core) },
            ..Outcome::quiet(core, none.clone())
        };
        const MOST: u128 = 999_999_999_999_999_999;
        let outcome = by_rounding(core, W, &self.rounding, |r| {
            let mut outcome = super::sse::int_outcome(core, F, r, 64, &normalised(core, a));
            let negative = is_negative(core, W, a);
            let whole = core.cond(
                64,
                &is_negative(core, 64, &outcome.value),
                &core.unop(parallax_op::UnOp::Neg, 64, &outcome.value),
                &outcome.value,
            );
            let large = core.relop(RelOp::Ugt, 64, &whole, &constant(core, 64, MOST));
            let bad = core.boolop(BoolOp::Or, &outcome.raised.invalid, &large);
            let bad = core.boolop(BoolOp::Or, &bad, &super::x87::is_unsupported(core, a));
            let ten = constant(core, 64, 10);
            let mut rest = whole;
            let digits: Vec<C::Val> = (0..18)
                .map(|_| {
                    let digit = core.extract(64, 0, 4, &core.binop(BinOp::Urem, 64, &rest, &ten));
                    rest = core.binop(BinOp::Udiv, 64, &rest, &ten);
                    digit
                })
                .collect();
            let number = crate::meaning::vector::join(core, 4, &digits);
            let sign = core.concat(1, 7, &core.bool_to_val(1, &negative), &constant(core, 7, 0));
            outcome.value = core.concat(8, 72, &sign, &number);
            decide(core, W, &bad, invalid, || outcome)
        });
        let no = core.boolean(false);
        let effect = Effect { outcome, codes: [no.clone(), no.clone(), no.clone()], says: no };
        self.close(W, &none, Goes::ToMemory, effect)
    }
}

struct Divided<C: Core> {
    value: C::Val,
    quotient: C::Val,
    /// Whether only some bits of the quotient were taken off.
    partial: C::Bool,
}
