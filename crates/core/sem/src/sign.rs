//! Sign analysis: the domain `{neg, zero, pos}` with a top (section 2).
//!
//! What an operator does to signs is not written down but found out: it is applied to every pair of small vectors with
//! those signs, and the signs of the results are joined. Five bits show every combination that wider vectors show;
//! the tests compare with wider ones.

use crate::abstraction::{Domain, Truth};
use parallax_op::{BinOp, Bits, RelOp, UnOp, Width};
use std::sync::OnceLock;

/// The sign of a two's-complement number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Sign {
    /// Below zero.
    Neg,
    /// Zero.
    Zero,
    /// Above zero.
    Pos,
    /// Any.
    Top,
}

impl std::fmt::Display for Sign {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Sign::Neg => "neg",
            Sign::Zero => "zero",
            Sign::Pos => "pos",
            Sign::Top => "top",
        })
    }
}

const SIGNS: [Sign; 4] = [Sign::Neg, Sign::Zero, Sign::Pos, Sign::Top];
/// Enumerated widths: vectors wider than this behave like these.
const ENUMERATED: Width = 5;

impl Sign {
    /// The sign of a constant.
    pub fn of(value: &Bits) -> Sign {
        if value.is_zero() {
            Sign::Zero
        } else if value.sign() {
            Sign::Neg
        } else {
            Sign::Pos
        }
    }

    /// Whether a constant has this sign.
    pub fn covers(self, value: &Bits) -> bool {
        self == Sign::Top || self == Sign::of(value)
    }

    fn values(self, w: Width) -> impl Iterator<Item = Bits> {
        (0..1u128 << w).map(move |value| Bits::new(w, value)).filter(move |value| self.covers(value))
    }
}

/// One result for each width up to [`ENUMERATED`] and each combination of signs.
struct Enumerated<T>(Vec<T>);

impl<T: Copy> Enumerated<T> {
    /// The table of an operator. Combinations no vectors have (there is no positive one-bit vector) get `never`.
    fn new<R>(
        apply: impl Fn(&Bits, &Bits) -> R,
        describe: impl Fn(R) -> T,
        join: impl Fn(T, T) -> T,
        never: T,
    ) -> Self {
        let mut table = Vec::new();
        for w in 1..=ENUMERATED {
            for a in SIGNS {
                for b in SIGNS {
                    let outcomes = a
                        .values(w)
                        .flat_map(|x| b.values(w).map(|y| describe(apply(&x, &y))).collect::<Vec<_>>());
                    table.push(outcomes.reduce(&join).unwrap_or(never));
                }
            }
        }
        Enumerated(table)
    }

    fn get(&self, w: Width, a: Sign, b: Sign) -> T {
        let row = usize::from(w.min(ENUMERATED) - 1);
        self.0[(row * 4 + a as usize) * 4 + b as usize]
    }
}

fn join(a: Sign, b: Sign) -> Sign {
    if a == b { a } else { Sign::Top }
}

impl Domain for Sign {
    fn constant(value: &Bits) -> Self {
        Sign::of(value)
    }

    fn top() -> Self {
        Sign::Top
    }

    fn join(&self, other: &Self) -> Self {
        join(*self, *other)
    }

    fn unop(op: UnOp, w: Width, a: &Self) -> Self {
        static TABLES: OnceLock<Vec<Enumerated<Sign>>> = OnceLock::new();
        let tables = TABLES.get_or_init(|| {
            let table = |&op: &UnOp| Enumerated::new(|x, _| op.apply(x), |r| Sign::of(&r), join, Sign::Top);
            UnOp::ALL.iter().map(table).collect()
        });
        tables[op as usize].get(w, *a, Sign::Top)
    }

    fn binop(op: BinOp, w: Width, a: &Self, b: &Self) -> Self {
        static TABLES: OnceLock<Vec<Enumerated<Sign>>> = OnceLock::new();
        let tables = TABLES.get_or_init(|| {
            let table =
                |&op: &BinOp| Enumerated::new(|x, y| op.apply(x, y), |r| Sign::of(&r), join, Sign::Top);
            BinOp::ALL.iter().map(table).collect()
        });
        tables[op as usize].get(w, *a, *b)
    }

    fn relop(op: RelOp, w: Width, a: &Self, b: &Self) -> (Truth, Self) {
        static TABLES: OnceLock<Vec<Enumerated<Truth>>> = OnceLock::new();
        let tables = TABLES.get_or_init(|| {
            let either = |a, b| if a == b { a } else { Truth::Unknown };
            let table =
                |&op: &RelOp| Enumerated::new(|x, y| op.apply(x, y), Truth::of, either, Truth::Unknown);
            RelOp::ALL.iter().map(table).collect()
        });
        (tables[op as usize].get(w, *a, *b), Sign::Top)
    }

    fn cond(_: &Self, chosen: Self) -> Self {
        chosen
    }

    fn extract(from: Width, _: Width, to: Width, a: &Self) -> Self {
        if from == to || *a == Sign::Zero { *a } else { Sign::Top }
    }

    fn concat(_: Width, _: Width, high: &Self, low: &Self) -> Self {
        match (high, low) {
            (Sign::Neg | Sign::Pos, _) => *high,
            (Sign::Zero, Sign::Zero) => Sign::Zero,
            (Sign::Zero, Sign::Neg | Sign::Pos) => Sign::Pos,
            _ => Sign::Top,
        }
    }

    fn zext(from: Width, to: Width, a: &Self) -> Self {
        match a {
            Sign::Neg if from < to => Sign::Pos,
            _ => *a,
        }
    }

    fn sext(_: Width, _: Width, a: &Self) -> Self {
        *a
    }

    fn mixed(_: &[&Self]) -> Self {
        Sign::Top
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The table of section 2.
    #[test]
    fn exclusive_or_of_signs_is_the_papers() {
        use Sign::{Neg, Pos, Top, Zero};
        let rows = [
            (Neg, [Top, Neg, Neg]),
            (Zero, [Neg, Zero, Pos]),
            (Pos, [Neg, Pos, Top]),
            (Top, [Top, Top, Top]),
        ];
        for (a, results) in rows {
            for (b, expected) in [Neg, Zero, Pos].into_iter().zip(results) {
                assert_eq!(Sign::binop(BinOp::Xor, 32, &a, &b), expected, "{a} xor {b}");
            }
            assert_eq!(Sign::binop(BinOp::Xor, 32, &a, &Top), Top, "{a} xor top");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        /// Widths that were not enumerated do nothing that was not seen.
        #[test]
        fn signs_cover_wider_vectors(w in 1u16..=200, a in any::<u128>(), b in any::<u128>(), s in 0u32..130, t in 0u32..130) {
            let x = Bits::new(w, a.checked_shr(s).unwrap_or(0));
            let y = Bits::new(w, b.checked_shr(t).unwrap_or(0));
            let y = if s.is_multiple_of(3) { UnOp::Not.apply(&y) } else { y };
            for &op in BinOp::ALL {
                let covered = Sign::binop(op, w, &Sign::of(&x), &Sign::of(&y)).covers(&op.apply(&x, &y));
                prop_assert!(covered, "{op:?} {x:?} {y:?}");
            }
            for &op in UnOp::ALL {
                prop_assert!(Sign::unop(op, w, &Sign::of(&x)).covers(&op.apply(&x)), "{op:?} {x:?}");
            }
            for &op in RelOp::ALL {
                let (truth, _) = Sign::relop(op, w, &Sign::of(&x), &Sign::of(&y));
                prop_assert!(truth == Truth::Unknown || truth == Truth::of(op.apply(&x, &y)), "{op:?} {x:?} {y:?}");
            }
        }
    }
}
