//! The x87's transcendental functions, on numbers only: no formula of the logic says what they are.
//!
//! The processor manual promises results within one unit in the last place, not which of the two neighbours; these here
//! are the nearest. Sine, cosine and tangent reduce their argument by the 66-bit value of pi that the processor uses.
//! Everything is computed in fixed point with far more digits than are kept.

use crate::Transcendental;
use num_bigint::{BigInt, Sign};
use num_traits::{One, Signed, ToPrimitive, Zero};

/// Binary places of fixed-point numbers.
const PLACES: u32 = 320;
/// Arguments below two to this power are their own sine, and the like.
const SMALL: i64 = -80;

/// A number `digits * 2^exponent`.
#[derive(Clone)]
struct Number {
    digits: BigInt,
    exponent: i64,
}

impl Number {
    /// A finite 80-bit float.
    fn read(bits: u128) -> Self {
        let significand = BigInt::from(bits as u64);
        let biased = (bits >> 64 & 0x7fff) as i64;
        let digits = if bits >> 79 & 1 == 1 { -significand } else { significand };
        Number { digits, exponent: biased.max(1) - 16383 - 63 }
    }

    /// The power of two at or below its magnitude.
    fn magnitude(&self) -> i64 {
        self.digits.bits() as i64 - 1 + self.exponent
    }

    /// With the binary point at [`PLACES`], cut.
    fn fixed(&self) -> BigInt {
        shifted(&self.digits, self.exponent + i64::from(PLACES))
    }

    fn times(&self, other: &Number) -> Number {
        Number { digits: &self.digits * &other.digits, exponent: self.exponent + other.exponent }
    }

    fn scaled(self, by: i64) -> Number {
        Number { exponent: self.exponent + by, ..self }
    }

    fn over(&self, other: &Number) -> Number {
        let digits = (&self.digits << (PLACES + other.digits.bits() as u32)) / &other.digits;
        let exponent = self.exponent - other.exponent - i64::from(PLACES) - other.digits.bits() as i64;
        Number { digits, exponent }
    }

    /// The nearest 80-bit float; what is too large is infinite.
    fn write(&self) -> u128 {
        if self.digits.is_zero() {
            return 0;
        }
        let sign = u128::from(self.digits.sign() == Sign::Minus) << 79;
        let exponent = self.magnitude().max(-16382);
        // In units of the last place.
        let shift = self.exponent - (exponent - 63);
        let scaled = self.digits.abs();
        let rounded = if shift >= 0 {
            scaled << shift as u32
        } else {
            (scaled + (BigInt::one() << (-shift - 1) as u32)) >> (-shift) as u32
        };
        let (mut significand, mut exponent) = (rounded.to_u128().unwrap_or(0), exponent);
        if significand >> 64 != 0 {
            significand >>= 1;
            exponent += 1;
        }
        if exponent > 16383 {
            return sign | 0x7fff << 64 | 1 << 63;
        }
        let biased = if significand >> 63 == 0 { 0 } else { (exponent + 16383) as u128 };
        sign | biased << 64 | significand
    }
}

/// Fixed point as a number.
fn number(fixed: BigInt) -> Number {
    Number { digits: fixed, exponent: -i64::from(PLACES) }
}

fn shifted(digits: &BigInt, by: i64) -> BigInt {
    if by >= 0 { digits << by as u32 } else { digits >> (-by).min(1 << 20) as u32 }
}

fn one() -> BigInt {
    BigInt::one() << PLACES
}

fn multiply(a: &BigInt, b: &BigInt) -> BigInt {
    (a * b) >> PLACES
}

fn divide(a: &BigInt, b: &BigInt) -> BigInt {
    (a << PLACES) / b
}

/// The sum of a series whose next term is made from the last one and its number.
fn series(first: BigInt, mut next: impl FnMut(&BigInt, u32) -> BigInt) -> BigInt {
    let (mut sum, mut term) = (first.clone(), first);
    for index in 1..2 * PLACES {
        term = next(&term, index);
        if term.is_zero() || term == BigInt::from(-1) {
            break;
        }
        sum += &term;
    }
    sum
}

/// Sine and cosine of a number below two.
fn sine_cosine(x: &BigInt) -> (BigInt, BigInt) {
    let square = multiply(x, x);
    let sine = series(x.clone(), |term, k| -multiply(term, &square) / (2 * k * (2 * k + 1)));
    let cosine = series(one(), |term, k| -multiply(term, &square) / ((2 * k - 1) * 2 * k));
    (sine, cosine)
}

/// Twice the inverse hyperbolic tangent of a number well below one.
fn logarithm_of_ratio(t: &BigInt) -> BigInt {
    let square = multiply(t, t);
    let mut power = t.clone();
    let mut sum = t.clone();
    for k in 1..2 * PLACES {
        power = multiply(&power, &square);
        if power.is_zero() || power == BigInt::from(-1) {
            break;
        }
        sum += &power / (2 * k + 1);
    }
    sum << 1
}

fn natural_logarithm_of_two() -> BigInt {
    logarithm_of_ratio(&(one() / 3))
}

/// The natural logarithm of a number between a half and two.
fn logarithm(x: &BigInt) -> BigInt {
    logarithm_of_ratio(&divide(&(x - one()), &(x + one())))
}

fn arc_tangent(t: &BigInt) -> BigInt {
    // Halving the angle a few times makes the series short.
    const HALVINGS: u32 = 8;
    let mut t = t.clone();
    for _ in 0..HALVINGS {
        let root = ((one() << PLACES) + &t * &t).sqrt();
        t = divide(&t, &(one() + root));
    }
    let square = multiply(&t, &t);
    let mut power = t.clone();
    let mut sum = t;
    for k in 1..2 * PLACES {
        power = -multiply(&power, &square);
        if power.is_zero() || power == BigInt::from(-1) {
            break;
        }
        sum += &power / (2 * k + 1);
    }
    sum << HALVINGS
}

fn pi() -> BigInt {
    arc_tangent(&one()) << 2
}

/// The processor's pi, with three bits before the binary point and 64 behind it.
fn short_pi() -> Number {
    Number { digits: BigInt::from(0x3_243f_6a88_85a3_08d3u128), exponent: -64 }
}

/// Sine and cosine of any argument below 2^63: what is left of it after the nearest multiple of a quarter turn.
fn reduced(x: &Number) -> (BigInt, BigInt) {
    let quarter = Number { exponent: short_pi().exponent - 1, ..short_pi() };
    // One place more, for half a quarter.
    let places = (-x.exponent).max(-quarter.exponent).max(0) + 1;
    let whole = |n: &Number| shifted(&n.digits, n.exponent + places);
    let (x, quarter) = (whole(x), whole(&quarter));
    let magnitude = x.abs();
    let turns: BigInt = (&magnitude + (&quarter >> 1u32)) / &quarter;
    let rest = Number { digits: magnitude - &turns * &quarter, exponent: -places };
    let (sine, cosine) = sine_cosine(&rest.fixed());
    let (sine, cosine) = match (turns % 4u32).to_u32() {
        Some(0) => (sine, cosine),
        Some(1) => (cosine, -sine),
        Some(2) => (-sine, -cosine),
        _ => (-cosine, sine),
    };
    (if x.is_negative() { -sine } else { sine }, cosine)
}

/// What a function gives and raises.
pub(super) struct Answer {
    pub value: u128,
    pub invalid: bool,
    pub zero_divide: bool,
    pub inexact: bool,
}

const SIGN: u128 = 1 << 79;
const INFINITY: u128 = 0x7fff << 64 | 1 << 63;
/// What an invalid operation gives.
const INDEFINITE: u128 = 0xffff << 64 | 3 << 62;
const ONE: u128 = 0x3fff << 64 | 1 << 63;

/// The function of operands that are numbers, infinite ones included; `None` where a trigonometric function does not take
/// its operand.
/// Results of which the exponent may matter are scaled by a power of two.
pub(super) fn outcome(function: Transcendental, a: u128, b: u128, scale: i64) -> Option<Answer> {
    use Transcendental::*;
    let exact = |value: u128| Answer { value, invalid: false, zero_divide: false, inexact: false };
    let rounded = |value: u128| Answer { inexact: true, ..exact(value) };
    let invalid = Answer { invalid: true, ..exact(INDEFINITE) };
    let zero = |a: u128| a & !SIGN == 0;
    let infinite = |a: u128| a & !SIGN == INFINITY;
    let negative = |a: u128| a & SIGN != 0;
    let signed = |value: u128, minus: bool| if minus { value | SIGN } else { value };
    Some(match function {
        Sine | Cosine | Tangent if infinite(a) => invalid,
        Sine | Cosine | Tangent if a & !SIGN >= (0x3fff + 63) << 64 => return None,
        Sine | Tangent | PowerMinusOne if zero(a) => exact(a),
        Cosine if zero(a) => exact(ONE),
        PowerMinusOne if infinite(a) => exact(if negative(a) { ONE | SIGN } else { a }),
        // Beyond one the result is undefined: the operand is as good as any.
        PowerMinusOne if a & !SIGN > ONE => rounded(a),
        PowerMinusOne if a & !SIGN == ONE => {
            exact(if negative(a) { 0x3ffe << 64 | 1 << 63 | SIGN } else { ONE })
        }
        TimesLogarithm | TimesLogarithmOfOneMore => return Some(logarithmic(function, a, b, scale)),
        ArcTangent if zero(b) || infinite(a) && !infinite(b) => {
            if negative(a) {
                rounded(signed(number(pi()).write(), negative(b)))
            } else {
                exact(b & SIGN)
            }
        }
        ArcTangent if infinite(b) => {
            let eighths = match (infinite(a), negative(a)) {
                (false, _) => 4,
                (true, false) => 2,
                (true, true) => 6,
            };
            rounded(signed(number((pi() * eighths) >> 3u32).write(), negative(b)))
        }
        ArcTangent if zero(a) => rounded(signed(number(pi() >> 1u32).write(), negative(b))),
        _ => rounded(value(function, a, b).scaled(scale).write()),
    })
}

/// `b` times the binary logarithm of `a`, or of one more.
fn logarithmic(function: Transcendental, a: u128, b: u128, scale: i64) -> Answer {
    let exact = |value: u128| Answer { value, invalid: false, zero_divide: false, inexact: false };
    let invalid = Answer { invalid: true, ..exact(INDEFINITE) };
    let zero = |a: u128| a & !SIGN == 0;
    let infinite = |a: u128| a & !SIGN == INFINITY;
    let sign = (a ^ b) & SIGN;
    if function == Transcendental::TimesLogarithmOfOneMore {
        return match () {
            () if infinite(b) && zero(a) => invalid,
            () if infinite(b) || zero(a) || zero(b) => exact(sign | if infinite(b) { INFINITY } else { 0 }),
            () if infinite(a) => exact(INFINITY | b & SIGN),
            // No logarithm there: undefined, and the operand is as good as any.
            () if a & SIGN != 0 && a & !SIGN >= ONE => Answer { inexact: true, ..exact(a) },
            () => Answer { inexact: true, ..exact(value(function, a, b).scaled(scale).write()) },
        };
    }
    // The sign of the logarithm.
    let below_one = a & !SIGN < ONE;
    let result_sign = (b & SIGN) ^ if below_one { SIGN } else { 0 };
    match () {
        () if zero(a) && zero(b) => invalid,
        () if zero(a) && infinite(b) => exact(INFINITY | (b & SIGN) ^ SIGN),
        () if zero(a) => Answer { zero_divide: true, ..exact(INFINITY | (b & SIGN) ^ SIGN) },
        () if a & SIGN != 0 => invalid,
        () if a == ONE && infinite(b) || infinite(a) && zero(b) => invalid,
        () if infinite(a) || infinite(b) => exact(INFINITY | result_sign),
        () if a == ONE || zero(b) => exact(result_sign),
        // Powers of two have whole logarithms.
        () => {
            let whole = a as u64 == 1 << 63;
            Answer { inexact: !whole, ..exact(value(function, a, b).scaled(scale).write()) }
        }
    }
}

/// The function of finite numbers that are not zero, within its domain; `b` is the second operand of those that have two.
fn value(function: Transcendental, a: u128, b: u128) -> Number {
    use Transcendental::*;
    let (x, y) = (Number::read(a), Number::read(b));
    let small = x.magnitude() < SMALL;
    match function {
        Sine | Tangent if small => x,
        Cosine if small => number(one()),
        Sine => number(reduced(&x).0),
        Cosine => number(reduced(&x).1),
        Tangent => {
            let (sine, cosine) = reduced(&x);
            number(sine).over(&number(cosine))
        }
        PowerMinusOne => {
            let logarithm = natural_logarithm_of_two();
            if small {
                return x.times(&number(logarithm));
            }
            let argument = multiply(&x.fixed(), &logarithm);
            number(series(argument.clone(), |term, k| multiply(term, &argument) / (k + 1)))
        }
        TimesLogarithm => {
            let exponent = x.magnitude();
            let unit = Number { digits: x.digits, exponent: x.exponent - exponent };
            let fraction = divide(&logarithm(&unit.fixed()), &natural_logarithm_of_two());
            let whole = BigInt::from(exponent) << PLACES;
            y.times(&number(whole + fraction))
        }
        TimesLogarithmOfOneMore => {
            let two = natural_logarithm_of_two();
            if small {
                return y.times(&x.over(&number(two)));
            }
            y.times(&number(divide(&logarithm(&(one() + x.fixed())), &two)))
        }
        // The angle of the point (x, y).
        ArcTangent => angle(&y, &x),
    }
}

fn angle(y: &Number, x: &Number) -> Number {
    let flat = y.magnitude() - x.magnitude();
    let positive = |n: &Number| Number { digits: n.digits.abs(), exponent: n.exponent };
    let (up, along) = (positive(y), positive(x));
    // The angle from the axis that is closer.
    let steep = flat > 0;
    let ratio = if steep { along.over(&up) } else { up.over(&along) };
    let to_left = x.digits.is_negative();
    let angle = if ratio.magnitude() < SMALL && !steep && !to_left {
        ratio
    } else {
        let near = arc_tangent(&ratio.fixed());
        number(match (steep, to_left) {
            (false, false) => near,
            (true, false) => (pi() >> 1) - near,
            (true, true) => (pi() >> 1) + near,
            (false, true) => pi() - near,
        })
    };
    if y.digits.is_negative() { Number { digits: -angle.digits, exponent: angle.exponent } } else { angle }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(value: f64) -> u128 {
        let bits = value.to_bits();
        let fraction = u128::from(bits & ((1 << 52) - 1)) << 11 | 1 << 63;
        u128::from(bits >> 63) << 79 | ((u128::from(bits >> 52 & 0x7ff) + 15360) << 64) | fraction
    }

    fn to(bits: u128) -> f64 {
        let magnitude = (bits as u64) as f64 * 2f64.powi((bits >> 64 & 0x7fff) as i32 - 16383 - 63);
        if bits >> 79 & 1 == 1 { -magnitude } else { magnitude }
    }

    /// The host's mathematics is good to about fifteen digits.
    #[test]
    fn agree_with_the_library_of_the_host() {
        for (x, y) in [(0.3, 2.0), (0.9, -7.5), (-0.7, 1e10), (0.001, 3.0), (-0.25, -0.125)] {
            let f = |function, y: f64| to(value(function, of(x), of(y)).write());
            let close =
                |a: f64, b: f64| assert!((a - b).abs() <= 1e-13 * b.abs(), "{a} against {b} of {x}, {y}");
            close(f(Transcendental::Sine, y), x.sin());
            close(f(Transcendental::Cosine, y), x.cos());
            close(f(Transcendental::Tangent, y), x.tan());
            close(f(Transcendental::PowerMinusOne, y), (x * 2f64.ln()).exp_m1());
            close(f(Transcendental::ArcTangent, y), y.atan2(x));
            close(f(Transcendental::TimesLogarithmOfOneMore, y), y * x.ln_1p() / 2f64.ln());
            if x > 0.0 {
                close(f(Transcendental::TimesLogarithm, y), y * x.log2());
            }
        }
    }
}
