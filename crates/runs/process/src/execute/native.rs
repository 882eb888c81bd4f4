//! Float operations of SSE on a host that has SSE: the host's own instruction, under the program's own MXCSR.
//!
//! The meaning of these operations is the one in `parallax_ir`, rounding and exceptions included; it takes some hundred
//! nanoseconds. The host's instruction takes a few, and loading and storing MXCSR around it gives rounding and exception
//! flags exactly. A test holds the two against each other. Where an exception is not masked, the host's instruction would
//! raise it in us: then the meaning is asked.

use super::micro::{Micro, Run, World, general};
use parallax_ir::{Intrinsic, ScalarOp};
use std::arch::asm;
use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_storeu_si128};

/// MXCSR as Rust expects it, and the bits of it that a program may have otherwise.
const OURS: u32 = 0x1f80;
const MASKS: u32 = 0x1f80;
const CONTROL: u32 = 0xe040;

/// `bytes` bytes of the file.
#[inline(always)]
unsafe fn load<const BYTES: usize>(file: *mut u8, at: u16) -> __m128i {
    let mut buffer = [0u8; 16];
    // SAFETY: what `Run` asks of its caller holds here too: `op` is of a block, `file` holds every slot that a block names.
    unsafe {
        std::ptr::copy_nonoverlapping(file.add(usize::from(at)), buffer.as_mut_ptr(), BYTES);
        _mm_loadu_si128(buffer.as_ptr().cast())
    }
}

/// Puts a result into the file: the value, MXCSR behind it, and that nothing stops.
#[inline(always)]
unsafe fn store<const BYTES: usize>(file: *mut u8, at: u16, value: &[u8; 16], mxcsr: u32) {
    // SAFETY: what `Run` asks of its caller holds here too: `op` is of a block, `file` holds every slot that a block names.
    unsafe {
        let out = file.add(usize::from(at));
        std::ptr::copy_nonoverlapping(value.as_ptr(), out, BYTES);
        out.add(BYTES).cast::<u32>().write_unaligned(mxcsr);
        *out.add(BYTES + 4) = 0;
    }
}

#[inline(always)]
fn bytes_of(value: __m128i) -> [u8; 16] {
    let mut bytes = [0; 16];
    // SAFETY: sixteen bytes of our own.
    unsafe { _mm_storeu_si128(bytes.as_mut_ptr().cast(), value) };
    bytes
}

#[inline(always)]
unsafe fn next(op: *const Micro, file: *mut u8, world: *mut World) -> usize {
    // SAFETY: what `Run` asks of its caller holds here too: `op` is of a block, `file` holds every slot that a block names.
    unsafe {
        let next = op.add(1);
        ((*next).run)(next, file, world)
    }
}

/// Runs an instruction between loading and storing MXCSR, which is then ours again.
macro_rules! under {
    ($mxcsr:ident, $text:expr, $($operands:tt)*) => {{
        let status = &raw mut $mxcsr;
        if $mxcsr & CONTROL == 0 {
            asm!("ldmxcsr [{m}]", $text, "stmxcsr [{m}]", m = in(reg) status, $($operands)*, options(nostack));
        } else {
            let ours = OURS;
            asm!(
                "ldmxcsr [{m}]", $text, "stmxcsr [{m}]", "ldmxcsr [{n}]",
                m = in(reg) status, n = in(reg) &raw const ours, $($operands)*, options(nostack)
            );
        }
    }};
}

/// Vector and vector to vector.
macro_rules! arithmetic {
    ($($name:ident $bytes:literal $text:literal;)+) => {$(
        unsafe fn $name(op: *const Micro, file: *mut u8, world: *mut World) -> usize {
            // SAFETY: what `Run` asks of its caller holds here too: `op` is of a block, `file` holds every slot that a block names.
            unsafe {
                let mut mxcsr = file.add(usize::from((*op).c)).cast::<u32>().read_unaligned();
                if mxcsr & MASKS != MASKS {
                    return general::<false>(op, file, world);
                }
                let mut x = load::<$bytes>(file, (*op).a);
                let y = load::<$bytes>(file, (*op).b);
                under!(mxcsr, concat!($text, " {x}, {y}"), x = inout(xmm_reg) x, y = in(xmm_reg) y);
                store::<$bytes>(file, (*op).out, &bytes_of(x), mxcsr);
                next(op, file, world)
            }
        }
    )+};
}

arithmetic! {
    addss 4 "addss"; addsd 8 "addsd"; addps 16 "addps"; addpd 16 "addpd";
    subss 4 "subss"; subsd 8 "subsd"; subps 16 "subps"; subpd 16 "subpd";
    mulss 4 "mulss"; mulsd 8 "mulsd"; mulps 16 "mulps"; mulpd 16 "mulpd";
    divss 4 "divss"; divsd 8 "divsd"; divps 16 "divps"; divpd 16 "divpd";
    minss 4 "minss"; minsd 8 "minsd"; minps 16 "minps"; minpd 16 "minpd";
    maxss 4 "maxss"; maxsd 8 "maxsd"; maxps 16 "maxps"; maxpd 16 "maxpd";
    sqrtss 4 "sqrtss"; sqrtsd 8 "sqrtsd"; sqrtps 16 "sqrtps"; sqrtpd 16 "sqrtpd";
}

/// Comparison, into one byte.
macro_rules! order {
    ($($name:ident $bytes:literal $text:literal;)+) => {$(
        unsafe fn $name(op: *const Micro, file: *mut u8, world: *mut World) -> usize {
            // SAFETY: what `Run` asks of its caller holds here too: `op` is of a block, `file` holds every slot that a block names.
            unsafe {
                let mut mxcsr = file.add(usize::from((*op).c)).cast::<u32>().read_unaligned();
                if mxcsr & MASKS != MASKS {
                    return general::<false>(op, file, world);
                }
                let (x, y) = (load::<$bytes>(file, (*op).a), load::<$bytes>(file, (*op).b));
                let (less, equal, unordered): (u8, u8, u8);
                under!(
                    mxcsr,
                    concat!($text, " {x}, {y}\nsetb {l}\nsete {e}\nsetp {u}"),
                    x = in(xmm_reg) x, y = in(xmm_reg) y,
                    l = out(reg_byte) less, e = out(reg_byte) equal, u = out(reg_byte) unordered
                );
                let mut value = [0; 16];
                value[0] = less | equal << 1 | unordered << 2;
                store::<1>(file, (*op).out, &value, mxcsr);
                next(op, file, world)
            }
        }
    )+};
}

order! { comiss 4 "comiss"; comisd 8 "comisd"; ucomiss 4 "ucomiss"; ucomisd 8 "ucomisd"; }

/// Vector to vector, of other sizes; the control register is the second operand.
macro_rules! convert {
    ($($name:ident $from:literal $to:literal $text:literal;)+) => {$(
        unsafe fn $name(op: *const Micro, file: *mut u8, world: *mut World) -> usize {
            // SAFETY: what `Run` asks of its caller holds here too: `op` is of a block, `file` holds every slot that a block names.
            unsafe {
                let mut mxcsr = file.add(usize::from((*op).b)).cast::<u32>().read_unaligned();
                if mxcsr & MASKS != MASKS {
                    return general::<false>(op, file, world);
                }
                let y = load::<$from>(file, (*op).a);
                let x: __m128i;
                under!(mxcsr, concat!($text, " {x}, {y}"), x = out(xmm_reg) x, y = in(xmm_reg) y);
                store::<$to>(file, (*op).out, &bytes_of(x), mxcsr);
                next(op, file, world)
            }
        }
    )+};
}

convert! {
    cvtss2sd 4 8 "cvtss2sd"; cvtsd2ss 8 4 "cvtsd2ss"; cvtps2pd 8 16 "cvtps2pd"; cvtpd2ps 16 8 "cvtpd2ps";
    cvtdq2ps 16 16 "cvtdq2ps"; cvtdq2pd 8 16 "cvtdq2pd"; cvtps2dq 16 16 "cvtps2dq"; cvttps2dq 16 16 "cvttps2dq";
    cvtpd2dq 16 8 "cvtpd2dq"; cvttpd2dq 16 8 "cvttpd2dq";
}

/// Integer to vector.
macro_rules! from_integer {
    ($($name:ident $int:ty, $to:literal $text:literal;)+) => {$(
        unsafe fn $name(op: *const Micro, file: *mut u8, world: *mut World) -> usize {
            // SAFETY: what `Run` asks of its caller holds here too: `op` is of a block, `file` holds every slot that a block names.
            unsafe {
                let mut mxcsr = file.add(usize::from((*op).b)).cast::<u32>().read_unaligned();
                if mxcsr & MASKS != MASKS {
                    return general::<false>(op, file, world);
                }
                let y = file.add(usize::from((*op).a)).cast::<$int>().read_unaligned();
                let mut x = load::<0>(file, 0);
                under!(mxcsr, $text, x = inout(xmm_reg) x, y = in(reg) y);
                store::<$to>(file, (*op).out, &bytes_of(x), mxcsr);
                next(op, file, world)
            }
        }
    )+};
}

from_integer! {
    cvtsi2ss32 u32, 4 "cvtsi2ss {x}, {y:e}"; cvtsi2sd32 u32, 8 "cvtsi2sd {x}, {y:e}";
    cvtsi2ss64 u64, 4 "cvtsi2ss {x}, {y:r}"; cvtsi2sd64 u64, 8 "cvtsi2sd {x}, {y:r}";
}

/// Vector to integer.
macro_rules! to_integer {
    ($($name:ident $from:literal $int:ty, $to:literal $text:literal;)+) => {$(
        unsafe fn $name(op: *const Micro, file: *mut u8, world: *mut World) -> usize {
            // SAFETY: what `Run` asks of its caller holds here too: `op` is of a block, `file` holds every slot that a block names.
            unsafe {
                let mut mxcsr = file.add(usize::from((*op).b)).cast::<u32>().read_unaligned();
                if mxcsr & MASKS != MASKS {
                    return general::<false>(op, file, world);
                }
                let y = load::<$from>(file, (*op).a);
                let x: $int;
                under!(mxcsr, $text, x = out(reg) x, y = in(xmm_reg) y);
                let mut value = [0; 16];
                value[..$to].copy_from_slice(&x.to_le_bytes());
                store::<$to>(file, (*op).out, &value, mxcsr);
                next(op, file, world)
            }
        }
    )+};
}

to_integer! {
    cvtss2si32 4 u32, 4 "cvtss2si {x:e}, {y}"; cvtss2si64 4 u64, 8 "cvtss2si {x:r}, {y}";
    cvtsd2si32 8 u32, 4 "cvtsd2si {x:e}, {y}"; cvtsd2si64 8 u64, 8 "cvtsd2si {x:r}, {y}";
    cvttss2si32 4 u32, 4 "cvttss2si {x:e}, {y}"; cvttss2si64 4 u64, 8 "cvttss2si {x:r}, {y}";
    cvttsd2si32 8 u32, 4 "cvttsd2si {x:e}, {y}"; cvttsd2si64 8 u64, 8 "cvttsd2si {x:r}, {y}";
}

/// What runs a function of the instruction language whose operands have `bytes` bytes, if the host can.
pub fn find(call: Intrinsic, bytes: u16) -> Option<Run> {
    use ScalarOp::*;
    Some(match call {
        Intrinsic::FloatLanes { op, lane } => match (op, lane, bytes) {
            (Add, 4, 4) => addss,
            (Add, 8, 8) => addsd,
            (Add, 4, 16) => addps,
            (Add, 8, 16) => addpd,
            (Sub, 4, 4) => subss,
            (Sub, 8, 8) => subsd,
            (Sub, 4, 16) => subps,
            (Sub, 8, 16) => subpd,
            (Mul, 4, 4) => mulss,
            (Mul, 8, 8) => mulsd,
            (Mul, 4, 16) => mulps,
            (Mul, 8, 16) => mulpd,
            (Div, 4, 4) => divss,
            (Div, 8, 8) => divsd,
            (Div, 4, 16) => divps,
            (Div, 8, 16) => divpd,
            (Min, 4, 4) => minss,
            (Min, 8, 8) => minsd,
            (Min, 4, 16) => minps,
            (Min, 8, 16) => minpd,
            (Max, 4, 4) => maxss,
            (Max, 8, 8) => maxsd,
            (Max, 4, 16) => maxps,
            (Max, 8, 16) => maxpd,
            (Sqrt, 4, 4) => sqrtss,
            (Sqrt, 8, 8) => sqrtsd,
            (Sqrt, 4, 16) => sqrtps,
            (Sqrt, 8, 16) => sqrtpd,
            _ => return None,
        },
        Intrinsic::FloatOrder { strict } => match (strict, bytes) {
            (true, 4) => comiss,
            (true, 8) => comisd,
            (false, 4) => ucomiss,
            (false, 8) => ucomisd,
            _ => return None,
        },
        Intrinsic::FloatToFloat { from, to } => match (from, to, bytes) {
            (4, 8, 4) => cvtss2sd,
            (8, 4, 8) => cvtsd2ss,
            (4, 8, 8) => cvtps2pd,
            (8, 4, 16) => cvtpd2ps,
            _ => return None,
        },
        Intrinsic::FloatFromInt { from, to } => match (from, to, bytes) {
            (4, 4, 4) => cvtsi2ss32,
            (4, 8, 4) => cvtsi2sd32,
            (8, 4, 8) => cvtsi2ss64,
            (8, 8, 8) => cvtsi2sd64,
            (4, 4, 16) => cvtdq2ps,
            (4, 8, 8) => cvtdq2pd,
            _ => return None,
        },
        Intrinsic::FloatToInt { truncate, from, to } => match (truncate, from, to, bytes) {
            (false, 4, 4, 4) => cvtss2si32,
            (false, 4, 8, 4) => cvtss2si64,
            (false, 8, 4, 8) => cvtsd2si32,
            (false, 8, 8, 8) => cvtsd2si64,
            (true, 4, 4, 4) => cvttss2si32,
            (true, 4, 8, 4) => cvttss2si64,
            (true, 8, 4, 8) => cvttsd2si32,
            (true, 8, 8, 8) => cvttsd2si64,
            (false, 4, 4, 16) => cvtps2dq,
            (true, 4, 4, 16) => cvttps2dq,
            (false, 8, 4, 16) => cvtpd2dq,
            (true, 8, 4, 16) => cvttpd2dq,
            _ => return None,
        },
        _ => return None,
    })
}
