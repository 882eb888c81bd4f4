//! Floating-point numbers as Java writes them.

use crate::types::Type;

/// The number that has these bits, as `Float.toString` and `Double.toString` write it; nothing for other types.
pub fn shown(ty: &Type, bits: u64) -> Option<String> {
    match ty {
        Type::Float => {
            let value = f32::from_bits(bits as u32);
            Some(written(value.into(), &format!("{value:e}")))
        }
        Type::Double => {
            let value = f64::from_bits(bits);
            Some(written(value, &format!("{value:e}")))
        }
        _ => None,
    }
}

/// From the shortest digits that mean the number, as in `-1.25e-3`.
fn written(value: f64, scientific: &str) -> String {
    if value.is_nan() {
        return "NaN".into();
    }
    let sign = if value.is_sign_negative() { "-" } else { "" };
    if value.is_infinite() {
        return format!("{sign}Infinity");
    }
    let (digits, exponent) = scientific.trim_start_matches('-').split_once('e').unwrap_or((scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let digits = digits.replace('.', "");
    let fraction = |rest: &str| if rest.is_empty() { "0".to_owned() } else { rest.to_owned() };
    match exponent {
        0..7 => {
            let whole = exponent as usize + 1;
            let digits = format!("{digits:0<whole$}");
            format!("{sign}{}.{}", &digits[..whole], fraction(&digits[whole..]))
        }
        -3..0 => format!("{sign}0.{}{digits}", "0".repeat((-exponent - 1) as usize)),
        _ => format!("{sign}{}.{}E{exponent}", &digits[..1], fraction(&digits[1..])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_java_writes_them() {
        let doubles: [(f64, &str); 12] = [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (100.0, "100.0"),
            (1234567.5, "1234567.5"),
            (1e7, "1.0E7"),
            (0.001, "0.001"),
            (0.00025, "2.5E-4"),
            (-1.5e300, "-1.5E300"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-Infinity"),
            (0.1 + 0.2, "0.30000000000000004"),
        ];
        for (value, text) in doubles {
            assert_eq!(shown(&Type::Double, value.to_bits()).as_deref(), Some(text));
        }
        assert_eq!(shown(&Type::Float, 0.1f32.to_bits().into()).as_deref(), Some("0.1"));
        assert_eq!(shown(&Type::Int, 3), None);
    }
}
