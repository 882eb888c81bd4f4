//! Where QEMU (7.2) departs from the Power ISA, which is what we follow: bits that are left out of the comparison, and
//! how the most important of them is checked nevertheless.

use super::forms::{Fields, Form};
use super::record::Record;

const FX: u32 = 1 << 31;
const VXSNAN: u32 = 1 << 24;
const VXIMZ: u32 = 1 << 20;
const VXVC: u32 = 1 << 19;
const FR: u32 = 1 << 18;
const FI: u32 = 1 << 17;
const C: u32 = 1 << 16;
const VE: u32 = 1 << 7;
const NI: u32 = 1 << 2;
const OVERFLOW: u32 = 1 << 28;
/// The exceptions, without their summaries.
const EXCEPTIONS: u32 = 0x1ff8_0700;

/// Whether it computes a float or converts one.
pub(super) fn computes(form: &Form) -> bool {
    use Fields::*;
    let moves = ["fsel", "fabs", "fnabs", "fneg", "fmr"];
    matches!(form.fields, Float | Floats | FloatsProduct | FloatsFused)
        && !moves.contains(&form.name.trim_end_matches('.'))
}

/// The bits of FPSCR that are not compared.
pub(super) fn status_left_out(form: &Form, before: &Record, after: &Record) -> u32 {
    let mut mask = 0;
    let signals = is_signalling(before, 16) || is_signalling(before, 11) || is_signalling(before, 6);
    match form.fields {
        // A comparison clears what was said about the last result, and may name the class of a NaN.
        Fields::FloatsCompare => {
            mask |= FI;
            if is_nan(before, 16) || is_nan(before, 11) {
                mask |= C;
            }
            if before.status & VE != 0 && signals {
                mask |= VXVC;
            }
        }
        _ if computes(form) => {
            // It never says that a result was rounded up.
            mask |= FR;
            if before.status & VE != 0 && signals {
                mask |= FI;
            }
            // Of two reasons it gives one.
            if form.fields == Fields::FloatsFused && after.status & VXIMZ != 0 && signals {
                mask |= VXSNAN;
            }
        }
        // Setting an exception sets no `FX`, and setting `NI` does nothing.
        Fields::StatusBit => {
            let raised = after.status & !before.status & EXCEPTIONS != 0;
            mask |= NI | if raised { FX } else { 0 };
        }
        _ => {}
    }
    // It says that an exception is new when it was there before.
    let new = after.status & !before.status & EXCEPTIONS & !mask;
    if before.status & FX == 0 && new == 0 {
        mask |= FX;
    }
    mask
}

/// What to ask of QEMU: it negates fused results before it rounds them, so that up and down change places.
pub(super) fn asked(form: &Form, record: &Record) -> Record {
    let negates = form.name.starts_with("fnm");
    let flip = u32::from(negates && record.status & 2 != 0);
    Record { status: record.status ^ flip, ..record.clone() }
}

/// Whether the result and what FPSCR says about it are left out.
pub(super) fn result_left_out(form: &Form, before: &Record, after: &Record) -> bool {
    let operand = before.floats[before.register(11)];
    let name = form.name.trim_end_matches('.');
    // A single whose exponent is brought into range from doubles far outside may still be outside.
    if form.is_single() && after.signal != 0 && [16, 11, 6].iter().any(|field| !is_single(before, *field)) {
        return true;
    }
    match name {
        // A zero has the sign of the mode.
        _ if name.starts_with("fnm") && before.status & 2 != 0 => after.floats[after.register(21)] << 1 == 0,
        // One over zero is infinite.
        "fres" => operand << 1 == 0,
        // An exception that stops does not keep the result from being written.
        "fcfid" => after.signal != 0,
        // A result whose exponent is brought into range must not be cut to a single that cannot hold it.
        "frsp" => after.signal != 0 && !(0x2c0..0x53e).contains(&(operand >> 52 & 0x7ff)),
        _ => false,
    }
}

fn operand(record: &Record, field: u32) -> f64 {
    f64::from_bits(record.floats[record.register(field)])
}

fn is_nan(record: &Record, field: u32) -> bool {
    operand(record, field).is_nan()
}

fn is_signalling(record: &Record, field: u32) -> bool {
    is_nan(record, field) && operand(record, field).to_bits() >> 51 & 1 == 0
}

fn is_single(record: &Record, field: u32) -> bool {
    let value = operand(record, field);
    f64::from(value as f32) == value
}

/// The same state, rounding toward zero: its result tells whether the other was rounded up.
pub(super) fn twin(form: &Form, before: &Record) -> Option<Record> {
    let truncates = form.name.contains('z') || form.name.starts_with("frsqrte");
    (computes(form) && !truncates).then(|| Record { status: before.status & !3 | 1, ..before.clone() })
}

/// What `FR` must be, if the two results tell.
pub(super) fn rounded_up(form: &Form, after: &Record, twin: &Record) -> Option<bool> {
    // Results under an enabled exception are not ordinary ones; what overflows says nothing about itself.
    if after.signal != 0 || twin.signal != 0 || (after.status | twin.status) & OVERFLOW != 0 {
        return None;
    }
    let result = |record: &Record| record.floats[record.register(21)];
    let magnitude = |bits: u64| match form.name.starts_with("fcti") {
        true => (bits as i64).unsigned_abs(),
        false => bits & !(1 << 63),
    };
    Some(after.status & FI != 0 && magnitude(result(after)) > magnitude(result(twin)))
}
