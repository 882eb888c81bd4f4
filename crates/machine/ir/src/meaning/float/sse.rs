//! Floats in SSE registers, under MXCSR: its rounding mode, its two ways of treating denormal numbers as zero, and the
//! exceptions that it collects.
//!
//! Every operation here takes MXCSR as its last argument. Its result has the value lowest, above it MXCSR afterwards, and
//! above that one byte that says whether an exception which is not masked stops the instruction.

use super::arithmetic::{Operation, any_denormal, any_nan, any_signalling, converted, only_invalid, plain};
use super::raised::{Open, Outcome, Raised, by_rounding, decide, is_denormal};
use super::{convert_payload, format, indefinite, integer, propagate, quiet};
use crate::ScalarOp;
use crate::meaning::MeaningError;
use crate::meaning::pure::is_nan;
use crate::meaning::value::constant;
use crate::meaning::vector::{join, split};
use parallax_op::{BinOp, BoolOp, FloatFormat, FloatRelOp, FloatUnOp, RelOp, Rounding, UnOp, Width};
use parallax_sem::Core;

/// MXCSR, read.
pub(in crate::meaning) struct Environment<'a, C: Core> {
    pub(super) core: &'a C,
    mxcsr: C::Val,
    pub(super) rounding: C::Val,
    denormals_are_zero: C::Bool,
    flush_to_zero: C::Bool,
    pub(super) open: Open<C>,
}

type Lanes<C> = Vec<Outcome<C>>;

impl<'a, C: Core> Environment<'a, C> {
    /// Takes MXCSR apart.
    pub fn new(core: &'a C, mxcsr: &C::Val) -> Self {
        let bit = |at: Width| core.val_to_bool(1, &core.extract(32, at, 1, mxcsr));
        let masked = bit(11);
        Environment {
            core,
            mxcsr: mxcsr.clone(),
            rounding: core.extract(32, 13, 2, mxcsr),
            denormals_are_zero: bit(6),
            // Flushing is for those who do not want to know.
            flush_to_zero: core.boolop(BoolOp::And, &bit(15), &masked),
            open: Open { overflow: core.not(&bit(10)), underflow: core.not(&masked) },
        }
    }

    /// What is remembered of what all lanes of one step raise, as six bits, and whether it stops the instruction: if an
    /// exception that is noticed before there is a result does, the others never come about.
    fn step(&self, raised: &Raised<C>) -> (C::Val, C::Bool) {
        let core = self.core;
        let raised = raised.word(core);
        let open = core.unop(UnOp::Not, 6, &core.extract(32, 7, 6, &self.mxcsr));
        let unmasked = core.binop(BinOp::And, 6, &raised, &open);
        let early = core.binop(BinOp::And, 6, &raised, &constant(core, 6, 0b00_0111));
        let stops_early = core.val_to_bool(6, &core.binop(BinOp::And, 6, &early, &open));
        (core.cond(6, &stops_early, &early, &raised), core.val_to_bool(6, &unmasked))
    }

    /// The result with MXCSR afterwards and the stop above it, after steps that each wait for the one before.
    fn close(&self, value: C::Val, w: Width, steps: &[Raised<C>]) -> C::Val {
        let core = self.core;
        let mut flags = core.extract(32, 0, 6, &self.mxcsr);
        let mut stop = core.boolean(false);
        for raised in steps {
            let (more, stops) = self.step(raised);
            let joined = core.binop(BinOp::Or, 6, &flags, &more);
            flags = core.cond(6, &stop, &flags, &joined);
            stop = core.boolop(BoolOp::Or, &stop, &stops);
        }
        let after = core.concat(26, 6, &core.extract(32, 6, 26, &self.mxcsr), &flags);
        core.concat(8, w + 32, &core.bool_to_val(8, &stop), &core.concat(32, w, &after, &value))
    }

    fn raised_by(&self, lanes: &Lanes<C>) -> Raised<C> {
        lanes.iter().fold(Raised::none(self.core), |all, one| all.or(self.core, &one.raised))
    }

    pub(super) fn close_lanes(&self, lane: Width, lanes: &Lanes<C>) -> C::Val {
        let core = self.core;
        let values: Vec<C::Val> = lanes.iter().map(|one| one.value.clone()).collect();
        self.close(join(core, lane, &values), lane * values.len() as Width, &[self.raised_by(lanes)])
    }

    /// The operand as arithmetic sees it.
    pub(super) fn operand(&self, f: FloatFormat, a: &C::Val) -> C::Val {
        let (core, w) = (self.core, f.width());
        let gone = core.boolop(BoolOp::And, &self.denormals_are_zero, &is_denormal(core, f, a));
        let sign = core.binop(BinOp::And, w, a, &constant(core, w, 1 << (w - 1)));
        core.cond(w, &gone, &sign, a)
    }

    /// A tiny result as zero, if MXCSR says so.
    pub(super) fn flush(&self, f: FloatFormat, (outcome, tiny): (Outcome<C>, C::Bool)) -> Outcome<C> {
        let (core, w) = (self.core, f.width());
        let flushed = core.boolop(BoolOp::And, &self.flush_to_zero, &tiny);
        let sign = core.binop(BinOp::And, w, &outcome.value, &constant(core, w, 1 << (w - 1)));
        let or = |a: &C::Bool| core.boolop(BoolOp::Or, a, &flushed);
        Outcome {
            value: core.cond(w, &flushed, &sign, &outcome.value),
            raised: Raised {
                underflow: or(&outcome.raised.underflow),
                inexact: or(&outcome.raised.inexact),
                ..outcome.raised
            },
            up: outcome.up,
        }
    }

    /// One lane of arithmetic.
    fn scalar(&self, op: ScalarOp, f: FloatFormat, a: &C::Val, b: &C::Val) -> Outcome<C> {
        let (core, w) = (self.core, f.width());
        let (a, b) = (&self.operand(f, a), &self.operand(f, b));
        if matches!(op, ScalarOp::Min | ScalarOp::Max) {
            return self.extreme(op, f, a, b);
        }
        let operands: &[&C::Val] = if op == ScalarOp::Sqrt { &[b] } else { &[a, b] };
        decide(
            core,
            w,
            &any_nan(core, f, operands),
            || Outcome {
                raised: only_invalid(core, any_signalling(core, f, operands)),
                ..Outcome::quiet(core, propagate(core, f, operands, &indefinite(core, f)))
            },
            || {
                let operation = Operation {
                    core,
                    op,
                    f,
                    compute: &|r, a, b| plain(core, op, f, r, a, b),
                    open: &self.open,
                };
                by_rounding(core, w, &self.rounding, |r| self.flush(f, operation.on_numbers(r, a, b)))
            },
        )
    }

    /// The comparison decides, and it is false for what is not a number and for two zeros: then the second stays.
    fn extreme(&self, op: ScalarOp, f: FloatFormat, a: &C::Val, b: &C::Val) -> Outcome<C> {
        let core = self.core;
        let (x, y) = if op == ScalarOp::Min { (a, b) } else { (b, a) };
        let value = core.cond(f.width(), &core.float_rel(FloatRelOp::Lt, f, x, y), a, b);
        let raised = self.compared(f, true, a, b);
        Outcome { raised, ..Outcome::quiet(core, value) }
    }

    /// What a comparison raises; a strict one minds every operand that is not a number.
    fn compared(&self, f: FloatFormat, strict: bool, a: &C::Val, b: &C::Val) -> Raised<C> {
        let core = self.core;
        let nan = any_nan(core, f, &[a, b]);
        let denormal = core.boolop(BoolOp::And, &any_denormal(core, f, &[a, b]), &core.not(&nan));
        let invalid = if strict { nan } else { any_signalling(core, f, &[a, b]) };
        Raised { denormal, ..only_invalid(core, invalid) }
    }

    fn map(
        &self,
        w: Width,
        lane: Width,
        a: &C::Val,
        b: &C::Val,
        f: impl Fn(usize, &C::Val, &C::Val) -> Outcome<C>,
    ) -> C::Val {
        let (a, b) = (split(self.core, w, lane, a), split(self.core, w, lane, b));
        let lanes: Lanes<C> = a.iter().zip(&b).enumerate().map(|(index, (a, b))| f(index, a, b)).collect();
        self.close_lanes(lane, &lanes)
    }

    /// `out[i] = a[i] op b[i]`.
    pub fn lanes(
        &self,
        op: ScalarOp,
        w: Width,
        lane: Width,
        a: &C::Val,
        b: &C::Val,
    ) -> Result<C::Val, MeaningError> {
        let f = format(lane)?;
        Ok(self.map(w, lane, a, b, |_, a, b| self.scalar(op, f, a, b)))
    }

    /// Differences in even lanes, sums in odd ones.
    pub fn add_sub(&self, w: Width, lane: Width, a: &C::Val, b: &C::Val) -> Result<C::Val, MeaningError> {
        let f = format(lane)?;
        Ok(self.map(w, lane, a, b, |index, a, b| {
            let op = if index % 2 == 0 { ScalarOp::Sub } else { ScalarOp::Add };
            self.scalar(op, f, a, b)
        }))
    }

    /// Neighbours combined: in each 16 bytes those of `a`, then those of `b`.
    pub fn horizontal(
        &self,
        op: ScalarOp,
        w: Width,
        lane: Width,
        a: &C::Val,
        b: &C::Val,
    ) -> Result<C::Val, MeaningError> {
        let f = format(lane)?;
        let (a, b) = (split(self.core, w, lane, a), split(self.core, w, lane, b));
        let half = usize::from(128 / lane);
        let all = a.chunks(half).zip(b.chunks(half)).flat_map(|(a, b)| [a, b].concat());
        let all: Vec<C::Val> = all.collect();
        let lanes: Lanes<C> = all.chunks(2).map(|pair| self.scalar(op, f, &pair[0], &pair[1])).collect();
        Ok(self.close_lanes(lane, &lanes))
    }

    /// The predicates of `vcmpps`: bits 0 and 1 choose among equal, less, less or equal, unordered; bit 2 negates; bit 3
    /// has what is unordered count the other way; bit 4 has it raised where it would not be, and the other way round.
    pub fn compare(
        &self,
        code: u8,
        w: Width,
        lane: Width,
        a: &C::Val,
        b: &C::Val,
    ) -> Result<C::Val, MeaningError> {
        let (core, f) = (self.core, format(lane)?);
        Ok(self.map(w, lane, a, b, |_, a, b| {
            let (a, b) = (&self.operand(f, a), &self.operand(f, b));
            let unordered = any_nan(core, f, &[a, b]);
            let holds = match code & 3 {
                0 => core.float_rel(FloatRelOp::Eq, f, a, b),
                1 => core.float_rel(FloatRelOp::Lt, f, a, b),
                2 => core.float_rel(FloatRelOp::Le, f, a, b),
                _ => unordered.clone(),
            };
            let holds = if code & 8 == 0 { holds } else { core.boolop(BoolOp::Xor, &holds, &unordered) };
            let holds = if code & 4 == 0 { holds } else { core.not(&holds) };
            let mask = core.cond(lane, &holds, &constant(core, lane, u128::MAX), &constant(core, lane, 0));
            let strict = matches!(code & 3, 1 | 2) != (code & 16 != 0);
            let raised = self.compared(f, strict, a, b);
            Outcome { raised, ..Outcome::quiet(core, mask) }
        }))
    }

    /// `comiss` and `ucomiss`: bit 0 less or unordered, bit 1 equal or unordered, bit 2 unordered.
    pub fn order(&self, strict: bool, w: Width, a: &C::Val, b: &C::Val) -> Result<C::Val, MeaningError> {
        let (core, f) = (self.core, format(w)?);
        let (a, b) = (&self.operand(f, a), &self.operand(f, b));
        let unordered = any_nan(core, f, &[a, b]);
        let or = |truth: C::Bool| core.bool_to_val(1, &core.boolop(BoolOp::Or, &truth, &unordered));
        let less = or(core.float_rel(FloatRelOp::Lt, f, a, b));
        let equal = or(core.float_rel(FloatRelOp::Eq, f, a, b));
        let bits = join(core, 1, &[less, equal, core.bool_to_val(1, &unordered)]);
        Ok(self.close(core.zext(3, 8, &bits), 8, &[self.compared(f, strict, a, b)]))
    }

    /// Integral floats; `mode` is the immediate of `roundss`: bit 2 asks for the mode of MXCSR, bit 3 for silence about
    /// what is inexact.
    pub fn round(&self, mode: u8, w: Width, lane: Width, a: &C::Val) -> Result<C::Val, MeaningError> {
        let (core, f) = (self.core, format(lane)?);
        let field = match mode & 4 {
            0 => constant(core, 2, u128::from(mode & 3)),
            _ => self.rounding.clone(),
        };
        let lanes: Lanes<C> = split(core, w, lane, a)
            .iter()
            .map(|a| {
                let a = &self.operand(f, a);
                by_rounding(core, lane, &field, |r| {
                    let value = propagate(core, f, &[a], &core.float_un(FloatUnOp::Round, f, r, a));
                    let nan = is_nan(core, f, a);
                    let changed = core.relop(RelOp::Ne, lane, a, &value);
                    let inexact = match mode & 8 {
                        0 => core.boolop(BoolOp::And, &changed, &core.not(&nan)),
                        _ => core.boolean(false),
                    };
                    let invalid = any_signalling(core, f, &[a]);
                    let raised = Raised { inexact, ..only_invalid(core, invalid) };
                    Outcome { raised, ..Outcome::quiet(core, value) }
                })
            })
            .collect();
        Ok(self.close_lanes(lane, &lanes))
    }

    /// Floats to signed integers, the most negative one standing for all that does not fit.
    pub fn to_int(
        &self,
        truncate: bool,
        w: Width,
        from: Width,
        to: Width,
        a: &C::Val,
    ) -> Result<C::Val, MeaningError> {
        let (core, f) = (self.core, format(from)?);
        let field = if truncate { constant(core, 2, 3) } else { self.rounding.clone() };
        let lanes: Lanes<C> = split(core, w, from, a)
            .iter()
            .map(|a| {
                let a = &self.operand(f, a);
                by_rounding(core, to, &field, |r| int_outcome(core, f, r, to, a))
            })
            .collect();
        Ok(self.close_lanes(to, &lanes))
    }

    /// Signed integers to floats.
    pub fn int_to_float(&self, w: Width, from: Width, to: Width, a: &C::Val) -> Result<C::Val, MeaningError> {
        let (core, g) = (self.core, format(to)?);
        let lanes: Lanes<C> = split(core, w, from, a)
            .iter()
            .map(|a| {
                by_rounding(core, to, &self.rounding, |r| {
                    let at = |r: Rounding| core.int_to_float(true, from, g, r, a);
                    let inexact = core.relop(RelOp::Ne, to, &at(Rounding::Up), &at(Rounding::Down));
                    let raised = Raised { inexact, ..Raised::none(core) };
                    Outcome { raised, ..Outcome::quiet(core, at(r)) }
                })
            })
            .collect();
        Ok(self.close_lanes(to, &lanes))
    }

    /// Floats to another format; the payload of what is not a number is kept, made quiet.
    pub fn to_float(&self, w: Width, from: Width, to: Width, a: &C::Val) -> Result<C::Val, MeaningError> {
        let (core, f, g) = (self.core, format(from)?, format(to)?);
        let lanes: Lanes<C> = split(core, w, from, a)
            .iter()
            .map(|a| {
                // Small halves are ordinary numbers to everybody.
                let from_half = f == FloatFormat::F16;
                let a = if from_half { a } else { &self.operand(f, a) };
                let nan = || Outcome {
                    raised: only_invalid(core, any_signalling(core, f, &[a])),
                    ..Outcome::quiet(core, quiet(core, g, &convert_payload(core, f, g, a)))
                };
                decide(core, to, &is_nan(core, f, a), nan, || {
                    by_rounding(core, to, &self.rounding, |r| {
                        let rounded = converted(core, f, g, r, &self.open, a);
                        let mut outcome = self.flush(g, rounded);
                        if !from_half {
                            outcome.raised.denormal = is_denormal(core, f, a);
                        }
                        outcome
                    })
                })
            })
            .collect();
        Ok(self.close_lanes(to, &lanes))
    }

    /// `dpps` and `dppd`: products chosen by the high half of the immediate, summed in pairs, the sum put where the low
    /// half says.
    pub fn dot(
        &self,
        control: u8,
        w: Width,
        lane: Width,
        a: &C::Val,
        b: &C::Val,
    ) -> Result<C::Val, MeaningError> {
        let (core, f) = (self.core, format(lane)?);
        let zero = || Outcome::quiet(core, constant(core, lane, 0));
        let (a, b) = (split(core, w, lane, a), split(core, w, lane, b));
        // Each 16 bytes obey the same immediate.
        let within = |i: usize| i % usize::from(128 / lane);
        let products: Lanes<C> = a
            .iter()
            .zip(&b)
            .enumerate()
            .map(|(i, (a, b))| {
                if control >> (4 + within(i)) & 1 == 0 { zero() } else { self.scalar(ScalarOp::Mul, f, a, b) }
            })
            .collect();
        // Each lane adds its neighbour, then, of four, the lane two away. Which operand comes first shows in what is
        // not a number, and was found by asking a processor: of two doubles the own one, of four floats the neighbour.
        let count = products.len();
        let add = |a: &Outcome<C>, b: &Outcome<C>| self.scalar(ScalarOp::Add, f, &a.value, &b.value);
        let mut steps = vec![self.raised_by(&products)];
        let mut sums: Lanes<C>;
        if lane == 64 {
            sums = (0..count).map(|i| add(&products[i], &products[i ^ 1])).collect();
        } else {
            let pairs: Lanes<C> = (0..count).map(|i| add(&products[i ^ 1], &products[i])).collect();
            steps.push(self.raised_by(&pairs));
            sums = (0..count).map(|i| add(&pairs[i], &pairs[i ^ 2])).collect();
        }
        // What a lane raises that is then left out counts nevertheless.
        steps.push(self.raised_by(&sums));
        for (_, left_out) in sums.iter_mut().enumerate().filter(|(i, _)| control >> within(*i) & 1 == 0) {
            *left_out = zero();
        }
        let values: Vec<C::Val> = sums.into_iter().map(|sum| sum.value).collect();
        Ok(self.close(join(core, lane, &values), w, &steps))
    }
}

/// A float as an integer: invalid where it does not fit, inexact where it is not integral.
pub(super) fn int_outcome<C: Core>(
    core: &C,
    f: FloatFormat,
    r: Rounding,
    out: Width,
    a: &C::Val,
) -> Outcome<C> {
    let value = integer(core, f, r, out, a);
    let least = constant(core, out, 1 << (out - 1));
    // The most negative integer is also itself.
    let is_least = core.relop(RelOp::Eq, out, &value, &least);
    let round = |r: Rounding| core.float_un(FloatUnOp::Round, f, r, a);
    let itself = core.int_to_float(true, out, f, Rounding::Zero, &least);
    let fits = core.float_rel(FloatRelOp::Eq, f, &round(r), &itself);
    let invalid = core.boolop(BoolOp::And, &is_least, &core.not(&fits));
    let integral = core.float_rel(FloatRelOp::Eq, f, &round(Rounding::Zero), a);
    let inexact = core.boolop(BoolOp::And, &core.not(&integral), &core.not(&invalid));
    // Magnitudes compare as integers do.
    let cut = super::magnitude(core, f, &round(Rounding::Zero));
    let grown = core.relop(RelOp::Ne, f.width(), &cut, &super::magnitude(core, f, &round(r)));
    let up = core.boolop(BoolOp::And, &inexact, &grown);
    Outcome { value, raised: Raised { inexact, ..only_invalid(core, invalid) }, up }
}
