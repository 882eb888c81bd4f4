//! What a program writes: bytes, and numbers that are not turned into digits until they are known.
//!
//! Printing a number that is not constant would split a path by how many digits it has, and ask the solver to divide.
//! Standard output is only looked at once a path has an input, so it keeps the number and how to write it.

use parallax_op::{Bits, FloatFormat};

/// A piece of output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output<V> {
    /// A byte.
    Byte(V),
    /// A number of 64 bits, written as it is known.
    Number(V, Form),
}

/// How `printf` writes a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    /// `d u x X o`, or `f e g a` and their capitals for the bits of a double.
    pub conversion: u8,
    /// `-`: on the left of its field.
    pub left: bool,
    /// `+`: with a sign.
    pub plus: bool,
    /// ` `: with room for a sign.
    pub space: bool,
    /// `0`: filled up with zeros.
    pub zero: bool,
    /// The least number of characters.
    pub width: usize,
    /// Digits, where they are given.
    pub precision: Option<usize>,
}

impl<V> Output<V> {
    /// The bytes it is, once values are known.
    pub fn bytes(&self, known: impl Fn(&V) -> Bits) -> Vec<u8> {
        match self {
            Output::Byte(byte) => vec![known(byte).to_u64().unwrap_or(0) as u8],
            Output::Number(number, form) => form.text(known(number).to_u64().unwrap_or(0)).into_bytes(),
        }
    }
}

impl Form {
    /// The text of a number.
    pub fn text(&self, bits: u64) -> String {
        let signed = |negative: bool| match (negative, self.plus, self.space) {
            (true, ..) => "-",
            (_, true, _) => "+",
            (.., true) => " ",
            _ => "",
        };
        let (sign, digits, zero) = match self.conversion {
            b'd' => (signed((bits as i64) < 0), (bits as i64).unsigned_abs().to_string(), self.zero),
            b'x' => ("", format!("{bits:x}"), self.zero),
            b'X' => ("", format!("{bits:X}"), self.zero),
            b'o' => ("", format!("{bits:o}"), self.zero),
            b'u' => ("", bits.to_string(), self.zero),
            other => {
                let number = f64::from_bits(bits);
                let held = Bits::new(64, bits.into());
                let text =
                    crate::float_text::magnitude(FloatFormat::F64, &held, other, self.precision, false);
                (signed(number.is_sign_negative()), text, self.zero && number.is_finite())
            }
        };
        let integer = matches!(self.conversion, b'd' | b'u' | b'x' | b'X' | b'o');
        let (digits, zero) = match self.precision {
            Some(0) if integer && bits == 0 => (String::new(), false),
            Some(least) if integer => (format!("{digits:0>least$}"), false),
            _ => (digits, zero),
        };
        // Zeros go behind the 0x of hexadecimal digits.
        let (sign, digits) = match digits.get(..2).filter(|start| start.eq_ignore_ascii_case("0x")) {
            Some(start) => (format!("{sign}{start}"), digits[2..].to_string()),
            None => (sign.to_string(), digits),
        };
        let fill = self.width.saturating_sub(sign.len() + digits.len());
        match (self.left, zero) {
            (true, _) => format!("{sign}{digits}{:fill$}", ""),
            (_, true) => format!("{sign}{:0>fill$}{digits}", ""),
            _ => format!("{:fill$}{sign}{digits}", ""),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_printf_does() {
        let plain = Form {
            conversion: b'd',
            left: false,
            plus: false,
            space: false,
            zero: false,
            width: 0,
            precision: None,
        };
        let minus_seven = -7i64 as u64;
        let wide = Form { width: 5, ..plain };
        let cases = [
            (plain, minus_seven, "-7"),
            (wide, minus_seven, "   -7"),
            (Form { zero: true, ..wide }, minus_seven, "-0007"),
            (Form { left: true, ..wide }, minus_seven, "-7   "),
            (Form { precision: Some(3), zero: true, ..wide }, 7, "  007"),
            (Form { precision: Some(0), ..plain }, 0, ""),
            (Form { plus: true, ..plain }, 7, "+7"),
            (Form { conversion: b'X', ..plain }, 255, "FF"),
            (Form { conversion: b'u', ..plain }, u64::MAX, "18446744073709551615"),
            (Form { conversion: b'f', precision: Some(2), ..plain }, 1.5f64.to_bits(), "1.50"),
            (Form { conversion: b'f', zero: true, width: 6, ..plain }, f64::NEG_INFINITY.to_bits(), "  -inf"),
        ];
        for (form, bits, text) in cases {
            assert_eq!(form.text(bits), text, "{form:?}");
        }
    }
}
