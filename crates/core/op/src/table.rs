//! The operator tables: bit-vector and Boolean operators, with their meaning on constants.
//!
//! Each row gives the meaning twice: on machine integers, for widths up to 128, which is what runs, and on numbers of
//! any size, which serves wider vectors and is what the tests hold the first against.

use crate::Bits;
use crate::bits::mask;
use num_bigint::BigUint;
use num_integer::Integer;
use num_traits::{One, ToPrimitive, Zero};

/// Two's-complement reading of the low `w` bits.
#[inline]
fn signed(value: u128, w: u16) -> i128 {
    let shift = 128 - u32::from(w);
    ((value << shift) as i128) >> shift
}

fn modulus(w: u16) -> BigUint {
    BigUint::one() << w
}

fn negate_big(value: &BigUint, w: u16) -> BigUint {
    (modulus(w) - value) % modulus(w)
}

fn is_negative(value: &BigUint, w: u16) -> bool {
    value.bit(u64::from(w) - 1)
}

fn magnitude(value: &BigUint, w: u16) -> BigUint {
    if is_negative(value, w) { negate_big(value, w) } else { value.clone() }
}

/// The shift distance, or `None` when everything is shifted out.
fn distance(value: &BigUint, w: u16) -> Option<u64> {
    value.to_u64().filter(|&d| d < u64::from(w))
}

macro_rules! binary_operators {
    ($($(#[doc = $doc:literal])+ $name:ident $text:literal $smt:literal commutes $commutes:literal
        = |$a:ident, $b:ident, $w:ident| $small:expr;
        wide |$x:ident, $y:ident, $v:ident| $wide:expr;)+) => {
        /// Operators on two bit-vectors of one width, with a result of that width.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum BinOp { $($(#[doc = $doc])+ $name,)+ }

        impl BinOp {
            /// Every operator, in table order.
            pub const ALL: &[BinOp] = &[$(BinOp::$name),+];

            /// How the readable notation writes it.
            pub const fn symbol(self) -> &'static str {
                match self { $(BinOp::$name => $text),+ }
            }

            /// Its SMT-LIB name.
            pub const fn smt2(self) -> &'static str {
                match self { $(BinOp::$name => $smt),+ }
            }

            /// Whether the operands may be exchanged.
            pub const fn commutes(self) -> bool {
                match self { $(BinOp::$name => $commutes),+ }
            }

            /// Its meaning on machine integers of `w` bits, 128 at most; both are below 2^w.
            #[inline]
            pub fn apply_small(self, w: u16, a: u128, b: u128) -> u128 {
                mask(w) & match self { $(BinOp::$name => { let ($a, $b, $w) = (a, b, w); let _ = $w; $small })+ }
            }

            /// Its meaning on vectors of any width.
            #[inline]
            pub fn apply(self, a: &Bits, b: &Bits) -> Bits {
                debug_assert_eq!(a.width(), b.width());
                let w = a.width();
                match (a.small(), b.small()) {
                    (Some(a), Some(b)) => Bits::new(w, self.apply_small(w, a, b)),
                    _ => Bits::from_big(w, self.apply_wide(w, &a.to_big(), &b.to_big())),
                }
            }

            /// Its meaning on numbers of any size, to be reduced to `w` bits.
            pub fn apply_wide(self, w: u16, a: &BigUint, b: &BigUint) -> BigUint {
                match self { $(BinOp::$name => { let ($x, $y, $v) = (a, b, w); let _ = $v; $wide })+ }
            }
        }
    };
}

binary_operators! {
    /// Sum.
    Add "+" "bvadd" commutes true = |a, b, w| a.wrapping_add(b); wide |a, b, w| a + b;
    /// Difference.
    Sub "-" "bvsub" commutes false = |a, b, w| a.wrapping_sub(b); wide |a, b, w| a + negate_big(b, w);
    /// Product.
    Mul "*" "bvmul" commutes true = |a, b, w| a.wrapping_mul(b); wide |a, b, w| a * b;
    /// Unsigned quotient; all ones when the divisor is zero.
    Udiv "/u" "bvudiv" commutes false = |a, b, w| a.checked_div(b).unwrap_or(u128::MAX);
        wide |a, b, w| if b.is_zero() { modulus(w) - 1u32 } else { a / b };
    /// Unsigned remainder; the dividend when the divisor is zero.
    Urem "%u" "bvurem" commutes false = |a, b, w| a.checked_rem(b).unwrap_or(a);
        wide |a, b, w| if b.is_zero() { a.clone() } else { a % b };
    /// Signed quotient, towards zero; 1 or -1 when the divisor is zero, by the dividend's sign.
    Sdiv "/s" "bvsdiv" commutes false = |a, b, w| {
            if b == 0 { if signed(a, w) < 0 { 1 } else { u128::MAX } }
            else { signed(a, w).wrapping_div(signed(b, w)) as u128 }
        };
        wide |a, b, w| if b.is_zero() { if is_negative(a, w) { BigUint::one() } else { modulus(w) - 1u32 } } else {
            let quotient = magnitude(a, w) / magnitude(b, w);
            if is_negative(a, w) == is_negative(b, w) { quotient } else { negate_big(&quotient, w) }
        };
    /// Signed remainder, with the dividend's sign; the dividend when the divisor is zero.
    Srem "%s" "bvsrem" commutes false = |a, b, w| {
            if b == 0 { a } else { signed(a, w).wrapping_rem(signed(b, w)) as u128 }
        };
        wide |a, b, w| if b.is_zero() { a.clone() } else {
            let remainder = magnitude(a, w).mod_floor(&magnitude(b, w));
            if is_negative(a, w) { negate_big(&remainder, w) } else { remainder }
        };
    /// Bitwise conjunction.
    And "&" "bvand" commutes true = |a, b, w| a & b; wide |a, b, w| a & b;
    /// Bitwise disjunction.
    Or "|" "bvor" commutes true = |a, b, w| a | b; wide |a, b, w| a | b;
    /// Bitwise exclusive-or.
    Xor "^" "bvxor" commutes true = |a, b, w| a ^ b; wide |a, b, w| a ^ b;
    /// Left shift; zero when the distance is the width or more.
    Shl "<<" "bvshl" commutes false = |a, b, w| if b >= u128::from(w) { 0 } else { a << b };
        wide |a, b, w| distance(b, w).map_or_else(BigUint::zero, |d| a << d);
    /// Right shift that brings in zeros.
    Lshr ">>u" "bvlshr" commutes false = |a, b, w| if b >= u128::from(w) { 0 } else { a >> b };
        wide |a, b, w| distance(b, w).map_or_else(BigUint::zero, |d| a >> d);
    /// Right shift that brings in copies of the sign.
    Ashr ">>s" "bvashr" commutes false = |a, b, w| (signed(a, w) >> b.min(u128::from(w) - 1)) as u128;
        wide |a, b, w| {
            let d = distance(b, w).unwrap_or(u64::from(w) - 1);
            let sign = if is_negative(a, w) { (modulus(w) - 1u32) ^ ((modulus(w) - 1u32) >> d) } else { BigUint::zero() };
            (a >> d) | sign
        };
}

macro_rules! relations {
    ($($(#[doc = $doc:literal])+ $name:ident $text:literal $smt:literal negation $negation:ident swapped $swapped:ident
        = |$a:ident, $b:ident, $w:ident| $small:expr; wide |$x:ident, $y:ident, $v:ident| $wide:expr;)+) => {
        /// Relations between two bit-vectors of one width.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum RelOp { $($(#[doc = $doc])+ $name,)+ }

        impl RelOp {
            /// Every relation, in table order.
            pub const ALL: &[RelOp] = &[$(RelOp::$name),+];

            /// How the readable notation writes it.
            pub const fn symbol(self) -> &'static str {
                match self { $(RelOp::$name => $text),+ }
            }

            /// Its SMT-LIB name (`distinct` stands for disequality).
            pub const fn smt2(self) -> &'static str {
                match self { $(RelOp::$name => $smt),+ }
            }

            /// The relation that holds exactly when this one does not.
            pub const fn negation(self) -> RelOp {
                match self { $(RelOp::$name => RelOp::$negation),+ }
            }

            /// The relation with its operands exchanged.
            pub const fn swapped(self) -> RelOp {
                match self { $(RelOp::$name => RelOp::$swapped),+ }
            }

            /// Its meaning on machine integers of `w` bits, 128 at most.
            #[inline]
            pub fn apply_small(self, w: u16, a: u128, b: u128) -> bool {
                match self { $(RelOp::$name => { let ($a, $b, $w) = (a, b, w); let _ = $w; $small })+ }
            }

            /// Its meaning on vectors of any width.
            #[inline]
            pub fn apply(self, a: &Bits, b: &Bits) -> bool {
                debug_assert_eq!(a.width(), b.width());
                let w = a.width();
                match (a.small(), b.small()) {
                    (Some(a), Some(b)) => self.apply_small(w, a, b),
                    _ => self.apply_wide(w, &a.to_big(), &b.to_big()),
                }
            }

            /// Its meaning on numbers of any size below 2^w.
            pub fn apply_wide(self, w: u16, a: &BigUint, b: &BigUint) -> bool {
                match self { $(RelOp::$name => { let ($x, $y, $v) = (a, b, w); let _ = $v; $wide })+ }
            }
        }
    };
}

/// Adding half the modulus turns signed order into unsigned order.
fn biased(value: &BigUint, w: u16) -> BigUint {
    (value + (BigUint::one() << (w - 1))) % modulus(w)
}

relations! {
    /// Equal.
    Eq "=" "=" negation Ne swapped Eq = |a, b, w| a == b; wide |a, b, w| a == b;
    /// Different.
    Ne "!=" "distinct" negation Eq swapped Ne = |a, b, w| a != b; wide |a, b, w| a != b;
    /// Unsigned below.
    Ult "<u" "bvult" negation Uge swapped Ugt = |a, b, w| a < b; wide |a, b, w| a < b;
    /// Unsigned below or equal.
    Ule "<=u" "bvule" negation Ugt swapped Uge = |a, b, w| a <= b; wide |a, b, w| a <= b;
    /// Unsigned above.
    Ugt ">u" "bvugt" negation Ule swapped Ult = |a, b, w| a > b; wide |a, b, w| a > b;
    /// Unsigned above or equal.
    Uge ">=u" "bvuge" negation Ult swapped Ule = |a, b, w| a >= b; wide |a, b, w| a >= b;
    /// Signed below.
    Slt "<" "bvslt" negation Sge swapped Sgt = |a, b, w| signed(a, w) < signed(b, w);
        wide |a, b, w| biased(a, w) < biased(b, w);
    /// Signed below or equal.
    Sle "<=" "bvsle" negation Sgt swapped Sge = |a, b, w| signed(a, w) <= signed(b, w);
        wide |a, b, w| biased(a, w) <= biased(b, w);
    /// Signed above.
    Sgt ">" "bvsgt" negation Sle swapped Slt = |a, b, w| signed(a, w) > signed(b, w);
        wide |a, b, w| biased(a, w) > biased(b, w);
    /// Signed above or equal.
    Sge ">=" "bvsge" negation Slt swapped Sle = |a, b, w| signed(a, w) >= signed(b, w);
        wide |a, b, w| biased(a, w) >= biased(b, w);
}

macro_rules! unary_operators {
    ($($(#[doc = $doc:literal])+ $name:ident $text:literal = |$a:ident, $w:ident| $small:expr;
        wide |$x:ident, $v:ident| $wide:expr;)+) => {
        /// Operators on one bit-vector, with a result of the same width.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum UnOp { $($(#[doc = $doc])+ $name,)+ }

        impl UnOp {
            /// Every operator, in table order.
            pub const ALL: &[UnOp] = &[$(UnOp::$name),+];

            /// How the readable notation writes it.
            pub const fn symbol(self) -> &'static str {
                match self { $(UnOp::$name => $text),+ }
            }

            /// Its meaning on machine integers of `w` bits, 128 at most.
            #[inline]
            pub fn apply_small(self, w: u16, a: u128) -> u128 {
                mask(w) & match self { $(UnOp::$name => { let ($a, $w) = (a, w); let _ = $w; $small })+ }
            }

            /// Its meaning on vectors of any width.
            #[inline]
            pub fn apply(self, a: &Bits) -> Bits {
                let w = a.width();
                match a.small() {
                    Some(a) => Bits::new(w, self.apply_small(w, a)),
                    None => Bits::from_big(w, self.apply_wide(w, &a.to_big())),
                }
            }

            /// Its meaning on numbers of any size, to be reduced to `w` bits.
            pub fn apply_wide(self, w: u16, a: &BigUint) -> BigUint {
                match self { $(UnOp::$name => { let ($x, $v) = (a, w); let _ = $v; $wide })+ }
            }
        }
    };
}

unary_operators! {
    /// Bitwise complement.
    Not "~" = |a, w| !a; wide |a, w| (modulus(w) - 1u32) ^ a;
    /// Two's-complement negation.
    Neg "-" = |a, w| a.wrapping_neg(); wide |a, w| negate_big(a, w);
    /// How many bits are set.
    Popcount "popcount" = |a, w| u128::from(a.count_ones()); wide |a, w| BigUint::from(a.count_ones());
    /// How many zero bits stand above the highest set bit; the width for zero.
    Clz "clz" = |a, w| u128::from(a.leading_zeros()) - (128 - u128::from(w));
        wide |a, w| BigUint::from(u64::from(w) - a.bits());
    /// How many zero bits stand below the lowest set bit; the width for zero.
    Ctz "ctz" = |a, w| u128::from(a.trailing_zeros()).min(u128::from(w));
        wide |a, w| BigUint::from(a.trailing_zeros().unwrap_or(u64::from(w)));
}

macro_rules! boolean_operators {
    ($($(#[doc = $doc:literal])+ $name:ident $text:literal $smt:literal = |$a:ident, $b:ident| $meaning:expr;)+) => {
        /// Operators on two Booleans.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum BoolOp { $($(#[doc = $doc])+ $name,)+ }

        impl BoolOp {
            /// Every operator, in table order.
            pub const ALL: &[BoolOp] = &[$(BoolOp::$name),+];

            /// How the readable notation writes it.
            pub const fn symbol(self) -> &'static str {
                match self { $(BoolOp::$name => $text),+ }
            }

            /// Its SMT-LIB name.
            pub const fn smt2(self) -> &'static str {
                match self { $(BoolOp::$name => $smt),+ }
            }

            /// Its meaning.
            #[inline]
            pub const fn apply(self, a: bool, b: bool) -> bool {
                match self { $(BoolOp::$name => { let ($a, $b) = (a, b); $meaning })+ }
            }
        }
    };
}

boolean_operators! {
    /// Conjunction.
    And "&&" "and" = |a, b| a & b;
    /// Disjunction.
    Or "||" "or" = |a, b| a | b;
    /// Exactly one.
    Xor "^^" "xor" = |a, b| a ^ b;
    /// If the first then the second.
    Implies "=>" "=>" = |a, b| !a | b;
    /// Both or neither.
    Iff "<=>" "=" = |a, b| a == b;
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Values near the edges of the range, where operators go wrong.
    fn value(w: u16) -> impl Strategy<Value = u128> {
        let top = mask(w);
        prop_oneof![
            any::<u128>().prop_map(move |v| v & top),
            (0u128..4).prop_map(move |v| v & top),
            (0u128..4).prop_map(move |v| top - (v & top)),
            (0u128..3).prop_map(move |v| ((top >> 1).wrapping_add(v)) & top),
            (0u16..w).prop_map(|bit| 1 << bit),
        ]
    }

    fn operands() -> impl Strategy<Value = (u16, u128, u128)> {
        (1u16..=128).prop_flat_map(|w| (Just(w), value(w), value(w)))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn machine_integers_agree_with_numbers_of_any_size((w, a, b) in operands()) {
            let (x, y) = (BigUint::from(a), BigUint::from(b));
            for &op in BinOp::ALL {
                prop_assert_eq!(op.apply_small(w, a, b), op.apply_wide(w, &x, &y).mod_floor(&modulus(w)).to_u128().unwrap(), "{:?}", op);
            }
            for &op in RelOp::ALL {
                prop_assert_eq!(op.apply_small(w, a, b), op.apply_wide(w, &x, &y), "{:?}", op);
                prop_assert_eq!(op.apply_small(w, a, b), !op.negation().apply_small(w, a, b));
                prop_assert_eq!(op.apply_small(w, a, b), op.swapped().apply_small(w, b, a));
            }
            for &op in UnOp::ALL {
                prop_assert_eq!(op.apply_small(w, a), op.apply_wide(w, &x).mod_floor(&modulus(w)).to_u128().unwrap(), "{:?}", op);
            }
        }

        #[test]
        fn division_and_remainder_belong_together((w, a, b) in operands()) {
            for (div, rem) in [(BinOp::Udiv, BinOp::Urem), (BinOp::Sdiv, BinOp::Srem)] {
                let quotient = div.apply_small(w, a, b);
                let back = BinOp::Mul.apply_small(w, quotient, b);
                prop_assert_eq!(BinOp::Add.apply_small(w, back, rem.apply_small(w, a, b)), a);
            }
        }
    }
}
