//! AArch64's vectors of floats, and the scalar instructions that share their encodings.

use super::Overrides;
use super::float::ROUNDINGS;
use crate::ieee::{Comparison, EQUAL, GREATER, GREATER_EQUAL, Unit, absolute, compared, negated};
use crate::lanes::{join, split};
use parallax_ir::{Builder, IeeeOp, Varnode};
use parallax_op::{BinOp, Rounding};

/// What the encodings share.
#[derive(Clone, Copy)]
struct Shape {
    /// Bytes of a lane.
    lane: u16,
    /// Bytes of the vectors: one lane of a scalar.
    bytes: u16,
    d: usize,
    n: usize,
    m: usize,
}

impl Shape {
    fn new(word: u32, lane: u16) -> Option<Self> {
        let field = |low: u32| (word >> low & 31) as usize;
        let bytes = match (word >> 28 & 1, word >> 30 & 1) {
            (1, _) => lane,
            (_, 1) => 16,
            _ => 8,
        };
        // Two doubles or none.
        let exists = word >> 28 & 1 == 1 || bytes > 8 || lane < 8;
        exists.then(|| Shape { lane, bytes, d: field(0), n: field(5), m: field(16) })
    }

    fn is_scalar(&self) -> bool {
        self.bytes == self.lane
    }

    fn register(&self, number: usize) -> String {
        let letter = match self.lane {
            2 => 'h',
            4 => 's',
            _ => 'd',
        };
        if self.is_scalar() {
            format!("{letter}{number}")
        } else {
            format!("v{number}.{}{letter}", self.bytes / self.lane)
        }
    }

    fn two(&self, name: &str) -> Option<String> {
        Some(format!("{name} {},{}", self.register(self.d), self.register(self.n)))
    }

    fn three(&self, name: &str) -> Option<String> {
        self.two(name).map(|text| format!("{text},{}", self.register(self.m)))
    }
}

/// What becomes of two lanes and the one that was there.
type Three<'a> = dyn Fn(&mut Builder, &mut Unit, Varnode, Varnode, Varnode) -> Varnode + 'a;

impl Overrides {
    /// The text of an instruction on vectors of floats whose operations are written.
    pub(super) fn vector_float(&self, b: &mut Builder, word: u32) -> Option<String> {
        // Vectors have bit 31 clear, and scalars bits 30 and 28 set.
        if word >> 31 != 0 || word >> 28 & 1 == 1 && word >> 30 & 1 == 0 || word >> 25 & 7 != 7 {
            return None;
        }
        let lane = if word >> 22 & 1 == 1 { 8 } else { 4 };
        if word >> 24 & 1 == 1 {
            return match word >> 10 & 1 {
                0 => self.float_by_element(b, word),
                _ if word >> 23 & 1 == 0 => self.float_fixed(b, word),
                _ => None,
            };
        }
        if word >> 21 & 1 == 1 && word >> 10 & 1 == 1 && word >> 14 & 3 == 3 {
            return self.float_three(b, word, lane, word >> 11 & 7);
        }
        if word >> 21 & 3 == 2 && word >> 14 & 3 == 0 && word >> 10 & 1 == 1 {
            return self.float_three(b, word, 2, word >> 11 & 7);
        }
        if word >> 10 & 3 != 2 {
            return None;
        }
        match word >> 17 & 63 {
            0b01_0000 | 0b11_0000 => self.float_two(b, word, lane),
            0b11_1100 => self.float_two(b, word, 2),
            0b01_1000 | 0b11_1000 => self.float_across(b, word, lane),
            _ => None,
        }
    }

    fn lanes(&self, b: &mut Builder, number: usize, shape: Shape) -> Vec<Varnode> {
        let whole = self.vectors[number].slice(0, shape.bytes);
        if shape.is_scalar() { vec![whole] } else { split(b, whole, shape.lane) }
    }

    fn three_lanes(&self, b: &mut Builder, shape: Shape, function: &Three<'_>) {
        let (x, y) = (self.lanes(b, shape.n, shape), self.lanes(b, shape.m, shape));
        self.combined(b, shape, &x, &y, function);
    }

    /// `function` of each pair of lanes, and what the result held.
    fn combined(&self, b: &mut Builder, shape: Shape, x: &[Varnode], y: &[Varnode], function: &Three<'_>) {
        let old = self.lanes(b, shape.d, shape);
        let mut unit = self.unit(b, shape.lane);
        let lanes: Vec<Varnode> =
            (0..old.len()).map(|i| function(b, &mut unit, x[i], y[i], old[i])).collect();
        self.keep(b, &unit);
        let value = join(b, &lanes);
        self.set(b, shape.d, value);
    }

    fn float_three(&self, b: &mut Builder, word: u32, lane: u16, opcode: u32) -> Option<String> {
        let shape = Shape::new(word, lane)?;
        let plain = |op: IeeeOp| {
            move |b: &mut Builder, unit: &mut Unit, x: Varnode, y: Varnode, _: Varnode| {
                unit.apply(b, op, lane, &[x, y])
            }
        };
        let compares = |how: Comparison| {
            move |b: &mut Builder, unit: &mut Unit, x: Varnode, y: Varnode, _: Varnode| {
                compared(b, unit, how, x, y)
            }
        };
        let magnitudes = |how: Comparison| Comparison { magnitudes: true, ..how };
        let (name, function, pairwise): (&str, Box<Three<'_>>, bool) =
            match (opcode, word >> 29 & 1, word >> 23 & 1) {
                (0, 0, 0) => ("fmaxnm", Box::new(plain(IeeeOp::Max { number: true })), false),
                (0, 0, 1) => ("fminnm", Box::new(plain(IeeeOp::Min { number: true })), false),
                (0, 1, 0) => ("fmaxnmp", Box::new(plain(IeeeOp::Max { number: true })), true),
                (0, 1, 1) => ("fminnmp", Box::new(plain(IeeeOp::Min { number: true })), true),
                (1, 0, subtract) => (
                    if subtract == 1 { "fmls" } else { "fmla" },
                    Box::new(move |b: &mut Builder, unit: &mut Unit, x: Varnode, y, old| {
                        let x = if subtract == 1 { negated(b, x) } else { x };
                        unit.apply(b, IeeeOp::Fused, lane, &[x, y, old])
                    }),
                    false,
                ),
                (2, 0, 0) => ("fadd", Box::new(plain(IeeeOp::Add)), false),
                (2, 0, 1) => ("fsub", Box::new(plain(IeeeOp::Sub)), false),
                (2, 1, 0) => ("faddp", Box::new(plain(IeeeOp::Add)), true),
                (2, 1, 1) => (
                    "fabd",
                    Box::new(move |b: &mut Builder, unit: &mut Unit, x, y, _| {
                        let difference = unit.apply(b, IeeeOp::Sub, lane, &[x, y]);
                        absolute(b, difference)
                    }),
                    false,
                ),
                (3, 0, 0) => ("fmulx", Box::new(plain(IeeeOp::MulExtended)), false),
                (3, 1, 0) => ("fmul", Box::new(plain(IeeeOp::Mul)), false),
                (4, 0, 0) => ("fcmeq", Box::new(compares(EQUAL)), false),
                (4, 1, 0) => ("fcmge", Box::new(compares(GREATER_EQUAL)), false),
                (4, 1, 1) => ("fcmgt", Box::new(compares(GREATER)), false),
                (5, 1, 0) => ("facge", Box::new(compares(magnitudes(GREATER_EQUAL))), false),
                (5, 1, 1) => ("facgt", Box::new(compares(magnitudes(GREATER))), false),
                (6, 0, 0) => ("fmax", Box::new(plain(IeeeOp::Max { number: false })), false),
                (6, 0, 1) => ("fmin", Box::new(plain(IeeeOp::Min { number: false })), false),
                (6, 1, 0) => ("fmaxp", Box::new(plain(IeeeOp::Max { number: false })), true),
                (6, 1, 1) => ("fminp", Box::new(plain(IeeeOp::Min { number: false })), true),
                (7, 0, 0) => ("frecps", Box::new(plain(IeeeOp::ReciprocalStep)), false),
                (7, 0, 1) => ("frsqrts", Box::new(plain(IeeeOp::RootStep)), false),
                (7, 1, 0) => ("fdiv", Box::new(plain(IeeeOp::Div)), false),
                _ => return None,
            };
        let with_scalar = ["fmulx", "fcmeq", "fcmge", "fcmgt", "facge", "facgt", "fabd", "frecps", "frsqrts"];
        if shape.is_scalar() && !with_scalar.contains(&name) {
            return None;
        }
        if pairwise {
            let all = [self.lanes(b, shape.n, shape), self.lanes(b, shape.m, shape)].concat();
            let (x, y): (Vec<Varnode>, Vec<Varnode>) = all.chunks(2).map(|pair| (pair[0], pair[1])).unzip();
            self.combined(b, shape, &x, &y, &*function);
        } else {
            self.three_lanes(b, shape, &*function);
        }
        shape.three(name)
    }

    fn float_two(&self, b: &mut Builder, word: u32, lane: u16) -> Option<String> {
        let (opcode, upper, alternative) = (word >> 12 & 31, word >> 29 & 1, word >> 23 & 1);
        if matches!((opcode, alternative), (22 | 23, 0)) && word >> 28 & 1 == 0 && lane != 2 {
            return self.float_width(b, word, opcode == 23);
        }
        let shape = Shape::new(word, lane)?;
        let zero = Varnode::constant(0, lane);
        let letter = if upper == 1 { 'u' } else { 's' };
        let against_zero = |how: Comparison| {
            move |b: &mut Builder, unit: &mut Unit, x: Varnode| compared(b, unit, how, x, zero)
        };
        let turned = |how: Comparison| Comparison { swapped: false, ..how };
        let rounds = |rounding: Option<Rounding>, exact: bool| {
            move |b: &mut Builder, unit: &mut Unit, x: Varnode| {
                unit.rounded(b, IeeeOp::Round { exact }, rounding, lane, &[x])
            }
        };
        let to_int = |rounding: Rounding| {
            let op = IeeeOp::ToInt { signed: upper == 0, fraction: 0, to: lane as u8 };
            move |b: &mut Builder, unit: &mut Unit, x: Varnode| {
                unit.rounded(b, op, Some(rounding), lane, &[x])
            }
        };
        type One<'a> = Box<dyn Fn(&mut Builder, &mut Unit, Varnode) -> Varnode + 'a>;
        let (name, function, with_scalar): (String, One<'_>, bool) = match (opcode, upper, alternative) {
            (12, 0, 1) => ("fcmgt".into(), Box::new(against_zero(GREATER)), true),
            (12, 1, 1) => ("fcmge".into(), Box::new(against_zero(GREATER_EQUAL)), true),
            (13, 0, 1) => ("fcmeq".into(), Box::new(against_zero(EQUAL)), true),
            (13, 1, 1) => ("fcmle".into(), Box::new(against_zero(turned(GREATER_EQUAL))), true),
            (14, 0, 1) => ("fcmlt".into(), Box::new(against_zero(turned(GREATER))), true),
            (15, 0, 1) => ("fabs".into(), Box::new(|b: &mut Builder, _: &mut Unit, x| absolute(b, x)), false),
            (15, 1, 1) => ("fneg".into(), Box::new(|b: &mut Builder, _: &mut Unit, x| negated(b, x)), false),
            (24, 1, 0) => ("frinta".into(), Box::new(rounds(Some(Rounding::NearestAway), false)), false),
            (24 | 25, 0, way) => {
                let (rounding, letter) = ROUNDINGS[((opcode - 24) * 2 + way) as usize];
                // The order of the fields here is nearest, up, down, zero.
                (format!("frint{letter}"), Box::new(rounds(Some(rounding), false)), false)
            }
            (25, 1, 0) => ("frintx".into(), Box::new(rounds(None, true)), false),
            (25, 1, 1) => ("frinti".into(), Box::new(rounds(None, false)), false),
            (26 | 27, _, way) => {
                let (rounding, way) = ROUNDINGS[((opcode - 26) * 2 + way) as usize];
                (format!("fcvt{way}{letter}"), Box::new(to_int(rounding)), true)
            }
            (28, _, 0) => (format!("fcvta{letter}"), Box::new(to_int(Rounding::NearestAway)), true),
            (29, _, 0) => {
                let op = IeeeOp::FromInt { signed: upper == 0, fraction: 0, to: lane as u8 };
                let function = move |b: &mut Builder, unit: &mut Unit, x| unit.apply(b, op, lane, &[x]);
                (format!("{letter}cvtf"), Box::new(function), true)
            }
            (31, 1, 1) => (
                "fsqrt".into(),
                Box::new(|b: &mut Builder, unit: &mut Unit, x| unit.apply(b, IeeeOp::Sqrt, lane, &[x])),
                false,
            ),
            _ => return None,
        };
        if shape.is_scalar() && !with_scalar {
            return None;
        }
        let lanes = self.lanes(b, shape.n, shape);
        self.combined(b, shape, &lanes, &lanes, &|b, unit, x, _, _| function(b, unit, x));
        shape.two(&name)
    }

    /// `fcvtl` and `fcvtn`: lanes of the lower or the upper half made wider or narrower.
    fn float_width(&self, b: &mut Builder, word: u32, wider: bool) -> Option<String> {
        if word >> 29 & 1 == 1 {
            return None;
        }
        let narrow = if word >> 22 & 1 == 1 { 4 } else { 2 };
        let (d, n) = ((word & 31) as usize, (word >> 5 & 31) as usize);
        let upper = word >> 30 & 1 == 1;
        let half = |number: usize| self.vectors[number].slice(if upper { 8 } else { 0 }, 8);
        let mut unit = self.unit(b, 4);
        let (from, to) = if wider {
            (split(b, half(n), narrow), 2 * narrow)
        } else {
            (split(b, self.vectors[n], 2 * narrow), narrow)
        };
        let mut raised: Option<Varnode> = None;
        let mut lanes = Vec::new();
        for a in from {
            lanes.push(self.to_format(b, &mut unit, a, to));
            // Halves begin a new unit each time.
            if let Some(more) = unit.raised() {
                raised = Some(match raised {
                    Some(before) => b.bin(BinOp::Or, before, more),
                    None => more,
                });
            }
        }
        if let Some(raised) = raised {
            let wide = b.zext(raised, self.status.bytes);
            let status = b.bin(BinOp::Or, self.status, wide);
            b.copy(self.status, status);
        }
        let value = join(b, &lanes);
        if wider || !upper {
            self.set(b, d, value);
        } else {
            b.copy(half(d), value);
        }
        Some(format!("fcvt{}{} v{d},v{n}", if wider { 'l' } else { 'n' }, if upper { "2" } else { "" }))
    }

    /// All lanes, or the two of a pair, to one.
    fn float_across(&self, b: &mut Builder, word: u32, lane: u16) -> Option<String> {
        let scalar = word >> 28 & 1 == 1;
        let half = word >> 29 & 1 == 0;
        if half && word >> 22 & 1 == 1 || !scalar && !half && (lane == 8 || word >> 30 & 1 == 0) {
            return None;
        }
        let lane = if half { 2 } else { lane };
        let (name, op) = match (word >> 12 & 31, word >> 23 & 1) {
            (12, 0) => ("fmaxnm", IeeeOp::Max { number: true }),
            (12, 1) => ("fminnm", IeeeOp::Min { number: true }),
            (13, 0) if scalar => ("fadd", IeeeOp::Add),
            (15, 0) => ("fmax", IeeeOp::Max { number: false }),
            (15, 1) => ("fmin", IeeeOp::Min { number: false }),
            _ => return None,
        };
        let (d, n) = ((word & 31) as usize, (word >> 5 & 31) as usize);
        let bytes = match (scalar, word >> 30 & 1) {
            (true, _) => 2 * lane,
            (_, 1) => 16,
            _ => 8,
        };
        let mut unit = self.unit(b, lane);
        let mut lanes = split(b, self.vectors[n].slice(0, bytes), lane);
        // Neighbours first, as the manual has it: it matters to what is not a number.
        while lanes.len() > 1 {
            lanes = lanes.chunks(2).map(|pair| unit.apply(b, op, lane, pair)).collect();
        }
        self.keep(b, &unit);
        self.set(b, d, lanes[0]);
        Some(format!("{name}{} v{d},v{n}.{}", if scalar { 'p' } else { 'v' }, bytes / lane))
    }

    fn float_by_element(&self, b: &mut Builder, word: u32) -> Option<String> {
        let bit = |at: u32| (word >> at & 1) as u16;
        let (lane, index, mask) = match word >> 22 & 3 {
            0 => (2, bit(11) << 2 | bit(21) << 1 | bit(20), 15),
            2 => (4, bit(11) << 1 | bit(21), 31),
            3 if bit(21) == 0 => (8, bit(11), 31),
            _ => return None,
        };
        let shape = Shape::new(word, lane)?;
        let (op, name) = match (word >> 12 & 15, word >> 29 & 1) {
            (1, 0) => (IeeeOp::Fused, "fmla"),
            (5, 0) => (IeeeOp::Fused, "fmls"),
            (9, 0) => (IeeeOp::Mul, "fmul"),
            (9, 1) => (IeeeOp::MulExtended, "fmulx"),
            _ => return None,
        };
        let number = shape.m & mask;
        let element = b.snapshot(self.vectors[number].slice(lane * index, lane));
        let x = self.lanes(b, shape.n, shape);
        let y = vec![element; x.len()];
        self.combined(b, shape, &x, &y, &|b, unit, x, y, old| match op {
            IeeeOp::Fused => {
                let x = if name == "fmls" { negated(b, x) } else { x };
                unit.apply(b, op, lane, &[x, y, old])
            }
            _ => unit.apply(b, op, lane, &[x, y]),
        });
        shape.two(name).map(|text| format!("{text},v{number}[{index}]"))
    }

    /// Between floats and fixed-point numbers; the highest bit of the field tells the lane.
    fn float_fixed(&self, b: &mut Builder, word: u32) -> Option<String> {
        let field = word >> 16 & 0x7f;
        let lane = match field >> 3 {
            8..=15 => 8,
            4..=7 => 4,
            2 | 3 => 2,
            _ => return None,
        };
        let shape = Shape::new(word, lane)?;
        let fraction = (16 * u32::from(lane) - field) as u8;
        let signed = word >> 29 & 1 == 0;
        let letter = if signed { 's' } else { 'u' };
        let (op, rounding, name) = match word >> 11 & 31 {
            28 => (IeeeOp::FromInt { signed, fraction, to: lane as u8 }, None, format!("{letter}cvtf")),
            31 => {
                let op = IeeeOp::ToInt { signed, fraction, to: lane as u8 };
                (op, Some(Rounding::Zero), format!("fcvtz{letter}"))
            }
            _ => return None,
        };
        let lanes = self.lanes(b, shape.n, shape);
        self.combined(b, shape, &lanes, &lanes, &|b, unit, x, _, _| {
            unit.rounded(b, op, rounding, lane, &[x])
        });
        shape.two(&name).map(|text| format!("{text},#{fraction}"))
    }
}
