//! Values as text, as GDB prints them. Of an array of characters the zeros at its end are left out: they say nothing.

use crate::error::{Error, Result};
use crate::symbols::Symbols;
use crate::types::{Kind, Made, Type};
use crate::value::{Place, State, Value, text_at};
use std::fmt::Write;

/// Elements of an array and characters of a text that are printed.
const MOST_ELEMENTS: usize = 200;
/// Structures inside each other that are printed.
const MOST_NESTED: usize = 32;
/// Characters of one print, after which the rest is left out.
const MOST_TEXT: usize = 1 << 20;

impl Symbols {
    /// A value as text. What cannot be read is said in its place.
    pub fn print(&self, value: &Value, state: &dyn State) -> String {
        let mut text = String::new();
        self.print_into(&mut text, value, state, 0);
        text
    }

    fn print_into(&self, text: &mut String, value: &Value, state: &dyn State, depth: usize) {
        if text.len() > MOST_TEXT {
            return;
        }
        match value.place {
            Place::OptimizedOut => text.push_str("<optimized out>"),
            Place::Synthetic => text.push_str("(synthetic pointer)"),
            _ => {
                let before = text.len();
                if let Err(error) = self.try_print(text, value, state, depth) {
                    text.truncate(before);
                    match error {
                        Error::OptimizedOut { .. } => text.push_str("<optimized out>"),
                        Error::Unreadable { address, .. } => {
                            let _ = write!(text, "<error: Cannot access memory at address {address:#x}>");
                        }
                        other => {
                            let _ = write!(text, "<error: {other}>");
                        }
                    }
                }
            }
        }
    }

    fn try_print(&self, text: &mut String, value: &Value, state: &dyn State, depth: usize) -> Result<()> {
        if depth > MOST_NESTED {
            text.push_str("{...}");
            return Ok(());
        }
        let kind = self.kind(&value.ty)?;
        match &*kind {
            Kind::Void => text.push_str("void"),
            Kind::Integer { .. } => {
                let _ = write!(text, "{}", self.integer(value, state)?);
            }
            Kind::Character { size, .. } => {
                let number = self.integer(value, state)?;
                let mark = match size {
                    2 => "u",
                    4 => "U",
                    _ => "",
                };
                let _ = write!(text, "{number} {mark}'");
                character(text, number, *size, '\'');
                text.push('\'');
            }
            Kind::Boolean { .. } => match self.integer(value, state)? {
                0 => text.push_str("false"),
                1 => text.push_str("true"),
                other => {
                    let _ = write!(text, "{other}");
                }
            },
            Kind::Float { size } => text.push_str(&float(self.float(value, state)?, *size)),
            Kind::Complex { size } => self.print_complex(text, value, *size, state)?,
            Kind::Enum { variants, .. } => enumeration(text, self.integer(value, state)?, variants),
            Kind::Pointer { to, .. } => {
                let address = self.integer(value, state)? as u64;
                self.print_pointer(text, address, to, state)?;
            }
            Kind::Reference { .. } => {
                let address = self.raw(value, state)? as u64;
                let _ = write!(text, "@{address:#x}");
                if depth == 0 {
                    text.push_str(": ");
                    self.print_into(text, &self.referred(value, state)?, state, depth + 1);
                }
            }
            Kind::Struct { is_incomplete: true, .. } => text.push_str("<incomplete type>"),
            Kind::Struct { fields, .. } => {
                text.push('{');
                for (index, field) in fields.iter().enumerate() {
                    if index > 0 {
                        text.push_str(", ");
                    }
                    match &field.name {
                        Some(name) if field.is_base => {
                            let _ = write!(text, "<{name}> = ");
                        }
                        Some(name) => {
                            let _ = write!(text, "{name} = ");
                        }
                        None => {}
                    }
                    match self.field(value, state, field) {
                        Ok(inner) => self.print_into(text, &inner, state, depth + 1),
                        Err(Error::OptimizedOut { .. }) => text.push_str("<optimized out>"),
                        Err(error) => {
                            let _ = write!(text, "<error: {error}>");
                        }
                    }
                }
                if fields.iter().all(|field| field.is_base) {
                    text.push_str(if fields.is_empty() { "<No data fields>" } else { ", <No data fields>" });
                }
                text.push('}');
            }
            Kind::Array { of, length } => self.print_array(text, value, of, *length, state, depth)?,
            Kind::Function { .. } => {
                let _ = write!(text, "{{{}}} ", self.type_name(&value.ty));
                if let Place::Memory(address) = value.place {
                    self.print_address(text, address);
                }
            }
            Kind::Opaque { .. } => {
                text.push_str("0x");
                for byte in self.bytes(value, state)?.iter().rev().take(MOST_ELEMENTS) {
                    let _ = write!(text, "{byte:02x}");
                }
            }
        }
        Ok(())
    }

    fn print_complex(&self, text: &mut String, value: &Value, size: u64, state: &dyn State) -> Result<()> {
        let bytes = self.bytes(value, state)?;
        let (real, imaginary) = bytes.split_at(bytes.len() / 2);
        let part = |bytes: &[u8]| -> Result<String> {
            let ty = Type(Made::Float { size: size / 2 });
            Ok(float(self.float(&Value::computed(ty, bytes.to_vec()), state)?, size / 2))
        };
        let _ = write!(text, "{} + {}i", part(real)?, part(imaginary)?);
        Ok(())
    }

    /// An address, with the symbol that it lies in.
    fn print_address(&self, text: &mut String, address: u64) {
        let _ = write!(text, "{address:#x}");
        if let Some((symbol, range)) = self.symbol_at(address) {
            let name = if symbol.linkage.starts_with("_ZT") || symbol.is_function {
                parallax_names::demangled(&symbol.linkage).0
            } else {
                symbol.name.clone()
            };
            match address - range.start {
                0 => {
                    let _ = write!(text, " <{name}>");
                }
                offset => {
                    let _ = write!(text, " <{name}+{offset}>");
                }
            }
        }
    }

    fn print_pointer(&self, text: &mut String, address: u64, to: &Type, state: &dyn State) -> Result<()> {
        self.print_address(text, address);
        // Text is shown too; bytes that are no characters by name, such as uint8_t, are taken as text as well.
        if let Kind::Character { size: 1, .. } = &*self.kind(to)?
            && address != 0
        {
            text.push(' ');
            match text_at(address, state, MOST_ELEMENTS) {
                Ok((bytes, is_whole)) => {
                    quoted(text, &bytes);
                    if !is_whole {
                        text.push_str("...");
                    }
                }
                Err(Error::Unreadable { address, .. }) => {
                    let _ = write!(text, "<error: Cannot access memory at address {address:#x}>");
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn print_array(
        &self,
        text: &mut String,
        value: &Value,
        of: &Type,
        length: Option<u64>,
        state: &dyn State,
        depth: usize,
    ) -> Result<()> {
        let length = length.unwrap_or(0);
        if length == 0 {
            if let Place::Memory(address) = value.place {
                return self.print_pointer(text, address, of, state);
            }
            text.push_str("{}");
            return Ok(());
        }
        if let Kind::Character { size: 1, .. } = &*self.kind(of)?
            && let Ok(bytes) = self.bytes(value, state)
        {
            let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
            quoted(text, &bytes[..end.min(MOST_ELEMENTS)]);
            if end > MOST_ELEMENTS {
                text.push_str("...");
            }
            return Ok(());
        }
        text.push('{');
        for index in 0..length.min(MOST_ELEMENTS as u64) {
            if index > 0 {
                text.push_str(", ");
            }
            self.print_into(text, &self.element(value, state, index.into())?, state, depth + 1);
        }
        text.push_str(if length > MOST_ELEMENTS as u64 { "...}" } else { "}" });
        Ok(())
    }
}

fn quoted(text: &mut String, bytes: &[u8]) {
    text.push('"');
    for byte in bytes {
        character(text, (*byte).into(), 1, '"');
    }
    text.push('"');
}

fn character(text: &mut String, number: i128, size: u64, quote: char) {
    let code = if size == 1 { number as u8 as u32 } else { number as u32 };
    match code {
        7 => text.push_str("\\a"),
        8 => text.push_str("\\b"),
        9 => text.push_str("\\t"),
        10 => text.push_str("\\n"),
        11 => text.push_str("\\v"),
        12 => text.push_str("\\f"),
        13 => text.push_str("\\r"),
        92 => text.push_str("\\\\"),
        _ => match char::from_u32(code) {
            Some(c) if c == quote => {
                text.push('\\');
                text.push(c);
            }
            Some(c) if (' '..='~').contains(&c) || size > 1 && !c.is_control() => text.push(c),
            _ => {
                let _ = write!(text, "\\{:03o}", code);
            }
        },
    }
}

fn enumeration(text: &mut String, number: i128, variants: &[(String, i128)]) {
    if let Some((name, _)) = variants.iter().find(|(_, value)| *value == number) {
        text.push_str(name);
        return;
    }
    let is_run_of_ones = |value: i128| {
        let ones = (value as u128) >> (value as u128).trailing_zeros().min(127);
        ones & (ones + 1) == 0
    };
    let is_flags = variants.iter().all(|(_, value)| *value >= 0 && (*value == 0 || is_run_of_ones(*value)));
    if !is_flags || number < 0 {
        let _ = write!(text, "{number}");
        return;
    }
    let mut rest = number;
    let mut parts: Vec<String> = Vec::new();
    for (name, value) in variants {
        if *value != 0 && rest & value == *value {
            parts.push(name.clone());
            rest &= !value;
        }
    }
    if rest != 0 {
        parts.push(format!("unknown: {rest:#x}"));
    }
    match parts.is_empty() {
        true => text.push('0'),
        false => {
            let _ = write!(text, "({})", parts.join(" | "));
        }
    }
}

/// A number with as many digits as tell it from its neighbours, as `%g` writes it.
fn float(number: f64, size: u64) -> String {
    if number.is_nan() {
        let sign = if number.is_sign_negative() { "-" } else { "" };
        let fraction = if size == 4 {
            u64::from((number as f32).to_bits() & 0x7f_ffff)
        } else {
            number.to_bits() & 0xf_ffff_ffff_ffff
        };
        return format!("{sign}nan({fraction:#x})");
    }
    if number.is_infinite() {
        return if number > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    let digits: i32 = if size == 4 { 9 } else { 17 };
    let scientific = format!("{:.*e}", digits as usize - 1, number);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trimmed = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if (-4..digits).contains(&exponent) {
        trimmed(&format!("{:.*}", (digits - 1 - exponent) as usize, number))
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{}e{sign}{:02}", trimmed(mantissa), exponent.abs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_written_as_c_does() {
        let cases = [
            (2.7, 8, "2.7000000000000002"),
            (1.0, 8, "1"),
            (-0.5, 8, "-0.5"),
            (1e300, 8, "1.0000000000000001e+300"),
            (1e-5, 8, "1.0000000000000001e-05"),
            (f64::from(1.1f32), 4, "1.10000002"),
            (0.0, 8, "0"),
            (-0.0, 8, "-0"),
            (123456.0, 4, "123456"),
        ];
        for (number, size, text) in cases {
            assert_eq!(float(number, size), text);
        }
    }

    #[test]
    fn flags_are_told_apart() {
        let flags = [("A".to_owned(), 1), ("B".to_owned(), 2), ("C".to_owned(), 4)];
        for (number, text) in [(1, "A"), (3, "(A | B)"), (9, "(A | unknown: 0x8)"), (0, "0")] {
            let mut out = String::new();
            enumeration(&mut out, number, &flags);
            assert_eq!(out, text);
        }
    }
}
