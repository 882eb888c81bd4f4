//! Literals of C, with the types that C gives them.

use crate::expression::Expression;

/// An integer literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Integer {
    pub value: u64,
    /// Whether it is written in base ten, and so never becomes unsigned by its size.
    is_decimal: bool,
    is_unsigned: bool,
    /// How many times `l` follows it.
    longs: usize,
}

impl Integer {
    /// The size and the signedness of its type where `long` has so many bytes: the first type in C's list that holds it.
    pub fn ty(&self, long: u64) -> (u64, bool) {
        let sizes = [4, long, 8];
        for size in &sizes[self.longs..] {
            let bits = 8 * size;
            let fits = |bits: u64| bits >= 64 || self.value < 1 << bits;
            if !self.is_unsigned && fits(bits - 1) && (bits < 64 || self.value >> 63 == 0) {
                return (*size, true);
            }
            if (self.is_unsigned || !self.is_decimal) && fits(bits) {
                return (*size, false);
            }
        }
        (8, false)
    }
}

/// The length of the number that a text starts with, as the preprocessor delimits numbers.
pub(crate) fn length(text: &str) -> usize {
    let is_hexadecimal = text.starts_with("0x") || text.starts_with("0X");
    let exponent = if is_hexadecimal { ['p', 'P'] } else { ['e', 'E'] };
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        let is_sign = matches!(c, '+' | '-') && exponent.contains(&before);
        if !(c.is_alphanumeric() || c == '.' || is_sign) {
            return at;
        }
        before = c;
    }
    text.len()
}

const WRONG: &str = "this is no number";

/// The literal that a number is.
pub(crate) fn number(text: &str) -> Result<Expression, &'static str> {
    let lower = text.to_ascii_lowercase();
    let (digits, base) = match lower.get(..2) {
        Some("0x") => (&lower[2..], 16),
        Some("0b") => (&lower[2..], 2),
        _ if lower.starts_with('0') => (&*lower, 8),
        _ => (&*lower, 10),
    };
    let exponent = if base == 16 { 'p' } else { 'e' };
    if base != 2 && digits.contains(['.', exponent]) {
        return float(digits, base == 16);
    }
    let end = digits.find(['u', 'l']).unwrap_or(digits.len());
    if digits[..end].starts_with('+') {
        return Err(WRONG);
    }
    let value = u128::from_str_radix(&digits[..end], base).map_err(|_| WRONG)?;
    let (is_unsigned, longs) = match &digits[end..] {
        "" => (false, 0),
        "u" => (true, 0),
        "l" => (false, 1),
        "ul" | "lu" => (true, 1),
        "ll" => (false, 2),
        "ull" | "llu" => (true, 2),
        _ => return Err(WRONG),
    };
    let value = u64::try_from(value).map_err(|_| "this number is too large for a type of C")?;
    Ok(Expression::Integer(Integer { value, is_decimal: base == 10, is_unsigned, longs }))
}

fn float(digits: &str, is_hexadecimal: bool) -> Result<Expression, &'static str> {
    // `f` is a digit of a hexadecimal number, but not behind its exponent.
    let is_single = digits.ends_with('f') && (!is_hexadecimal || digits.contains('p'));
    let number = if is_single { &digits[..digits.len() - 1] } else { digits };
    if number.ends_with('l') {
        return Err("literals of type long double are not supported");
    }
    let value = if is_hexadecimal { hexadecimal(number) } else { decimal(number) };
    let value = value.ok_or(WRONG)?;
    match is_single {
        // Read once more, since a double on the way would round twice.
        true if !is_hexadecimal => Ok(Expression::Float(number.parse::<f32>().map_err(|_| WRONG)?.into(), 4)),
        true => Ok(Expression::Float((value as f32).into(), 4)),
        false => Ok(Expression::Float(value, 8)),
    }
}

fn decimal(number: &str) -> Option<f64> {
    let is_plain = |c: char| c.is_ascii_digit() || matches!(c, '.' | 'e' | '+' | '-');
    number.chars().all(is_plain).then(|| number.parse().ok()).flatten()
}

/// `1.8p1`, without its `0x`. More digits than a double holds are refused, since they would have to be rounded.
fn hexadecimal(number: &str) -> Option<f64> {
    const MOST_DIGITS: usize = 13;
    let (digits, exponent) = number.split_once('p')?;
    let exponent: i32 = exponent.parse().ok().filter(|exponent: &i32| exponent.abs() < 1000)?;
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let all = format!("{whole}{part}");
    if all.len() > MOST_DIGITS || !all.chars().all(|c| c.is_ascii_hexdigit()) {
        return None;
    }
    let value = u64::from_str_radix(&all, 16).ok()? as f64;
    Some(value * 2f64.powi(exponent - 4 * part.len() as i32))
}

/// The character whose literal goes on like this behind its first quote, and the length of the rest of the literal.
pub(crate) fn character(rest: &[u8]) -> Option<(u8, usize)> {
    let (code, length) = match rest {
        [b'\\', b'x', ..] => {
            let digits = rest[2..].iter().take_while(|c| c.is_ascii_hexdigit()).count();
            (escaped(&rest[2..2 + digits.min(8)], 16)?, 2 + digits)
        }
        [b'\\', b'0'..=b'7', ..] => {
            let digits = rest[1..].iter().take(3).take_while(|c| matches!(c, b'0'..=b'7')).count();
            (escaped(&rest[1..1 + digits], 8)?, 1 + digits)
        }
        [b'\\', c, ..] => {
            let code = match c {
                b'a' => 7,
                b'b' => 8,
                b't' => b'\t',
                b'n' => b'\n',
                b'v' => 11,
                b'f' => 12,
                b'r' => b'\r',
                b'\\' | b'\'' | b'"' | b'?' => *c,
                _ => return None,
            };
            (code, 2)
        }
        [c, ..] if c.is_ascii() && !matches!(c, b'\'' | b'\n') => (*c, 1),
        _ => return None,
    };
    (rest.get(length) == Some(&b'\'')).then_some((code, length + 1))
}

fn escaped(digits: &[u8], base: u32) -> Option<u8> {
    u8::from_str_radix(std::str::from_utf8(digits).ok()?, base).ok()
}
