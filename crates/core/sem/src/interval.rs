//! Interval analysis: from which number to which a value goes.
//!
//! An interval lies on the ring of the numbers modulo 2^w: it starts at a number and goes on upwards, past the largest
//! number to zero if need be (Navas, Schachte, Sondergaard, Stuckey: *Signedness-agnostic program analysis*, 2012). So
//! one interval serves signed and unsigned operators alike, and wrapping around loses nothing: `[-1, 1]` is as good as
//! `[3, 5]`. An operator that needs one sign looks at the interval from there, and gives up where it crosses that sign's
//! boundary.

use crate::abstraction::{Domain, Truth};
use parallax_op::{BinOp, Bits, RelOp, UnOp, Width};

/// Wider vectors are not followed.
const WIDEST: Width = 128;

/// A set of consecutive numbers on the ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Interval {
    /// Every number.
    Any,
    /// `first`, `first + 1` and so on, modulo 2^w, up to `last`. Never every number.
    Between {
        /// The number of bits.
        width: Width,
        /// Where it starts.
        first: u128,
        /// Where it ends.
        last: u128,
    },
}

fn mask(width: Width) -> u128 {
    if width >= 128 { u128::MAX } else { (1 << width) - 1 }
}

fn signed(width: Width, value: u128) -> i128 {
    let spare = 128 - u32::from(width);
    (value << spare) as i128 >> spare
}

impl Interval {
    /// From one number up to another, both included.
    pub fn between(width: Width, first: u128, last: u128) -> Interval {
        let (first, last) = (first & mask(width), last & mask(width));
        if width > WIDEST || last.wrapping_sub(first) & mask(width) == mask(width) {
            return Interval::Any;
        }
        Interval::Between { width, first, last }
    }

    /// One constant.
    pub fn of(value: &Bits) -> Interval {
        match value.small() {
            Some(number) => Interval::between(value.width(), number, number),
            None => Interval::Any,
        }
    }

    fn signed(width: Width, first: i128, last: i128) -> Interval {
        Interval::between(width, first as u128, last as u128)
    }

    /// Whether a number is in it.
    pub fn covers(&self, value: &Bits) -> bool {
        match (self, value.small()) {
            (Interval::Between { width, first, .. }, Some(number)) => {
                number.wrapping_sub(*first) & mask(*width) <= self.span(*width)
            }
            _ => true,
        }
    }

    /// How many numbers it has, less one.
    fn span(&self, width: Width) -> u128 {
        match *self {
            Interval::Any => mask(width),
            Interval::Between { first, last, .. } => last.wrapping_sub(first) & mask(width),
        }
    }

    /// The least and the greatest unsigned number; all of them where it wraps.
    fn unsigned_bounds(&self, width: Width) -> (u128, u128) {
        match *self {
            Interval::Between { first, last, .. } if first <= last => (first, last),
            _ => (0, mask(width)),
        }
    }

    /// The least and the greatest signed number; all of them where it goes from the greatest to the least.
    fn signed_bounds(&self, width: Width) -> (i128, i128) {
        if let Interval::Between { first, last, .. } = *self {
            let (first, last) = (signed(width, first), signed(width, last));
            if first <= last {
                return (first, last);
            }
        }
        let greatest = (mask(width) >> 1) as i128;
        (-greatest - 1, greatest)
    }

    fn contains(&self, other: &Interval, width: Width) -> bool {
        match (*self, *other) {
            (Interval::Any, _) => true,
            (_, Interval::Any) => false,
            (Interval::Between { first, .. }, Interval::Between { first: start, .. }) => {
                let from = start.wrapping_sub(first) & mask(width);
                from <= self.span(width) && other.span(width) <= self.span(width) - from
            }
        }
    }

    /// The smallest of several that contains both.
    fn smallest(candidates: &[Interval], a: &Interval, b: &Interval, width: Width) -> Interval {
        candidates
            .iter()
            .filter(|one| one.contains(a, width) && one.contains(b, width))
            .min_by_key(|one| one.span(width))
            .copied()
            .unwrap_or(Interval::Any)
    }

    fn constant(&self) -> Option<u128> {
        match *self {
            Interval::Between { first, last, .. } if first == last => Some(first),
            _ => None,
        }
    }

    /// The result of an operator that grows with its operands, between the results of least and greatest.
    fn unsigned(width: Width, least: Option<u128>, greatest: Option<u128>) -> Interval {
        match (least, greatest) {
            (Some(least), Some(greatest)) if greatest <= mask(width) => {
                Interval::between(width, least, greatest)
            }
            _ => Interval::Any,
        }
    }

    fn multiply(&self, other: &Interval, w: Width) -> Interval {
        let ((a, b), (c, d)) = (self.unsigned_bounds(w), other.unsigned_bounds(w));
        let unsigned = Interval::unsigned(w, a.checked_mul(c), b.checked_mul(d));
        let ((a, b), (c, d)) = (self.signed_bounds(w), other.signed_bounds(w));
        let products: Option<Vec<i128>> =
            [(a, c), (a, d), (b, c), (b, d)].into_iter().map(|(x, y)| x.checked_mul(y)).collect();
        let greatest = (mask(w) >> 1) as i128;
        let signed = match products.map(|all| (all.iter().min().copied(), all.iter().max().copied())) {
            Some((Some(least), Some(most))) if least >= -greatest - 1 && most <= greatest => {
                Interval::signed(w, least, most)
            }
            _ => Interval::Any,
        };
        if signed.span(w) < unsigned.span(w) { signed } else { unsigned }
    }

    fn shift_left(&self, by: u128, w: Width) -> Interval {
        if by >= u128::from(w) {
            return Interval::between(w, 0, 0);
        }
        if by == 0 {
            return *self;
        }
        self.multiply(&Interval::between(w, 1 << by, 1 << by), w)
    }

    fn and(&self, other: &Interval, w: Width) -> Interval {
        let ((_, b), (_, d)) = (self.unsigned_bounds(w), other.unsigned_bounds(w));
        Interval::between(w, 0, b.min(d))
    }

    fn or(&self, other: &Interval, w: Width) -> Interval {
        let ((a, b), (c, d)) = (self.unsigned_bounds(w), other.unsigned_bounds(w));
        Interval::between(w, a.max(c), filled(b | d))
    }

    fn divide(&self, other: &Interval, w: Width) -> Interval {
        let ((a, b), (c, d)) = (self.unsigned_bounds(w), other.unsigned_bounds(w));
        b.checked_div(c).map_or(Interval::Any, |most| Interval::between(w, a / d, most))
    }

    fn remainder(&self, other: &Interval, w: Width) -> Interval {
        let ((a, b), (c, d)) = (self.unsigned_bounds(w), other.unsigned_bounds(w));
        match c {
            // What is divided by zero remains.
            0 => Interval::between(w, 0, b),
            _ if c == d && a / c == b / c => Interval::between(w, a % c, b % c),
            _ => Interval::between(w, 0, b.min(d - 1)),
        }
    }

    fn signed_divide(&self, other: &Interval, w: Width) -> Interval {
        let (a, b) = self.signed_bounds(w);
        match other.constant().map(|k| signed(w, k)) {
            Some(k) if k > 0 => Interval::signed(w, a / k, b / k),
            _ => Interval::Any,
        }
    }

    fn signed_remainder(&self, other: &Interval, w: Width) -> Interval {
        let (a, b) = self.signed_bounds(w);
        match other.constant().map(|k| signed(w, k)) {
            // The remainder has the sign of what is divided.
            Some(k) if k > 0 => {
                let (least, most) =
                    (if a < 0 { a.max(1 - k) } else { 0 }, if b > 0 { b.min(k - 1) } else { 0 });
                Interval::signed(w, least, most)
            }
            _ => Interval::Any,
        }
    }

    /// The numbers of it that are not outside some bounds of one sign. None when there are none.
    fn cut(&self, w: Width, least: i128, most: i128) -> Option<Interval> {
        (least <= most).then(|| Interval::signed(w, least, most)).and_then(|other| self.meet(&other, w))
    }

    fn cut_unsigned(&self, w: Width, least: u128, most: u128) -> Option<Interval> {
        (least <= most).then(|| Interval::between(w, least, most)).and_then(|other| self.meet(&other, w))
    }
}

/// The number with all bits below its highest set.
fn filled(number: u128) -> u128 {
    if number == 0 { 0 } else { u128::MAX >> number.leading_zeros() }
}

impl std::fmt::Display for Interval {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Interval::Between { width, first, last } = *self else { return f.write_str("any") };
        let (low, high) = (signed(width, first), signed(width, last));
        match () {
            () if first == last => write!(f, "{low}"),
            () if low <= high => write!(f, "[{low}, {high}]"),
            // Not consecutive as signed numbers; then as unsigned ones, or both ways round.
            () if first <= last => write!(f, "[{first}, {last}] unsigned"),
            () => write!(f, "not [{}, {}]", high + 1, low - 1),
        }
    }
}

impl Domain for Interval {
    fn constant(value: &Bits) -> Self {
        Interval::of(value)
    }

    fn top() -> Self {
        Interval::Any
    }

    fn join(&self, other: &Self) -> Self {
        let (&Interval::Between { width, first: a, last: b }, &Interval::Between { first: c, last: d, .. }) =
            (self, other)
        else {
            return Interval::Any;
        };
        let both = [*self, *other, Interval::between(width, a, d), Interval::between(width, c, b)];
        Interval::smallest(&both, self, other, width)
    }

    /// A bound that moves goes to the next number that matters: zero, or where signed or unsigned numbers end.
    fn widen(&self, next: &Self) -> Self {
        let (&Interval::Between { width, first, last }, Interval::Between { .. }) = (self, next) else {
            return Interval::Any;
        };
        let half = mask(width) >> 1;
        let highest = [0, half, mask(width)].map(|last| Interval::between(width, first, last));
        let lowest = [half.wrapping_add(1), 0, 1].map(|first| Interval::between(width, first, last));
        let all: Vec<Interval> = [*self].into_iter().chain(highest).chain(lowest).collect();
        Interval::smallest(&all, self, next, width)
    }

    fn meet(&self, other: &Self, w: Width) -> Option<Self> {
        let (&Interval::Between { first: a, last: b, .. }, &Interval::Between { first: c, last: d, .. }) =
            (self, other)
        else {
            return Some(if *self == Interval::Any { *other } else { *self });
        };
        let covers = |one: &Interval, number: u128| one.covers(&Bits::new(w, number));
        match (covers(self, c), covers(other, a)) {
            (false, false) => None,
            // The other starts inside; where this one also starts in it, they overlap twice, or are one.
            (true, false) if covers(self, d) && other.span(w) <= self.span(w) => Some(*other),
            (true, false) => Some(Interval::between(w, c, b)),
            (false, true) if covers(other, b) && self.span(w) <= other.span(w) => Some(*self),
            (false, true) => Some(Interval::between(w, a, d)),
            (true, true) => Some(if self.span(w) <= other.span(w) { *self } else { *other }),
        }
    }

    fn refine(op: RelOp, w: Width, a: &Self, b: &Self) -> Option<(Self, Self)> {
        let ((ua, ub), (uc, ud)) = (a.unsigned_bounds(w), b.unsigned_bounds(w));
        let ((sa, sb), (sc, sd)) = (a.signed_bounds(w), b.signed_bounds(w));
        let (lowest, highest) = (Interval::Any.signed_bounds(w).0, Interval::Any.signed_bounds(w).1);
        Some(match op {
            RelOp::Eq => {
                let both = a.meet(b, w)?;
                (both, both)
            }
            RelOp::Ne => (without(a, b, w)?, without(b, a, w)?),
            RelOp::Ult => {
                (a.cut_unsigned(w, 0, ud.checked_sub(1)?)?, b.cut_unsigned(w, ua.checked_add(1)?, mask(w))?)
            }
            RelOp::Ule => (a.cut_unsigned(w, 0, ud)?, b.cut_unsigned(w, ua, mask(w))?),
            RelOp::Ugt => {
                (a.cut_unsigned(w, uc.checked_add(1)?, mask(w))?, b.cut_unsigned(w, 0, ub.checked_sub(1)?)?)
            }
            RelOp::Uge => (a.cut_unsigned(w, uc, mask(w))?, b.cut_unsigned(w, 0, ub)?),
            RelOp::Slt => (a.cut(w, lowest, sd.checked_sub(1)?)?, b.cut(w, sa.checked_add(1)?, highest)?),
            RelOp::Sle => (a.cut(w, lowest, sd)?, b.cut(w, sa, highest)?),
            RelOp::Sgt => (a.cut(w, sc.checked_add(1)?, highest)?, b.cut(w, lowest, sb.checked_sub(1)?)?),
            RelOp::Sge => (a.cut(w, sc, highest)?, b.cut(w, lowest, sb)?),
        })
    }

    fn unop(op: UnOp, w: Width, a: &Self) -> Self {
        let &Interval::Between { first, last, .. } = a else { return Interval::Any };
        match op {
            UnOp::Neg => Interval::between(w, last.wrapping_neg(), first.wrapping_neg()),
            UnOp::Not => Interval::between(w, !last, !first),
            _ => match a.constant() {
                Some(number) => Interval::of(&op.apply(&Bits::new(w, number))),
                None => Interval::Any,
            },
        }
    }

    fn binop(op: BinOp, w: Width, a: &Self, b: &Self) -> Self {
        if w > WIDEST {
            return Interval::Any;
        }
        if let (Some(x), Some(y)) = (a.constant(), b.constant()) {
            return Interval::of(&op.apply(&Bits::new(w, x), &Bits::new(w, y)));
        }
        let fits = a.span(w).checked_add(b.span(w)).is_some_and(|span| span < mask(w));
        match (op, *a, *b) {
            (
                BinOp::Add,
                Interval::Between { first: a, last: b, .. },
                Interval::Between { first: c, last: d, .. },
            ) if fits => Interval::between(w, a.wrapping_add(c), b.wrapping_add(d)),
            (
                BinOp::Sub,
                Interval::Between { first: a, last: b, .. },
                Interval::Between { first: c, last: d, .. },
            ) if fits => Interval::between(w, a.wrapping_sub(d), b.wrapping_sub(c)),
            (BinOp::Mul, ..) => a.multiply(b, w),
            (BinOp::Udiv, ..) => a.divide(b, w),
            (BinOp::Urem, ..) => a.remainder(b, w),
            (BinOp::Sdiv, ..) => a.signed_divide(b, w),
            (BinOp::Srem, ..) => a.signed_remainder(b, w),
            (BinOp::And, ..) => a.and(b, w),
            (BinOp::Or, ..) => a.or(b, w),
            (BinOp::Xor, ..) => {
                let ((_, b), (_, d)) = (a.unsigned_bounds(w), b.unsigned_bounds(w));
                Interval::between(w, 0, filled(b | d))
            }
            (BinOp::Shl, ..) => b.constant().map_or(Interval::Any, |by| a.shift_left(by, w)),
            (BinOp::Lshr, ..) => {
                let ((least, most), (fewest, farthest)) = (a.unsigned_bounds(w), b.unsigned_bounds(w));
                let shifted = |number: u128, by: u128| {
                    if by >= u128::from(w) { 0 } else { number >> by }
                };
                Interval::between(w, shifted(least, farthest), shifted(most, fewest))
            }
            (BinOp::Ashr, ..) => match b.constant() {
                Some(by) => {
                    let (least, most) = a.signed_bounds(w);
                    let by = by.min(127) as u32;
                    Interval::signed(w, least >> by, most >> by)
                }
                None => Interval::Any,
            },
            _ => Interval::Any,
        }
    }

    fn relop(op: RelOp, w: Width, a: &Self, b: &Self) -> (Truth, Self) {
        let truth = match (Self::refine(op, w, a, b), Self::refine(op.negation(), w, a, b)) {
            (None, _) => Truth::False,
            (_, None) => Truth::True,
            _ => Truth::Unknown,
        };
        (truth, Interval::Any)
    }

    fn cond(_: &Self, chosen: Self) -> Self {
        chosen
    }

    fn extract(from: Width, low: Width, to: Width, a: &Self) -> Self {
        if from > WIDEST {
            return Interval::Any;
        }
        let shifted = match low {
            0 => *a,
            _ => Self::binop(BinOp::Lshr, from, a, &Interval::between(from, low.into(), low.into())),
        };
        match shifted {
            Interval::Between { first, last, .. } if shifted.span(from) < mask(to) => {
                Interval::between(to, first, last)
            }
            _ => Interval::Any,
        }
    }

    fn concat(wh: Width, wl: Width, high: &Self, low: &Self) -> Self {
        let width = wh + wl;
        if width > WIDEST {
            return Interval::Any;
        }
        let ((a, b), (c, d)) = (high.unsigned_bounds(wh), low.unsigned_bounds(wl));
        Interval::between(width, a << wl | c, b << wl | d)
    }

    fn zext(from: Width, to: Width, a: &Self) -> Self {
        let (least, most) = a.unsigned_bounds(from.min(WIDEST));
        if from > WIDEST { Interval::Any } else { Interval::between(to, least, most) }
    }

    fn sext(from: Width, to: Width, a: &Self) -> Self {
        if to > WIDEST {
            return Interval::Any;
        }
        let (least, most) = a.signed_bounds(from);
        Interval::signed(to, least, most)
    }

    fn mixed(_: &[&Self]) -> Self {
        Interval::Any
    }
}

/// `a` without the one number that `b` is, if that is where `a` starts or ends. None when nothing is left.
fn without(a: &Interval, b: &Interval, w: Width) -> Option<Interval> {
    let Some(number) = b.constant() else { return Some(*a) };
    match *a {
        Interval::Any => Some(Interval::between(w, number.wrapping_add(1), number.wrapping_sub(1))),
        Interval::Between { first, last, .. } if first == last => (first != number).then_some(*a),
        Interval::Between { first, last, .. } if first == number => {
            Some(Interval::between(w, number.wrapping_add(1), last))
        }
        Interval::Between { first, last, .. } if last == number => {
            Some(Interval::between(w, first, number.wrapping_sub(1)))
        }
        _ => Some(*a),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn intervals(w: Width) -> Vec<Interval> {
        let numbers = || 0..=mask(w);
        let mut all: Vec<Interval> = numbers()
            .flat_map(|first| numbers().map(move |last| Interval::between(w, first, last)))
            .collect();
        all.sort_by_key(|one| format!("{one:?}"));
        all.dedup();
        all
    }

    fn numbers(one: &Interval, w: Width) -> Vec<Bits> {
        (0..=mask(w)).map(|number| Bits::new(w, number)).filter(|number| one.covers(number)).collect()
    }

    /// Every operator on every pair of intervals of a few bits covers what it does to every number in them.
    #[test]
    fn operators_cover_what_they_do_exhaustively() {
        for w in 1..=3 {
            let all = intervals(w);
            for a in &all {
                for &op in UnOp::ALL {
                    let found = Interval::unop(op, w, a);
                    assert!(
                        numbers(a, w).iter().all(|x| found.covers(&op.apply(x))),
                        "{op:?} {a:?}: {found:?}"
                    );
                }
                for b in &all {
                    let (xs, ys) = (numbers(a, w), numbers(b, w));
                    let pairs = || xs.iter().flat_map(|x| ys.iter().map(move |y| (x, y)));
                    for &op in BinOp::ALL {
                        let found = Interval::binop(op, w, a, b);
                        let wrong = pairs().find(|(x, y)| !found.covers(&op.apply(x, y)));
                        assert!(wrong.is_none(), "{op:?} {w} {a:?} {b:?}: {found:?} without {wrong:?}");
                    }
                    for &op in RelOp::ALL {
                        let (truth, _) = Interval::relop(op, w, a, b);
                        let refined = Interval::refine(op, w, a, b);
                        for (x, y) in pairs() {
                            let holds = op.apply(x, y);
                            assert!(
                                truth == Truth::Unknown || truth == Truth::of(holds),
                                "{op:?} {w} {a:?} {b:?}"
                            );
                            if holds {
                                let kept = refined.is_some_and(|(a, b)| a.covers(x) && b.covers(y));
                                assert!(kept, "{op:?} {w} {a:?} {b:?}: {refined:?} without {x:?} {y:?}");
                            }
                        }
                    }
                    let (joined, met, widened) = (a.join(b), a.meet(b, w), a.widen(b));
                    assert!(xs.iter().chain(&ys).all(|x| joined.covers(x)), "{a:?} or {b:?}: {joined:?}");
                    assert!(
                        xs.iter().chain(&ys).all(|x| widened.covers(x)),
                        "{a:?} widened by {b:?}: {widened:?}"
                    );
                    let common = xs.iter().filter(|x| ys.contains(x));
                    assert!(
                        common.clone().all(|x| met.is_some_and(|met| met.covers(x))),
                        "{a:?} and {b:?}: {met:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn slices_cover_what_they_do_exhaustively() {
        for w in 1..=4 {
            for a in &intervals(w) {
                let xs = numbers(a, w);
                for to in w..=6 {
                    assert!(
                        xs.iter().all(|x| Interval::zext(w, to, a).covers(&x.zext(to))),
                        "zext {a:?} {to}"
                    );
                    assert!(
                        xs.iter().all(|x| Interval::sext(w, to, a).covers(&x.sext(to))),
                        "sext {a:?} {to}"
                    );
                }
                for low in 0..w {
                    for to in 1..=w - low {
                        let found = Interval::extract(w, low, to, a);
                        assert!(
                            xs.iter().all(|x| found.covers(&x.extract(low, to))),
                            "{a:?} from {low}: {found:?}"
                        );
                    }
                }
                for b in &intervals(2) {
                    let found = Interval::concat(w, 2, a, b);
                    let pairs = xs
                        .iter()
                        .flat_map(|x| numbers(b, 2).into_iter().map(|y| x.concat(&y)).collect::<Vec<_>>());
                    assert!(pairs.into_iter().all(|both| found.covers(&both)), "{a:?} {b:?}: {found:?}");
                }
            }
        }
    }

    /// Widening ends: no chain of growing intervals is long.
    #[test]
    fn widening_ends() {
        for w in [3, 8, 32, 64, 128] {
            let mut one = Interval::between(w, 2, 2);
            let mut rounds = 0;
            for next in 3..200u128 {
                let grown = one.widen(&one.join(&Interval::between(w, next, next)));
                rounds += usize::from(grown != one);
                one = grown;
            }
            assert!(rounds < 8, "{rounds} rounds at {w} bits");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3000))]

        /// The same at widths that programs have.
        #[test]
        fn operators_cover_wider_vectors(
            w in 1u16..=128, first in any::<[u128; 2]>(), span in any::<[u128; 2]>(), at in any::<[u128; 2]>(),
            small in 0u32..128,
        ) {
            let make = |i: usize| {
                let span = (span[i] & mask(w)) >> (small * (i as u32 + 1)).min(127);
                let first = if small.is_multiple_of(3) { first[i] >> 120 } else { first[i] };
                let x = Bits::new(w, first.wrapping_add(at[i] % span.saturating_add(1)));
                (Interval::between(w, first, first.wrapping_add(span)), x)
            };
            let ((a, x), (b, y)) = (make(0), make(1));
            prop_assert!(a.covers(&x) && b.covers(&y));
            for &op in BinOp::ALL {
                let found = Interval::binop(op, w, &a, &b);
                prop_assert!(found.covers(&op.apply(&x, &y)), "{:?} {:?} {:?}: {:?}", op, a, b, found);
            }
            for &op in RelOp::ALL {
                let (truth, _) = Interval::relop(op, w, &a, &b);
                prop_assert!(truth == Truth::Unknown || truth == Truth::of(op.apply(&x, &y)), "{:?} {:?} {:?}", op, a, b);
            }
        }
    }
}
