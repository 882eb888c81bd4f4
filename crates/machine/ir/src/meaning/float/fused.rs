//! Operations that round in a way of their own: a product and a sum at once, and singles made halves.
//!
//! A product of two floats is exact in the format twice as wide. The sum with the third is rounded there to odd, which
//! leaves enough for rounding it once more as if it had been exact.

use super::arithmetic::{any_denormal, any_nan, any_signalling, converted, only_invalid};
use super::raised::{Outcome, Raised, by_rounding, decide, is_denormal};
use super::sse::Environment;
use super::{convert_payload, format, indefinite, propagate, quiet};
use crate::meaning::MeaningError;
use crate::meaning::pure::is_nan;
use crate::meaning::value::constant;
use crate::meaning::vector::split;
use parallax_op::{BinOp, BoolOp, FloatBinOp, FloatFormat, FloatRelOp, Rounding, Width};
use parallax_sem::Core;

fn negate<C: Core>(core: &C, f: FloatFormat, a: &C::Val, when: bool) -> C::Val {
    let w = f.width();
    if when { core.binop(BinOp::Xor, w, a, &constant(core, w, 1 << (w - 1))) } else { a.clone() }
}

/// The sum, rounded to odd unless it is exact; an exact zero has the sign that the rounding mode gives it.
fn sum_to_odd<C: Core>(core: &C, f: FloatFormat, r: Rounding, a: &C::Val, b: &C::Val) -> C::Val {
    let w = f.width();
    let sum = |r: Rounding| core.float_bin(FloatBinOp::Add, f, r, a, b);
    let rounded = sum(r);
    let exact = core.float_rel(FloatRelOp::Eq, f, &sum(Rounding::Up), &sum(Rounding::Down));
    let keep = core.boolop(BoolOp::Or, &exact, &is_nan(core, f, &rounded));
    let odd = core.binop(BinOp::Or, w, &sum(Rounding::Zero), &constant(core, w, 1));
    core.cond(w, &keep, &rounded, &odd)
}

impl<C: Core> Environment<'_, C> {
    /// `a * b + c` in each lane, the product negated, or the third subtracted in even or odd lanes.
    pub fn fused(
        &self,
        negated: bool,
        subtracts: [bool; 2],
        w: Width,
        lane: Width,
        operands: [&C::Val; 3],
    ) -> Result<C::Val, MeaningError> {
        let (core, f, wide) = (self.core, format(lane)?, format(2 * lane)?);
        let [a, b, c] = operands.map(|operand| split(core, w, lane, operand));
        let lanes: Vec<Outcome<C>> = (0..a.len())
            .map(|index| {
                let all = [&a[index], &b[index], &c[index]].map(|operand| self.operand(f, operand));
                let operands = [&all[0], &all[1], &all[2]];
                let nan = any_nan(core, f, &operands);
                let not_numbers = || Outcome {
                    raised: only_invalid(core, any_signalling(core, f, &operands)),
                    ..Outcome::quiet(core, propagate(core, f, &operands, &indefinite(core, f)))
                };
                decide(core, lane, &nan, not_numbers, || {
                    let [a, b, c] =
                        operands.map(|operand| core.float_to_float(f, wide, Rounding::NearestEven, operand));
                    let product = core.float_bin(FloatBinOp::Mul, wide, Rounding::NearestEven, &a, &b);
                    let product = negate(core, wide, &product, negated);
                    let addend = negate(core, wide, &c, subtracts[index % 2]);
                    by_rounding(core, lane, &self.rounding, |r| {
                        let sum = sum_to_odd(core, wide, r, &product, &addend);
                        let invalid = is_nan(core, wide, &sum);
                        let wrong = || Outcome {
                            raised: only_invalid(core, core.boolean(true)),
                            ..Outcome::quiet(core, indefinite(core, f))
                        };
                        decide(core, lane, &invalid, wrong, || {
                            let rounded = converted(core, wide, f, r, &self.open, &sum);
                            let mut outcome = self.flush(f, rounded);
                            outcome.raised.denormal = any_denormal(core, f, &operands);
                            outcome
                        })
                    })
                })
            })
            .collect();
        Ok(self.close_lanes(lane, &lanes))
    }

    /// Singles to halves, by the rounding mode of the immediate. What is tiny stays: flushing is for other formats.
    pub fn to_half(&self, mode: u8, w: Width, a: &C::Val) -> C::Val {
        let (core, f, g) = (self.core, FloatFormat::F32, FloatFormat::F16);
        let field = match mode & 4 {
            0 => constant(core, 2, u128::from(mode & 3)),
            _ => self.rounding.clone(),
        };
        let lanes: Vec<Outcome<C>> = split(core, w, 32, a)
            .iter()
            .map(|a| {
                let a = &self.operand(f, a);
                let nan = || Outcome {
                    raised: only_invalid(core, any_signalling(core, f, &[a])),
                    ..Outcome::quiet(core, quiet(core, g, &convert_payload(core, f, g, a)))
                };
                decide(core, 16, &is_nan(core, f, a), nan, || {
                    by_rounding(core, 16, &field, |r| {
                        let (outcome, _) = converted(core, f, g, r, &self.open, a);
                        let denormal = is_denormal(core, f, a);
                        // A denormal single is far below any half. Processors say inexact even where underflow is
                        // not masked and its few digits would fit.
                        let inexact = core.boolop(BoolOp::Or, &outcome.raised.inexact, &denormal);
                        let raised = Raised { denormal, inexact, ..outcome.raised };
                        Outcome { raised, ..outcome }
                    })
                })
            })
            .collect();
        self.close_lanes(16, &lanes)
    }
}
