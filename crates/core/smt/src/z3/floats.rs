//! Floats as Z3's. On our side a float is its vector: operands are read as floats, results written back, and what is
//! not a number comes back as the canonical NaN. The meaning is that of `parallax_op::float`.

use super::translate::constant;
use parallax_op::{BinOp, Bits, FloatBinOp, FloatFormat, FloatRelOp, FloatUnOp, Rounding, UnOp, Width};
use z3::Sort;
use z3::ast::{Ast, BV, Bool, Float};
use z3_sys::{self as sys, Z3_ast, Z3_context};

/// A raw constructor's result, kept alive.
fn kept<T: Ast>(like: &BV, build: impl FnOnce(Z3_context) -> Option<Z3_ast>) -> T {
    let context = like.get_ctx();
    // SAFETY: the result of a constructor of this very context; operands are of the sorts it wants, so it exists.
    unsafe { T::wrap(context, build(context.get_z3_context()).expect("well-sorted operands")) }
}

fn rounding_mode(context: Z3_context, rounding: Rounding) -> Option<Z3_ast> {
    // SAFETY: constructors without operands, in a live context.
    unsafe {
        match rounding {
            Rounding::NearestEven => sys::Z3_mk_fpa_rne(context),
            Rounding::NearestAway => sys::Z3_mk_fpa_rna(context),
            Rounding::Up => sys::Z3_mk_fpa_rtp(context),
            Rounding::Down => sys::Z3_mk_fpa_rtn(context),
            Rounding::Zero => sys::Z3_mk_fpa_rtz(context),
        }
    }
}

fn format_of(width: u32) -> FloatFormat {
    FloatFormat::of_width(width as Width).expect("a float format")
}

fn sort(format: FloatFormat) -> Sort {
    let (exponent, significand) = format.smt2();
    Sort::float(exponent.into(), significand.into())
}

/// A vector read as a float.
fn read(vector: &BV) -> Float {
    let format = format_of(vector.get_size());
    if format != FloatFormat::X87 {
        return read_as(vector, format);
    }
    // The integer bit is written out. Clear, it makes a number that is none unless the exponent is zero, too; set, it
    // turns an exponent of zero into one.
    let (sign, exponent) = (vector.extract(79, 79), vector.extract(78, 64));
    let (integer, fraction) = (vector.extract(63, 63), vector.extract(62, 0));
    let zero = exponent.eq(BV::from_u64(0, 15));
    let set = integer.eq(BV::from_u64(1, 1));
    let exponent = Bool::and(&[&zero, &set]).ite(&BV::from_u64(1, 15), &exponent);
    let packed = sign.concat(exponent).concat(fraction);
    let number = read_as(&packed, format);
    let nan: Float = Float::nan(&sort(format));
    Bool::or(&[zero, set]).ite(&number, &nan)
}

fn read_as(packed: &BV, format: FloatFormat) -> Float {
    let sort = sort(format);
    // SAFETY: a vector and a float sort of the same number of bits.
    kept(packed, |c| unsafe { sys::Z3_mk_fpa_to_fp_bv(c, packed.get_z3_ast(), sort.get_z3_sort()) })
}

/// A float as the vector that represents it.
fn write(like: &BV, float: &Float, format: FloatFormat) -> BV {
    // SAFETY: a float, and a predicate on floats.
    let bits: BV = kept(like, |c| unsafe { sys::Z3_mk_fpa_to_ieee_bv(c, float.get_z3_ast()) });
    // SAFETY: a predicate on floats.
    let nan: Bool = kept(like, |c| unsafe { sys::Z3_mk_fpa_is_nan(c, float.get_z3_ast()) });
    let bits = if format == FloatFormat::X87 {
        let exponent = bits.extract(77, 63);
        let integer = exponent.eq(BV::from_u64(0, 15)).ite(&BV::from_u64(0, 1), &BV::from_u64(1, 1));
        bits.extract(78, 63).concat(integer).concat(bits.extract(62, 0))
    } else {
        bits
    };
    nan.ite(&constant(&format.nan()), &bits)
}

pub(super) fn unary(op: FloatUnOp, rounding: Rounding, a: &BV) -> BV {
    let x = read(a);
    // SAFETY: a rounding mode and a float.
    let result: Float = kept(a, |c| unsafe {
        let mode = rounding_mode(c, rounding)?;
        match op {
            FloatUnOp::Sqrt => sys::Z3_mk_fpa_sqrt(c, mode, x.get_z3_ast()),
            FloatUnOp::Round => sys::Z3_mk_fpa_round_to_integral(c, mode, x.get_z3_ast()),
        }
    });
    write(a, &result, format_of(a.get_size()))
}

pub(super) fn binary(op: FloatBinOp, rounding: Rounding, a: &BV, b: &BV) -> BV {
    let (x, y) = (read(a), read(b));
    // SAFETY: a rounding mode and two floats of one format.
    let result: Float = kept(a, |c| unsafe {
        let mode = rounding_mode(c, rounding)?;
        let (x, y) = (x.get_z3_ast(), y.get_z3_ast());
        match op {
            FloatBinOp::Add => sys::Z3_mk_fpa_add(c, mode, x, y),
            FloatBinOp::Sub => sys::Z3_mk_fpa_sub(c, mode, x, y),
            FloatBinOp::Mul => sys::Z3_mk_fpa_mul(c, mode, x, y),
            FloatBinOp::Div => sys::Z3_mk_fpa_div(c, mode, x, y),
            FloatBinOp::Rem => sys::Z3_mk_fpa_rem(c, x, y),
        }
    });
    write(a, &result, format_of(a.get_size()))
}

pub(super) fn fused(rounding: Rounding, a: &BV, b: &BV, c: &BV) -> BV {
    let (x, y, z) = (read(a), read(b), read(c));
    // SAFETY: a rounding mode and three floats of one format.
    let result: Float = kept(a, |c| unsafe {
        let mode = rounding_mode(c, rounding)?;
        sys::Z3_mk_fpa_fma(c, mode, x.get_z3_ast(), y.get_z3_ast(), z.get_z3_ast())
    });
    write(a, &result, format_of(a.get_size()))
}

pub(super) fn relation(op: FloatRelOp, a: &BV, b: &BV) -> Bool {
    let (x, y) = (read(a), read(b));
    // SAFETY: two floats of one format.
    kept(a, |c| unsafe {
        let (x, y) = (x.get_z3_ast(), y.get_z3_ast());
        match op {
            FloatRelOp::Eq => sys::Z3_mk_fpa_eq(c, x, y),
            FloatRelOp::Lt => sys::Z3_mk_fpa_lt(c, x, y),
            FloatRelOp::Le => sys::Z3_mk_fpa_leq(c, x, y),
        }
    })
}

pub(super) fn to_float(rounding: Rounding, a: &BV, width: u32) -> BV {
    let format = format_of(width);
    let (x, target) = (read(a), sort(format));
    // SAFETY: a rounding mode, a float and a float sort.
    let result: Float = kept(a, |c| unsafe {
        let mode = rounding_mode(c, rounding)?;
        sys::Z3_mk_fpa_to_fp_float(c, mode, x.get_z3_ast(), target.get_z3_sort())
    });
    write(a, &result, format)
}

pub(super) fn from_integer(signed: bool, rounding: Rounding, a: &BV, width: u32) -> BV {
    let format = format_of(width);
    let target = sort(format);
    // SAFETY: a rounding mode, a vector and a float sort.
    let result: Float = kept(a, |c| unsafe {
        let mode = rounding_mode(c, rounding)?;
        let convert = if signed { sys::Z3_mk_fpa_to_fp_signed } else { sys::Z3_mk_fpa_to_fp_unsigned };
        convert(c, mode, a.get_z3_ast(), target.get_z3_sort())
    });
    write(a, &result, format)
}

/// Zero for what is no number; the nearest end of the range for what lies outside it.
pub(super) fn to_integer(signed: bool, rounding: Rounding, a: &BV, width: u32) -> BV {
    let format = format_of(a.get_size());
    let w = width as Width;
    let half = BinOp::Shl.apply(&Bits::one(w), &Bits::from_big(w, (w - 1).into()));
    let (lowest, highest) =
        if signed { (half.clone(), UnOp::Not.apply(&half)) } else { (Bits::zero(w), Bits::ones(w)) };
    let integral = read(&unary(FloatUnOp::Round, rounding, a));
    // The first number past either end, as a float; past the format's own range that is an infinity.
    let above = power_of_two(format, if signed { w - 1 } else { w }, false);
    let below = if signed { power_of_two(format, w - 1, true) } else { Bits::zero(format.width()) };
    let (above, below) = (read(&constant(&above)), read(&constant(&below)));
    let x = integral.get_z3_ast();
    // SAFETY: floats of one format; the conversion gets what is in range, or its result is not used.
    let nan: Bool = kept(a, |c| unsafe { sys::Z3_mk_fpa_is_nan(c, x) });
    // SAFETY: floats of one format.
    let too_large: Bool = kept(a, |c| unsafe { sys::Z3_mk_fpa_geq(c, x, above.get_z3_ast()) });
    // SAFETY: floats of one format.
    let too_small: Bool = kept(a, |c| unsafe { sys::Z3_mk_fpa_leq(c, x, below.get_z3_ast()) });
    // SAFETY: floats of one format.
    let inside: BV = kept(a, |c| unsafe {
        let mode = rounding_mode(c, Rounding::Zero)?;
        let convert = if signed { sys::Z3_mk_fpa_to_sbv } else { sys::Z3_mk_fpa_to_ubv };
        convert(c, mode, x, width)
    });
    let bounded = too_small.ite(&constant(&lowest), &inside);
    nan.ite(&constant(&Bits::zero(w)), &too_large.ite(&constant(&highest), &bounded))
}

/// Plus or minus 2^power as a float.
fn power_of_two(format: FloatFormat, power: Width, negative: bool) -> Bits {
    let (exponent_bits, significand) = format.smt2();
    let bias = (1u32 << (exponent_bits - 1)) - 1;
    let exponent = (bias + u32::from(power)).min((1 << exponent_bits) - 1);
    let fraction_bits = if format == FloatFormat::X87 { significand } else { significand - 1 };
    let integer_bit = if format == FloatFormat::X87 { 1u128 << 63 } else { 0 };
    let sign = u128::from(negative) << (format.width() - 1);
    Bits::new(format.width(), sign | u128::from(exponent) << fraction_bits | integer_bit)
}
