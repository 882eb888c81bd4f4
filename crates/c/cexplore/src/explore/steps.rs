//! Offsets as steps: `a[i][j].f` is `(i * columns + j) * size + offset of f`, told from how the term is made.

use parallax_cmachine::Steps;
use parallax_op::{BinOp, UnOp};
use parallax_sem::Symbolic;
use parallax_term::{Node, Store, Term};

/// Summands looked at.
const MOST: usize = 16;
/// What the sum of the largest values of all summands must stay below, so that nothing wraps around.
const ROOM: u128 = 1 << 62;

/// A number of 64 bits as steps; `None` when its summands may be so large that it wraps around, or are too many.
pub(super) fn steps<'s>(store: &'s Store, number: Term) -> Option<Steps<Symbolic<'s>>> {
    let mut summands: Vec<(Term, i128)> = Vec::new();
    let (mut constant, mut largest) = (0i128, 0u128);
    let mut waiting = vec![(number, 1i128)];
    while let Some((term, factor)) = waiting.pop() {
        if waiting.len() + summands.len() > MOST {
            return None;
        }
        let signed = |t: Term| store.as_constant(t).and_then(|k| k.to_i128());
        match store.node(term) {
            Node::Const(bits) => constant = constant.checked_add(factor.checked_mul(bits.to_i128()?)?)?,
            Node::Bin(BinOp::Add, a, b) => waiting.extend([(a, factor), (b, factor)]),
            Node::Bin(BinOp::Sub, a, b) => waiting.extend([(a, factor), (b, -factor)]),
            Node::Un(UnOp::Neg, a) => waiting.push((a, -factor)),
            Node::Bin(BinOp::Mul, a, b) if signed(b).is_some() => {
                waiting.push((a, factor.checked_mul(signed(b)?)?));
            }
            Node::Bin(BinOp::Shl, a, b) if signed(b).is_some_and(|by| (0..63).contains(&by)) => {
                waiting.push((a, factor.checked_mul(1 << signed(b)?)?));
            }
            _ => {
                let reach = magnitude(store, term)?.checked_mul(factor.unsigned_abs())?;
                largest = largest.checked_add(reach)?;
                summands.push((term, factor));
            }
        }
        if constant.unsigned_abs() > ROOM {
            return None;
        }
    }
    if summands.is_empty() || largest > ROOM {
        return None;
    }
    let scale = summands.iter().fold(0, |common, (_, factor)| gcd(common, factor.unsigned_abs()));
    let scale = i128::try_from(scale).ok().filter(|&scale| scale > 0 && scale < 1 << 40)?;
    let mut index = store.number(64, constant.div_euclid(scale) as u64 as u128);
    for (term, factor) in summands {
        let times = store.number(64, (factor / scale) as u64 as u128);
        index = store.binop(BinOp::Add, index, store.binop(BinOp::Mul, term, times));
    }
    Some(Steps { index, scale: scale as u64, residue: constant.rem_euclid(scale) as u64 })
}

fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// What the absolute value of a number of 64 bits, taken as signed, is at most, as far as its outermost operators tell.
fn magnitude(store: &Store, term: Term) -> Option<u128> {
    let constant = |t: Term| store.as_constant(t).and_then(|k| k.to_u64());
    match store.node(term) {
        Node::Zext(a) if store.width(a) <= 48 => Some(1 << store.width(a)),
        Node::Sext(a) if store.width(a) <= 48 => Some(1 << (store.width(a) - 1)),
        Node::Concat(high, low) => {
            // Zeros above a number.
            (constant(high) == Some(0) && store.width(low) <= 48).then(|| 1 << store.width(low))
        }
        Node::Ite(_, a, b) => {
            let side = |t: Term| match store.as_constant(t).and_then(|k| k.to_i128()) {
                Some(k) => Some(k.unsigned_abs()),
                None => match store.node(t) {
                    // One level: deeper ones are rare, and this must not recurse without end.
                    Node::Ite(..) => None,
                    _ => magnitude(store, t),
                },
            };
            Some(side(a)?.max(side(b)?))
        }
        Node::Bin(BinOp::And, a, b) => {
            let mask = constant(b).or_else(|| constant(a))?;
            (mask < 1 << 48).then_some(mask.into())
        }
        Node::Bin(BinOp::Urem, _, b) => constant(b).filter(|&b| b > 0 && b < 1 << 48).map(u128::from),
        Node::Bin(BinOp::Lshr, _, b) => {
            constant(b).filter(|&b| (16..64).contains(&b)).map(|by| 1 << (64 - by))
        }
        _ => None,
    }
}
