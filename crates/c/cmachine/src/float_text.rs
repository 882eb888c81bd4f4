//! Floating-point numbers as `printf` writes them and `strtod` reads them, exactly, in every format.

use num_bigint::BigUint;
use parallax_op::{Bits, FloatFormat};
use rustc_apfloat::ieee::{Double, Single, X87DoubleExtended};
use rustc_apfloat::{Float, ParseError, Round, Status, StatusAnd};

/// The characters of a magnitude under a conversion (`f`, `e`, `g`, `a` or upper case), without sign or padding.
pub fn magnitude(
    format: FloatFormat,
    bits: &Bits,
    conversion: u8,
    precision: Option<usize>,
    alternate: bool,
) -> String {
    let decimals = precision.unwrap_or(6);
    let text = match Magnitude::of(format, bits) {
        Magnitude::NotANumber => "nan".to_string(),
        Magnitude::Infinite => "inf".to_string(),
        Magnitude::Finite(value) => match conversion.to_ascii_lowercase() {
            b'e' => scientific(&value, decimals, alternate).0,
            b'g' => general(&value, decimals.max(1), alternate),
            b'a' => hexadecimal(format, &value, precision, alternate),
            _ => fixed(&value, decimals, alternate),
        },
    };
    if conversion.is_ascii_uppercase() { text.to_ascii_uppercase() } else { text }
}

/// A number without its sign.
enum Magnitude {
    NotANumber,
    Infinite,
    Finite(Binary),
}

/// `significand * 2^exponent`. The significand is as the format has it: a subnormal number's is small.
struct Binary {
    significand: BigUint,
    exponent: i32,
}

impl Magnitude {
    fn of(format: FloatFormat, bits: &Bits) -> Magnitude {
        let (exponent_bits, precision) = format.smt2();
        // The extended format stores its leading bit, the others do not.
        let stored = if format == FloatFormat::X87 { precision } else { precision - 1 };
        let mut significand = bits.extract(0, stored).to_big();
        let exponent = bits.extract(stored, exponent_bits).to_u64().unwrap_or(0) as i32;
        let (largest, bias) = ((1 << exponent_bits) - 1, (1 << (exponent_bits - 1)) - 1);
        if exponent == largest {
            let fraction = bits.extract(0, precision - 1);
            return if fraction.is_zero() { Magnitude::Infinite } else { Magnitude::NotANumber };
        }
        if exponent > 0 && format != FloatFormat::X87 {
            significand.set_bit(stored.into(), true);
        }
        let exponent = exponent.max(1) - bias - i32::from(precision - 1);
        Magnitude::Finite(Binary { significand, exponent })
    }
}

impl Binary {
    fn is_zero(&self) -> bool {
        self.significand == BigUint::ZERO
    }

    /// The number times a power of ten, rounded to the nearest integer, ties to even.
    fn scaled(&self, ten: i64) -> BigUint {
        let mut upper = self.significand.clone();
        let mut lower = BigUint::from(1u8);
        let power = BigUint::from(10u8).pow(ten.unsigned_abs() as u32);
        *if ten >= 0 { &mut upper } else { &mut lower } *= power;
        *if self.exponent >= 0 { &mut upper } else { &mut lower } <<= self.exponent.unsigned_abs();
        let (quotient, rest) = (&upper / &lower, &upper % &lower);
        match (rest * 2u8).cmp(&lower) {
            std::cmp::Ordering::Less => quotient,
            std::cmp::Ordering::Equal if !quotient.bit(0) => quotient,
            _ => quotient + 1u8,
        }
    }

    /// The power of ten of its leading digit, before rounding.
    fn leading(&self) -> i64 {
        // The logarithm is off by one at most.
        let bits = self.significand.bits() as i64 + i64::from(self.exponent);
        let guess = ((bits - 1) as f64 * std::f64::consts::LOG10_2).floor() as i64;
        let reaches = |ten: i64| {
            let (mut mine, mut power) = (self.significand.clone(), BigUint::from(1u8));
            let tens = BigUint::from(10u8).pow(ten.unsigned_abs() as u32);
            *if ten >= 0 { &mut power } else { &mut mine } *= tens;
            *if self.exponent >= 0 { &mut mine } else { &mut power } <<= self.exponent.unsigned_abs();
            mine >= power
        };
        (guess - 1..=guess + 1).rev().find(|&ten| reaches(ten)).unwrap_or(guess - 1)
    }
}

/// Digits with a point so many places from the right.
fn pointed(digits: &str, places: usize, alternate: bool) -> String {
    let digits = format!("{digits:0>least$}", least = places + 1);
    let (whole, fraction) = digits.split_at(digits.len() - places);
    let point = if places > 0 || alternate { "." } else { "" };
    format!("{whole}{point}{fraction}")
}

fn fixed(value: &Binary, places: usize, alternate: bool) -> String {
    pointed(&value.scaled(places as i64).to_string(), places, alternate)
}

/// The text, and the power of ten in it.
fn scientific(value: &Binary, places: usize, alternate: bool) -> (String, i64) {
    let (digits, power) = if value.is_zero() {
        ("0".repeat(places + 1), 0)
    } else {
        let power = value.leading();
        let digits = value.scaled(places as i64 - power).to_string();
        // Nines round up to one more digit.
        match digits.len() > places + 1 {
            true => (digits[..=places].to_string(), power + 1),
            false => (digits, power),
        }
    };
    let sign = if power < 0 { '-' } else { '+' };
    (format!("{}e{sign}{:02}", pointed(&digits, places, alternate), power.abs()), power)
}

fn general(value: &Binary, precision: usize, alternate: bool) -> String {
    let (text, power) = scientific(value, precision - 1, alternate);
    if power < -4 || power >= precision as i64 {
        let (digits, tail) = text.split_once('e').unwrap_or((&text, ""));
        return format!("{}e{tail}", trimmed(digits, alternate));
    }
    let places = (precision as i64 - 1 - power).max(0) as usize;
    trimmed(&fixed(value, places, alternate), alternate).to_string()
}

fn trimmed(digits: &str, alternate: bool) -> &str {
    match digits.contains('.') && !alternate {
        true => digits.trim_end_matches('0').trim_end_matches('.'),
        false => digits,
    }
}

/// One digit before the point: the leading bit of a `double`, the leading four of the extended format, as glibc has it.
fn hexadecimal(format: FloatFormat, value: &Binary, precision: Option<usize>, alternate: bool) -> String {
    let after: u64 = match format {
        FloatFormat::X87 => 60,
        _ => u64::from(format.smt2().1 - 1),
    };
    let places = (after / 4) as usize;
    let mut power = if value.is_zero() { 0 } else { value.exponent + after as i32 };
    let mut significand = value.significand.clone();
    let kept = precision.unwrap_or(places).min(places);
    // Rounded to the digits that are kept, ties to even.
    let cut = 4 * (places - kept) as u64;
    let rest = &significand % (BigUint::from(1u8) << cut);
    significand >>= cut;
    let half = BigUint::from(1u8) << cut >> 1u8;
    if cut > 0 && (rest > half || (rest == half && significand.bit(0))) {
        significand += 1u8;
    }
    let mut digits = format!("{significand:0>width$x}", width = kept + 1);
    if digits.len() > kept + 1 {
        // The leading digit was an f.
        digits.pop();
        power += 4;
    }
    let (lead, fraction) = digits.split_at(1);
    let fraction = match precision {
        Some(wanted) => format!("{fraction:0<wanted$}"),
        None => fraction.trim_end_matches('0').to_string(),
    };
    let point = if fraction.is_empty() && !alternate { "" } else { "." };
    format!("0x{lead}{point}{fraction}p{power:+}")
}

/// The number that the characters are, in decimal or hexadecimal notation, and whether it is out of range: too large, or
/// so small that it lost digits.
pub fn parse(format: FloatFormat, text: &str) -> (Bits, bool) {
    let lower = text.to_ascii_lowercase();
    let complete = match lower.contains("0x") && !lower.contains('p') {
        true => format!("{lower}p0"),
        false => lower,
    };
    fn read<F: Float>(text: &str) -> Result<StatusAnd<F>, ParseError> {
        F::from_str_r(text, Round::NearestTiesToEven)
    }
    fn bits<F: Float>(format: FloatFormat, read: Result<StatusAnd<F>, ParseError>) -> (Bits, bool) {
        let Ok(StatusAnd { status, value }) = read else { return (Bits::zero(format.width()), false) };
        let inexact = status.contains(Status::INEXACT);
        let range =
            status.contains(Status::OVERFLOW) || (inexact && (value.is_denormal() || value.is_zero()));
        (Bits::new(format.width(), value.to_bits()), range)
    }
    match format {
        FloatFormat::F32 => bits(format, read::<Single>(&complete)),
        FloatFormat::X87 => bits(format, read::<X87DoubleExtended>(&complete)),
        _ => bits(FloatFormat::F64, read::<Double>(&complete)),
    }
}

/// A number times a power of two, rounded once.
pub fn scaled(format: FloatFormat, bits: &Bits, by: i32) -> Bits {
    fn scale<F: Float>(bits: &Bits, by: i32) -> Bits {
        let value = F::from_bits(bits.to_u128().unwrap_or(0));
        Bits::new(bits.width(), value.scalbn(by).to_bits())
    }
    match format {
        FloatFormat::F32 => scale::<Single>(bits, by),
        FloatFormat::X87 => scale::<X87DoubleExtended>(bits, by),
        _ => scale::<Double>(bits, by),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn double(value: f64) -> Bits {
        Bits::new(64, value.to_bits().into())
    }

    #[test]
    fn numbers_read_as_printf_writes_them() {
        let text = |value: f64, conversion, precision| {
            magnitude(FloatFormat::F64, &double(value), conversion, precision, false)
        };
        assert_eq!(text(0.1, b'f', None), "0.100000");
        assert_eq!(text(12345.678, b'e', Some(3)), "1.235e+04");
        assert_eq!(text(100000.0, b'g', None), "100000");
        assert_eq!(text(1e6, b'g', None), "1e+06");
        assert_eq!(text(0.0001, b'g', None), "0.0001");
        assert_eq!(text(1.0, b'a', None), "0x1p+0");
        assert_eq!(text(1.999, b'a', Some(2)), "0x2.00p+0");
        assert_eq!(text(5e-324, b'a', None), "0x0.0000000000001p-1022");
        assert_eq!(text(f64::INFINITY, b'F', None), "INF");
        assert_eq!(text(2.5, b'f', Some(0)), "2");
        assert_eq!(text(9.9999, b'e', Some(2)), "1.00e+01");
    }

    #[test]
    fn numbers_are_read_with_one_rounding() {
        let read = |text| parse(FloatFormat::F64, text);
        assert_eq!(read("-1.5e3"), (double(-1500.0), false));
        assert_eq!(read("0x1.8p1"), (double(3.0), false));
        assert_eq!(read("0x.8"), (double(0.5), false));
        assert_eq!(read("0x1p-1074"), (double(5e-324), false));
        assert_eq!(read("0x1.8p-1074"), (double(1e-323), true));
        assert_eq!(read("1e999"), (double(f64::INFINITY), true));
        // Halfway between two numbers of 24 bits, but for a digit that 53 bits lose.
        let (bits, _) = parse(FloatFormat::F32, "1.00000005960464477540");
        assert_eq!(bits, Bits::new(32, 0x3f80_0001));
    }

    #[test]
    fn powers_of_two_round_once() {
        let scale = |value, by| scaled(FloatFormat::F64, &double(value), by);
        assert_eq!(scale(5e-324, 1074), double(1.0));
        assert_eq!(scale(1.0, -1074), double(5e-324));
        assert_eq!(scale(1.0, i32::MIN), double(0.0));
        assert_eq!(scale(-1.0, i32::MAX), double(f64::NEG_INFINITY));
    }
}
