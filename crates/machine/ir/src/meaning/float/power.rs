//! Floats of PowerPC under FPSCR: its rounding mode, the exceptions that it enables and collects, and what it says about
//! the last result.
//!
//! A result is computed once more in 113 bits, rounded to odd, where it is as good as exact: comparing it with the
//! result tells whether that is inexact and which way it was rounded, and its magnitude whether it is too large or
//! tiny, which PowerPC decides before rounding.
//!
//! Functions take FPSCR, MSR and the target register's old value after their operands. They give the value lowest, above
//! it FPSCR afterwards, and above that one byte that says whether an enabled exception stops the instruction; MSR says
//! whether any may. Architecture: Power ISA, book I, chapter 4.

use super::arithmetic::{any_nan, any_signalling, plain, significand};
use super::raised::{
    Open, Outcome, Raised, by_field, decide, is_denormal, is_finite, is_infinite, is_zero, known, magnitude,
    power_of_two,
};
use super::{convert_payload, quiet};
use crate::meaning::pure::{is_nan, is_negative};
use crate::meaning::value::constant;
use crate::meaning::vector::join;
use crate::{PowerOp, ScalarOp};
use FloatFormat::{F32, F64, F128};
use parallax_op::{
    BinOp, BoolOp, FloatBinOp, FloatFormat, FloatRelOp, FloatUnOp, RelOp, Rounding, UnOp, Width,
};
use parallax_sem::Core;

/// Bits of FPSCR, the lowest being zero.
const VXCVI: u16 = 8;
const VXSQRT: u16 = 9;
const FPRF: u16 = 12;
const FR: u16 = 18;
const VXVC: u16 = 19;
const VXIMZ: u16 = 20;
const VXZDZ: u16 = 21;
const VXIDI: u16 = 22;
const VXISI: u16 = 23;
const VXSNAN: u16 = 24;
const XX: u16 = 25;
const ZX: u16 = 26;
const UX: u16 = 27;
const OX: u16 = 28;
const FEX: u16 = 30;
const FX: u16 = 31;
/// Every reason for an invalid operation, `VXSOFT` included.
const REASONS: u128 = 0x01f8_0700;

/// The rounding mode of the two lowest bits.
fn rounding(field: u64) -> Rounding {
    match field & 3 {
        0 => Rounding::NearestEven,
        1 => Rounding::Zero,
        2 => Rounding::Up,
        _ => Rounding::Down,
    }
}

/// Reasons for an invalid operation, by their bits.
type Reasons<C> = Vec<(u16, <C as Core>::Bool)>;

/// What FPSCR says about the class and sign of a result.
enum Class {
    /// Those of the value.
    OfValue,
    /// What it said before, but that of no number after an invalid conversion to an integer. The architecture leaves
    /// this open.
    OfConversion,
}

/// A function that rounds, before it has.
struct Exact<'a, C: Core> {
    /// The result in 113 bits, rounded to odd; the mode gives zeros their sign.
    wide: &'a dyn Fn(Rounding) -> C::Val,
    /// The result in 53 bits, if there is a shorter way to it than through 113.
    double: Option<&'a dyn Fn(Rounding) -> C::Val>,
    /// Whether it is finite where it does not overflow.
    finite: C::Bool,
}

/// FPSCR and what goes along with it.
pub(in crate::meaning) struct Status<'a, C: Core> {
    core: &'a C,
    fpscr: C::Val,
    rounding: C::Val,
    invalid_enabled: C::Bool,
    zero_divide_enabled: C::Bool,
    open: Open<C>,
    may_stop: C::Bool,
}

impl<'a, C: Core> Status<'a, C> {
    /// Takes FPSCR apart; MSR has `w` bits.
    pub fn new(core: &'a C, fpscr: &C::Val, w: Width, msr: &C::Val) -> Self {
        let bit = |at: Width| core.val_to_bool(1, &core.extract(32, at, 1, fpscr));
        let msr_bit = |at: Width| core.val_to_bool(1, &core.extract(w, at, 1, msr));
        Status {
            core,
            fpscr: fpscr.clone(),
            rounding: core.extract(32, 0, 2, fpscr),
            invalid_enabled: bit(7),
            zero_divide_enabled: bit(4),
            open: Open { overflow: bit(6), underflow: bit(5) },
            may_stop: core.boolop(BoolOp::Or, &msr_bit(11), &msr_bit(8)),
        }
    }

    fn and(&self, a: &C::Bool, b: &C::Bool) -> C::Bool {
        self.core.boolop(BoolOp::And, a, b)
    }

    fn or(&self, a: &C::Bool, b: &C::Bool) -> C::Bool {
        self.core.boolop(BoolOp::Or, a, b)
    }

    /// The function, of operands that are 64 bits wide; the last is the target's old value.
    pub fn apply(&self, op: PowerOp, operands: &[&C::Val]) -> Option<C::Val> {
        Some(match (op, operands) {
            (PowerOp::Arithmetic { op, single }, [a, b, old]) => self.arithmetic(op, single, [*a, *b], old),
            (PowerOp::Fused { subtract, negate, single }, [a, c, b, old]) => {
                self.fused(subtract, negate, single, [*a, *b, *c], old)
            }
            (PowerOp::Compare { ordered }, [a, b]) => self.compare(ordered, a, b),
            (PowerOp::ToSingle, [a, old]) => self.to_single(a, old),
            (PowerOp::ToInt { word, signed, truncate }, [a, old]) => {
                self.to_int(if word { 32 } else { 64 }, signed, truncate, a, old)
            }
            (PowerOp::FromInt { signed, single }, [a, old]) => self.of_int(signed, single, a, old),
            (PowerOp::Integral(rounding), [a, old]) => self.integral(rounding, a, old),
            (PowerOp::Reciprocal, [a, old]) => self.reciprocal(a, old),
            (PowerOp::ReciprocalRoot, [a, old]) => self.reciprocal_root(a, old),
            _ => return None,
        })
    }

    fn by_rounding(&self, outcome: impl Fn(Rounding) -> Outcome<C>) -> Outcome<C> {
        by_field(self.core, 64, &self.rounding, |mode| outcome(rounding(mode)))
    }

    /// The first operand that is not a number, made quiet; else the default. A single keeps what it has room for.
    fn no_number(&self, single: bool, operands: &[&C::Val]) -> Outcome<C> {
        let core = self.core;
        let default = constant(core, 64, 0x7ff8 << 48);
        let chosen = operands.iter().rev().fold(default, |otherwise, operand| {
            core.cond(64, &is_nan(core, F64, operand), &quiet(core, F64, operand), &otherwise)
        });
        let kept = if single { !0x1fff_ffff } else { u128::MAX };
        Outcome::quiet(core, core.binop(BinOp::And, 64, &chosen, &constant(core, 64, kept)))
    }

    fn arithmetic(&self, op: ScalarOp, single: bool, [a, b]: [&C::Val; 2], old: &C::Val) -> C::Val {
        let core = self.core;
        let operands: &[&C::Val] = if op == ScalarOp::Sqrt { &[b] } else { &[a, b] };
        let infinite = |a: &C::Val| is_infinite(core, F64, a);
        let zero = |a: &C::Val| is_zero(core, F64, a);
        let negative = |a: &C::Val| is_negative(core, 64, a);
        let mut reasons = vec![(VXSNAN, any_signalling(core, F64, operands))];
        let mut finite = is_finite(core, F64, b);
        if op != ScalarOp::Sqrt {
            finite = self.and(&finite, &is_finite(core, F64, a));
        }
        let mut zero_divide = core.boolean(false);
        match op {
            ScalarOp::Mul => reasons.push((VXIMZ, self.infinity_times_zero(a, b))),
            ScalarOp::Div => {
                reasons.push((VXIDI, self.and(&infinite(a), &infinite(b))));
                reasons.push((VXZDZ, self.and(&zero(a), &zero(b))));
                zero_divide = self.and(&zero(b), &self.and(&is_finite(core, F64, a), &core.not(&zero(a))));
                finite = self.and(&finite, &core.not(&zero(b)));
            }
            ScalarOp::Sqrt => {
                let below = self.and(&negative(b), &core.not(&self.or(&zero(b), &is_nan(core, F64, b))));
                finite = self.and(&finite, &core.not(&below));
                reasons.push((VXSQRT, below));
            }
            _ => {
                let differ = core.boolop(BoolOp::Xor, &negative(a), &negative(b));
                let opposite = if op == ScalarOp::Sub { core.not(&differ) } else { differ };
                reasons.push((VXISI, self.and(&opposite, &self.and(&infinite(a), &infinite(b)))));
            }
        }
        let outcome = decide(
            core,
            64,
            &self.or(&any_nan(core, F64, operands), &self.any(&reasons)),
            || self.no_number(single, operands),
            || {
                let (x, y) = (self.wide(a), self.wide(b));
                let exact = Exact {
                    wide: &|r| self.odd(r, &|r| plain(core, op, F128, r, &x, &y)),
                    double: Some(&|r| plain(core, op, F64, r, a, b)),
                    finite: finite.clone(),
                };
                let mut outcome = self.by_rounding(|r| self.rounded(single, r, &exact));
                outcome.raised.zero_divide = zero_divide.clone();
                outcome
            },
        );
        self.finish(outcome, &reasons, Class::OfValue, old)
    }

    /// `±(a * c ± b)`, rounded before the sign in front.
    fn fused(
        &self,
        subtract: bool,
        negate: bool,
        single: bool,
        [a, b, c]: [&C::Val; 3],
        old: &C::Val,
    ) -> C::Val {
        let core = self.core;
        let opposite = |a: &C::Val| core.binop(BinOp::Xor, 64, a, &constant(core, 64, 1 << 63));
        let added = if subtract { opposite(b) } else { b.clone() };
        let nan = any_nan(core, F64, &[a, b, c]);
        let bad_product = self.infinity_times_zero(a, c);
        let infinite = |a: &C::Val| is_infinite(core, F64, a);
        let sign = core.boolop(
            BoolOp::Xor,
            &is_negative(core, 64, a),
            &core.boolop(BoolOp::Xor, &is_negative(core, 64, c), &is_negative(core, 64, &added)),
        );
        let product_infinite = self.and(&self.or(&infinite(a), &infinite(c)), &core.not(&bad_product));
        let cancel = self.and(&sign, &self.and(&product_infinite, &infinite(b)));
        let reasons = vec![
            (VXSNAN, any_signalling(core, F64, &[a, b, c])),
            (VXIMZ, bad_product),
            (VXISI, self.and(&cancel, &core.not(&nan))),
        ];
        let finite =
            [a, b, c].iter().fold(core.boolean(true), |all, one| self.and(&all, &is_finite(core, F64, one)));
        let outcome = decide(
            core,
            64,
            &self.or(&nan, &self.any(&reasons)),
            || self.no_number(single, &[a, b, c]),
            || {
                // A product of doubles is exact in 113 bits.
                let product =
                    core.float_bin(FloatBinOp::Mul, F128, Rounding::Zero, &self.wide(a), &self.wide(c));
                let wide = self.wide(&added);
                let exact = Exact {
                    wide: &|r| self.odd(r, &|r| core.float_bin(FloatBinOp::Add, F128, r, &product, &wide)),
                    double: Some(&|r| core.float_fma(F64, r, a, c, &added)),
                    finite: finite.clone(),
                };
                let mut outcome = self.by_rounding(|r| self.rounded(single, r, &exact));
                if negate {
                    outcome.value = opposite(&outcome.value);
                }
                outcome
            },
        );
        self.finish(outcome, &reasons, Class::OfValue, old)
    }

    fn to_single(&self, a: &C::Val, old: &C::Val) -> C::Val {
        let core = self.core;
        let outcome = decide(
            core,
            64,
            &is_nan(core, F64, a),
            || self.no_number(true, &[a]),
            || {
                let exact = Exact { wide: &|_| self.wide(a), double: None, finite: is_finite(core, F64, a) };
                self.by_rounding(|r| self.rounded(true, r, &exact))
            },
        );
        self.finish(outcome, &[(VXSNAN, any_signalling(core, F64, &[a]))], Class::OfValue, old)
    }

    fn of_int(&self, signed: bool, single: bool, a: &C::Val, old: &C::Val) -> C::Val {
        let core = self.core;
        let exact = Exact {
            wide: &|r| core.int_to_float(signed, 64, F128, r, a),
            double: Some(&|r| core.int_to_float(signed, 64, F64, r, a)),
            finite: core.boolean(true),
        };
        let outcome = self.by_rounding(|r| self.rounded(single, r, &exact));
        self.finish(outcome, &[], Class::OfValue, old)
    }

    /// Held at the ends of the range; what is not a number becomes the lowest. The upper half of a word is undefined;
    /// this is QEMU's.
    fn to_int(&self, w: Width, signed: bool, truncate: bool, a: &C::Val, old: &C::Val) -> C::Val {
        let core = self.core;
        let nan = is_nan(core, F64, a);
        let ones = (1u128 << w) - 1;
        let (least, most) = if signed { (1 << (w - 1), ones >> 1) } else { (0, ones) };
        let at = |r: Rounding| {
            // Two bits more than needed tell what fits: outside, the conversion gives the ends of its range.
            let wide = core.float_to_int(true, F64, w + 2, r, a);
            let extend = |bits: u128| {
                let value = constant(core, w, bits);
                if signed { core.sext(w, w + 2, &value) } else { core.zext(w, w + 2, &value) }
            };
            let below = core.relop(RelOp::Slt, w + 2, &wide, &extend(least));
            let above = core.relop(RelOp::Slt, w + 2, &extend(most), &wide);
            let low = core.extract(w + 2, 0, w, &wide);
            let low = core.cond(w, &below, &constant(core, w, least), &low);
            let value = core.cond(w, &above, &constant(core, w, most), &low);
            let value = match (w, signed) {
                (64, _) => value,
                (_, true) => core.sext(w, 64, &value),
                (_, false) => core.zext(w, 64, &value),
            };
            let value = core.cond(64, &nan, &constant(core, 64, least), &value);
            let invalid = self.or(&nan, &self.or(&below, &above));
            let integral = core.float_un(FloatUnOp::Round, F64, r, a);
            let same = core.float_rel(FloatRelOp::Eq, F64, &integral, a);
            let inexact = self.and(&core.not(&same), &core.not(&invalid));
            let (rounded, exact) = (magnitude(core, F64, &integral), magnitude(core, F64, a));
            let up = self.and(&inexact, &core.relop(RelOp::Ugt, 64, &rounded, &exact));
            Outcome { value, raised: Raised { invalid, inexact, ..Raised::none(core) }, up }
        };
        let outcome = if truncate { at(Rounding::Zero) } else { self.by_rounding(at) };
        let reasons = [(VXSNAN, any_signalling(core, F64, &[a])), (VXCVI, outcome.raised.invalid.clone())];
        self.finish(outcome, &reasons, Class::OfConversion, old)
    }

    /// An integral float; nothing is said about what was cut off.
    fn integral(&self, r: Rounding, a: &C::Val, old: &C::Val) -> C::Val {
        let core = self.core;
        let value = core.float_un(FloatUnOp::Round, F64, r, a);
        let nan = self.no_number(false, &[a]);
        let outcome = nan.choose(core, 64, &is_nan(core, F64, a), &Outcome::quiet(core, value));
        self.finish(outcome, &[(VXSNAN, any_signalling(core, F64, &[a]))], Class::OfValue, old)
    }

    /// An estimate of one over the operand; ours is correctly rounded to a single.
    fn reciprocal(&self, a: &C::Val, old: &C::Val) -> C::Val {
        self.arithmetic(ScalarOp::Div, true, [&constant(self.core, 64, 0x3ff0 << 48), a], old)
    }

    /// An estimate of one over the root of the operand; ours is the quotient of the rounded root.
    fn reciprocal_root(&self, a: &C::Val, old: &C::Val) -> C::Val {
        let core = self.core;
        let one = constant(core, 64, 0x3ff0 << 48);
        let zero = is_zero(core, F64, a);
        let nan = is_nan(core, F64, a);
        let below = self.and(&is_negative(core, 64, a), &core.not(&self.or(&zero, &nan)));
        let reasons = [(VXSNAN, any_signalling(core, F64, &[a])), (VXSQRT, below)];
        let outcome = decide(
            core,
            64,
            &self.or(&nan, &self.any(&reasons)),
            || self.no_number(false, &[a]),
            || {
                let finite = self.and(&is_finite(core, F64, a), &core.not(&zero));
                let mut outcome = self.by_rounding(|r| {
                    let root = core.float_un(FloatUnOp::Sqrt, F64, r, a);
                    let (x, y) = (self.wide(&one), self.wide(&root));
                    let exact = Exact {
                        wide: &|r| self.odd(r, &|r| plain(core, ScalarOp::Div, F128, r, &x, &y)),
                        double: Some(&|r| plain(core, ScalarOp::Div, F64, r, &one, &root)),
                        finite: finite.clone(),
                    };
                    let mut outcome = self.rounded(false, r, &exact);
                    let again = self.wide(&root);
                    let square = core.float_bin(FloatBinOp::Mul, F128, Rounding::Zero, &again, &again);
                    let is_root = core.float_rel(FloatRelOp::Eq, F128, &square, &self.wide(a));
                    let cut = self.and(&finite, &core.not(&is_root));
                    outcome.raised.inexact = self.or(&outcome.raised.inexact, &cut);
                    outcome
                });
                outcome.raised.zero_divide = zero.clone();
                outcome
            },
        );
        self.finish(outcome, &reasons, Class::OfValue, old)
    }

    /// Less, greater, equal, unordered from the highest of four bits down; they are in FPSCR too.
    fn compare(&self, ordered: bool, a: &C::Val, b: &C::Val) -> C::Val {
        let core = self.core;
        let relation = |op, a, b| core.bool_to_val(1, &core.float_rel(op, F64, a, b));
        let (nan, signalling) = (any_nan(core, F64, &[a, b]), any_signalling(core, F64, &[a, b]));
        let code = join(
            core,
            1,
            &[
                core.bool_to_val(1, &nan),
                relation(FloatRelOp::Eq, a, b),
                relation(FloatRelOp::Lt, b, a),
                relation(FloatRelOp::Lt, a, b),
            ],
        );
        let mut reasons = vec![(VXSNAN, signalling.clone())];
        if ordered {
            // A stop on account of the signal comes first.
            let passed = core.not(&self.and(&signalling, &self.invalid_enabled));
            reasons.push((VXVC, self.and(&nan, &passed)));
        }
        let upper = core.extract(32, 16, 16, &self.fpscr);
        let lower = core.extract(32, 0, 12, &self.fpscr);
        let status = core.concat(16, 16, &upper, &core.concat(4, 12, &code, &lower));
        self.close(8, &core.zext(4, 8, &code), &status, &reasons)
    }

    fn infinity_times_zero(&self, a: &C::Val, b: &C::Val) -> C::Bool {
        let core = self.core;
        let one_way = |a: &C::Val, b: &C::Val| self.and(&is_infinite(core, F64, a), &is_zero(core, F64, b));
        self.or(&one_way(a, b), &one_way(b, a))
    }

    fn any(&self, reasons: &[(u16, C::Bool)]) -> C::Bool {
        reasons.iter().fold(self.core.boolean(false), |all, (_, one)| self.or(&all, one))
    }

    /// A double in 113 bits.
    fn wide(&self, a: &C::Val) -> C::Val {
        self.core.float_to_float(F64, F128, Rounding::Zero, a)
    }

    /// An operation in 113 bits, rounded to odd: what is not exact ends in a one.
    fn odd(&self, r: Rounding, compute: &dyn Fn(Rounding) -> C::Val) -> C::Val {
        let core = self.core;
        let (above, below) = (compute(Rounding::Up), compute(Rounding::Down));
        let exact = core.float_rel(FloatRelOp::Eq, F128, &above, &below);
        if known(core, &exact) == Some(true) {
            return compute(r);
        }
        let cut = core.cond(128, &is_negative(core, 128, &below), &above, &below);
        let odd = core.binop(BinOp::Or, 128, &cut, &constant(core, 128, 1));
        core.cond(128, &exact, &compute(r), &odd)
    }

    /// The result under a mode, with what it raises besides invalid operation and division by zero. Where overflow or
    /// underflow is enabled, the exponent is brought into range.
    fn rounded(&self, single: bool, r: Rounding, exact: &Exact<C>) -> Outcome<C> {
        let core = self.core;
        let f = if single { F32 } else { F64 };
        let wide = (exact.wide)(r);
        let value = match exact.double {
            Some(double) if !single => double(r),
            _ => {
                let narrow = core.float_to_float(F128, f, r, &wide);
                if single { core.float_to_float(F32, F64, r, &narrow) } else { narrow }
            }
        };
        let (mut outcome, size) =
            (self.held_against(value, &wide, &exact.finite), magnitude(core, F128, &wide));
        let bias = (1 << (f.smt2().0 - 1)) - 1;
        let beyond = constant(core, 128, power_of_two(F128, bias + 1));
        let overflow =
            self.or(&is_infinite(core, F64, &outcome.value), &core.relop(RelOp::Uge, 128, &size, &beyond));
        let overflow = self.and(&exact.finite, &overflow);
        let normal = constant(core, 128, power_of_two(F128, 1 - bias));
        let tiny =
            self.and(&core.relop(RelOp::Ult, 128, &size, &normal), &core.not(&is_zero(core, F128, &wide)));
        let tiny = self.and(&exact.finite, &tiny);
        let underflow = self.and(&tiny, &self.or(&outcome.raised.inexact, &self.open.underflow));
        // The distance is the one that the architecture gives: three quarters of the range of exponents.
        let far = 3 << (f.smt2().0 - 2);
        for (when, distance) in
            [(self.and(&overflow, &self.open.overflow), -far), (self.and(&tiny, &self.open.underflow), far)]
        {
            if known(core, &when) != Some(false) {
                outcome = self.rescaled(f, r, distance, &wide).choose(core, 64, &when, &outcome);
            }
        }
        outcome.raised.overflow = overflow;
        outcome.raised.underflow = underflow;
        outcome
    }

    /// A double with what comparing it to the exact result tells.
    fn held_against(&self, value: C::Val, wide: &C::Val, finite: &C::Bool) -> Outcome<C> {
        let core = self.core;
        let back = self.wide(&value);
        let inexact = self.and(finite, &core.not(&core.float_rel(FloatRelOp::Eq, F128, &back, wide)));
        let (rounded, exact) = (magnitude(core, F128, &back), magnitude(core, F128, wide));
        let up = self.and(&inexact, &core.relop(RelOp::Ugt, 128, &rounded, &exact));
        Outcome { value, raised: Raised { inexact, ..Raised::none(core) }, up }
    }

    /// Rounded as if exponents had no end, and then times a power of two.
    fn rescaled(&self, f: FloatFormat, r: Rounding, distance: i32, wide: &C::Val) -> Outcome<C> {
        let core = self.core;
        let digits = significand(core, F128, wide);
        let rounded = core.float_to_float(F128, f, r, &digits);
        let value = core.float_to_float(f, F64, r, &rounded);
        let mut outcome = self.held_against(value, &digits, &core.boolean(true));
        let times = |a: &C::Val, b: &C::Val| core.float_bin(FloatBinOp::Mul, F128, Rounding::Zero, a, b);
        let scale = core.concat(
            16,
            112,
            &core.extract(128, 112, 16, &magnitude(core, F128, wide)),
            &constant(core, 112, 0),
        );
        let distance = constant(core, 128, power_of_two(F128, distance));
        let scaled = times(&times(&self.wide(&outcome.value), &scale), &distance);
        outcome.value = core.float_to_float(F128, F64, Rounding::Zero, &scaled);
        outcome
    }

    /// The value unless an exception that is enabled keeps it from being written, and FPSCR afterwards.
    fn finish(&self, outcome: Outcome<C>, reasons: &[(u16, C::Bool)], class: Class, old: &C::Val) -> C::Val {
        let core = self.core;
        let invalid = self.any(reasons);
        let zero_divide = &outcome.raised.zero_divide;
        let kept = self.or(
            &self.and(&invalid, &self.invalid_enabled),
            &self.and(zero_divide, &self.zero_divide_enabled),
        );
        let value = core.cond(64, &kept, old, &outcome.value);
        let before = core.extract(32, FPRF, 5, &self.fpscr);
        let class = match class {
            Class::OfValue => self.class(&outcome.value),
            Class::OfConversion => core.cond(5, &invalid, &constant(core, 5, 0x11), &before),
        };
        let class = core.cond(5, &kept, &before, &class);
        let regular = core.not(&self.or(&invalid, zero_divide));
        let inexact = core.bool_to_val(1, &self.and(&regular, &outcome.raised.inexact));
        let up = core.bool_to_val(1, &self.and(&regular, &outcome.up));
        let said = core.concat(2, 5, &core.concat(1, 1, &up, &inexact), &class);
        let upper = core.extract(32, FR + 1, 31 - FR, &self.fpscr);
        let lower = core.extract(32, 0, FPRF, &self.fpscr);
        let status = core.concat(31 - FR, FR + 1, &upper, &core.concat(7, FPRF, &said, &lower));
        let mut raised: Reasons<C> = reasons.to_vec();
        raised.push((ZX, zero_divide.clone()));
        raised.push((OX, outcome.raised.overflow));
        raised.push((UX, outcome.raised.underflow));
        raised.push((XX, core.val_to_bool(1, &inexact)));
        self.close(64, &value, &status, &raised)
    }

    /// Class and sign of a double, as FPSCR writes them.
    fn class(&self, a: &C::Val) -> C::Val {
        let core = self.core;
        let negative = is_negative(core, 64, a);
        let by_sign =
            |minus, plus| core.cond(5, &negative, &constant(core, 5, minus), &constant(core, 5, plus));
        let mut code = by_sign(0x08, 0x04);
        for (holds, other) in [
            (is_denormal(core, F64, a), by_sign(0x18, 0x14)),
            (is_zero(core, F64, a), by_sign(0x12, 0x02)),
            (is_infinite(core, F64, a), by_sign(0x09, 0x05)),
            (is_nan(core, F64, a), constant(core, 5, 0x11)),
        ] {
            code = core.cond(5, &holds, &other, &code);
        }
        code
    }

    /// The value, FPSCR with exceptions added above it, and whether one of them is enabled and may stop the instruction.
    fn close(&self, w: Width, value: &C::Val, status: &C::Val, raised: &[(u16, C::Bool)]) -> C::Val {
        let core = self.core;
        let bits: Vec<C::Val> = (8..32)
            .map(|bit| {
                let holds = raised.iter().filter(|(at, _)| *at == bit);
                holds.fold(constant(core, 1, 0), |all, (_, holds)| {
                    core.binop(BinOp::Or, 1, &all, &core.bool_to_val(1, holds))
                })
            })
            .collect();
        let more = join(core, 1, &bits);
        let upper = core.extract(32, 8, 24, status);
        let new = core.binop(BinOp::And, 24, &more, &core.unop(UnOp::Not, 24, &upper));
        let first =
            core.concat(1, 23, &core.bool_to_val(1, &core.val_to_bool(24, &new)), &constant(core, 23, 0));
        let all = core.binop(BinOp::Or, 24, &core.binop(BinOp::Or, 24, &upper, &more), &first);
        let control = core.extract(32, 0, 8, status);
        let after = settle(core, &core.concat(24, 8, &all, &control));
        // The raised alone, under what is enabled.
        let alone = settle(core, &core.concat(24, 8, &more, &control));
        let enabled = core.val_to_bool(1, &core.extract(32, FEX, 1, &alone));
        let stop = core.bool_to_val(8, &self.and(&enabled, &self.may_stop));
        core.concat(8, w + 32, &stop, &core.concat(32, w, &after, value))
    }
}

/// FPSCR with the two summaries that follow from the rest of it: `VX` and `FEX`.
pub(in crate::meaning) fn settle<C: Core>(core: &C, status: &C::Val) -> C::Val {
    let reasons = core.binop(BinOp::And, 32, status, &constant(core, 32, REASONS));
    let invalid = core.bool_to_val(1, &core.val_to_bool(32, &reasons));
    let raised = core.concat(1, 4, &invalid, &core.extract(32, XX, 4, status));
    let enabled = core.binop(BinOp::And, 5, &raised, &core.extract(32, 3, 5, status));
    let any = core.bool_to_val(1, &core.val_to_bool(5, &enabled));
    let top = core.concat(1, 2, &core.extract(32, FX, 1, status), &core.concat(1, 1, &any, &invalid));
    core.concat(3, 29, &top, &core.extract(32, 0, 29, status))
}

/// A single in memory as a double in a register; what is not a number keeps its bits.
pub(in crate::meaning) fn expand<C: Core>(core: &C, a: &C::Val) -> C::Val {
    let number = core.float_to_float(F32, F64, Rounding::Zero, a);
    core.cond(64, &is_nan(core, F32, a), &convert_payload(core, F32, F64, a), &number)
}

/// A double in a register as a single in memory, cut off: the architecture wants one that is a single already.
pub(in crate::meaning) fn narrow<C: Core>(core: &C, a: &C::Val) -> C::Val {
    let exponent = core.extract(64, 52, 11, a);
    let top = core.extract(64, 62, 2, a);
    let normal = core.concat(2, 30, &top, &core.extract(64, 29, 30, a));
    // Between the smallest denormal single and the smallest normal one the digits move down.
    let digits = core.concat(1, 23, &constant(core, 1, 1), &core.extract(64, 29, 23, a));
    let distance = core.binop(BinOp::Sub, 11, &constant(core, 11, 897), &exponent);
    let moved = core.binop(BinOp::Lshr, 24, &digits, &core.zext(11, 24, &distance));
    let large = |bound: u128| core.relop(RelOp::Uge, 11, &exponent, &constant(core, 11, bound));
    let low = core.cond(24, &large(874), &moved, &constant(core, 24, 0));
    let denormal = core.concat(1, 31, &core.extract(64, 63, 1, a), &core.zext(24, 31, &low));
    core.cond(32, &large(897), &normal, &denormal)
}
