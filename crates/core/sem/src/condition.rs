//! What a branch teaches: truth values that remember what was compared, so that either way the values that were compared
//! become more precise.
//!
//! Values have an identity. What is copied keeps it, and a constant added to a value is remembered, so that after
//! `if (i - 5 < n)` the cell that holds `i` is found again by the identity of what was compared, wherever it is. Flags of
//! processors are understood too: a sign that differs from the overflow of the same difference is a signed comparison.

use crate::abstraction::{Domain, Truth, Value};
use parallax_op::{BinOp, Bits, RelOp, Width};
use std::cell::Cell;
use std::rc::Rc;

/// The identity of a value: a number that no other value has, and what was added since.
#[derive(Clone, Debug)]
pub struct Identity {
    number: u64,
    offset: Option<Bits>,
}

impl Identity {
    /// A new one.
    pub(crate) fn fresh() -> Self {
        thread_local!(static NEXT: Cell<u64> = const { Cell::new(0) });
        Identity { number: NEXT.replace(NEXT.get() + 1), offset: None }
    }

    /// The identity of a value after something was added.
    pub(crate) fn plus(&self, by: &Bits) -> Self {
        let offset = self.offset.as_ref().map_or_else(|| by.clone(), |offset| BinOp::Add.apply(offset, by));
        Identity { number: self.number, offset: (!offset.is_zero()).then_some(offset) }
    }

    /// What is to be added to another value of the same number to get this one.
    fn minus(&self, other: &Identity, w: Width) -> Option<Bits> {
        let offset = |one: &Identity| one.offset.clone().unwrap_or_else(|| Bits::zero(w));
        let (a, b) = (offset(self), offset(other));
        (self.number == other.number && a.width() == w && b.width() == w).then(|| BinOp::Sub.apply(&a, &b))
    }
}

/// One side of a comparison.
#[derive(Clone, Debug)]
pub(crate) struct Operand<D> {
    domain: D,
    constant: Option<Bits>,
    identity: Identity,
}

impl<D: Domain> Operand<D> {
    fn new(value: &Value<D>) -> Self {
        Operand {
            domain: value.domain.clone(),
            constant: value.single().cloned(),
            identity: value.identity.clone(),
        }
    }

    /// Whether two are certainly one value.
    fn is(&self, other: &Self, w: Width) -> bool {
        match (&self.constant, &other.constant) {
            (Some(a), Some(b)) => a == b,
            _ => self.identity.minus(&other.identity, w).is_some_and(|by| by.is_zero()),
        }
    }
}

/// What a truth value says of the values it was computed from.
#[derive(Clone, Debug)]
pub(crate) enum Test<D> {
    /// A relation.
    Relation(RelOp, Width, Operand<D>, Operand<D>),
    /// The difference of two values is negative, as a number that may have wrapped.
    NegativeDifference(Width, Operand<D>, Operand<D>),
    /// The difference of two values does not fit.
    Borrow(Width, Operand<D>, Operand<D>),
    Not(Rc<Test<D>>),
    And(Rc<Test<D>>, Rc<Test<D>>),
    Or(Rc<Test<D>>, Rc<Test<D>>),
}

/// A relation that holds.
type Fact<'t, D> = (RelOp, Width, &'t Operand<D>, &'t Operand<D>);

impl<D: Domain> Test<D> {
    /// The test of a relation between two values, if it says something.
    pub fn relation(op: RelOp, w: Width, a: &Value<D>, b: &Value<D>) -> Rc<Self> {
        if let (RelOp::Slt, Some(zero), Some(difference)) = (op, b.single(), &a.difference)
            && zero.is_zero()
        {
            let (x, y) = &**difference;
            return Rc::new(Test::NegativeDifference(w, x.clone(), y.clone()));
        }
        Rc::new(Test::Relation(op, w, Operand::new(a), Operand::new(b)))
    }

    /// The test of an overflow of `a - b`.
    pub fn borrow(w: Width, a: &Value<D>, b: &Value<D>) -> Rc<Self> {
        Rc::new(Test::Borrow(w, Operand::new(a), Operand::new(b)))
    }

    /// The test that holds when exactly one of two does: known for sign and overflow of one difference.
    pub fn exclusive(a: &Self, b: &Self) -> Option<Rc<Self>> {
        match (a, b) {
            (Test::NegativeDifference(w, x, y), Test::Borrow(v, p, q))
            | (Test::Borrow(w, x, y), Test::NegativeDifference(v, p, q))
                if w == v && x.is(p, *w) && y.is(q, *w) =>
            {
                Some(Rc::new(Test::Relation(RelOp::Slt, *w, x.clone(), y.clone())))
            }
            _ => None,
        }
    }

    /// The relations that hold when the test has this outcome, as far as they are certain.
    fn facts(&self, outcome: bool) -> Vec<Fact<'_, D>> {
        let mut facts = Vec::new();
        let mut waiting = vec![(self, outcome)];
        while let Some((test, outcome)) = waiting.pop() {
            match (test, outcome) {
                (Test::Relation(op, w, a, b), true) => facts.push((*op, *w, a, b)),
                (Test::Relation(op, w, a, b), false) => facts.push((op.negation(), *w, a, b)),
                (Test::Not(of), _) => waiting.push((of, !outcome)),
                (Test::And(a, b), true) => waiting.extend([(&**a, true), (&**b, true)]),
                (Test::Or(a, b), false) => waiting.extend([(&**a, false), (&**b, false)]),
                _ => {}
            }
        }
        facts
    }
}

/// An abstract truth value: which are possible, what describes it, and what it says of other values.
#[derive(Clone, Debug)]
pub struct Condition<D> {
    /// Which truth values are possible.
    pub truth: Truth,
    /// What describes where it comes from.
    pub domain: D,
    pub(crate) test: Option<Rc<Test<D>>>,
}

impl<D> PartialEq for Condition<D>
where
    D: PartialEq,
{
    /// What it says of other values is no part of its value.
    fn eq(&self, other: &Self) -> bool {
        self.truth == other.truth && self.domain == other.domain
    }
}

impl<D: Domain> Condition<D> {
    /// A truth value that says nothing of others.
    pub fn new(truth: Truth, domain: D) -> Self {
        Condition { truth, domain, test: None }
    }

    /// Nothing is known.
    pub fn unknown() -> Self {
        Condition::new(Truth::Unknown, D::top())
    }

    /// The same, taken to hold.
    pub fn holding(&self) -> Self {
        self.taken(true)
    }

    /// The same, taken to have this outcome.
    pub(crate) fn taken(&self, outcome: bool) -> Self {
        let negated = || self.test.clone().map(|test| Rc::new(Test::Not(test)));
        Condition {
            truth: Truth::True,
            domain: self.domain.clone(),
            test: if outcome { self.test.clone() } else { negated() },
        }
    }

    /// A value as it is where this holds.
    pub(crate) fn refine(&self, value: &Value<D>) -> Value<D> {
        let Some(test) = &self.test else { return value.clone() };
        test.facts(true).into_iter().fold(value.clone(), refined)
    }
}

/// A value where a fact holds; itself where the fact says nothing of it, or cannot hold.
fn refined<D: Domain>(value: Value<D>, (op, w, a, b): Fact<'_, D>) -> Value<D> {
    let Some((first, second)) = D::refine(op, w, &a.domain, &b.domain) else { return value };
    let sides = [(op, a, first, b), (op.swapped(), b, second, a)];
    sides.into_iter().fold(value, |value, (op, side, known, other)| {
        let Some(by) = value.identity.minus(&side.identity, w) else { return value };
        let shifted = if by.is_zero() { known } else { D::binop(BinOp::Add, w, &known, &D::constant(&by)) };
        let Some(domain) = value.domain.meet(&shifted, w) else { return value };
        let mut constants = value.constants.clone();
        // Those that stand for many say nothing about which of the many remain.
        if let Some(constants) = constants.as_mut().filter(|_| !value.stands_for_many) {
            let possible = |constant: &Bits| {
                let here = D::constant(&BinOp::Sub.apply(constant, &by));
                constant.width() != w || D::relop(op, w, &here, &other.domain).0 != Truth::False
            };
            constants.retain(|constant| possible(&constant.0));
            if constants.is_empty() {
                return value;
            }
        }
        Value { domain, constants, ..value }
    })
}

/// A value that is one constant or another, by a test.
#[derive(Clone, Debug)]
pub(crate) struct Choice<D> {
    pub test: Rc<Test<D>>,
    pub then: Bits,
    pub otherwise: Bits,
}

impl<D> Choice<D> {
    /// The test, of a choice between one and zero.
    pub fn as_truth(&self) -> Option<&Rc<Test<D>>> {
        (self.then.is_one() && self.otherwise.is_zero()).then_some(&self.test)
    }
}

/// The two sides of a difference.
pub(crate) fn difference<D: Domain>(a: &Value<D>, b: &Value<D>) -> Rc<(Operand<D>, Operand<D>)> {
    Rc::new((Operand::new(a), Operand::new(b)))
}
