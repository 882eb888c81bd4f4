//! Intrinsics that work on bits: checksums, polynomials, string comparison, and what `cpuid` answers.

use crate::meaning::value::constant;
use crate::meaning::vector::{join, split};
use parallax_op::{BinOp, BoolOp, RelOp, Width};
use parallax_sem::Core;

/// CRC-32C, bit by bit: the reflected polynomial of Castagnoli.
pub(super) fn crc32<C: Core>(core: &C, crc: &C::Val, w: Width, data: &C::Val) -> C::Val {
    let polynomial = constant(core, 32, 0x82f6_3b78);
    let zero = constant(core, 32, 0);
    let one = constant(core, 32, 1);
    let mut crc = crc.clone();
    for byte in split(core, w, 8, data) {
        crc = core.binop(BinOp::Xor, 32, &crc, &core.zext(8, 32, &byte));
        for _ in 0..8 {
            let odd = core.val_to_bool(1, &core.extract(32, 0, 1, &crc));
            let half = core.binop(BinOp::Lshr, 32, &crc, &one);
            crc = core.binop(BinOp::Xor, 32, &half, &core.cond(32, &odd, &polynomial, &zero));
        }
    }
    crc
}

/// The product of two polynomials of `w` bits, in twice as many.
pub(super) fn carryless_multiply<C: Core>(core: &C, w: Width, a: &C::Val, b: &C::Val) -> C::Val {
    let wide = core.zext(w, 2 * w, a);
    let mut product = constant(core, 2 * w, 0);
    let zero = constant(core, 2 * w, 0);
    for bit in 0..w {
        let set = core.val_to_bool(1, &core.extract(w, bit, 1, b));
        let moved = core.binop(BinOp::Shl, 2 * w, &wide, &constant(core, 2 * w, u128::from(bit)));
        product = core.binop(BinOp::Xor, 2 * w, &product, &core.cond(2 * w, &set, &moved, &zero));
    }
    product
}

/// `pdep`: the low bits of `a`, one for each one of the mask.
pub(super) fn deposit<C: Core>(core: &C, w: Width, a: &C::Val, mask: &C::Val) -> C::Val {
    let one = constant(core, w, 1);
    let mut rest = a.clone();
    let mut bits = Vec::new();
    for index in 0..w {
        let wanted = core.val_to_bool(1, &core.extract(w, index, 1, mask));
        let low = core.extract(w, 0, 1, &rest);
        bits.push(core.cond(1, &wanted, &low, &constant(core, 1, 0)));
        rest = core.cond(w, &wanted, &core.binop(BinOp::Lshr, w, &rest, &one), &rest);
    }
    join(core, 1, &bits)
}

/// `pext`: the bits of `a` under the ones of the mask, moved together.
pub(super) fn extract<C: Core>(core: &C, w: Width, a: &C::Val, mask: &C::Val) -> C::Val {
    let one = constant(core, w, 1);
    let mut result = constant(core, w, 0);
    // From the highest bit down, so that each one taken pushes the earlier ones up.
    for index in (0..w).rev() {
        let wanted = core.val_to_bool(1, &core.extract(w, index, 1, mask));
        let bit = core.zext(1, w, &core.extract(w, index, 1, a));
        let longer = core.binop(BinOp::Or, w, &core.binop(BinOp::Shl, w, &result, &one), &bit);
        result = core.cond(w, &wanted, &longer, &result);
    }
    result
}

/// The comparison of `pcmpistri` and its kin, in the terms of the processor manual: lane `j` of `b` against the lanes
/// `i` of `a`, of which `length_a` and `length_b` (bytes) count.
pub(super) fn string_compare<C: Core>(
    core: &C,
    control: u8,
    a: &C::Val,
    b: &C::Val,
    length_a: &C::Val,
    length_b: &C::Val,
) -> C::Val {
    let lane: Width = if control & 1 == 0 { 8 } else { 16 };
    let signed = control & 2 != 0;
    let count = usize::from(128 / lane);
    let (a, b) = (split(core, 128, lane, a), split(core, 128, lane, b));
    let valid =
        |index: usize, length: &C::Val| core.relop(RelOp::Ult, 8, &constant(core, 8, index as u128), length);
    let valid_a: Vec<C::Bool> = (0..count).map(|i| valid(i, length_a)).collect();
    let valid_b: Vec<C::Bool> = (0..count).map(|j| valid(j, length_b)).collect();
    let and = |x: &C::Bool, y: &C::Bool| core.boolop(BoolOp::And, x, y);
    let or = |x: &C::Bool, y: &C::Bool| core.boolop(BoolOp::Or, x, y);
    let (no, yes) = (core.boolean(false), core.boolean(true));
    let compare = |op: RelOp, i: usize, j: usize| core.relop(op, lane, &b[j], &a[i]);
    let (at_least, at_most) = if signed { (RelOp::Sge, RelOp::Sle) } else { (RelOp::Uge, RelOp::Ule) };
    let result = (0..count).map(|j| match control >> 2 & 3 {
        // Equal any: b[j] is one of the characters of a.
        0 => {
            let found = (0..count)
                .fold(no.clone(), |found, i| or(&found, &and(&compare(RelOp::Eq, i, j), &valid_a[i])));
            and(&found, &valid_b[j])
        }
        // Ranges: b[j] lies between a pair of a.
        1 => {
            let found = (0..count).step_by(2).fold(no.clone(), |found, i| {
                let inside = and(&compare(at_least, i, j), &compare(at_most, i + 1, j));
                or(&found, &and(&inside, &and(&valid_a[i], &valid_a[i + 1])))
            });
            and(&found, &valid_b[j])
        }
        // Equal each: both at their ends count as equal.
        2 => {
            let equal = and(&compare(RelOp::Eq, j, j), &and(&valid_a[j], &valid_b[j]));
            or(&equal, &and(&core.not(&valid_a[j]), &core.not(&valid_b[j])))
        }
        // Equal ordered: a occurs in b from lane j on, as far as the vector shows.
        _ => (0..count - j).fold(yes.clone(), |all, i| {
            let equal = and(&compare(RelOp::Eq, i, j + i), &valid_b[j + i]);
            and(&all, &or(&equal, &core.not(&valid_a[i])))
        }),
    });
    let bits: Vec<C::Val> = result
        .enumerate()
        .map(|(j, hit)| {
            let hit = match control >> 4 & 3 {
                1 => core.not(&hit),
                // Negated only where b has a character.
                3 => core.boolop(BoolOp::Xor, &hit, &valid_b[j]),
                _ => hit,
            };
            core.bool_to_val(1, &hit)
        })
        .collect();
    let mask = join(core, 1, &bits);
    if count == 16 { mask } else { core.zext(8, 16, &mask) }
}

/// The processor we present: x86-64 with SSE up to 4.2 and POPCNT, and nothing that needs more state than `fxsave`
/// holds. Leaf, subleaf if it matters, then EAX, EBX, ECX, EDX.
const CPUID: &[(u32, [u32; 4])] = &[
    // "GenuineIntel", highest basic leaf 7.
    (0, [7, 0x756e_6547, 0x6c65_746e, 0x4965_6e69]),
    // Family 6, model 15; SSE3, SSSE3, CMPXCHG16B, SSE4.1, SSE4.2, POPCNT; FPU, TSC, CX8, CMOV, CLFSH, MMX, FXSR, SSE, SSE2.
    (1, [0x0006_06f0, 0x0000_0800, 0x0098_2201, 0x0788_8111]),
    (2, [0, 0, 0, 0]),
    (4, [0, 0, 0, 0]),
    (7, [0, 0, 0, 0]),
    (0x8000_0000, [0x8000_0008, 0, 0, 0]),
    // LAHF; SYSCALL, NX, long mode.
    (0x8000_0001, [0, 0, 1, 0x2010_0800]),
    // "Parallax x86-64"
    (0x8000_0002, [0x6172_6150, 0x78616c6c, 0x3638_7820, 0x0034_362d]),
    // 48 bits of physical and of virtual address.
    (0x8000_0008, [0x0000_3030, 0, 0, 0]),
];

pub(super) fn cpuid<C: Core>(core: &C, leaf: &C::Val, _subleaf: &C::Val) -> C::Val {
    CPUID.iter().fold(constant(core, 128, 0), |rest, (number, answer)| {
        let bits = answer.iter().rev().fold(0u128, |bits, part| bits << 32 | u128::from(*part));
        let asked = core.relop(RelOp::Eq, 32, leaf, &constant(core, 32, u128::from(*number)));
        core.cond(128, &asked, &constant(core, 128, bits), &rest)
    })
}
