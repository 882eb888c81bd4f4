//! How far an address can be from the one it is on this run: by the shape of its term alone.
//!
//! A bound on an address is a pair of numbers that the term is congruent to one between, modulo two to its width. So
//! negative offsets and addresses at the end of the address space need no thought, and widening by sign is exact.

use parallax_op::{BinOp, UnOp};
use parallax_term::{Node, Store, Term};

/// How many expressions are looked at, constants aside, and how deep: what lies below counts as unknown.
const MOST: u32 = 400;
const DEEPEST: u32 = 60;

/// Numbers between which a term lies, up to multiples of two to its width, and how many of its low bits are constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bound {
    low: i128,
    high: i128,
    fixed: u16,
}

/// Addresses that a term can be: `first + k * 2^shift` for `k` below `count`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reach {
    /// The lowest.
    pub first: u64,
    /// How far they are apart.
    pub shift: u16,
    /// How many there are.
    pub count: u64,
}

impl Reach {
    /// The highest.
    pub fn last(&self) -> u64 {
        self.first.wrapping_add((self.count - 1) << self.shift)
    }

    /// Those of them that lie between two addresses.
    pub fn within(&self, low: u64, high: u64) -> Option<Reach> {
        let step = 1u64 << self.shift;
        let first = if low <= self.first { self.first } else { low + (self.first.wrapping_sub(low)) % step };
        let last = self.last().min(high);
        (first <= last).then(|| Reach { first, shift: self.shift, count: ((last - first) >> self.shift) + 1 })
    }
}

/// The addresses that a term of 64 bits can be, which is `value` on this run; nothing if they could be any, or wrap.
pub fn reach(store: &Store, term: Term, value: u64) -> Option<Reach> {
    let bound = bound(store, term, DEEPEST, &mut MOST.clone());
    let width = bound.high - bound.low;
    if width >= 1 << 62 {
        return None;
    }
    // The number of the bound that the value is congruent to.
    let above = i128::from((i128::from(value) - bound.low) as u64);
    if above > width {
        return None;
    }
    let shift = bound.fixed.min(62);
    let step = 1i128 << shift;
    let (below, over) = (above / step, (width - above) / step);
    let first = i128::from(value) - below * step;
    let last = i128::from(value) + over * step;
    if first < 0 || last > i128::from(u64::MAX) {
        return None;
    }
    Some(Reach { first: first as u64, shift, count: (below + over + 1) as u64 })
}

fn full(width: u16) -> Bound {
    Bound { low: 0, high: if width >= 126 { i128::MAX >> 1 } else { (1 << width) - 1 }, fixed: 0 }
}

/// The bound of a term as an unsigned number.
fn unsigned(bound: Bound, width: u16) -> Bound {
    let high = full(width).high;
    if bound.low >= 0 && bound.high <= high {
        return bound;
    }
    if bound.low == bound.high && width < 126 {
        let value = bound.low.rem_euclid(high + 1);
        return Bound { low: value, high: value, ..bound };
    }
    Bound { fixed: bound.fixed, ..full(width) }
}

fn bound(store: &Store, term: Term, depth: u32, most: &mut u32) -> Bound {
    let width = store.width(term);
    if width <= 64
        && let Some(bits) = store.as_constant(term)
    {
        let value = bits.to_u64().map_or(0, i128::from);
        let negative = value >> (width - 1) != 0;
        let value = if negative { value - (1 << width) } else { value };
        return Bound { low: value, high: value, fixed: width };
    }
    if depth == 0 || *most == 0 || width > 64 {
        return full(width);
    }
    *most -= 1;
    let mut of = |term: Term| bound(store, term, depth - 1, most);
    let wide = |bound: Bound| {
        // Beyond a multiple of the modulus nothing is said any more, and numbers stay small.
        if bound.high - bound.low > full(width).high || bound.low.abs() > 1 << 100 {
            Bound { fixed: bound.fixed, ..full(width) }
        } else {
            bound
        }
    };
    match store.node(term) {
        Node::Bin(op, a, b) => {
            let (a, b) = (of(a), of(b));
            let fixed = a.fixed.min(b.fixed);
            let single = b.low == b.high;
            match op {
                BinOp::Add => wide(Bound { low: a.low + b.low, high: a.high + b.high, fixed }),
                BinOp::Sub => wide(Bound { low: a.low - b.high, high: a.high - b.low, fixed }),
                BinOp::Mul if single || a.low == a.high => {
                    let (factor, other) = if single { (b.low, a) } else { (a.low, b) };
                    if factor.abs() > 1 << 40 {
                        return full(width);
                    }
                    let (x, y) = (other.low * factor, other.high * factor);
                    let zeros = factor.trailing_zeros().min(64) as u16;
                    wide(Bound { low: x.min(y), high: x.max(y), fixed: (other.fixed + zeros).min(width) })
                }
                BinOp::Shl if single && (0..64).contains(&b.low) => wide(Bound {
                    low: a.low << b.low,
                    high: a.high << b.low,
                    fixed: (a.fixed + b.low as u16).min(width),
                }),
                BinOp::Lshr if single && (0..64).contains(&b.low) => {
                    let a = unsigned(a, width);
                    let fixed = a.fixed.saturating_sub(b.low as u16);
                    Bound { low: a.low >> b.low, high: a.high >> b.low, fixed }
                }
                BinOp::And => {
                    let (a, b) = (unsigned(a, width), unsigned(b, width));
                    // Low bits that a constant mask clears are constant.
                    let zeros = |m: Bound| {
                        if m.low == m.high { (m.low.trailing_zeros() as u16).min(width) } else { 0 }
                    };
                    let fixed = fixed.max(zeros(a)).max(zeros(b));
                    Bound { low: 0, high: a.high.min(b.high), fixed }
                }
                BinOp::Or | BinOp::Xor => {
                    let high = unsigned(a, width).high.max(unsigned(b, width).high);
                    let bits = 128 - high.leading_zeros();
                    Bound { low: 0, high: (1i128 << bits.min(120)) - 1, fixed }
                }
                BinOp::Urem if single && b.low > 0 => {
                    Bound { low: 0, high: (b.low - 1).min(unsigned(a, width).high), fixed: 0 }
                }
                BinOp::Udiv if single && b.low > 0 => {
                    let a = unsigned(a, width);
                    Bound { low: a.low / b.low, high: a.high / b.low, fixed: 0 }
                }
                _ => full(width),
            }
        }
        Node::Un(UnOp::Popcount | UnOp::Clz | UnOp::Ctz, a) => {
            Bound { low: 0, high: store.width(a).into(), fixed: 0 }
        }
        Node::Un(UnOp::Neg, a) => {
            let a = of(a);
            Bound { low: -a.high, high: -a.low, fixed: a.fixed }
        }
        Node::Zext(a) => {
            let from = store.width(a);
            let a = of(a);
            let value = unsigned(a, from);
            // A constant is known throughout; what is not is known as far as it was.
            Bound { fixed: if value.low == value.high { width } else { a.fixed.min(from - 1) }, ..value }
        }
        Node::Sext(a) => {
            let from = store.width(a);
            let a = of(a);
            let half = 1i128 << (from - 1);
            let fits = -half <= a.low && a.high < half;
            let (low, high) = if fits { (a.low, a.high) } else { (-half, half - 1) };
            Bound { low, high, fixed: a.fixed.min(from - 1) }
        }
        Node::Extract { of: a, low } => {
            let from = store.width(a);
            let a = of(a);
            if low == 0 {
                return wide(Bound { fixed: a.fixed.min(width), ..a });
            }
            let a = unsigned(a, from);
            let high = a.high >> low;
            if high > full(width).high {
                return full(width);
            }
            Bound { low: a.low >> low, high, fixed: a.fixed.saturating_sub(low).min(width) }
        }
        Node::Concat(high, low) => {
            let (wh, wl) = (store.width(high), store.width(low));
            let (h, l) = (unsigned(of(high), wh), unsigned(of(low), wl));
            let fixed = if l.low == l.high { wl + h.fixed } else { l.fixed.min(wl) };
            Bound { low: (h.low << wl) + l.low, high: (h.high << wl) + l.high, fixed }
        }
        Node::Ite(_, t, e) => {
            let (t, e) = (of(t), of(e));
            let fixed = match (t.low == t.high, e.low == e.high) {
                (true, true) => ((t.low ^ e.low).trailing_zeros() as u16).min(width),
                _ => 0,
            };
            Bound { low: t.low.min(e.low), high: t.high.max(e.high), fixed }
        }
        _ => full(width),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_of_words_reaches_as_far_as_its_index() {
        let store = Store::new();
        let byte = store.symbol("x", 8);
        let base = store.number(64, 0x1000);
        let index = store.zext(byte, 64);
        let scaled = store.binop(BinOp::Shl, index, store.number(64, 3));
        let found = reach(&store, store.add(base, scaled), 0x1000 + 8 * 5);
        assert_eq!(found, Some(Reach { first: 0x1000, shift: 3, count: 256 }));
    }

    #[test]
    fn signed_indices_reach_below() {
        let store = Store::new();
        let index = store.sext(store.symbol("x", 8), 64);
        let at = store.add(index, store.number(64, 0x1000));
        let found = reach(&store, at, 0x1001);
        assert_eq!(found, Some(Reach { first: 0x1000 - 128, shift: 0, count: 256 }));
    }

    #[test]
    fn what_could_be_anywhere_has_no_reach() {
        let store = Store::new();
        assert_eq!(reach(&store, store.symbol("x", 64), 7), None);
    }

    #[test]
    fn a_window_cuts_a_reach() {
        let all = Reach { first: 0x1004, shift: 3, count: 100 };
        let cut = all.within(0x1008, 0x1020).unwrap();
        assert_eq!(cut, Reach { first: 0x100c, shift: 3, count: 3 });
        assert_eq!(all.within(0x1005, 0x1006), None);
    }
}
