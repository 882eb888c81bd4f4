//! VFP, ARM's scalar floats, under FPSCR and with its flags kept.

use super::Overrides;
use crate::ieee::{Unit, absolute, negated};
use parallax_ir::{Builder, Dialect, IeeeOp, Op, Trap, Varnode};
use parallax_op::{BinOp, Rounding};

impl Overrides {
    /// The float unit under FPSCR.
    fn unit(&self, b: &mut Builder) -> Unit {
        let mode = b.extract(self.status, 22, 1);
        let mode = b.bin_constant(BinOp::And, mode, 0b1111);
        Unit::new(Dialect::Arm, mode)
    }

    /// Adds what was raised to FPSCR.
    pub(super) fn keep(&self, b: &mut Builder, unit: &Unit) {
        if let Some(raised) = unit.raised() {
            let wide = b.zext(raised, 4);
            b.push(Op::Bin { op: BinOp::Or, out: self.status, a: self.status, b: wide });
        }
    }

    /// A float register: the four bits of its number, and the fifth, which is the lowest of a single's.
    fn scalar(&self, four: u32, one: u32, bytes: u16) -> (Varnode, String) {
        if bytes == 8 {
            let number = one << 4 | four;
            return (self.doubles[number as usize], format!("d{number}"));
        }
        let number = four << 1 | one;
        let place = self.doubles[number as usize / 2].slice(4 * (number as u16 & 1), 4);
        (place, format!("s{number}"))
    }

    /// The text of a data-processing instruction whose operations are written.
    pub(super) fn vfp(&self, b: &mut Builder, word: u32) -> Option<String> {
        if word & 0x0f00_0f1f == 0x0e00_0b10 {
            return self.lane(b, word);
        }
        if word & 0x0f00_0e10 != 0x0e00_0a00 {
            return None;
        }
        let bytes = if word >> 8 & 1 == 1 { 8 } else { 4 };
        let bit = |at: u32| word >> at & 1;
        let (d, d_name) = self.scalar(word >> 12 & 15, bit(22), bytes);
        let (n, n_name) = self.scalar(word >> 16 & 15, bit(7), bytes);
        let (m, m_name) = self.scalar(word & 15, bit(5), bytes);
        let kind = bit(23) << 2 | word >> 20 & 3;
        if kind == 7 {
            return self.vfp_one(b, word, bytes);
        }
        let mut unit = self.unit(b);
        let product = |b: &mut Builder, unit: &mut Unit| unit.apply(b, IeeeOp::Mul, bytes, &[n, m]);
        let (value, name) = match (kind, bit(6)) {
            (0 | 1, op) => {
                // Rounded twice: the product, then the sum.
                let mut product = product(b, &mut unit);
                let (negate_product, negate_sum) =
                    [(false, false), (true, false), (false, true), (true, true)][(kind << 1 | op) as usize];
                if negate_product {
                    product = negated(b, product);
                }
                let sum = if negate_sum { negated(b, d) } else { d };
                let name = ["vmla", "vmls", "vnmls", "vnmla"][(kind << 1 | op) as usize];
                (unit.apply(b, IeeeOp::Add, bytes, &[sum, product]), name)
            }
            (2, 0) => (product(b, &mut unit), "vmul"),
            (2, _) => {
                let product = product(b, &mut unit);
                (negated(b, product), "vnmul")
            }
            (3, 0) => (unit.apply(b, IeeeOp::Add, bytes, &[n, m]), "vadd"),
            (3, _) => (unit.apply(b, IeeeOp::Sub, bytes, &[n, m]), "vsub"),
            (4, 0) => (unit.apply(b, IeeeOp::Div, bytes, &[n, m]), "vdiv"),
            (5 | 6, op) => {
                let first = if op == 1 { negated(b, n) } else { n };
                let sum = if kind == 5 { negated(b, d) } else { d };
                let name = ["vfnms", "vfnma", "vfma", "vfms"][((kind - 5) << 1 | op) as usize];
                (unit.apply(b, IeeeOp::Fused, bytes, &[first, m, sum]), name)
            }
            _ => return None,
        };
        self.keep(b, &unit);
        b.copy(d, value);
        Some(format!("{name}.f{} {d_name},{n_name},{m_name}", 8 * bytes))
    }

    /// One operand: moves, roots, comparisons, conversions.
    fn vfp_one(&self, b: &mut Builder, word: u32, bytes: u16) -> Option<String> {
        let bit = |at: u32| word >> at & 1;
        let register = |size: u16, low: u32, one: u32| self.scalar(word >> low & 15, bit(one), size);
        let (d, d_name) = register(bytes, 12, 22);
        let (m, m_name) = register(bytes, 0, 5);
        let bits = 8 * bytes;
        let mut unit = self.unit(b);
        let code = word >> 16 & 15;
        if bit(6) == 0 {
            // A constant.
            let eight = u64::from(code << 4 | word & 15);
            b.copy(d, Varnode::constant(crate::aarch64::expanded(eight, bytes), bytes));
            return (word & 0xa0 == 0).then(|| format!("vmov.f{bits} {d_name},#{eight}"));
        }
        let text = match (code, bit(7)) {
            (0, 0) => {
                b.copy(d, m);
                format!("vmov.f{bits} {d_name},{m_name}")
            }
            (0, _) => {
                let value = absolute(b, m);
                b.copy(d, value);
                format!("vabs.f{bits} {d_name},{m_name}")
            }
            (1, 0) => {
                let value = negated(b, m);
                b.copy(d, value);
                format!("vneg.f{bits} {d_name},{m_name}")
            }
            (1, _) => {
                let value = unit.apply(b, IeeeOp::Sqrt, bytes, &[m]);
                b.copy(d, value);
                format!("vsqrt.f{bits} {d_name},{m_name}")
            }
            (2 | 3, top) => return self.vfp_half(b, word, bytes, code == 3, top == 1),
            // Zero has no register.
            (5, _) if word & 0x2f != 0 => {
                b.trap(None, Trap::Undefined);
                return Some("vcmp (undefined)".to_owned());
            }
            (4 | 5, strict) => {
                let second = if code == 5 { Varnode::constant(0, bytes) } else { m };
                let order = unit.apply(b, IeeeOp::Compare { strict: strict == 1 }, 1, &[d, second]);
                self.keep(b, &unit);
                self.set_order(b, order);
                let e = if strict == 1 { "e" } else { "" };
                let second = if code == 5 { "#0.0".to_owned() } else { m_name };
                return Some(format!("vcmp{e}.f{bits} {d_name},{second}"));
            }
            (7, 1) => {
                let to = 12 - bytes;
                let (d, d_name) = register(to, 12, 22);
                let value = unit.apply(b, IeeeOp::ToFloat { to: to as u8 }, to, &[m]);
                b.copy(d, value);
                format!("vcvt.f{}.f{bits} {d_name},{m_name}", 8 * to)
            }
            (8, signed) => {
                let (m, m_name) = register(4, 0, 5);
                let op = IeeeOp::FromInt { signed: signed == 1, fraction: 0, to: bytes as u8 };
                let value = unit.apply(b, op, bytes, &[m]);
                b.copy(d, value);
                format!("vcvt.f{bits}.{}32 {d_name},{m_name}", if signed == 1 { 's' } else { 'u' })
            }
            (12 | 13, toward_zero) => {
                let (d, d_name) = register(4, 12, 22);
                let op = IeeeOp::ToInt { signed: code == 13, fraction: 0, to: 4 };
                let rounding = (toward_zero == 1).then_some(Rounding::Zero);
                let value = unit.rounded(b, op, rounding, 4, &[m]);
                b.copy(d, value);
                let r = if toward_zero == 1 { "" } else { "r" };
                format!("vcvt{r}.{}32.f{bits} {d_name},{m_name}", if code == 13 { 's' } else { 'u' })
            }
            (10 | 11 | 14 | 15, wide) => {
                let (size, letter) =
                    (if wide == 1 { 4u16 } else { 2 }, if code & 1 == 0 { 's' } else { 'u' });
                let fraction = (8 * size).checked_sub((word as u16 & 15) << 1 | bit(5) as u16)? as u8;
                let signed = code & 1 == 0;
                if code < 14 {
                    let a = d.slice(0, size);
                    let op = IeeeOp::FromInt { signed, fraction, to: bytes as u8 };
                    let value = unit.rounded(b, op, Some(Rounding::NearestEven), bytes, &[a]);
                    b.copy(d, value);
                    format!("vcvt.f{bits}.{letter}{} {d_name},{d_name},#{fraction}", 8 * size)
                } else {
                    let op = IeeeOp::ToInt { signed, fraction, to: size as u8 };
                    let value = unit.rounded(b, op, Some(Rounding::Zero), size, &[d]);
                    let value = crate::lanes::extend(b, signed, value, bytes);
                    b.copy(d, value);
                    format!("vcvt.{letter}{}.f{bits} {d_name},{d_name},#{fraction}", 8 * size)
                }
            }
            _ => return None,
        };
        self.keep(b, &unit);
        Some(text)
    }

    /// Between a half, in the lower or the upper part of a single register, and another format.
    fn vfp_half(&self, b: &mut Builder, word: u32, bytes: u16, to_half: bool, top: bool) -> Option<String> {
        let register = |size: u16, low: u32, one: u32| self.scalar(word >> low & 15, word >> one & 1, size);
        let alternative = b.bit(self.status, 26);
        let standard = b.not(alternative);
        let on = b.label();
        b.branch(Some(standard), on);
        b.push(self.unmodelled.clone());
        b.place(on);
        let mut unit = self.unit(b);
        let name = if top { "vcvtt" } else { "vcvtb" };
        let at = if top { 2 } else { 0 };
        let text = if to_half {
            let ((d, d_name), (m, m_name)) = (register(4, 12, 22), register(bytes, 0, 5));
            let value = unit.apply(b, IeeeOp::ToFloat { to: 2 }, 2, &[m]);
            b.copy(d.slice(at, 2), value);
            format!("{name}.f16.f{} {d_name},{m_name}", 8 * bytes)
        } else {
            let ((d, d_name), (m, m_name)) = (register(bytes, 12, 22), register(4, 0, 5));
            let value = unit.apply(b, IeeeOp::ToFloat { to: bytes as u8 }, bytes, &[m.slice(at, 2)]);
            b.copy(d, value);
            format!("{name}.f{}.f16 {d_name},{m_name}", 8 * bytes)
        };
        self.keep(b, &unit);
        Some(text)
    }

    /// Between a lane of a doubleword and a general register.
    fn lane(&self, b: &mut Builder, word: u32) -> Option<String> {
        let (high, low, from_lane) = (word >> 21 & 3, word >> 5 & 3, word >> 20 & 1 == 1);
        let unsigned = word >> 23 & 1 == 1;
        let (size, index) = match (high, low) {
            (2 | 3, _) => (1u16, (high & 1) << 2 | low),
            (_, 1 | 3) => (2, (high & 1) << 1 | low >> 1),
            (_, 0) if !unsigned => (4, high & 1),
            _ if from_lane => {
                b.trap(None, Trap::Undefined);
                return Some("vmov (undefined)".to_owned());
            }
            _ => return None,
        };
        let (t, n) = ((word >> 12 & 15) as usize, (word >> 7 & 1) << 4 | word >> 16 & 15);
        if t == 15 || !from_lane && unsigned {
            return None;
        }
        let place = self.doubles[n as usize].slice(size * index as u16, size);
        let general = self.general[t];
        let bits = 8 * size;
        if from_lane {
            let value = crate::lanes::extend(b, !unsigned, place, 4);
            b.copy(general, value);
            let letter = if unsigned { 'u' } else { 's' };
            return Some(format!("vmov.{letter}{bits} r{t},d{n}[{index}]"));
        }
        b.copy(place, general.slice(0, size));
        Some(format!("vmov.{bits} d{n}[{index}],r{t}"))
    }

    /// N, Z, C and V of FPSCR.
    fn set_order(&self, b: &mut Builder, order: Varnode) {
        let (less, equal, unordered) = (b.bit(order, 0), b.bit(order, 1), b.bit(order, 2));
        let not_less = b.not(less);
        let mut all = b.bin_constant(BinOp::And, self.status, 0x0fff_ffff);
        for (flag, at) in [(less, 31), (equal, 30), (not_less, 29), (unordered, 28)] {
            let wide = b.zext(flag, 4);
            let moved = b.bin_constant(BinOp::Shl, wide, at);
            all = b.bin(BinOp::Or, all, moved);
        }
        b.copy(self.status, all);
    }
}
