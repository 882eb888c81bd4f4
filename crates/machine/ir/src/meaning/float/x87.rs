//! The x87, under its control word: rounding mode, precision, masks; and its status word, which collects exceptions.
//!
//! Every operation here takes, after its operands, the control word, the status word, and a byte that says whether an
//! operand lies in an empty register. Its result has the value lowest; above it the status word afterwards (without the
//! condition codes); above that one byte with the condition codes C0 to C3 in its low bits; and above that one byte that
//! says whether an exception which is not masked keeps the instruction from having any other effect. The program hears
//! of such an exception when the next instruction that waits for it sees the summary bit in the status word.

use super::arithmetic::{Operation, any_denormal, any_nan, any_signalling, converted, only_invalid, plain};
use super::raised::{
    Open, Outcome, Raised, by_field, by_rounding, decide, far, is_denormal, is_finite, known,
};
use super::sse::int_outcome;
use super::transcendental;
use super::{convert_payload, format, indefinite, magnitude, propagate, quiet, widen};
use crate::meaning::MeaningError;
use crate::meaning::pure::{is_nan, is_negative};
use crate::meaning::value::constant;
use crate::meaning::vector::join;
use crate::{ScalarOp, Transcendental};
use parallax_op::{BinOp, BoolOp, FloatFormat, FloatRelOp, FloatUnOp, RelOp, Rounding, UnOp, Width};
use parallax_sem::Core;

pub(super) const F: FloatFormat = FloatFormat::X87;
pub(super) const W: Width = 80;

/// How many bits lie above the value in a result.
pub(in crate::meaning) const ABOVE: Width = 32;

/// The control and the status word, read.
pub(in crate::meaning) struct Unit<'a, C: Core> {
    pub(super) core: &'a C,
    status: C::Val,
    pub(super) rounding: C::Val,
    precision: C::Val,
    masks: C::Val,
    pub(super) open: Open<C>,
    /// Whether an operand is in an empty register.
    empty: C::Bool,
}

/// Where a value goes, which decides what can go wrong on the way.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Goes {
    /// To a register.
    ToRegister,
    /// To memory, in a format into which it may not fit.
    ToMemory,
    /// On top of the stack; what is amiss is then not an empty register but a full one.
    OnTop,
}

/// What an instruction did, before it is made into a result.
pub(super) struct Effect<C: Core> {
    pub outcome: Outcome<C>,
    /// C0, C2 and C3; C1 tells how the result was rounded.
    pub codes: [C::Bool; 3],
    /// Whether C0 and C3 mean something.
    pub says: C::Bool,
}

impl<'a, C: Core> Unit<'a, C> {
    /// Takes control and status apart.
    pub fn new(core: &'a C, control: &C::Val, status: &C::Val, empty: &C::Val) -> Self {
        let masks = core.extract(16, 0, 6, control);
        let open = |bit: Width| core.not(&core.val_to_bool(1, &core.extract(6, bit, 1, &masks)));
        Unit {
            core,
            status: status.clone(),
            rounding: core.extract(16, 10, 2, control),
            precision: core.extract(16, 8, 2, control),
            open: Open { overflow: open(3), underflow: open(4) },
            masks,
            empty: core.val_to_bool(8, empty),
        }
    }

    /// The result, with status word, codes and hold-up above the value of `w` bits. `indefinite` is what an empty
    /// register gives.
    pub(super) fn close(&self, w: Width, indefinite: &C::Val, goes: Goes, effect: Effect<C>) -> C::Val {
        let core = self.core;
        let fault = Outcome {
            raised: only_invalid(core, core.boolean(true)),
            ..Outcome::quiet(core, indefinite.clone())
        };
        let outcome = decide(core, w, &self.empty, || fault, || effect.outcome);
        let unmasked =
            |flags: &C::Val| core.binop(BinOp::And, 6, flags, &core.unop(UnOp::Not, 6, &self.masks));
        // Invalid operation, denormal operand and division by zero are noticed before there is a result, and if one of
        // them is not masked there never is one.
        let raised = outcome.raised.word(core);
        let mut held = core.boolean(false);
        let mut kept = raised.clone();
        // So is, for memory, what does not fit there. A denormal number is pushed nevertheless.
        let steps: &[u128] = match goes {
            Goes::ToMemory => &[0b01_1111, 0b00_0111],
            Goes::ToRegister => &[0b00_0111],
            Goes::OnTop => &[0b00_0001],
        };
        for noticed in steps.iter().copied() {
            let early = core.binop(BinOp::And, 6, &raised, &constant(core, 6, noticed));
            let stops = core.val_to_bool(6, &unmasked(&early));
            kept = core.cond(6, &stops, &early, &kept);
            held = core.boolop(BoolOp::Or, &held, &stops);
        }
        let raised = kept;
        let mut up = core.boolop(BoolOp::And, &outcome.up, &core.not(&held));
        if goes == Goes::OnTop {
            // C1 tells a stack that is full from a register that is empty.
            up = core.boolop(BoolOp::Or, &up, &self.empty);
        }
        let flags = core.binop(BinOp::Or, 6, &core.extract(16, 0, 6, &self.status), &raised);
        let before_fault = core.val_to_bool(1, &core.extract(16, 6, 1, &self.status));
        let fault = core.bool_to_val(1, &core.boolop(BoolOp::Or, &before_fault, &self.empty));
        let summary = core.bool_to_val(1, &core.val_to_bool(6, &unmasked(&flags)));
        let middle = core.extract(16, 8, 7, &self.status);
        let low = core.concat(1, 6, &fault, &flags);
        let low = core.concat(1, 7, &summary, &low);
        let after = core.concat(1, 15, &summary, &core.concat(7, 8, &middle, &low));
        let [c0, c2, c3] = &effect.codes;
        let silent = core.boolop(BoolOp::Or, &self.empty, &held);
        let says = core.boolop(BoolOp::And, &effect.says, &core.not(&silent));
        let code = |truth: &C::Bool| core.bool_to_val(1, truth);
        let codes = join(core, 1, &[code(c0), code(&up), code(c2), code(c3), code(&says)]);
        let codes = core.zext(5, 8, &codes);
        let top = core.concat(8, 8, &core.bool_to_val(8, &held), &codes);
        core.concat(16, w + 16, &top, &core.concat(16, w, &after, &outcome.value))
    }

    pub(super) fn close_plain(&self, goes: Goes, outcome: Outcome<C>) -> C::Val {
        let no = self.core.boolean(false);
        let effect = Effect { outcome, codes: [no.clone(), no.clone(), no.clone()], says: no };
        self.close(W, &indefinite(self.core, F), goes, effect)
    }

    /// What is not a number, if an operand is not; of two the one with the larger fraction. Encodings that have no
    /// meaning any more are invalid.
    pub(super) fn special(&self, operands: &[&C::Val], otherwise: impl FnOnce() -> Outcome<C>) -> Outcome<C> {
        let core = self.core;
        let odd =
            operands.iter().map(|a| is_unsupported(core, a)).reduce(|a, b| core.boolop(BoolOp::Or, &a, &b));
        let odd = odd.unwrap_or_else(|| core.boolean(false));
        let invalid = || Outcome {
            raised: only_invalid(core, core.boolean(true)),
            ..Outcome::quiet(core, indefinite(core, F))
        };
        let nan = || {
            let value = match operands {
                [a, b] => {
                    let both = core.boolop(BoolOp::And, &is_nan(core, F, a), &is_nan(core, F, b));
                    let fraction = |v: &C::Val| core.extract(W, 0, 64, v);
                    let second = core.relop(RelOp::Ugt, 64, &fraction(b), &fraction(a));
                    let larger = core.cond(W, &second, b, a);
                    // Of equal fractions the positive one.
                    let same = core.relop(RelOp::Eq, 64, &fraction(b), &fraction(a));
                    let positive = core.binop(BinOp::And, W, a, b);
                    let larger = core.cond(W, &same, &positive, &larger);
                    let one = propagate(core, F, operands, &indefinite(core, F));
                    core.cond(W, &both, &quiet(core, F, &larger), &one)
                }
                _ => propagate(core, F, operands, &indefinite(core, F)),
            };
            Outcome {
                raised: only_invalid(core, any_signalling(core, F, operands)),
                ..Outcome::quiet(core, value)
            }
        };
        decide(core, W, &odd, invalid, || decide(core, W, &any_nan(core, F, operands), nan, otherwise))
    }

    /// The operation rounded to the precision that the control word asks for.
    fn compute(&self, op: ScalarOp, precision: u64, r: Rounding, a: &C::Val, b: &C::Val) -> C::Val {
        let core = self.core;
        let bits = match precision {
            0 => 24,
            2 => 53,
            _ => return plain(core, op, F, r, a, b),
        };
        let at = |r: Rounding| plain(core, op, F, r, a, b);
        let exact = core.float_rel(FloatRelOp::Eq, F, &at(Rounding::Up), &at(Rounding::Down));
        let cut = at(Rounding::Zero);
        let odd = core.binop(BinOp::Or, W, &cut, &constant(core, W, 1));
        // The sign of an exact zero is the rounding mode's.
        narrowed(core, r, bits, &core.cond(W, &exact, &at(r), &odd))
    }

    /// An operand of any format as an 80-bit float, not made quiet, and whether it is denormal.
    fn operand(&self, (w, a): (Width, &C::Val)) -> Result<(C::Val, C::Bool), MeaningError> {
        let (core, f) = (self.core, format(w)?);
        let wide = if w == W { a.clone() } else { widen(core, w, W, a)? };
        Ok((wide, is_denormal(core, f, a)))
    }

    /// Sum, difference, product, quotient, or root of the second operand; each with its width.
    pub fn arithmetic(
        &self,
        op: ScalarOp,
        a: (Width, &C::Val),
        b: (Width, &C::Val),
    ) -> Result<C::Val, MeaningError> {
        let core = self.core;
        let ((a, a_denormal), (b, b_denormal)) = (self.operand(a)?, self.operand(b)?);
        let operands: &[&C::Val] = if op == ScalarOp::Sqrt { &[&b] } else { &[&a, &b] };
        let denormal = match op {
            ScalarOp::Sqrt => b_denormal,
            _ => core.boolop(BoolOp::Or, &a_denormal, &b_denormal),
        };
        let outcome = self.special(operands, || {
            let (a, b) = (&normalised(core, &a), &normalised(core, &b));
            let mut outcome = by_field(core, W, &self.precision, |precision| {
                let compute = |r: Rounding, a: &C::Val, b: &C::Val| self.compute(op, precision, r, a, b);
                let operation = Operation { core, op, f: F, compute: &compute, open: &self.open };
                by_rounding(core, W, &self.rounding, |r| operation.on_numbers(r, a, b).0)
            });
            let early = core.boolop(BoolOp::Or, &outcome.raised.invalid, &outcome.raised.zero_divide);
            outcome.raised.denormal = core.boolop(BoolOp::And, &denormal, &core.not(&early));
            outcome
        });
        Ok(self.close_plain(Goes::ToRegister, outcome))
    }

    /// To an integral float.
    pub fn round(&self, a: &C::Val) -> C::Val {
        let core = self.core;
        let outcome = self.special(&[a], || {
            let a = &normalised(core, a);
            by_rounding(core, W, &self.rounding, |r| {
                let at = |r: Rounding| core.float_un(FloatUnOp::Round, F, r, a);
                let value = at(r);
                let inexact = core.not(&core.float_rel(FloatRelOp::Eq, F, a, &value));
                let cut = magnitude(core, F, &at(Rounding::Zero));
                let up = core.relop(RelOp::Ne, W, &cut, &magnitude(core, F, &value));
                let up = core.boolop(BoolOp::And, &inexact, &up);
                let denormal = is_denormal(core, F, a);
                Outcome { value, raised: Raised { inexact, denormal, ..Raised::none(core) }, up }
            })
        });
        self.close_plain(Goes::ToRegister, outcome)
    }

    /// To a signed integer of `out` bits, the most negative one standing for all that does not fit.
    pub fn to_int(&self, truncate: bool, out: Width, a: &C::Val) -> C::Val {
        let core = self.core;
        let least = constant(core, out, 1 << (out - 1));
        let field = if truncate { constant(core, 2, 3) } else { self.rounding.clone() };
        let odd = is_unsupported(core, a);
        let invalid = || Outcome {
            raised: only_invalid(core, core.boolean(true)),
            ..Outcome::quiet(core, least.clone())
        };
        let outcome = decide(core, out, &odd, invalid, || {
            by_rounding(core, out, &field, |r| int_outcome(core, F, r, out, &normalised(core, a)))
        });
        let no = core.boolean(false);
        let effect = Effect { outcome, codes: [no.clone(), no.clone(), no.clone()], says: no };
        self.close(out, &least, Goes::ToMemory, effect)
    }

    /// To a narrower format, for memory.
    pub fn to_float(&self, out: Width, a: &C::Val) -> Result<C::Val, MeaningError> {
        let (core, g) = (self.core, format(out)?);
        let odd = is_unsupported(core, a);
        let invalid = || Outcome {
            raised: only_invalid(core, core.boolean(true)),
            ..Outcome::quiet(core, indefinite(core, g))
        };
        let nan = || Outcome {
            raised: only_invalid(core, any_signalling(core, F, &[a])),
            ..Outcome::quiet(core, quiet(core, g, &convert_payload(core, F, g, a)))
        };
        let number = || {
            let a = &normalised(core, a);
            by_rounding(core, out, &self.rounding, |r| converted(core, F, g, r, &self.open, a).0)
        };
        let outcome =
            decide(core, out, &odd, invalid, || decide(core, out, &is_nan(core, F, a), nan, number));
        let no = core.boolean(false);
        let effect = Effect { outcome, codes: [no.clone(), no.clone(), no.clone()], says: no };
        Ok(self.close(out, &indefinite(core, g), Goes::ToMemory, effect))
    }

    /// From a narrower format in memory.
    pub fn widened(&self, from: Width, a: &C::Val) -> Result<C::Val, MeaningError> {
        let (core, f) = (self.core, format(from)?);
        let wide = widen(core, from, W, a)?;
        let nan = is_nan(core, f, a);
        let raised =
            Raised { denormal: is_denormal(core, f, a), ..only_invalid(core, any_signalling(core, f, &[a])) };
        let value = core.cond(W, &nan, &quiet(core, F, &wide), &wide);
        Ok(self.close_plain(Goes::OnTop, Outcome { raised, ..Outcome::quiet(core, value) }))
    }

    /// `fcom` and, not `strict`, `fucom`: C0 less, C3 equal, all three unordered. There is no value.
    pub fn compare(
        &self,
        strict: bool,
        a: (Width, &C::Val),
        b: (Width, &C::Val),
    ) -> Result<C::Val, MeaningError> {
        let core = self.core;
        let ((a, a_denormal), (b, b_denormal)) = (self.operand(a)?, self.operand(b)?);
        let (a, b) = (&a, &b);
        let odd = core.boolop(BoolOp::Or, &is_unsupported(core, a), &is_unsupported(core, b));
        let nan = core.boolop(BoolOp::Or, &odd, &any_nan(core, F, &[a, b]));
        let loud = if strict { nan.clone() } else { any_signalling(core, F, &[a, b]) };
        let invalid = core.boolop(BoolOp::Or, &odd, &loud);
        let denormal = core.boolop(BoolOp::Or, &a_denormal, &b_denormal);
        let denormal = core.boolop(BoolOp::And, &denormal, &core.not(&nan));
        let raised = Raised { denormal, ..only_invalid(core, invalid) };
        let unordered = core.boolop(BoolOp::Or, &nan, &self.empty);
        let or = |truth: C::Bool| core.boolop(BoolOp::Or, &truth, &unordered);
        let (x, y) = (&normalised(core, a), &normalised(core, b));
        let less = or(core.float_rel(FloatRelOp::Lt, F, x, y));
        let equal = or(core.float_rel(FloatRelOp::Eq, F, x, y));
        let nothing = constant(core, 8, 0);
        let outcome = Outcome { raised, ..Outcome::quiet(core, nothing.clone()) };
        Ok(self.close(
            8,
            &nothing,
            Goes::ToRegister,
            Effect { outcome, codes: [less, unordered, equal], says: core.boolean(true) },
        ))
    }

    /// The value as it is, from a register or on top of the stack.
    pub fn moved(&self, on_top: bool, a: &C::Val) -> C::Val {
        let goes = if on_top { Goes::OnTop } else { Goes::ToRegister };
        self.close_plain(goes, Outcome::quiet(self.core, a.clone()))
    }
}

impl<C: Core> Unit<'_, C> {
    /// A transcendental function of numbers that the reading knows; elsewhere it has no meaning.
    pub fn transcendental(
        &self,
        function: Transcendental,
        a: &C::Val,
        b: &C::Val,
    ) -> Result<C::Val, MeaningError> {
        let core = self.core;
        let number = |a: &C::Val| match core.targets(W, a).as_deref() {
            Some([(_, only)]) => only.small(),
            _ => None,
        };
        let no = core.boolean(false);
        if known(core, &self.empty) == Some(true) {
            return Ok(self.close_plain(Goes::ToRegister, Outcome::quiet(core, a.clone())));
        }
        let (Some(x), Some(y)) = (number(a), number(b)) else {
            return Err(MeaningError::Unknown(format!("{function:?} of a number that is not known")));
        };
        let operands: &[&C::Val] = if function.has_two() { &[a, b] } else { &[a] };
        let special = operands.iter().any(|a| {
            let odd = core.boolop(BoolOp::Or, &is_unsupported(core, a), &is_nan(core, F, a));
            known(core, &odd) == Some(true)
        });
        if special {
            let outcome = self.special(operands, || Outcome::quiet(core, a.clone()));
            return Ok(self.close_plain(Goes::ToRegister, outcome));
        }
        let Some(mut answer) = transcendental::outcome(function, x, y, 0) else {
            // Out of range: the operand stays, and C2 says so.
            let effect = Effect {
                outcome: Outcome::quiet(core, a.clone()),
                codes: [no.clone(), core.boolean(true), no.clone()],
                says: no,
            };
            return Ok(self.close(W, &indefinite(core, F), Goes::ToRegister, effect));
        };
        let early = core.boolean(answer.invalid || answer.zero_divide);
        let huge = answer.inexact && answer.value >> 64 & 0x7fff == 0x7fff;
        let tiny = answer.inexact && answer.value >> 64 & 0x7fff == 0;
        // What is not masked is told by a result scaled far.
        for (happened, open, scale) in
            [(huge, &self.open.overflow, -2 * far(F)), (tiny, &self.open.underflow, 2 * far(F))]
        {
            if happened && known(core, open) == Some(true) {
                answer = transcendental::outcome(function, x, y, scale.into()).unwrap_or(answer);
            }
        }
        let mut value = constant(core, W, answer.value);
        if huge && known(core, &self.open.overflow) != Some(true) {
            value = self.beyond(&value, answer.value >> 79 == 1);
        }
        let raised = Raised {
            invalid: core.boolean(answer.invalid),
            zero_divide: core.boolean(answer.zero_divide),
            denormal: core.boolop(BoolOp::And, &any_denormal(core, F, operands), &core.not(&early)),
            overflow: core.boolean(huge),
            underflow: core.boolean(tiny),
            inexact: core.boolean(answer.inexact),
        };
        let outcome = Outcome { raised, ..Outcome::quiet(core, value) };
        Ok(self.close_plain(Goes::ToRegister, outcome))
    }

    /// What lies beyond the range: infinity, or the largest number where the mode rounds towards zero.
    fn beyond(&self, infinity: &C::Val, negative: bool) -> C::Val {
        let core = self.core;
        let is = |mode: u128| core.relop(RelOp::Eq, 2, &self.rounding, &constant(core, 2, mode));
        let outwards = core.boolop(BoolOp::Or, &is(0), &is(if negative { 1 } else { 2 }));
        let largest = u128::from(negative) << 79 | 0x7ffe << 64 | u128::from(u64::MAX);
        core.cond(W, &outwards, infinity, &constant(core, W, largest))
    }
}

/// Encodings of the 80-bit format that the x87 refuses: a significand without its integer bit under an exponent that is
/// not the least.
pub(super) fn is_unsupported<C: Core>(core: &C, a: &C::Val) -> C::Bool {
    let exponent = core.extract(W, 64, 15, a);
    let bit = core.extract(W, 63, 1, a);
    core.boolop(BoolOp::And, &core.val_to_bool(15, &exponent), &core.not(&core.val_to_bool(1, &bit)))
}

/// A denormal with its integer bit set is the normal number with the next exponent.
pub(super) fn normalised<C: Core>(core: &C, a: &C::Val) -> C::Val {
    let exponent = core.extract(W, 64, 15, a);
    let bit = core.val_to_bool(1, &core.extract(W, 63, 1, a));
    let second = core.boolop(BoolOp::And, &core.not(&core.val_to_bool(15, &exponent)), &bit);
    match known(core, &second) {
        Some(false) => a.clone(),
        _ => core.cond(W, &second, &core.binop(BinOp::Or, W, a, &constant(core, W, 1 << 64)), a),
    }
}

/// A number of 64 bits precision, its last bit set if it is not exact, rounded to fewer: the place of the last bit kept
/// is the same for denormal numbers.
fn narrowed<C: Core>(core: &C, r: Rounding, bits: u16, a: &C::Val) -> C::Val {
    let drop = 64 - bits;
    let significand = core.extract(W, 0, 64, a);
    let head = core.extract(W, 64, 16, a);
    let low = core.extract(64, 0, drop, &significand);
    let kept = core.extract(64, drop, bits, &significand);
    let some = core.val_to_bool(drop, &low);
    let negative = is_negative(core, W, a);
    let up = match r {
        Rounding::Zero => core.boolean(false),
        Rounding::Up => core.boolop(BoolOp::And, &some, &core.not(&negative)),
        Rounding::Down => core.boolop(BoolOp::And, &some, &negative),
        _ => {
            let half = constant(core, drop, 1 << (drop - 1));
            let above = core.relop(RelOp::Ugt, drop, &low, &half);
            let tie = core.relop(RelOp::Eq, drop, &low, &half);
            let odd = core.val_to_bool(1, &core.extract(bits, 0, 1, &kept));
            core.boolop(BoolOp::Or, &above, &core.boolop(BoolOp::And, &tie, &odd))
        }
    };
    let wide = core.zext(bits, bits + 1, &kept);
    let sum = core.binop(BinOp::Add, bits + 1, &wide, &core.bool_to_val(bits + 1, &up));
    let carry = core.val_to_bool(1, &core.extract(bits + 1, bits, 1, &sum));
    // A carry leaves zeros; the exponent grows, as it does when a denormal number becomes normal.
    let rounded = core.concat(bits, drop, &core.extract(bits + 1, 0, bits, &sum), &constant(core, drop, 0));
    let rounded = core.cond(64, &carry, &constant(core, 64, 1 << 63), &rounded);
    let exponent = core.extract(16, 0, 15, &head);
    let least = core.not(&core.val_to_bool(15, &exponent));
    let integer = core.val_to_bool(1, &core.extract(64, 63, 1, &rounded));
    let became_normal = core.boolop(BoolOp::And, &least, &integer);
    let grows = core.boolop(BoolOp::Or, &carry, &became_normal);
    let head = core.binop(BinOp::Add, 16, &head, &core.bool_to_val(16, &grows));
    core.cond(W, &is_finite(core, F, a), &core.concat(16, 64, &head, &rounded), a)
}
