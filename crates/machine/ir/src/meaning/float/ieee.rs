//! Floats as ARM, RISC-V and MIPS treat them: the rounding mode, flushing and default results come with the operands, and
//! what an operation raises comes back above its value. Nothing ever stops: these processors collect exceptions.
//!
//! The byte behind the operands holds the mode: for ARM bits 22 to 25 of FPCR (rounding, flush to zero, default NaN), for
//! RISC-V `frm`, for MIPS the rounding field of FCSR and, in bit 2, its flush bit. The byte above the value is laid out
//! as ARM's cumulative flags: invalid, division by zero, overflow, underflow, inexact; bit 7 a denormal operand that was
//! flushed.

use super::arithmetic::{Operation, any_nan, converted, plain, scaled};
use super::raised::{
    Once, Open, Outcome, Raised, Scale, decide, is_denormal, is_finite, is_infinite, is_zero,
};
use super::{convert_payload, format, magnitude, quiet, quiet_bit};
use crate::ScalarOp;
use crate::intrinsic::{Dialect, IeeeOp};
use crate::meaning::MeaningError;
use crate::meaning::pure::is_nan;
use crate::meaning::value::constant;
use crate::meaning::vector::join;
use parallax_op::{BinOp, BoolOp, FloatFormat, FloatRelOp, FloatUnOp, RelOp, Rounding, Width};
use parallax_sem::Core;

/// An operation with the mode it works under.
pub(in crate::meaning) struct Unit<'a, C: Core> {
    core: &'a C,
    dialect: Dialect,
    /// The mode the instruction names, if it does.
    named: Option<Rounding>,
    mode: C::Val,
    flush_operands: C::Bool,
    flush_results: C::Bool,
    default_nan: C::Bool,
    masked: Open<C>,
}

/// The rounding mode that a value of the mode field stands for.
fn rounding(dialect: Dialect, field: u64) -> Rounding {
    use Rounding::{Down, NearestAway, NearestEven, Up, Zero};
    match (dialect, field) {
        (Dialect::Arm, 1) | (Dialect::Mips, 2) | (Dialect::RiscV, 3) => Up,
        (Dialect::Arm, 2) | (Dialect::Mips, 3) | (Dialect::RiscV, 2) => Down,
        (Dialect::Arm, 3) | (Dialect::Mips | Dialect::RiscV, 1) => Zero,
        (Dialect::RiscV, 4) => NearestAway,
        _ => NearestEven,
    }
}

impl<'a, C: Core> Unit<'a, C> {
    /// Takes the mode apart.
    pub fn new(core: &'a C, dialect: Dialect, named: Option<Rounding>, mode: &C::Val) -> Self {
        let bit = |at: Width| core.val_to_bool(1, &core.extract(8, at, 1, mode));
        let no = core.boolean(false);
        let (flush_operands, flush_results, default_nan) = match dialect {
            Dialect::Arm => (bit(2), bit(2), bit(3)),
            Dialect::RiscV => (no.clone(), no.clone(), core.boolean(true)),
            Dialect::Mips => (no.clone(), bit(2), no.clone()),
        };
        let width = if dialect == Dialect::RiscV { 3 } else { 2 };
        Unit {
            core,
            dialect,
            named,
            mode: core.extract(8, 0, width, mode),
            flush_operands,
            flush_results,
            default_nan,
            masked: Open { overflow: no.clone(), underflow: no },
        }
    }

    /// What the operation gives, of the operands with their widths.
    pub fn apply(&self, op: IeeeOp, operands: &[(Width, C::Val)]) -> Result<C::Val, MeaningError> {
        let lacking = || MeaningError::IllFormed(format!("{op:?} lacks operands"));
        let operand = |index: usize| operands.get(index).map(|(_, value)| value).ok_or_else(lacking);
        let w = operands.first().ok_or_else(lacking)?.0;
        let a = operand(0)?;
        if let IeeeOp::FromInt { signed, fraction, to } = op {
            let g = format(8 * Width::from(to))?;
            return Ok(self.close(g.width(), self.quotient(signed, w, fraction, g, a)));
        }
        let f = format(w)?;
        let (width, outcome) = match op {
            IeeeOp::Add => (w, self.arithmetic(ScalarOp::Add, f, a, operand(1)?)),
            IeeeOp::Sub => (w, self.arithmetic(ScalarOp::Sub, f, a, operand(1)?)),
            IeeeOp::Mul => (w, self.arithmetic(ScalarOp::Mul, f, a, operand(1)?)),
            IeeeOp::Div => (w, self.arithmetic(ScalarOp::Div, f, a, operand(1)?)),
            IeeeOp::Sqrt => (w, self.arithmetic(ScalarOp::Sqrt, f, a, a)),
            IeeeOp::MulExtended => (w, self.multiply_extended(f, a, operand(1)?)),
            IeeeOp::Fused => (w, self.fused(f, a, operand(1)?, operand(2)?)),
            IeeeOp::ReciprocalStep => (w, self.step(f, a, operand(1)?, false)),
            IeeeOp::RootStep => (w, self.step(f, a, operand(1)?, true)),
            IeeeOp::Max { number } => (w, self.extreme(f, true, number, a, operand(1)?)),
            IeeeOp::Min { number } => (w, self.extreme(f, false, number, a, operand(1)?)),
            IeeeOp::Compare { strict } => (8, self.compare(f, strict, a, operand(1)?)),
            IeeeOp::Round { exact } => (w, self.round(f, exact, a)),
            IeeeOp::ToInt { signed, fraction, to } => {
                let out = 8 * Width::from(to);
                (out, self.to_int(f, signed, fraction, out, a))
            }
            IeeeOp::ToFloat { to } => {
                let g = format(8 * Width::from(to))?;
                (g.width(), self.to_float(f, g, a))
            }
            IeeeOp::FromInt { .. } => return Err(lacking()),
        };
        Ok(self.close(width, outcome))
    }

    fn close(&self, w: Width, outcome: Outcome<C>) -> C::Val {
        let (core, raised) = (self.core, &outcome.raised);
        let no = core.boolean(false);
        let bits = [
            &raised.invalid,
            &raised.zero_divide,
            &raised.overflow,
            &raised.underflow,
            &raised.inexact,
            &no,
            &no,
            &raised.denormal,
        ]
        .map(|bit| core.bool_to_val(1, bit));
        core.concat(8, w, &join(core, 1, &bits), &outcome.value)
    }

    fn and(&self, a: &C::Bool, b: &C::Bool) -> C::Bool {
        self.core.boolop(BoolOp::And, a, b)
    }

    fn or(&self, a: &C::Bool, b: &C::Bool) -> C::Bool {
        self.core.boolop(BoolOp::Or, a, b)
    }

    /// The outcome under the rounding mode, one where it is known, else a choice.
    fn by_mode(&self, w: Width, outcome: impl Fn(Rounding) -> Outcome<C>) -> Outcome<C> {
        let (core, width) = (self.core, if self.dialect == Dialect::RiscV { 3 } else { 2 });
        if let Some(named) = self.named {
            return outcome(named);
        }
        if let Some([(_, only)]) = core.targets(width, &self.mode).as_deref() {
            return outcome(rounding(self.dialect, only.to_u64().unwrap_or(0)));
        }
        let last = if self.dialect == Dialect::RiscV { 4 } else { 3 };
        (1..=last).fold(outcome(Rounding::NearestEven), |otherwise, mode: u64| {
            let chosen = core.relop(RelOp::Eq, width, &self.mode, &constant(core, width, u128::from(mode)));
            outcome(rounding(self.dialect, mode)).choose(core, w, &chosen, &otherwise)
        })
    }

    /// The operand as arithmetic sees it, and whether it was flushed.
    fn operand(&self, f: FloatFormat, a: &C::Val) -> (C::Val, C::Bool) {
        let (core, w) = (self.core, f.width());
        let flushed = self.and(&self.flush_operands, &is_denormal(core, f, a));
        let sign = core.binop(BinOp::And, w, a, &constant(core, w, 1 << (w - 1)));
        let value = core.cond(w, &flushed, &sign, a);
        // Nothing is said about halves.
        (value, if f == FloatFormat::F16 { core.boolean(false) } else { flushed })
    }

    /// Whether it is not a number and asks to be noticed. MIPS has the meaning of the bit the other way round.
    fn signals(&self, f: FloatFormat, a: &C::Val) -> C::Bool {
        let (core, w) = (self.core, f.width());
        let bit = core.binop(BinOp::And, w, a, &constant(core, w, quiet_bit(f)));
        let set = core.val_to_bool(w, &bit);
        let loud = if self.dialect == Dialect::Mips { set } else { core.not(&set) };
        self.and(&is_nan(core, f, a), &loud)
    }

    fn any_signals(&self, f: FloatFormat, operands: &[&C::Val]) -> C::Bool {
        operands.iter().fold(self.core.boolean(false), |all, a| self.or(&all, &self.signals(f, a)))
    }

    /// What an invalid operation gives.
    fn default(&self, f: FloatFormat) -> C::Val {
        let nan = f.nan().small().expect("128 bits at most");
        // On MIPS all ones but the sign and the bit that would make it signal.
        let bits = if self.dialect == Dialect::Mips { nan ^ quiet_bit(f) | (quiet_bit(f) - 1) } else { nan };
        constant(self.core, f.width(), bits)
    }

    /// What becomes of operands of which at least one is not a number: those that signal first, then in order.
    fn propagated(&self, f: FloatFormat, operands: &[&C::Val]) -> C::Val {
        let (core, w) = (self.core, f.width());
        let default = self.default(f);
        if self.dialect != Dialect::Arm {
            return default;
        }
        let chosen = operands
            .iter()
            .rev()
            .fold(default.clone(), |otherwise, a| core.cond(w, &is_nan(core, f, a), a, &otherwise));
        let chosen = operands
            .iter()
            .rev()
            .fold(chosen, |otherwise, a| core.cond(w, &self.signals(f, a), &quiet(core, f, a), &otherwise));
        core.cond(w, &self.default_nan, &default, &chosen)
    }

    /// The outcome when an operand is not a number.
    fn not_numbers(&self, f: FloatFormat, operands: &[&C::Val]) -> Outcome<C> {
        let core = self.core;
        let invalid = self.any_signals(f, operands);
        let raised = Raised { invalid, ..Raised::none(core) };
        Outcome { raised, ..Outcome::quiet(core, self.propagated(f, operands)) }
    }

    /// Puts the default for what is invalid, decides about underflow, and flushes. `cut` is the result rounded toward
    /// zero, whose magnitude tells what was tiny before rounding.
    fn finish(&self, f: FloatFormat, (outcome, tiny): (Outcome<C>, C::Bool), cut: &C::Val) -> Outcome<C> {
        let (core, w) = (self.core, f.width());
        let raised = outcome.raised;
        let normal = constant(core, w, 1 << (f.smt2().1 - 1));
        let below = core.relop(RelOp::Ult, w, &magnitude(core, f, cut), &normal);
        let some = self.or(&raised.inexact, &core.not(&is_zero(core, f, cut)));
        let tiny_before = self.and(&below, &some);
        let tiny = if self.dialect == Dialect::Arm { tiny_before.clone() } else { tiny };
        let flushed = self.and(&self.flush_results, &tiny_before);
        let sign = core.binop(BinOp::And, w, &outcome.value, &constant(core, w, 1 << (w - 1)));
        let value = core.cond(w, &raised.invalid, &self.default(f), &outcome.value);
        // ARM only says underflow of what it flushed, and QEMU's MIPS nothing.
        let kept = core.not(&flushed);
        let inexact = self.and(&raised.inexact, &kept);
        let lost = self.and(&self.and(&tiny, &raised.inexact), &kept);
        let underflow = if self.dialect == Dialect::Arm { self.or(&flushed, &lost) } else { lost };
        Outcome {
            value: core.cond(w, &flushed, &sign, &value),
            raised: Raised { underflow, inexact, denormal: core.boolean(false), ..raised },
            up: outcome.up,
        }
    }

    fn with_flushed(&self, mut outcome: Outcome<C>, flushed: C::Bool) -> Outcome<C> {
        outcome.raised.denormal = flushed;
        outcome
    }

    fn arithmetic(&self, op: ScalarOp, f: FloatFormat, a: &C::Val, b: &C::Val) -> Outcome<C> {
        let (core, w) = (self.core, f.width());
        let ((a, flushed_a), (b, flushed_b)) = (self.operand(f, a), self.operand(f, b));
        let operands: &[&C::Val] = if op == ScalarOp::Sqrt { &[&b] } else { &[&a, &b] };
        let outcome = decide(
            core,
            w,
            &any_nan(core, f, operands),
            || self.not_numbers(f, operands),
            || {
                let compute = |r: Rounding, a: &C::Val, b: &C::Val| plain(core, op, f, r, a, b);
                let operation = Operation { core, op, f, compute: &compute, open: &self.masked };
                let cut = compute(Rounding::Zero, &a, &b);
                self.by_mode(w, |r| self.finish(f, operation.on_numbers(r, &a, &b), &cut))
            },
        );
        self.with_flushed(outcome, self.or(&flushed_a, &flushed_b))
    }

    /// Infinity times zero.
    fn is_infinity_by_zero(&self, f: FloatFormat, a: &C::Val, b: &C::Val) -> C::Bool {
        let core = self.core;
        let one = self.and(&is_infinite(core, f, a), &is_zero(core, f, b));
        let other = self.and(&is_zero(core, f, a), &is_infinite(core, f, b));
        self.or(&one, &other)
    }

    /// The product, where infinity times zero is two.
    fn multiply_extended(&self, f: FloatFormat, a: &C::Val, b: &C::Val) -> Outcome<C> {
        let (core, w) = (self.core, f.width());
        let ((x, flushed_x), (y, flushed_y)) = (self.operand(f, a), self.operand(f, b));
        let special = self.is_infinity_by_zero(f, &x, &y);
        let sign = core.binop(BinOp::Xor, w, &x, &y);
        let sign = core.binop(BinOp::And, w, &sign, &constant(core, w, 1 << (w - 1)));
        let two = core.binop(BinOp::Or, w, &sign, &constant(core, w, super::raised::power_of_two(f, 1)));
        let flushed = self.or(&flushed_x, &flushed_y);
        let two = self.with_flushed(Outcome::quiet(core, two), flushed);
        two.choose(core, w, &special, &self.arithmetic(ScalarOp::Mul, f, a, b))
    }

    /// `a * b + c`, rounded once.
    fn fused(&self, f: FloatFormat, a: &C::Val, b: &C::Val, c: &C::Val) -> Outcome<C> {
        let (core, w) = (self.core, f.width());
        let ((a, flushed_a), (b, flushed_b)) = (self.operand(f, a), self.operand(f, b));
        let (c, flushed_c) = self.operand(f, c);
        let senseless = self.is_infinity_by_zero(f, &a, &b);
        let outcome = decide(
            core,
            w,
            &any_nan(core, f, &[&a, &b, &c]),
            || {
                let mut outcome = self.not_numbers(f, &[&c, &a, &b]);
                let loud = self.signals(f, &c);
                let given_up = self.and(&senseless, &core.not(&loud));
                outcome.value = core.cond(w, &given_up, &self.default(f), &outcome.value);
                outcome.raised.invalid = self.or(&outcome.raised.invalid, &senseless);
                outcome
            },
            || self.fused_numbers(f, &a, &b, &c),
        );
        self.with_flushed(outcome, self.or(&self.or(&flushed_a, &flushed_b), &flushed_c))
    }

    fn fused_numbers(&self, f: FloatFormat, a: &C::Val, b: &C::Val, c: &C::Val) -> Outcome<C> {
        let (core, w) = (self.core, f.width());
        let first_smaller = core.relop(RelOp::Ult, w, &magnitude(core, f, a), &magnitude(core, f, b));
        let finite =
            [a, b, c].iter().fold(core.boolean(true), |all, a| self.and(&all, &is_finite(core, f, a)));
        let apply = |r: Rounding, scale: Scale| {
            let exponent = match scale {
                Scale::Twice => 1,
                Scale::Half => -1,
                _ => return core.float_fma(f, r, a, b, c),
            };
            let by = |a: &C::Val| scaled(core, f, a, exponent);
            // The small factor can be doubled, the large one halved, without leaving the normal numbers.
            let first = if exponent > 0 { first_smaller.clone() } else { core.not(&first_smaller) };
            let (a, b) = (core.cond(w, &first, &by(a), a), core.cond(w, &first, b, &by(b)));
            core.float_fma(f, r, &a, &b, &by(c))
        };
        let cut = core.float_fma(f, Rounding::Zero, a, b, c);
        self.by_mode(w, |r| {
            let once =
                Once { core, f, apply: &apply, may_lose: true, finite: finite.clone(), open: &self.masked };
            let (mut outcome, tiny) = once.round(r);
            outcome.raised.invalid = is_nan(core, f, &outcome.value);
            self.finish(f, (outcome, tiny), &cut)
        })
    }

    /// A step of Newton's method, `2 - a * b` or half of `3 - a * b`.
    fn step(&self, f: FloatFormat, a: &C::Val, b: &C::Val, root: bool) -> Outcome<C> {
        let (core, w) = (self.core, f.width());
        let ((x, flushed_x), (y, flushed_y)) = (self.operand(f, a), self.operand(f, b));
        let x = core.binop(BinOp::Xor, w, &x, &constant(core, w, 1 << (w - 1)));
        let two = constant(core, w, super::raised::power_of_two(f, 1));
        let one_and_half = constant(core, w, super::raised::power_of_two(f, 0) | quiet_bit(f));
        let added = if root { &one_and_half } else { &two };
        let special = self.is_infinity_by_zero(f, &x, &y);
        let ordinary = if root {
            // Half of the product: of the larger factor, which is exact unless the product is far below any digit.
            let first = core.relop(RelOp::Uge, w, &magnitude(core, f, &x), &magnitude(core, f, &y));
            let half = |a: &C::Val, chosen: &C::Bool| {
                let exact = core.not(&is_denormal(core, f, a));
                let number = self.and(&exact, &core.not(&is_nan(core, f, a)));
                core.cond(w, &self.and(chosen, &number), &scaled(core, f, a, -1), a)
            };
            self.fused(f, &half(&x, &first), &half(&y, &core.not(&first)), added)
        } else {
            self.fused(f, &x, &y, added)
        };
        let mut outcome = Outcome::quiet(core, added.clone()).choose(core, w, &special, &ordinary);
        outcome.raised.denormal = self.or(&flushed_x, &flushed_y);
        outcome
    }

    /// The larger or the smaller one, negative zero being below zero; with `number`, a number wins against a quiet one
    /// that is none, and on RISC-V against every one.
    fn extreme(&self, f: FloatFormat, maximum: bool, number: bool, a: &C::Val, b: &C::Val) -> Outcome<C> {
        let (core, w) = (self.core, f.width());
        let ((a, flushed_a), (b, flushed_b)) = (self.operand(f, a), self.operand(f, b));
        let (low, high) = if maximum { (&b, &a) } else { (&a, &b) };
        let first = core.float_rel(FloatRelOp::Lt, f, low, high);
        let zeros = self.and(&is_zero(core, f, &a), &is_zero(core, f, &b));
        let zero = core.binop(if maximum { BinOp::And } else { BinOp::Or }, w, &a, &b);
        let ordinary = core.cond(w, &zeros, &zero, &core.cond(w, &first, &a, &b));
        let mut outcome = self.not_numbers(f, &[&a, &b]);
        if number {
            let (nan_a, nan_b) = (is_nan(core, f, &a), is_nan(core, f, &b));
            let ignored = |nan: &C::Bool, x: &C::Val, other: &C::Bool| {
                let quiet = match self.dialect {
                    Dialect::RiscV => core.boolean(true),
                    _ => core.not(&self.signals(f, x)),
                };
                self.and(&self.and(nan, &quiet), &core.not(other))
            };
            outcome.value = core.cond(w, &ignored(&nan_a, &a, &nan_b), &b, &outcome.value);
            outcome.value = core.cond(w, &ignored(&nan_b, &b, &nan_a), &a, &outcome.value);
        }
        let nan = any_nan(core, f, &[&a, &b]);
        outcome.value = core.cond(w, &nan, &outcome.value, &ordinary);
        self.with_flushed(outcome, self.or(&flushed_a, &flushed_b))
    }

    /// Bit 0 less, bit 1 equal, bit 2 not comparable.
    fn compare(&self, f: FloatFormat, strict: bool, a: &C::Val, b: &C::Val) -> Outcome<C> {
        let core = self.core;
        let ((a, flushed_a), (b, flushed_b)) = (self.operand(f, a), self.operand(f, b));
        let nan = any_nan(core, f, &[&a, &b]);
        let bits = [
            core.float_rel(FloatRelOp::Lt, f, &a, &b),
            core.float_rel(FloatRelOp::Eq, f, &a, &b),
            nan.clone(),
        ]
        .map(|truth| core.bool_to_val(1, &truth));
        let invalid = if strict { nan } else { self.any_signals(f, &[&a, &b]) };
        let raised = Raised { invalid, denormal: self.or(&flushed_a, &flushed_b), ..Raised::none(core) };
        Outcome { raised, ..Outcome::quiet(core, core.zext(3, 8, &join(core, 1, &bits))) }
    }

    /// An integral float; `exact` says what was not.
    fn round(&self, f: FloatFormat, exact: bool, a: &C::Val) -> Outcome<C> {
        let (core, w) = (self.core, f.width());
        let (a, flushed) = self.operand(f, a);
        let outcome = decide(
            core,
            w,
            &is_nan(core, f, &a),
            || self.not_numbers(f, &[&a]),
            || {
                self.by_mode(w, |r| {
                    let value = core.float_un(FloatUnOp::Round, f, r, &a);
                    let inexact = match exact {
                        true => core.relop(RelOp::Ne, w, &a, &value),
                        false => core.boolean(false),
                    };
                    let raised = Raised { inexact, ..Raised::none(core) };
                    Outcome { raised, ..Outcome::quiet(core, value) }
                })
            },
        );
        self.with_flushed(outcome, flushed)
    }

    /// An integer, the operand times two to the power of `fraction` rounded, held at the ends of the range.
    fn to_int(&self, f: FloatFormat, signed: bool, fraction: u8, out: Width, a: &C::Val) -> Outcome<C> {
        let (core, w) = (self.core, f.width());
        let (a, flushed) = self.operand(f, a);
        let nan = is_nan(core, f, &a);
        let number = match fraction {
            0 => a.clone(),
            // In a format where nothing is lost and nothing overflows.
            _ => scaled(core, FloatFormat::F128, &self.widened(f, &a), i32::from(fraction)),
        };
        let g = if fraction == 0 { f } else { FloatFormat::F128 };
        let outcome = self.by_mode(out, |r| {
            // More bits than needed tell what fits: outside, the conversion gives the ends of its range.
            let more = out + 2;
            let wide = core.float_to_int(true, g, more, r, &number);
            let low = core.extract(more, 0, out, &wide);
            let again = if signed { core.sext(out, more, &low) } else { core.zext(out, more, &low) };
            let fits = self.and(&core.relop(RelOp::Eq, more, &again, &wide), &core.not(&nan));
            let integral = core.float_un(FloatUnOp::Round, g, Rounding::Zero, &number);
            let exact = core.float_rel(FloatRelOp::Eq, g, &integral, &number);
            let raised = Raised {
                invalid: core.not(&fits),
                inexact: self.and(&fits, &core.not(&exact)),
                ..Raised::none(core)
            };
            let (least, most) = match signed {
                true => (1u128 << (out - 1), (1u128 << (out - 1)) - 1),
                false => (0, (1u128 << out) - 1),
            };
            let (least, most) = (constant(core, out, least), constant(core, out, most));
            let negative = crate::meaning::pure::is_negative(core, w, &a);
            let end = match self.dialect {
                Dialect::Mips => most,
                Dialect::RiscV => core.cond(out, &self.and(&negative, &core.not(&nan)), &least, &most),
                Dialect::Arm => {
                    let end = core.cond(out, &negative, &least, &most);
                    core.cond(out, &nan, &constant(core, out, 0), &end)
                }
            };
            Outcome { raised, ..Outcome::quiet(core, core.cond(out, &fits, &low, &end)) }
        });
        self.with_flushed(outcome, flushed)
    }

    fn widened(&self, f: FloatFormat, a: &C::Val) -> C::Val {
        if f == FloatFormat::F128 {
            return a.clone();
        }
        self.core.float_to_float(f, FloatFormat::F128, Rounding::NearestEven, a)
    }

    /// A float from an integer over two to the power of `fraction`.
    fn quotient(&self, signed: bool, w: Width, fraction: u8, g: FloatFormat, a: &C::Val) -> Outcome<C> {
        let core = self.core;
        if fraction == 0 && g != FloatFormat::F16 {
            return self.by_mode(g.width(), |r| {
                let at = |r: Rounding| core.int_to_float(signed, w, g, r, a);
                let inexact = core.relop(RelOp::Ne, g.width(), &at(Rounding::Up), &at(Rounding::Down));
                Outcome { raised: Raised { inexact, ..Raised::none(core) }, ..Outcome::quiet(core, at(r)) }
            });
        }
        // Every integer up to 113 bits is a quadruple, and so is its quotient.
        let exact = core.int_to_float(signed, w, FloatFormat::F128, Rounding::NearestEven, a);
        let exact = scaled(core, FloatFormat::F128, &exact, -i32::from(fraction));
        self.narrowed(FloatFormat::F128, g, &exact)
    }

    fn narrowed(&self, f: FloatFormat, g: FloatFormat, a: &C::Val) -> Outcome<C> {
        let core = self.core;
        let cut = core.float_to_float(f, g, Rounding::Zero, a);
        self.by_mode(g.width(), |r| self.finish(g, converted(core, f, g, r, &self.masked, a), &cut))
    }

    /// Another format; what is not a number keeps its payload, made quiet. Halves are never flushed.
    fn to_float(&self, f: FloatFormat, g: FloatFormat, a: &C::Val) -> Outcome<C> {
        let (core, w) = (self.core, g.width());
        let (a, flushed) = match f {
            FloatFormat::F16 => (a.clone(), core.boolean(false)),
            _ => self.operand(f, a),
        };
        let keeps_halves = Unit {
            flush_results: core.boolean(false),
            default_nan: self.default_nan.clone(),
            mode: self.mode.clone(),
            flush_operands: self.flush_operands.clone(),
            masked: Open { overflow: core.boolean(false), underflow: core.boolean(false) },
            ..*self
        };
        let unit = if g == FloatFormat::F16 { &keeps_halves } else { self };
        let outcome = decide(
            core,
            w,
            &is_nan(core, f, &a),
            || {
                let loud = self.signals(f, &a);
                let kept = convert_payload(core, f, g, &a);
                let value = match self.dialect {
                    Dialect::RiscV | Dialect::Mips => self.default(g),
                    Dialect::Arm => core.cond(w, &self.default_nan, &self.default(g), &quiet(core, g, &kept)),
                };
                let raised = Raised { invalid: loud, ..Raised::none(core) };
                Outcome { raised, ..Outcome::quiet(core, value) }
            },
            || unit.narrowed(f, g, &a),
        );
        self.with_flushed(outcome, flushed)
    }
}
