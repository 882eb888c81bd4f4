//! Floating-point numbers as `printf` writes them and `strtod` reads them.

/// The characters of a magnitude under a conversion (`f`, `e`, `g`, `a` or upper case), without sign or padding.
pub fn magnitude(value: f64, conversion: u8, precision: usize, alternate: bool) -> String {
    let upper = conversion.is_ascii_uppercase();
    let text = if value.is_nan() {
        "nan".to_string()
    } else if value.is_infinite() {
        "inf".to_string()
    } else {
        let value = value.abs();
        match conversion.to_ascii_lowercase() {
            b'e' => exponent(value, precision, alternate),
            b'g' => general(value, precision, alternate),
            b'a' => hexadecimal(value),
            _ => {
                let mut text = format!("{value:.precision$}");
                if alternate && precision == 0 {
                    text.push('.');
                }
                text
            }
        }
    };
    if upper { text.to_ascii_uppercase() } else { text }
}

fn exponent(value: f64, precision: usize, alternate: bool) -> String {
    let text = format!("{value:.precision$e}");
    let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
    let power: i32 = power.parse().unwrap_or(0);
    let point = if alternate && precision == 0 { "." } else { "" };
    format!("{digits}{point}e{}{:02}", if power < 0 { '-' } else { '+' }, power.abs())
}

fn general(value: f64, precision: usize, alternate: bool) -> String {
    let precision = precision.max(1);
    let scientific = format!("{value:.*e}", precision - 1);
    let power: i32 = scientific.split_once('e').and_then(|(_, p)| p.parse().ok()).unwrap_or(0);
    if power < -4 || power >= precision as i32 {
        let text = exponent(value, precision - 1, alternate);
        let (digits, tail) = text.split_once('e').unwrap_or((&text, ""));
        let digits = if alternate { digits } else { trimmed(digits) };
        return format!("{digits}e{tail}");
    }
    let places = (precision as i32 - 1 - power).max(0) as usize;
    let text = format!("{value:.places$}");
    if alternate { text } else { trimmed(&text).to_string() }
}

fn trimmed(digits: &str) -> &str {
    if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits }
}

fn hexadecimal(value: f64) -> String {
    let bits = value.to_bits();
    let (exponent, fraction) = ((bits >> 52) as i32 & 0x7ff, bits & 0xf_ffff_ffff_ffff);
    if value == 0.0 {
        return "0x0p+0".into();
    }
    let (lead, power) = if exponent == 0 { (0, -1022) } else { (1, exponent - 1023) };
    let digits = format!("{fraction:013x}");
    let digits = digits.trim_end_matches('0');
    let point = if digits.is_empty() { "" } else { "." };
    format!("0x{lead}{point}{digits}p{power:+}")
}

/// The number that the characters are, in decimal or hexadecimal notation.
pub fn parse(text: &str) -> f64 {
    let (negative, rest) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    let lower = rest.to_ascii_lowercase();
    let size = match lower.strip_prefix("0x") {
        Some(hex) => parse_hexadecimal(hex),
        None => lower.parse().unwrap_or(0.0),
    };
    if negative { -size } else { size }
}

fn parse_hexadecimal(text: &str) -> f64 {
    let (digits, power) = text.split_once('p').unwrap_or((text, "0"));
    let power: i32 = power.parse().unwrap_or(0);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let mut value = 0.0f64;
    for digit in whole.chars() {
        value = value * 16.0 + f64::from(digit.to_digit(16).unwrap_or(0));
    }
    let mut scale = 1.0 / 16.0;
    for digit in fraction.chars() {
        value += f64::from(digit.to_digit(16).unwrap_or(0)) * scale;
        scale /= 16.0;
    }
    value * 2f64.powi(power)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_as_printf_writes_them() {
        assert_eq!(magnitude(0.1, b'f', 6, false), "0.100000");
        assert_eq!(magnitude(12345.678, b'e', 3, false), "1.235e+04");
        assert_eq!(magnitude(100000.0, b'g', 6, false), "100000");
        assert_eq!(magnitude(1e6, b'g', 6, false), "1e+06");
        assert_eq!(magnitude(0.0001, b'g', 6, false), "0.0001");
        assert_eq!(magnitude(1.0, b'a', 6, false), "0x1p+0");
        assert_eq!(magnitude(f64::INFINITY, b'F', 6, false), "INF");
        assert_eq!(parse("-1.5e3"), -1500.0);
        assert_eq!(parse("0x1.8p1"), 3.0);
    }
}
