//! Which numbers a term can be, as far as its structure tells: without a search, and the same on every machine.
//!
//! An index that is masked, divided or widened is bounded; scaled, it goes in steps. That is enough to list the entries of
//! a table, and to see that an array on the stack does not reach the return address above it.

use crate::arith::Linear;
use crate::node::{Formula, Op, Packed, Term};
use crate::store::Store;
use parallax_op::{BinOp, Bits, BoolOp, Width};
use rustc_hash::FxHashMap;

/// How many expressions one answer looks at.
const FUEL: u32 = 96;
/// How many conjuncts of a condition are looked at for bounds.
const CONJUNCTS: usize = 256;
/// Wider terms have no span of their own: their numbers leave no room to compute in.
const WIDEST: Width = 64;
/// A difference of two keys is looked at up to so many unknowns.
const UNKNOWNS: usize = 4;

/// Unsigned numbers from `low` to `high`, both included, `stride` apart; a stride of zero is a single number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The smallest.
    pub low: u128,
    /// The largest.
    pub high: u128,
    /// How far apart they are.
    pub stride: u128,
}

impl Span {
    fn number(number: u128) -> Self {
        Span { low: number, high: number, stride: 0 }
    }

    fn between(low: u128, high: u128) -> Self {
        Span { low, high, stride: u128::from(low != high) }
    }

    /// Everything that a width can hold.
    fn all(width: Width) -> Self {
        Span::between(0, most(width))
    }

    /// How many numbers there are.
    pub fn count(&self) -> u128 {
        (self.high - self.low).checked_div(self.stride).map_or(1, |steps| steps.saturating_add(1))
    }

    /// The numbers, the smallest first.
    pub fn numbers(self) -> impl Iterator<Item = u128> {
        (0..self.count()).map(move |step| self.low + step * self.stride)
    }

    /// All numbers of a width that differ from `residue` by a multiple of the largest power of two that divides `step`:
    /// what is left of steps that wrap around.
    fn around(residue: u128, step: u128, width: Width) -> Self {
        let power = 1 << step.trailing_zeros().min(u32::from(width));
        let low = residue % power;
        let high = most(width) - (most(width) - low) % power;
        Span { low, high, stride: if low == high { 0 } else { power } }
    }

    fn scaled(self, factor: u128, width: Width) -> Self {
        let (low, stride) = (self.low.wrapping_mul(factor), self.stride.wrapping_mul(factor));
        match self.high.checked_mul(factor) {
            Some(high) if high <= most(width) => Span { low, high, stride },
            // A product that has lost its upper bits is right modulo 2^128, and so modulo every smaller power.
            _ => Span::around(low, stride, width),
        }
    }

    fn divided(self, by: u128) -> Self {
        if self.stride.is_multiple_of(by) && self.low.is_multiple_of(by) {
            return Span { low: self.low / by, high: self.high / by, stride: self.stride / by };
        }
        Span::between(self.low / by, self.high / by)
    }

    fn plus(self, other: Span, width: Width) -> Self {
        let (low, high) = (self.low + other.low, self.high + other.high);
        let stride = gcd(self.stride, other.stride);
        let size = most(width) + 1;
        match (low / size, high / size) {
            (0, 0) => Span { low, high, stride },
            // All of them wrap around.
            (1, 1) => Span { low: low - size, high: high - size, stride },
            _ => Span::around(low, stride, width),
        }
    }

    /// What is in one or in the other.
    fn or(self, other: Span) -> Self {
        let stride = gcd(gcd(self.stride, other.stride), self.low.abs_diff(other.low));
        Span { low: self.low.min(other.low), high: self.high.max(other.high), stride }
    }

    /// What of it lies between two numbers; none where nothing does.
    pub fn within(self, low: u128, high: u128) -> Option<Self> {
        if self.stride == 0 {
            return (low..=high).contains(&self.low).then_some(self);
        }
        let steps = low.saturating_sub(self.low).div_ceil(self.stride);
        let low = self.low + steps * self.stride;
        let high = self.high.min(high);
        let high = high.checked_sub(low).map(|room| low + room / self.stride * self.stride)?;
        Some(Span { low, high, stride: if low == high { 0 } else { self.stride } })
    }
}

/// The largest number of a width of at most 64 bits.
fn most(width: Width) -> u128 {
    (1 << width) - 1
}

fn gcd(a: u128, b: u128) -> u128 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// What a condition says of single terms: between which numbers each lies where it holds.
#[derive(Clone, Debug, Default)]
pub struct Ranges {
    known: FxHashMap<Term, (u128, u128)>,
}

impl Store {
    /// Between which unsigned numbers terms lie where a formula holds, as far as its conjuncts compare them with constants.
    pub fn ranges(&self, formula: Formula) -> Ranges {
        let mut ranges = Ranges::default();
        let mut waiting = vec![formula];
        let mut seen = 0;
        while let Some(formula) = waiting.pop() {
            seen += 1;
            if seen > CONJUNCTS {
                break;
            }
            let packed = self.packed(formula);
            if packed.op == Op::Bool(BoolOp::And) {
                waiting.extend([Formula(packed.a), Formula(packed.b)]);
                continue;
            }
            let Some((term, low, high)) = self.unsigned_bounds(formula) else { continue };
            let entry = ranges.known.entry(term).or_insert((low, high));
            *entry = (entry.0.max(low), entry.1.min(high));
        }
        // Bounds that exclude each other come from a condition that never holds: they say nothing here.
        ranges.known.retain(|_, (low, high)| low <= high);
        ranges
    }

    /// The numbers that a term can be; where a condition bounds parts of it, those that it can be there.
    pub fn span(&self, term: Term, ranges: &Ranges) -> Span {
        let width = self.width(term);
        if width > WIDEST {
            return Span { low: 0, high: u128::MAX, stride: 1 };
        }
        Look { store: self, ranges, fuel: FUEL }.span(term)
    }

    /// Whether two keys of a map differ because what they have in common cancels and the rest is bounded, or goes in steps
    /// that do not meet.
    pub(crate) fn spans_differ(&self, a: Term, b: Term) -> bool {
        let width = self.width(a);
        if width > WIDEST {
            return false;
        }
        let Some((monomials, constant)) = Linear::difference(self, a, b) else { return false };
        if monomials.is_empty() {
            return constant != 0;
        }
        if monomials.len() > UNKNOWNS {
            return false;
        }
        let size = 1i128 << width;
        let signed =
            |number: u128| if number as i128 >= size / 2 { number as i128 - size } else { number as i128 };
        let ranges = Ranges::default();
        // The ends of the difference as a number without end, and a power of two that all of it but the constant is a
        // multiple of.
        let mut ends = Some((signed(constant), signed(constant)));
        let mut power = u32::from(width);
        for (term, factor) in monomials {
            let (span, factor) = (self.span(term, &ranges), signed(factor));
            power = power.min(factor.trailing_zeros() + gcd(span.low, span.stride).trailing_zeros());
            ends = ends.and_then(|(low, high)| {
                let (first, last) =
                    (factor.checked_mul(span.low as i128)?, factor.checked_mul(span.high as i128)?);
                Some((low.checked_add(first.min(last))?, high.checked_add(first.max(last))?))
            });
        }
        // Zero is a multiple of 2^width, and none lies between the ends.
        let clear = |(low, high): (i128, i128)| {
            low.div_euclid(size) == high.div_euclid(size) && low.rem_euclid(size) != 0
        };
        !constant.is_multiple_of(1 << power) || ends.is_some_and(clear)
    }
}

/// One walk over a term.
struct Look<'a> {
    store: &'a Store,
    ranges: &'a Ranges,
    fuel: u32,
}

impl Look<'_> {
    /// The span of a term of 64 bits at most. It calls itself for operands; the fuel bounds how deep that goes.
    fn span(&mut self, term: Term) -> Span {
        let packed = self.store.packed(term);
        let all = Span::all(packed.width);
        if self.fuel == 0 {
            return all;
        }
        self.fuel -= 1;
        let span = self.of(&packed, all);
        match self.ranges.known.get(&term) {
            Some(&(low, high)) => span.within(low, high).unwrap_or(span),
            None => span,
        }
    }

    fn of(&mut self, packed: &Packed, all: Span) -> Span {
        let width = packed.width;
        let number = |bits: Bits| bits.small();
        let constant = |id: u32| self.store.as_constant(Term(id)).and_then(number);
        let narrow = |id: u32| self.store.width(Term(id)) <= WIDEST;
        match packed.op {
            Op::Const => self.store.constant_of(packed).and_then(number).map_or(all, Span::number),
            Op::Zext => self.span(Term(packed.a)),
            Op::Sext => {
                let inner = self.store.width(Term(packed.a));
                let span = self.span(Term(packed.a));
                if span.high <= most(inner) / 2 { span } else { all }
            }
            Op::Extract if narrow(packed.a) => {
                let span = self.span(Term(packed.a)).divided(1 << packed.b);
                if span.high <= most(width) { span } else { all }
            }
            Op::Concat => {
                let below = self.store.width(Term(packed.b));
                let high = self.span(Term(packed.a)).scaled(1 << below, width);
                high.plus(self.span(Term(packed.b)), width)
            }
            Op::Ite => {
                let then = self.span(Term(packed.b));
                if then == all { all } else { then.or(self.span(Term(packed.c))) }
            }
            Op::Bin(op) => match (op, constant(packed.b)) {
                (BinOp::Add, _) => {
                    let left = self.span(Term(packed.a));
                    left.plus(self.span(Term(packed.b)), width)
                }
                (BinOp::Mul, Some(factor)) => self.span(Term(packed.a)).scaled(factor, width),
                (BinOp::Shl, Some(by)) if by < u128::from(width) => {
                    self.span(Term(packed.a)).scaled(1 << by, width)
                }
                (BinOp::Lshr, Some(by)) if by < u128::from(width) => {
                    self.span(Term(packed.a)).divided(1 << by)
                }
                (BinOp::Udiv, Some(by)) if by > 0 => self.span(Term(packed.a)).divided(by),
                (BinOp::Urem, Some(by)) if by > 0 => {
                    let span = self.span(Term(packed.a));
                    if span.high < by { span } else { Span::between(0, by - 1) }
                }
                (BinOp::And, Some(mask)) if mask > 0 => {
                    let high = self.span(Term(packed.a)).high.min(mask);
                    let stride = 1 << mask.trailing_zeros();
                    let high = high / stride * stride;
                    Span { low: 0, high, stride: if high == 0 { 0 } else { stride } }
                }
                (BinOp::And, None) => {
                    let (left, right) = (self.span(Term(packed.a)), self.span(Term(packed.b)));
                    Span::between(0, left.high.min(right.high))
                }
                _ => all,
            },
            _ => all,
        }
    }
}
