//! AArch64's scalar floats ("Data Processing -- Scalar Floating-Point" of the manual): arithmetic, comparisons,
//! conversions and moves, in all three formats, under FPCR and with FPSR kept.

use super::Overrides;
use crate::condition;
use crate::ieee::{Unit, absolute, negated};
use parallax_ir::{Builder, Dialect, IeeeOp, Op, Varnode};
use parallax_op::{BinOp, Rounding};

/// The rounding modes by the two-bit fields of conversions.
pub(super) const ROUNDINGS: [(Rounding, char); 4] =
    [(Rounding::NearestEven, 'n'), (Rounding::Up, 'p'), (Rounding::Down, 'm'), (Rounding::Zero, 'z')];

/// The eight bits of an immediate as a float of so many bytes: a sign, three bits of exponent, four of fraction.
pub(crate) fn expanded(eight: u64, bytes: u16) -> u64 {
    let (sign, high, rest) = (eight >> 7, eight >> 6 & 1, eight & 0x3f);
    match bytes {
        2 => sign << 15 | (1 - high) << 14 | (high * 3) << 12 | rest << 6,
        4 => sign << 31 | (1 - high) << 30 | (high * 0x1f) << 25 | rest << 19,
        _ => sign << 63 | (1 - high) << 62 | (high * 0xff) << 54 | rest << 48,
    }
}

impl Overrides {
    /// The float unit under FPCR; halves have a flush bit of their own.
    pub(super) fn unit(&self, b: &mut Builder, bytes: u16) -> Unit {
        let mode = b.extract(self.control, 22, 1);
        let mode = if bytes == 2 {
            let mode = b.bin_constant(BinOp::And, mode, 0b1011);
            let flush = b.bit(self.control, 19);
            let flush = b.bin_constant(BinOp::Shl, flush, 2);
            b.bin(BinOp::Or, mode, flush)
        } else {
            b.bin_constant(BinOp::And, mode, 0b1111)
        };
        Unit::new(Dialect::Arm, mode)
    }

    /// Adds what was raised to FPSR.
    pub(super) fn keep(&self, b: &mut Builder, unit: &Unit) {
        if let Some(raised) = unit.raised() {
            let wide = b.zext(raised, self.status.bytes);
            b.push(Op::Bin { op: BinOp::Or, out: self.status, a: self.status, b: wide });
        }
    }

    /// A part of a vector register.
    fn float_register(&self, number: usize, bytes: u16) -> Varnode {
        self.vectors[number].slice(0, bytes)
    }

    pub(super) fn general_register(&self, number: usize, bytes: u16) -> Varnode {
        if number == 31 { Varnode::constant(0, bytes) } else { self.general[number].slice(0, bytes) }
    }

    fn set_general(&self, b: &mut Builder, number: usize, value: Varnode) {
        if number != 31 {
            let value = b.zext(value, 8);
            b.copy(self.general[number], value);
        }
    }

    /// The text of a scalar float instruction whose operations are written.
    pub(super) fn float(&self, b: &mut Builder, word: u32) -> Option<String> {
        let (bytes, letter) = match word >> 22 & 3 {
            0 => (4, 's'),
            1 => (8, 'd'),
            3 => (2, 'h'),
            _ if word & 0xfff7_fc00 == 0x9ea6_0000 => return self.move_upper(b, word),
            _ => return None,
        };
        if word >> 24 == 0x1f {
            return self.fused(b, word, bytes, letter);
        }
        if word & 0x7f20_fc00 == 0x1e20_0000 || word & 0x7f20_0000 == 0x1e00_0000 {
            return self.convert_general(b, word, bytes, letter);
        }
        if word & 0xff20_0000 != 0x1e20_0000 {
            return None;
        }
        let field = |low: u32| (word >> low & 31) as usize;
        let (d, n, m) = (field(0), field(5), field(16));
        let (x, y) = (self.float_register(n, bytes), self.float_register(m, bytes));
        match word >> 10 & 3 {
            1 => {
                let holds = condition::holds(b, self.flags, word >> 12 & 15);
                let mut unit = self.unit(b, bytes);
                let strict = word >> 4 & 1 == 1;
                let order = unit.apply(b, IeeeOp::Compare { strict }, 1, &[x, y]);
                let given = Varnode::constant(u64::from(word & 15), 1);
                let flags = ordered_flags(b, order);
                let flags: [Varnode; 4] = std::array::from_fn(|index| {
                    let otherwise = b.bit(given, 3 - index as u16);
                    b.select(holds, flags[index], otherwise)
                });
                // Nothing is compared, and nothing raised, where the condition does not hold.
                if let Some(raised) = unit.raised() {
                    let raised = b.select(holds, raised, Varnode::constant(0, 1));
                    let wide = b.zext(raised, self.status.bytes);
                    b.push(Op::Bin { op: BinOp::Or, out: self.status, a: self.status, b: wide });
                }
                self.set_flags(b, flags);
                let name = if strict { "fccmpe" } else { "fccmp" };
                Some(format!(
                    "{name} {letter}{n},{letter}{m},#{},{}",
                    word & 15,
                    condition::NAMES[(word >> 12 & 15) as usize]
                ))
            }
            2 => {
                let (name, op) = match word >> 12 & 15 {
                    0 | 8 => ("fmul", IeeeOp::Mul),
                    1 => ("fdiv", IeeeOp::Div),
                    2 => ("fadd", IeeeOp::Add),
                    3 => ("fsub", IeeeOp::Sub),
                    4 => ("fmax", IeeeOp::Max { number: false }),
                    5 => ("fmin", IeeeOp::Min { number: false }),
                    6 => ("fmaxnm", IeeeOp::Max { number: true }),
                    7 => ("fminnm", IeeeOp::Min { number: true }),
                    _ => return None,
                };
                let mut unit = self.unit(b, bytes);
                let mut value = unit.apply(b, op, bytes, &[x, y]);
                let opposite = word >> 12 & 15 == 8;
                if opposite {
                    value = negated(b, value);
                }
                self.keep(b, &unit);
                self.set(b, d, value);
                let name = if opposite { "fnmul" } else { name };
                Some(format!("{name} {letter}{d},{letter}{n},{letter}{m}"))
            }
            3 => {
                let holds = condition::holds(b, self.flags, word >> 12 & 15);
                let value = b.select(holds, x, y);
                self.set(b, d, value);
                let condition = condition::NAMES[(word >> 12 & 15) as usize];
                Some(format!("fcsel {letter}{d},{letter}{n},{letter}{m},{condition}"))
            }
            _ if word >> 10 & 7 == 4 => {
                if n != 0 {
                    return None;
                }
                let bits = expanded(u64::from(word >> 13 & 0xff), bytes);
                self.set(b, d, Varnode::constant(bits, bytes));
                Some(format!("fmov {letter}{d},#{bits:#x}"))
            }
            _ if word >> 10 & 15 == 8 => {
                if word >> 14 & 3 != 0 || word & 7 != 0 {
                    return None;
                }
                let (zero, strict) = (word >> 3 & 1 == 1, word >> 4 & 1 == 1);
                let y = if zero { Varnode::constant(0, bytes) } else { y };
                let mut unit = self.unit(b, bytes);
                let order = unit.apply(b, IeeeOp::Compare { strict }, 1, &[x, y]);
                self.keep(b, &unit);
                let flags = ordered_flags(b, order);
                self.set_flags(b, flags);
                let name = if strict { "fcmpe" } else { "fcmp" };
                let second = if zero { "#0.0".to_owned() } else { format!("{letter}{m}") };
                Some(format!("{name} {letter}{n},{second}"))
            }
            _ if word >> 10 & 31 == 16 => self.one_source(b, word, bytes, letter),
            _ => None,
        }
    }

    fn one_source(&self, b: &mut Builder, word: u32, bytes: u16, letter: char) -> Option<String> {
        let (d, n) = ((word & 31) as usize, (word >> 5 & 31) as usize);
        let a = self.float_register(n, bytes);
        let mut unit = self.unit(b, bytes);
        let plain = |name: &str| Some(format!("{name} {letter}{d},{letter}{n}"));
        let opcode = word >> 15 & 63;
        let (value, text) = match opcode {
            0 => (b.snapshot(a), plain("fmov")),
            1 => (absolute(b, a), plain("fabs")),
            2 => (negated(b, a), plain("fneg")),
            3 => (unit.apply(b, IeeeOp::Sqrt, bytes, &[a]), plain("fsqrt")),
            4 | 5 | 7 => {
                let (to, to_letter) = [(4, 's'), (8, 'd'), (0, ' '), (2, 'h')][opcode as usize - 4];
                if to == bytes {
                    return None;
                }
                let text = Some(format!("fcvt {to_letter}{d},{letter}{n}"));
                (self.to_format(b, &mut unit, a, to), text)
            }
            8..=12 | 14 | 15 => {
                let (rounding, name) = match opcode {
                    12 => (Some(Rounding::NearestAway), "frinta"),
                    14 => (None, "frintx"),
                    15 => (None, "frinti"),
                    code => (
                        Some(ROUNDINGS[code as usize - 8].0),
                        ["frintn", "frintp", "frintm", "frintz"][code as usize - 8],
                    ),
                };
                let op = IeeeOp::Round { exact: opcode == 14 };
                (unit.rounded(b, op, rounding, bytes, &[a]), plain(name))
            }
            _ => return None,
        };
        self.keep(b, &unit);
        self.set(b, d, value);
        text
    }

    /// In another format. Halves in ARM's own format are not modelled.
    pub(super) fn to_format(&self, b: &mut Builder, unit: &mut Unit, a: Varnode, to: u16) -> Varnode {
        if a.bytes == 2 || to == 2 {
            let alternative = b.bit(self.control, 26);
            let standard = b.not(alternative);
            let on = b.label();
            b.branch(Some(standard), on);
            b.push(self.unmodelled.clone());
            b.place(on);
            // The flush bit of halves does not count here.
            let mode = b.extract(self.control, 22, 1);
            let mode = b.bin_constant(BinOp::And, mode, 0b1111);
            *unit = Unit::new(Dialect::Arm, mode);
        }
        unit.apply(b, IeeeOp::ToFloat { to: to as u8 }, to, &[a])
    }

    fn fused(&self, b: &mut Builder, word: u32, bytes: u16, letter: char) -> Option<String> {
        let field = |low: u32| (word >> low & 31) as usize;
        let (d, n, a, m) = (field(0), field(5), field(10), field(16));
        let [mut first, second, mut added] = [n, m, a].map(|number| self.float_register(number, bytes));
        // Bit 15 subtracts the product, bit 21 negates the whole.
        let (subtract, negate) = (word >> 15 & 1 == 1, word >> 21 & 1 == 1);
        if subtract != negate {
            first = negated(b, first);
        }
        if negate {
            added = negated(b, added);
        }
        let mut unit = self.unit(b, bytes);
        let value = unit.apply(b, IeeeOp::Fused, bytes, &[first, second, added]);
        self.keep(b, &unit);
        self.set(b, d, value);
        let name = match (negate, subtract) {
            (false, false) => "fmadd",
            (false, true) => "fmsub",
            (true, false) => "fnmadd",
            (true, true) => "fnmsub",
        };
        Some(format!("{name} {letter}{d},{letter}{n},{letter}{m},{letter}{a}"))
    }

    /// Between the upper half of a vector register and a general one.
    fn move_upper(&self, b: &mut Builder, word: u32) -> Option<String> {
        let (d, n) = ((word & 31) as usize, (word >> 5 & 31) as usize);
        if word >> 19 & 3 != 1 {
            return None;
        }
        if word >> 16 & 1 == 1 {
            let value = self.general_register(n, 8);
            b.copy(self.vectors[d].slice(8, 8), value);
            Some(format!("fmov v{d}.d[1],x{n}"))
        } else {
            let value = b.snapshot(self.vectors[n].slice(8, 8));
            self.set_general(b, d, value);
            Some(format!("fmov x{d},v{n}.d[1]"))
        }
    }

    /// Between float and general registers, fixed-point numbers included.
    fn convert_general(&self, b: &mut Builder, word: u32, bytes: u16, letter: char) -> Option<String> {
        let (d, n) = ((word & 31) as usize, (word >> 5 & 31) as usize);
        let (size, wide) = if word >> 31 == 1 { (8, 'x') } else { (4, 'w') };
        let fixed = word >> 21 & 1 == 0;
        let scale = word >> 10 & 63;
        if fixed && size == 4 && scale < 32 {
            return None;
        }
        let fraction = if fixed { 64 - scale as u8 } else { 0 };
        let signed = word >> 16 & 1 == 0;
        let sign = if signed { 's' } else { 'u' };
        let tail = if fixed { format!(",#{fraction}") } else { String::new() };
        let mut unit = self.unit(b, bytes);
        let (rounding, opcode) = (word >> 19 & 3, word >> 16 & 7);
        let way = match (rounding, opcode) {
            (0, 2 | 3) => {
                let a = self.general_register(n, size);
                let op = IeeeOp::FromInt { signed, fraction, to: bytes as u8 };
                let value = unit.apply(b, op, bytes, &[a]);
                self.keep(b, &unit);
                self.set(b, d, value);
                return Some(format!("{sign}cvtf {letter}{d},{wide}{n}{tail}"));
            }
            (way, 0 | 1) if !fixed || way == 3 => ROUNDINGS[way as usize],
            (0, 4 | 5) if !fixed => (Rounding::NearestAway, 'a'),
            (0, 6) if !fixed && (size == bytes || bytes == 2) => {
                let value = b.snapshot(self.float_register(n, bytes));
                self.set_general(b, d, value);
                return Some(format!("fmov {wide}{d},{letter}{n}"));
            }
            (0, 7) if !fixed && (size == bytes || bytes == 2) => {
                let value = self.general_register(n, bytes);
                self.set(b, d, value);
                return Some(format!("fmov {letter}{d},{wide}{n}"));
            }
            _ => return None,
        };
        let op = IeeeOp::ToInt { signed, fraction, to: size as u8 };
        let a = self.float_register(n, bytes);
        let value = unit.rounded(b, op, Some(way.0), size, &[a]);
        self.keep(b, &unit);
        self.set_general(b, d, value);
        Some(format!("fcvt{}{sign} {wide}{d},{letter}{n}{tail}", way.1))
    }

    fn set_flags(&self, b: &mut Builder, flags: [Varnode; 4]) {
        for (place, flag) in self.flags.into_iter().zip(flags) {
            b.copy(place, flag);
        }
    }
}

/// N, Z, C and V from a comparison.
fn ordered_flags(b: &mut Builder, order: Varnode) -> [Varnode; 4] {
    let (less, equal, unordered) = (b.bit(order, 0), b.bit(order, 1), b.bit(order, 2));
    let not_less = b.not(less);
    [less, equal, not_less, unordered]
}
