//! Operands of vector instructions: the two of SSE and the three of AVX, by one rule.
//!
//! An instruction of SSE combines its target with its other operand. Its cousin of AVX, whose name begins with a `v`,
//! names the first source apart, asks for no alignment, may be twice as wide, and clears what it does not write. Each
//! half of a wide vector is then treated as the whole of a short one is, so that a table of one rule serves both.

use crate::x86::operand::Lift;
use iced_x86::{Instruction as Decoded, Mnemonic, OpKind};
use parallax_ir::Varnode;
use std::collections::HashMap;
use std::sync::LazyLock;

/// The instruction of SSE that one of AVX is made after; itself, if it is made after none.
pub fn cousin(mnemonic: Mnemonic) -> Mnemonic {
    static COUSINS: LazyLock<HashMap<Mnemonic, Mnemonic>> = LazyLock::new(|| {
        let named: HashMap<String, Mnemonic> =
            Mnemonic::values().map(|mnemonic| (format!("{mnemonic:?}").to_lowercase(), mnemonic)).collect();
        let older = |name: &String| named.get(name.strip_prefix('v')?).copied();
        named.iter().filter_map(|(name, mnemonic)| Some((*mnemonic, older(name)?))).collect()
    });
    COUSINS.get(&mnemonic).copied().unwrap_or(mnemonic)
}

/// Memory operands of these need not be aligned; those of all other SSE instructions must.
fn may_be_unaligned(mnemonic: Mnemonic) -> bool {
    use Mnemonic::*;
    let is_move = matches!(mnemonic, Movups | Movupd | Movdqu | Lddqu);
    is_move || matches!(mnemonic, Pcmpistri | Pcmpistrm | Pcmpestri | Pcmpestrm | Pcmpestri64 | Pcmpestrm64)
}

/// Memory operands of these must be aligned, whatever their size.
fn must_be_aligned(mnemonic: Mnemonic) -> bool {
    use Mnemonic::*;
    matches!(mnemonic, Movaps | Movapd | Movdqa | Movntps | Movntpd | Movntdq | Movntdqa)
}

/// How many operands are no immediates.
fn sources(d: &Decoded) -> u32 {
    (0..d.op_count()).filter(|&i| d.op_kind(i) != OpKind::Immediate8).count() as u32
}

/// Where the second source is, or the only one.
pub(super) fn second_index(l: &Lift, d: &Decoded) -> u32 {
    if l.vex && sources(d) > 2 { 2 } else { 1 }
}

/// The immediate at the end, or zero.
pub(super) fn control(d: &Decoded) -> u8 {
    match d.op_count().checked_sub(1) {
        Some(last) if d.op_kind(last) == OpKind::Immediate8 => d.immediate(last) as u8,
        _ => 0,
    }
}

/// Stops unless the memory operand is aligned, where the processor does.
pub(super) fn check_alignment(l: &mut Lift, d: &Decoded, bytes: u16) {
    let mnemonic = if l.vex { cousin(d.mnemonic()) } else { d.mnemonic() };
    let checked = if l.vex { must_be_aligned(mnemonic) } else { !may_be_unaligned(mnemonic) };
    if bytes >= 16 && checked {
        let address = l.address(d);
        l.check_alignment(address, bytes);
    }
}

/// The low `bytes` bytes of an operand; in memory they are checked for alignment where the processor does.
pub(super) fn read(l: &mut Lift, d: &Decoded, index: u32, bytes: u16) -> Varnode {
    if l.is_memory(d, index) {
        check_alignment(l, d, bytes);
        let address = l.address(d);
        return l.b.load(address, bytes);
    }
    l.read_sized(d, index, bytes)
}

/// The first source: the target itself, unless another is named.
pub(super) fn first(l: &mut Lift, d: &Decoded) -> Varnode {
    let named_apart = l.vex && sources(d) > 2;
    l.read(d, u32::from(named_apart))
}

/// The second source, or the only one, in the size of the target; memory may hold less, the rest is zero.
pub(super) fn second(l: &mut Lift, d: &Decoded, bytes: u16) -> Varnode {
    let index = second_index(l, d);
    let have = if l.is_memory(d, index) { (d.memory_size().size() as u16).min(bytes) } else { bytes };
    let value = read(l, d, index, have);
    l.b.zext(value, bytes)
}

/// Writes the lowest part of the target. What is above comes from the first source.
pub(super) fn write_low(l: &mut Lift, d: &Decoded, value: Varnode) {
    let target = l.r.place(d.op_register(0));
    if !l.vex {
        l.b.copy(target.slice(0, value.bytes), value);
        return;
    }
    let above = l.r.place(d.op_register(1)).slice(value.bytes, 16 - value.bytes);
    let whole = l.b.concat(above, value);
    l.write(d, 0, whole);
}

/// A function of vectors of up to 16 bytes, applied to each half of longer ones; it is told which half.
pub(super) fn halves(
    l: &mut Lift,
    operands: &[Varnode],
    mut function: impl FnMut(&mut Lift, u8, &[Varnode]) -> Varnode,
) -> Varnode {
    if operands[0].bytes <= 16 {
        return function(l, 0, operands);
    }
    let half = |at: u16| operands.iter().map(|operand| operand.slice(at, 16)).collect::<Vec<_>>();
    let low = function(l, 0, &half(0));
    let high = function(l, 1, &half(16));
    l.b.concat(high, low)
}
