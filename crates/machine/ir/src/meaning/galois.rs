//! The field of 256 elements, and what AES makes of it.
//!
//! An element is a byte, a polynomial over the field of two; products are taken modulo the polynomial of AES. An inverse
//! is the 254th power: eleven products say it in terms far smaller than a table of 256 cases would be.

use crate::AesStep;
use crate::meaning::value::constant;
use crate::meaning::vector::{join, split};
use parallax_op::{BinOp, UnOp, Width};
use parallax_sem::Core;

fn xor<C: Core>(core: &C, a: &C::Val, b: &C::Val) -> C::Val {
    core.binop(BinOp::Xor, 8, a, b)
}

/// `a` where a bit of `b` is set, else zero.
fn under<C: Core>(core: &C, a: &C::Val, bit: Width, b: &C::Val) -> C::Val {
    let set = core.val_to_bool(1, &core.extract(8, bit, 1, b));
    core.cond(8, &set, a, &constant(core, 8, 0))
}

/// Twice an element: modulo x^8 + x^4 + x^3 + x + 1.
fn twice<C: Core>(core: &C, a: &C::Val) -> C::Val {
    let moved = core.binop(BinOp::Shl, 8, a, &constant(core, 8, 1));
    xor(core, &moved, &under(core, &constant(core, 8, 0x1b), 7, a))
}

fn product<C: Core>(core: &C, a: &C::Val, b: &C::Val) -> C::Val {
    let mut power = a.clone();
    let mut sum = under(core, &power, 0, b);
    for bit in 1..8 {
        power = twice(core, &power);
        sum = xor(core, &sum, &under(core, &power, bit, b));
    }
    sum
}

/// The element whose product with `a` is one; zero for zero.
fn inverse<C: Core>(core: &C, a: &C::Val) -> C::Val {
    let times = |a: &C::Val, b: &C::Val| product(core, a, b);
    let square = |a: &C::Val| times(a, a);
    let two = square(a);
    let three = times(&two, a);
    let twelve = square(&square(&three));
    let fifteen = times(&twelve, &three);
    let sixty = square(&square(&fifteen));
    let two_hundred_forty = square(&square(&sixty));
    times(&times(&two_hundred_forty, &twelve), &two)
}

/// Each bit is the parity of `a` under a row of the matrix, the first row the highest byte, plus a constant's.
fn affine<C: Core>(core: &C, rows: &[C::Val], a: &C::Val, added: u8) -> C::Val {
    let one = constant(core, 8, 1);
    let bits: Vec<C::Val> = rows
        .iter()
        .rev()
        .map(|row| {
            let count = core.unop(UnOp::Popcount, 8, &core.binop(BinOp::And, 8, row, a));
            core.extract(8, 0, 1, &core.binop(BinOp::And, 8, &count, &one))
        })
        .collect();
    xor(core, &join(core, 1, &bits), &constant(core, 8, added.into()))
}

/// Each byte times the byte in its place.
pub(super) fn multiply<C: Core>(core: &C, w: Width, a: &C::Val, b: &C::Val) -> C::Val {
    let (a, b) = (split(core, w, 8, a), split(core, w, 8, b));
    let bytes: Vec<C::Val> = a.iter().zip(&b).map(|(a, b)| product(core, a, b)).collect();
    join(core, 8, &bytes)
}

/// Each byte of `a`, or its inverse, through the matrix in its eight bytes of `b`.
pub(super) fn transform<C: Core>(
    core: &C,
    inverts: bool,
    added: u8,
    w: Width,
    a: &C::Val,
    b: &C::Val,
) -> C::Val {
    let (a, b) = (split(core, w, 8, a), split(core, w, 8, b));
    let rows = |index: usize| &b[index / 8 * 8..index / 8 * 8 + 8];
    let bytes: Vec<C::Val> = a
        .iter()
        .enumerate()
        .map(|(index, a)| {
            let a = if inverts { &inverse(core, a) } else { a };
            affine(core, rows(index), a, added)
        })
        .collect();
    join(core, 8, &bytes)
}

/// The sum of the byte turned left by each distance.
fn turned<C: Core>(core: &C, a: &C::Val, distances: &[u128]) -> C::Val {
    distances.iter().fold(constant(core, 8, 0), |sum, &distance| {
        let up = core.binop(BinOp::Shl, 8, a, &constant(core, 8, distance));
        let down = core.binop(BinOp::Lshr, 8, a, &constant(core, 8, 8 - distance));
        xor(core, &sum, &core.binop(BinOp::Or, 8, &up, &down))
    })
}

/// The substitution of AES.
fn substituted<C: Core>(core: &C, a: &C::Val) -> C::Val {
    let a = inverse(core, a);
    xor(core, &turned(core, &a, &[0, 1, 2, 3, 4]), &constant(core, 8, 0x63))
}

/// Its inverse.
fn restored<C: Core>(core: &C, a: &C::Val) -> C::Val {
    inverse(core, &xor(core, &turned(core, a, &[1, 3, 6]), &constant(core, 8, 0x05)))
}

/// Each column times the polynomial with these coefficients.
fn mixed<C: Core>(core: &C, state: &[C::Val], coefficients: [u128; 4]) -> Vec<C::Val> {
    (0..16)
        .map(|index| {
            let (column, row) = (index / 4 * 4, index % 4);
            (0..4).fold(constant(core, 8, 0), |sum, from| {
                let factor = constant(core, 8, coefficients[(from + 4 - row) % 4]);
                xor(core, &sum, &product(core, &state[column + from], &factor))
            })
        })
        .collect()
}

const MIX: [u128; 4] = [2, 3, 1, 1];
const UNMIX: [u128; 4] = [14, 11, 13, 9];

/// One step of AES on a block and a key, or the second argument mixed back.
pub(super) fn aes<C: Core>(core: &C, step: AesStep, block: &C::Val, key: &C::Val) -> C::Val {
    let bytes = split(core, 128, 8, block);
    // Row `r` of the block, every fourth byte, is turned by `r` places.
    let rows = |step: usize| (0..16).map(move |index: usize| (index + step * (index % 4)) % 16);
    let state = match step {
        AesStep::Encrypt | AesStep::EncryptLast => {
            let state: Vec<C::Val> = rows(4).map(|from| substituted(core, &bytes[from])).collect();
            if step == AesStep::Encrypt { mixed(core, &state, MIX) } else { state }
        }
        AesStep::Decrypt | AesStep::DecryptLast => {
            let state: Vec<C::Val> = rows(12).map(|from| restored(core, &bytes[from])).collect();
            if step == AesStep::Decrypt { mixed(core, &state, UNMIX) } else { state }
        }
        AesStep::InverseMixColumns => return join(core, 8, &mixed(core, &split(core, 128, 8, key), UNMIX)),
    };
    core.binop(BinOp::Xor, 128, &join(core, 8, &state), key)
}

/// The second and the fourth word substituted, as they are and turned by a byte with a constant added.
pub(super) fn key_assist<C: Core>(core: &C, added: u8, a: &C::Val) -> C::Val {
    let bytes = split(core, 128, 8, a);
    let words = [4usize, 12].map(|at| {
        let word: Vec<C::Val> = bytes[at..at + 4].iter().map(|byte| substituted(core, byte)).collect();
        let turned = [1, 2, 3, 0].map(|index: usize| word[index].clone());
        let first = xor(core, &turned[0], &constant(core, 8, added.into()));
        [&word[..], &[first], &turned[1..]].concat()
    });
    join(core, 8, &words.concat())
}
