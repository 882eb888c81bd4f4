//! Float operations of PowerPC by the host's own arithmetic, with FPSCR worked out beside it.
//!
//! The meaning of these operations is the one in `parallax_ir`; it takes microseconds. Where FPSCR asks for rounding to
//! nearest and enables no exception, and numbers are neither huge, tiny nor NaN, the host's result is the result, and
//! what it lost is a float again that a few more operations find (Dekker's sum, a fused multiply for products, quotients
//! and roots; Boldo and Muller, "Exact and approximated error of the FMA", for the fused one). It says whether the
//! result is inexact and which way it was rounded. Everything else is left to the meaning; a test holds the two
//! against each other.

use super::general::General;
use super::micro::{Micro, Run, World, general};
use parallax_ir::{Intrinsic, PowerOp, ScalarOp};

const FX: u32 = 1 << 31;
const XX: u32 = 1 << 25;
const FR: u32 = 1 << 18;
const FI: u32 = 1 << 17;
const FPRF: u32 = 0x1f << 12;
const FPCC: u32 = 0xf << 12;
/// Rounding mode and enabled exceptions; the bit between them asks for nothing that anybody does.
const CONTROL: u32 = 0xfb;

/// A result and what is still missing from it to the exact one, as far as its sign goes.
#[derive(Clone, Copy)]
struct Rounded {
    value: f64,
    missing: f64,
}

impl Rounded {
    fn exact(value: f64) -> Option<Self> {
        Some(Rounded { value, missing: 0.0 })
    }

    /// Only if the value is far from both ends of the range, so that what is missing is not lost.
    fn ordinary(self) -> Option<Self> {
        (1e-270..1e300).contains(&self.value.abs()).then_some(self)
    }

    fn is_inexact(self) -> bool {
        self.missing != 0.0
    }

    fn is_up(self) -> bool {
        (self.value < 0.0 && self.missing > 0.0) || (self.value > 0.0 && self.missing < 0.0)
    }
}

fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let other = sum - a;
    (sum, (a - (sum - other)) + (b - other))
}

fn add(a: f64, b: f64) -> Option<Rounded> {
    // Sums never lose anything at the lower end.
    let (value, missing) = two_sum(a, b);
    (a.abs() < 1e300 && b.abs() < 1e300).then_some(Rounded { value, missing })
}

fn multiply(a: f64, b: f64) -> Option<Rounded> {
    let value = a * b;
    if value == 0.0 && (a == 0.0 || b == 0.0) {
        return Rounded::exact(value);
    }
    Rounded { value, missing: a.mul_add(b, -value) }.ordinary()
}

fn divide(a: f64, b: f64) -> Option<Rounded> {
    let value = a / b;
    if a == 0.0 && value == 0.0 {
        return Rounded::exact(value);
    }
    let rest = (-value).mul_add(b, a);
    let held = a.abs() > 1e-270 && a.abs() < 1e300 && b.abs() < 1e300;
    Rounded { value, missing: if b < 0.0 { -rest } else { rest } }.ordinary().filter(|_| held)
}

fn root(a: f64) -> Option<Rounded> {
    if a == 0.0 {
        return Rounded::exact(a);
    }
    let value = a.sqrt();
    (1e-270..1e300).contains(&a).then(|| Rounded { value, missing: (-value).mul_add(value, a) })
}

fn fuse(a: f64, c: f64, b: f64) -> Option<Rounded> {
    let value = a.mul_add(c, b);
    let product = a * c;
    let (low, high) = (a.mul_add(c, -product), product);
    let (first, first_rest) = two_sum(b, low);
    let (second, second_rest) = two_sum(high, first);
    let missing = ((second - value) + second_rest) + first_rest;
    let held = (1e-250..1e300).contains(&product.abs()) && (b == 0.0 || (1e-250..1e300).contains(&b.abs()));
    Rounded { value, missing }.ordinary().filter(|_| held)
}

/// A number that is exact or was rounded to odd, rounded to a single.
fn single(odd: f64) -> Option<Rounded> {
    if odd == 0.0 {
        return Rounded::exact(odd);
    }
    let value = f64::from(odd as f32);
    // Between the smallest normal single and the largest, both excluded with room to spare.
    (1e-37..1e38).contains(&odd.abs()).then_some(Rounded { value, missing: odd - value })
}

fn is_single(a: f64) -> bool {
    f64::from(a as f32) == a
}

/// A sum as a single double that ends in a one where it is not exact.
fn odd(a: f64, b: f64) -> f64 {
    let (sum, missing) = two_sum(a, b);
    if missing == 0.0 || sum.to_bits() & 1 == 1 {
        return sum;
    }
    let grows = (missing > 0.0) == (sum > 0.0);
    f64::from_bits(if grows { sum.to_bits() + 1 } else { sum.to_bits() - 1 })
}

/// Of singles, rounded to a single; a quotient or root is a double that cannot be halfway between two singles.
fn single_of(op: ScalarOp, a: f64, b: f64) -> Option<Rounded> {
    if !is_single(a) || !is_single(b) {
        return None;
    }
    match op {
        ScalarOp::Add => single(odd(a, b)),
        ScalarOp::Sub => single(odd(a, -b)),
        ScalarOp::Mul => single(a * b),
        // Products of singles are exact, so what is missing can be seen by multiplying back.
        ScalarOp::Div if b != 0.0 && b.is_finite() => {
            let value = single(a / b)?.value;
            let rest = a - value * b;
            Some(Rounded { value, missing: if b < 0.0 { -rest } else { rest } })
        }
        ScalarOp::Sqrt if b >= 0.0 => {
            let value = single(b.sqrt())?.value;
            Some(Rounded { value, missing: b - value * value })
        }
        _ => None,
    }
}

fn double_of(op: ScalarOp, a: f64, b: f64) -> Option<Rounded> {
    match op {
        ScalarOp::Add => add(a, b),
        ScalarOp::Sub => add(a, -b),
        ScalarOp::Mul => multiply(a, b),
        ScalarOp::Div => divide(a, b),
        ScalarOp::Sqrt => root(b),
        ScalarOp::Min | ScalarOp::Max => None,
    }
}

/// Class and sign of a number, as FPSCR writes them.
fn class(value: f64) -> u32 {
    let negative = value.is_sign_negative();
    match value.classify() {
        std::num::FpCategory::Zero => [0x02, 0x12][usize::from(negative)],
        std::num::FpCategory::Subnormal => [0x14, 0x18][usize::from(negative)],
        _ => [0x04, 0x08][usize::from(negative)],
    }
}

/// FPSCR after a result that is a number.
fn told(status: u32, class: u32, inexact: bool, up: bool) -> u32 {
    let mut after = status & !(FR | FI | FPRF) | class << 12;
    if inexact {
        after |= FI | XX | if up { FR } else { 0 } | if status & XX == 0 { FX } else { 0 };
    }
    after
}

unsafe fn word(file: *mut u8, at: u16) -> u64 {
    // SAFETY: what `Run` asks of its caller holds here too: `op` is of a block, `file` holds every slot that a block names.
    unsafe { file.add(usize::from(at)).cast::<u64>().read_unaligned() }
}

unsafe fn float(file: *mut u8, at: u16) -> f64 {
    // SAFETY: what `Run` asks of its caller holds here too: `op` is of a block, `file` holds every slot that a block names.
    f64::from_bits(unsafe { word(file, at) })
}

unsafe fn status(file: *mut u8, at: u16) -> u32 {
    // SAFETY: what `Run` asks of its caller holds here too: `op` is of a block, `file` holds every slot that a block names.
    unsafe { file.add(usize::from(at)).cast::<u32>().read_unaligned() }
}

#[inline(always)]
unsafe fn next(op: *const Micro, file: *mut u8, world: *mut World) -> usize {
    // SAFETY: what `Run` asks of its caller holds here too: `op` is of a block, `file` holds every slot that a block names.
    unsafe {
        let next = op.add(1);
        ((*next).run)(next, file, world)
    }
}

/// Puts a result into the file: the value, FPSCR behind it, and that nothing stops.
#[inline(always)]
unsafe fn put<const BYTES: usize>(file: *mut u8, at: u16, value: u64, status: u32) {
    // SAFETY: what `Run` asks of its caller holds here too: `op` is of a block, `file` holds every slot that a block names.
    unsafe {
        let out = file.add(usize::from(at));
        std::ptr::copy_nonoverlapping(value.to_le_bytes().as_ptr(), out, BYTES);
        out.add(BYTES).cast::<u32>().write_unaligned(status);
        *out.add(BYTES + 4) = 0;
    }
}

/// Goes on with a result if there is one, and asks the meaning if not.
#[inline(always)]
unsafe fn finish(
    op: *const Micro,
    file: *mut u8,
    world: *mut World,
    before: u32,
    result: Option<Rounded>,
    negate: bool,
) -> usize {
    // SAFETY: what `Run` asks of its caller holds here too: `op` is of a block, `file` holds every slot that a block names.
    unsafe {
        match result {
            Some(rounded) if before & CONTROL == 0 => {
                let value = if negate { -rounded.value } else { rounded.value };
                let after = told(before, class(value), rounded.is_inexact(), rounded.is_up());
                put::<8>(file, (*op).out, value.to_bits(), after);
                next(op, file, world)
            }
            _ => general::<false>(op, file, world),
        }
    }
}

const OPS: [ScalarOp; 5] = [ScalarOp::Add, ScalarOp::Sub, ScalarOp::Mul, ScalarOp::Div, ScalarOp::Sqrt];

unsafe fn arithmetic<const OP: usize, const SINGLE: bool>(
    op: *const Micro,
    file: *mut u8,
    world: *mut World,
) -> usize {
    // SAFETY: what `Run` asks of its caller holds here too: `op` is of a block, `file` holds every slot that a block names.
    unsafe {
        let (a, b, before) = (float(file, (*op).a), float(file, (*op).b), status(file, (*op).c));
        let operator = const { OPS[OP] };
        let result = if SINGLE { single_of(operator, a, b) } else { double_of(operator, a, b) };
        finish(op, file, world, before, result, false)
    }
}

unsafe fn fused<const SUBTRACT: bool, const NEGATE: bool, const SINGLE: bool>(
    op: *const Micro,
    file: *mut u8,
    world: *mut World,
) -> usize {
    // SAFETY: what `Run` asks of its caller holds here too: `op` is of a block, `file` holds every slot that a block names.
    unsafe {
        // FPSCR is the fourth operand, and an operation names three.
        let Some(at) = (*((*op).constant as usize as *const General)).place(3) else {
            return general::<false>(op, file, world);
        };
        let (a, c, b) = (float(file, (*op).a), float(file, (*op).b), float(file, (*op).c));
        let b = if SUBTRACT { -b } else { b };
        let result = match SINGLE {
            true if is_single(a) && is_single(b) && is_single(c) => single(odd(a * c, b)),
            true => None,
            false => fuse(a, c, b),
        };
        finish(op, file, world, status(file, at), result, NEGATE)
    }
}

unsafe fn to_single(op: *const Micro, file: *mut u8, world: *mut World) -> usize {
    // SAFETY: what `Run` asks of its caller holds here too: `op` is of a block, `file` holds every slot that a block names.
    unsafe { finish(op, file, world, status(file, (*op).b), single(float(file, (*op).a)), false) }
}

unsafe fn to_word<const TRUNCATE: bool>(op: *const Micro, file: *mut u8, world: *mut World) -> usize {
    // SAFETY: what `Run` asks of its caller holds here too: `op` is of a block, `file` holds every slot that a block names.
    unsafe {
        let (a, before) = (float(file, (*op).a), status(file, (*op).b));
        if before & CONTROL != 0 || !(0.0..2e9).contains(&a.abs()) {
            return general::<false>(op, file, world);
        }
        let integral = if TRUNCATE { a.trunc() } else { a.round_ties_even() };
        let up = integral.abs() > a.abs();
        let after = told(before, (before & FPRF) >> 12, integral != a, up);
        put::<8>(file, (*op).out, integral as i64 as u64, after);
        next(op, file, world)
    }
}

unsafe fn from_integer(op: *const Micro, file: *mut u8, world: *mut World) -> usize {
    // SAFETY: what `Run` asks of its caller holds here too: `op` is of a block, `file` holds every slot that a block names.
    unsafe {
        let (a, before) = (word(file, (*op).a) as i64, status(file, (*op).b));
        let value = a as f64;
        let missing = i128::from(a) - value as i128;
        finish(op, file, world, before, Some(Rounded { value, missing: missing as f64 }), false)
    }
}

unsafe fn compare(op: *const Micro, file: *mut u8, world: *mut World) -> usize {
    // SAFETY: what `Run` asks of its caller holds here too: `op` is of a block, `file` holds every slot that a block names.
    unsafe {
        let (a, b, before) = (float(file, (*op).a), float(file, (*op).b), status(file, (*op).c));
        let code = match a.partial_cmp(&b) {
            Some(std::cmp::Ordering::Less) => 8,
            Some(std::cmp::Ordering::Greater) => 4,
            Some(std::cmp::Ordering::Equal) => 2,
            None => return general::<false>(op, file, world),
        };
        put::<1>(file, (*op).out, u64::from(code), before & !FPCC | code << 12);
        next(op, file, world)
    }
}

/// A single from memory: what is not a number keeps its bits.
unsafe fn expand(op: *const Micro, file: *mut u8, world: *mut World) -> usize {
    // SAFETY: what `Run` asks of its caller holds here too: `op` is of a block, `file` holds every slot that a block names.
    unsafe {
        let float = f32::from_bits(status(file, (*op).a));
        if float.is_nan() {
            return general::<false>(op, file, world);
        }
        let out = file.add(usize::from((*op).out));
        out.cast::<u64>().write_unaligned(f64::from(float).to_bits());
        next(op, file, world)
    }
}

/// A single to memory, if it is one.
unsafe fn narrow(op: *const Micro, file: *mut u8, world: *mut World) -> usize {
    // SAFETY: what `Run` asks of its caller holds here too: `op` is of a block, `file` holds every slot that a block names.
    unsafe {
        let double = float(file, (*op).a);
        if !is_single(double) {
            return general::<false>(op, file, world);
        }
        let out = file.add(usize::from((*op).out));
        out.cast::<u32>().write_unaligned((double as f32).to_bits());
        next(op, file, world)
    }
}

/// What runs a function of PowerPC, if there is a fast way.
pub fn find(call: Intrinsic) -> Option<Run> {
    use ScalarOp::*;
    Some(match call {
        Intrinsic::Power(PowerOp::Arithmetic { op, single }) => match (op, single) {
            (Add, false) => arithmetic::<0, false>,
            (Sub, false) => arithmetic::<1, false>,
            (Mul, false) => arithmetic::<2, false>,
            (Div, false) => arithmetic::<3, false>,
            (Sqrt, false) => arithmetic::<4, false>,
            (Add, true) => arithmetic::<0, true>,
            (Sub, true) => arithmetic::<1, true>,
            (Mul, true) => arithmetic::<2, true>,
            (Div, true) => arithmetic::<3, true>,
            (Sqrt, true) => arithmetic::<4, true>,
            _ => return None,
        },
        Intrinsic::Power(PowerOp::Fused { subtract, negate, single }) => match (subtract, negate, single) {
            (false, false, false) => fused::<false, false, false>,
            (true, false, false) => fused::<true, false, false>,
            (false, true, false) => fused::<false, true, false>,
            (true, true, false) => fused::<true, true, false>,
            (false, false, true) => fused::<false, false, true>,
            (true, false, true) => fused::<true, false, true>,
            (false, true, true) => fused::<false, true, true>,
            (true, true, true) => fused::<true, true, true>,
        },
        Intrinsic::Power(PowerOp::ToSingle) => to_single,
        Intrinsic::Power(PowerOp::ToInt { word: true, signed: true, truncate: true }) => to_word::<true>,
        Intrinsic::Power(PowerOp::ToInt { word: true, signed: true, truncate: false }) => to_word::<false>,
        Intrinsic::Power(PowerOp::FromInt { signed: true, single: false }) => from_integer,
        Intrinsic::Power(PowerOp::Compare { .. }) => compare,
        Intrinsic::PowerExpand => expand,
        Intrinsic::PowerNarrow => narrow,
        _ => return None,
    })
}
