//! Abstract readings: a domain for values, beside small sets of constants for the addresses and program points that
//! every analysis has to follow.
//!
//! A [`Domain`] says what an operator does to its values; [`Abstract`] makes a reading of it. Where a map is accessed
//! at a key whose constants are known, the analysis reads and writes just there: one constant is a strong update,
//! several a weak one. What a branch compared makes values more precise on either way ([`Condition`]).

use crate::Core;
use crate::condition::{Choice, Condition, Identity, Operand, Test, difference};
use parallax_op::{
    BinOp, Bits, BoolOp, FloatBinOp, FloatFormat, FloatRelOp, FloatUnOp, RelOp, Rounding, UnOp, Width,
};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// A set with more constants than this becomes "any".
const CONSTANTS: usize = 8;
/// So many objects of one allocation site are told apart; all later ones are one.
const OBJECTS: u32 = 2;

/// Which truth values are possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Truth {
    /// Surely true.
    True,
    /// Surely false.
    False,
    /// Either.
    Unknown,
}

impl Truth {
    /// The truth value of a known Boolean.
    pub fn of(value: bool) -> Truth {
        if value { Truth::True } else { Truth::False }
    }

    pub(crate) fn known(self) -> Option<bool> {
        match self {
            Truth::True => Some(true),
            Truth::False => Some(false),
            Truth::Unknown => None,
        }
    }

    fn join(self, other: Truth) -> Truth {
        if self == other { self } else { Truth::Unknown }
    }
}

/// An abstract domain of values. Every function must cover what the operator does to every value described.
pub trait Domain: Clone + PartialEq {
    /// What describes a constant.
    fn constant(value: &Bits) -> Self;
    /// What describes every value, when nothing is known.
    fn top() -> Self;
    /// What describes what either describes.
    fn join(&self, other: &Self) -> Self;
    /// What describes what either describes, far enough that doing it again and again comes to an end. A domain without
    /// endless ascents needs none.
    fn widen(&self, next: &Self) -> Self {
        self.join(next)
    }
    /// What describes everything of `w` bits that both describe, or more; none when that is nothing.
    fn meet(&self, other: &Self, w: Width) -> Option<Self> {
        let _ = (other, w);
        Some(self.clone())
    }
    /// What describes two values of `w` bits where a relation between them holds; none when it never does.
    fn refine(op: RelOp, w: Width, a: &Self, b: &Self) -> Option<(Self, Self)> {
        let _ = (op, w);
        Some((a.clone(), b.clone()))
    }
    /// An operator on one value.
    fn unop(op: UnOp, w: Width, a: &Self) -> Self;
    /// An operator on two values.
    fn binop(op: BinOp, w: Width, a: &Self, b: &Self) -> Self;
    /// A relation: which truth values are possible, and what describes where they come from.
    fn relop(op: RelOp, w: Width, a: &Self, b: &Self) -> (Truth, Self);
    /// A choice, by a truth value described by `b`.
    fn cond(b: &Self, chosen: Self) -> Self;
    /// Bits of a value.
    fn extract(from: Width, low: Width, to: Width, a: &Self) -> Self;
    /// Two values joined.
    fn concat(wh: Width, wl: Width, high: &Self, low: &Self) -> Self;
    /// Zero extension.
    fn zext(from: Width, to: Width, a: &Self) -> Self;
    /// Sign extension.
    fn sext(from: Width, to: Width, a: &Self) -> Self;
    /// What any other operator makes of these operands (floating point, connectives).
    fn mixed(operands: &[&Self]) -> Self;
}

/// An abstract value: what the domain says, and the constants it can be, if they are few.
#[derive(Clone, Debug)]
pub struct Value<D> {
    /// What the domain says.
    pub domain: D,
    /// Every constant it can be; `None` when they are too many or unknown.
    pub constants: Option<BTreeSet<BigKey>>,
    /// Whether the constants are places that stand for the addresses of many objects, and not the addresses themselves.
    pub(crate) stands_for_many: bool,
    /// Which value it is: copies share it.
    pub(crate) identity: Identity,
    /// Of the difference of two values, those.
    pub(crate) difference: Option<Rc<(Operand<D>, Operand<D>)>>,
    /// Of a choice between two constants, by what.
    pub(crate) choice: Option<Rc<Choice<D>>>,
}

impl<D: PartialEq> PartialEq for Value<D> {
    /// How it was computed is no part of its value.
    fn eq(&self, other: &Self) -> bool {
        self.domain == other.domain && self.constants == other.constants
    }
}

/// A constant that sorts by its number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BigKey(pub Bits);

impl PartialOrd for BigKey {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for BigKey {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.0.width(), self.0.to_big()).cmp(&(other.0.width(), other.0.to_big()))
    }
}

impl<D: Domain> Value<D> {
    /// A new value.
    fn new(domain: D, constants: Option<BTreeSet<BigKey>>) -> Self {
        let identity = Identity::fresh();
        Value { domain, constants, stands_for_many: false, identity, difference: None, choice: None }
    }

    /// A value the domain describes, of unknown constants.
    pub fn described(domain: D) -> Self {
        Value::new(domain, None)
    }

    /// A constant.
    pub fn constant(value: &Bits) -> Self {
        Value::new(D::constant(value), Some(BTreeSet::from([BigKey(value.clone())])))
    }

    /// The only constant it can be.
    pub fn single(&self) -> Option<&Bits> {
        match &self.constants {
            Some(set) if set.len() == 1 => set.first().map(|key| &key.0),
            _ => None,
        }
    }

    /// The constants, where they are the value itself.
    fn numbers(&self) -> Option<&BTreeSet<BigKey>> {
        self.constants.as_ref().filter(|_| !self.stands_for_many)
    }

    /// The value with a constant added to it.
    fn moved(&self, by: &Bits, domain: D) -> Self {
        let moved = |key: &BigKey| BigKey(BinOp::Add.apply(&key.0, by));
        let constants = self.constants.as_ref().map(|set| set.iter().map(moved).collect());
        Value {
            stands_for_many: self.stands_for_many,
            identity: self.identity.plus(by),
            ..Value::new(domain, constants)
        }
    }

    /// Either of two.
    pub fn join(&self, other: &Self) -> Self {
        self.either(other, D::join)
    }

    /// Either of two, in such a way that growing comes to an end.
    pub fn widen(&self, next: &Self) -> Self {
        self.either(next, D::widen)
    }

    fn either(&self, other: &Self, domain: impl Fn(&D, &D) -> D) -> Self {
        let constants = match (&self.constants, &other.constants) {
            (Some(a), Some(b)) if a.union(b).count() <= CONSTANTS => Some(a.union(b).cloned().collect()),
            _ => None,
        };
        let stands_for_many = self.stands_for_many || other.stands_for_many;
        let either = Value::new(domain(&self.domain, &other.domain), constants);
        Value { stands_for_many, ..either }.reduced()
    }

    /// The domain says no more than the constants allow: widening must not forget what they still know.
    fn reduced(self) -> Self {
        let hull = self
            .numbers()
            .and_then(|set| set.iter().map(|key| D::constant(&key.0)).reduce(|a, b| a.join(&b)));
        let width = self.constants.as_ref().and_then(|set| set.first()).map(|key| key.0.width());
        match (hull, width) {
            (Some(hull), Some(width)) => {
                let domain = self.domain.meet(&hull, width).unwrap_or_else(|| self.domain.clone());
                self.with_domain(domain)
            }
            _ => self,
        }
    }

    /// The same where the domain says something else.
    fn with_domain(self, domain: D) -> Self {
        Value { domain, ..self }
    }

    fn map1(&self, domain: D, f: impl Fn(&Bits) -> Bits) -> Self {
        let constants = self.numbers().map(|set| set.iter().map(|k| BigKey(f(&k.0))).collect());
        Value::new(domain, constants)
    }

    fn map2(&self, other: &Self, domain: D, f: impl Fn(&Bits, &Bits) -> Bits) -> Self {
        let constants = match (self.numbers(), other.numbers()) {
            (Some(a), Some(b)) => {
                let all: BTreeSet<BigKey> =
                    a.iter().flat_map(|x| b.iter().map(|y| BigKey(f(&x.0, &y.0)))).collect();
                (all.len() <= CONSTANTS).then_some(all)
            }
            _ => None,
        };
        Value::new(domain, constants)
    }
}

/// An abstract map: what is known at some keys, and a value that describes all others.
#[derive(Clone, Debug, PartialEq)]
pub struct AbstractMap<D> {
    /// Keys with values of their own.
    pub entries: BTreeMap<BigKey, Value<D>>,
    /// Everything else.
    pub rest: Value<D>,
}

impl<D: Domain> AbstractMap<D> {
    /// A map described everywhere by one value.
    pub fn new(rest: Value<D>) -> Self {
        AbstractMap { entries: BTreeMap::new(), rest }
    }

    fn get(&self, key: &BigKey) -> &Value<D> {
        self.entries.get(key).unwrap_or(&self.rest)
    }

    /// Either of two maps.
    pub fn join(&self, other: &Self) -> Self {
        self.either(other, Value::join)
    }

    /// Either of two maps, in such a way that growing comes to an end.
    pub fn widen(&self, next: &Self) -> Self {
        self.either(next, Value::widen)
    }

    fn either(&self, other: &Self, value: impl Fn(&Value<D>, &Value<D>) -> Value<D>) -> Self {
        let keys = self.entries.keys().chain(other.entries.keys());
        let entries = keys.map(|key| (key.clone(), value(self.get(key), other.get(key)))).collect();
        AbstractMap { entries, rest: value(&self.rest, &other.rest) }
    }
}

/// The reading over a domain.
#[derive(Clone, Copy, Debug)]
pub struct Abstract<D> {
    /// What a symbol that nothing interprets is.
    pub unknown: D,
    /// Whether values that come together are widened instead of joined.
    pub widening: bool,
}

impl<D: Domain> Abstract<D> {
    /// The same reading where values that come together are widened.
    pub fn widened(&self) -> Self {
        Abstract { widening: true, ..self.clone() }
    }

    fn either(&self, t: &Value<D>, e: &Value<D>) -> Value<D> {
        if self.widening { t.widen(e) } else { t.join(e) }
    }
}

impl<D: Domain> Default for Abstract<D> {
    fn default() -> Self {
        Abstract { unknown: D::top(), widening: false }
    }
}

impl<D: Domain> Core for Abstract<D> {
    type Val = Value<D>;
    type Bool = Condition<D>;
    type Map = AbstractMap<D>;

    fn constant(&self, value: &Bits) -> Value<D> {
        Value::constant(value)
    }
    fn boolean(&self, value: bool) -> Condition<D> {
        Condition::new(Truth::of(value), D::constant(&Bits::new(1, value.into())))
    }
    fn symbol(&self, _: &str, _: Width) -> Value<D> {
        Value::described(self.unknown.clone())
    }
    fn bool_symbol(&self, _: &str) -> Condition<D> {
        Condition::new(Truth::Unknown, self.unknown.clone())
    }
    fn map_symbol(&self, _: &str, _: Width, _: Width) -> AbstractMap<D> {
        AbstractMap::new(Value::described(self.unknown.clone()))
    }
    fn constant_map(&self, _: Width, _: Width, value: &Value<D>) -> AbstractMap<D> {
        AbstractMap::new(value.clone())
    }
    fn objects_per_site(&self) -> Option<u32> {
        Some(OBJECTS)
    }
    /// Two places stand for all: what is written to one of many objects may be in any of them afterwards.
    fn some_address(&self, _: &str, _: u64, first: &Bits, last: &Bits) -> Value<D> {
        let places = BTreeSet::from([BigKey(first.clone()), BigKey(last.clone())]);
        Value { stands_for_many: true, ..Value::new(D::top(), Some(places)) }
    }
    fn unop(&self, op: UnOp, w: Width, a: &Value<D>) -> Value<D> {
        a.map1(D::unop(op, w, &a.domain), |k| op.apply(k))
    }
    fn binop(&self, op: BinOp, w: Width, a: &Value<D>, b: &Value<D>) -> Value<D> {
        let domain = D::binop(op, w, &a.domain, &b.domain);
        let mut value = match (op, a.single(), b.single()) {
            (BinOp::Add, _, Some(by)) => a.moved(by, domain),
            (BinOp::Add, Some(by), _) => b.moved(by, domain),
            (BinOp::Sub, _, Some(by)) => a.moved(&UnOp::Neg.apply(by), domain),
            _ => a.map2(b, domain, |x, y| op.apply(x, y)),
        };
        if op == BinOp::Sub {
            value.difference = Some(difference(a, b));
        }
        value
    }
    fn relop(&self, op: RelOp, w: Width, a: &Value<D>, b: &Value<D>) -> Condition<D> {
        let (mut truth, domain) = D::relop(op, w, &a.domain, &b.domain);
        if let (Some(x), Some(y)) = (a.numbers(), b.numbers()) {
            let outcomes = x.iter().flat_map(|x| y.iter().map(|y| Truth::of(op.apply(&x.0, &y.0))));
            if let Some(by_constants) = outcomes.reduce(Truth::join).and_then(Truth::known) {
                truth = Truth::of(by_constants);
            }
        }
        // A truth value that was kept as a number is the test it was, and two of them may make another.
        let truths =
            (a.choice.as_ref().and_then(|it| it.as_truth()), b.choice.as_ref().and_then(|it| it.as_truth()));
        let test = match (op, truths) {
            (RelOp::Ne, (Some(test), None)) if b.single().is_some_and(Bits::is_zero) => Some(test.clone()),
            (RelOp::Eq, (Some(test), None)) if b.single().is_some_and(Bits::is_zero) => {
                Some(Rc::new(Test::Not(test.clone())))
            }
            (RelOp::Ne, (Some(x), Some(y))) => Test::exclusive(x, y),
            (RelOp::Eq, (Some(x), Some(y))) => Test::exclusive(x, y).map(|test| Rc::new(Test::Not(test))),
            _ => Some(Test::relation(op, w, a, b)),
        };
        Condition { truth, domain, test }
    }
    fn signed_borrow(&self, w: Width, a: &Value<D>, b: &Value<D>) -> Condition<D> {
        Condition { test: Some(Test::borrow(w, a, b)), ..crate::core::signed_borrow(self, w, a, b) }
    }
    fn boolop(&self, op: BoolOp, a: &Condition<D>, b: &Condition<D>) -> Condition<D> {
        let options = |t: Truth| t.known().map_or(vec![true, false], |value| vec![value]);
        let outcomes = options(a.truth).into_iter().flat_map(|x| {
            options(b.truth).into_iter().map(move |y| Truth::of(op.apply(x, y))).collect::<Vec<_>>()
        });
        let test = match (op, &a.test, &b.test) {
            (BoolOp::And, Some(x), Some(y)) => Some(Rc::new(Test::And(x.clone(), y.clone()))),
            (BoolOp::Or, Some(x), Some(y)) => Some(Rc::new(Test::Or(x.clone(), y.clone()))),
            (BoolOp::Xor, Some(x), Some(y)) => Test::exclusive(x, y),
            _ => None,
        };
        let truth = outcomes.reduce(Truth::join).unwrap_or(Truth::Unknown);
        Condition { truth, domain: D::mixed(&[&a.domain, &b.domain]), test }
    }
    fn not(&self, a: &Condition<D>) -> Condition<D> {
        let truth = a.truth.known().map_or(Truth::Unknown, |value| Truth::of(!value));
        let test = a.test.clone().map(|test| Rc::new(Test::Not(test)));
        Condition { truth, domain: D::mixed(&[&a.domain]), test }
    }
    /// Where it is certain which of the two is chosen, it is as it is where the condition holds.
    fn cond(&self, _: Width, b: &Condition<D>, t: &Value<D>, e: &Value<D>) -> Value<D> {
        let chosen = match b.truth {
            Truth::True => b.refine(t),
            Truth::False => b.taken(false).refine(e),
            Truth::Unknown => {
                let mut either = self.either(t, e);
                if let (Some(test), Some(then), Some(otherwise)) = (&b.test, t.single(), e.single()) {
                    let (then, otherwise) = (then.clone(), otherwise.clone());
                    either.choice = Some(Rc::new(Choice { test: test.clone(), then, otherwise }));
                }
                either
            }
        };
        let domain = D::cond(&b.domain, chosen.domain.clone());
        chosen.with_domain(domain)
    }
    fn cond_bool(&self, b: &Condition<D>, t: &Condition<D>, e: &Condition<D>) -> Condition<D> {
        let chosen = match b.truth {
            Truth::True => t.clone(),
            Truth::False => e.clone(),
            Truth::Unknown => Condition::new(t.truth.join(e.truth), t.domain.join(&e.domain)),
        };
        Condition { domain: D::cond(&b.domain, chosen.domain), ..chosen }
    }
    fn cond_map(&self, b: &Condition<D>, t: &AbstractMap<D>, e: &AbstractMap<D>) -> AbstractMap<D> {
        let refined = |map: &AbstractMap<D>, b: &Condition<D>| {
            let mut map = map.clone();
            if b.test.is_some() {
                map.entries.values_mut().for_each(|value| *value = b.refine(value));
            }
            map
        };
        match b.truth {
            Truth::True => refined(t, b),
            Truth::False => refined(e, &b.taken(false)),
            Truth::Unknown => {
                let mut joined = if self.widening { t.widen(e) } else { t.join(e) };
                for value in joined.entries.values_mut().chain([&mut joined.rest]) {
                    value.domain = D::cond(&b.domain, value.domain.clone());
                }
                joined
            }
        }
    }
    fn extract(&self, from: Width, low: Width, to: Width, a: &Value<D>) -> Value<D> {
        a.map1(D::extract(from, low, to, &a.domain), |k| k.extract(low, to))
    }
    fn concat(&self, wh: Width, wl: Width, high: &Value<D>, low: &Value<D>) -> Value<D> {
        high.map2(low, D::concat(wh, wl, &high.domain, &low.domain), |x, y| x.concat(y))
    }
    fn zext(&self, from: Width, to: Width, a: &Value<D>) -> Value<D> {
        a.map1(D::zext(from, to, &a.domain), |k| k.zext(to))
    }
    fn sext(&self, from: Width, to: Width, a: &Value<D>) -> Value<D> {
        a.map1(D::sext(from, to, &a.domain), |k| k.sext(to))
    }
    fn float_un(&self, op: FloatUnOp, _: FloatFormat, r: Rounding, a: &Value<D>) -> Value<D> {
        a.map1(D::mixed(&[&a.domain]), |k| op.apply(r, k))
    }
    fn float_bin(&self, op: FloatBinOp, _: FloatFormat, r: Rounding, a: &Value<D>, b: &Value<D>) -> Value<D> {
        a.map2(b, D::mixed(&[&a.domain, &b.domain]), |x, y| op.apply(r, x, y))
    }
    fn float_fma(&self, _: FloatFormat, _: Rounding, a: &Value<D>, b: &Value<D>, c: &Value<D>) -> Value<D> {
        Value::described(D::mixed(&[&a.domain, &b.domain, &c.domain]))
    }
    fn float_rel(&self, _: FloatRelOp, _: FloatFormat, a: &Value<D>, b: &Value<D>) -> Condition<D> {
        Condition::new(Truth::Unknown, D::mixed(&[&a.domain, &b.domain]))
    }
    fn float_to_float(&self, _: FloatFormat, _: FloatFormat, _: Rounding, a: &Value<D>) -> Value<D> {
        Value::described(D::mixed(&[&a.domain]))
    }
    fn int_to_float(&self, _: bool, _: Width, _: FloatFormat, _: Rounding, a: &Value<D>) -> Value<D> {
        Value::described(D::mixed(&[&a.domain]))
    }
    fn float_to_int(&self, _: bool, _: FloatFormat, _: Width, _: Rounding, a: &Value<D>) -> Value<D> {
        Value::described(D::mixed(&[&a.domain]))
    }

    /// Only an entry of its own is the same value at every access: what describes the rest stands for many.
    fn access(&self, map: &AbstractMap<D>, key: &Value<D>) -> Value<D> {
        let everything = || map.entries.values().fold(map.rest.clone(), |all, value| all.join(value));
        let mut found = match &key.constants {
            Some(keys) => {
                keys.iter().map(|k| map.get(k).clone()).reduce(|a, b| a.join(&b)).unwrap_or_else(everything)
            }
            None => everything(),
        };
        let is_entry = key.single().is_some_and(|key| map.entries.contains_key(&BigKey(key.clone())));
        if !is_entry {
            found = Value { identity: Identity::fresh(), ..found };
        }
        let domain = D::cond(&key.domain, found.domain.clone());
        found.with_domain(domain)
    }

    /// Which key is meant decides what changes, so what describes the key goes into everything that may change.
    fn update(&self, mut map: AbstractMap<D>, key: &Value<D>, value: Value<D>) -> AbstractMap<D> {
        let perhaps = |old: &Value<D>| {
            let joined = old.join(&value);
            let domain = D::cond(&key.domain, joined.domain.clone());
            joined.with_domain(domain)
        };
        match &key.constants {
            Some(keys) if keys.len() == 1 => {
                map.entries.insert(keys.iter().next().expect("one").clone(), value);
            }
            Some(keys) => {
                for k in keys {
                    let changed = perhaps(map.get(k));
                    map.entries.insert(k.clone(), changed);
                }
            }
            None => {
                for entry in map.entries.values_mut().chain([&mut map.rest]) {
                    *entry = perhaps(entry);
                }
            }
        }
        map
    }

    fn targets(&self, _: Width, value: &Value<D>) -> Option<Vec<(Self::Bool, Bits)>> {
        let known = value.constants.as_ref()?;
        let truth = if known.len() == 1 { Truth::True } else { Truth::Unknown };
        let condition = |target: &Bits| match value.choice.as_deref() {
            Some(Choice { test, then, otherwise }) if then != otherwise => {
                let test = if target == then { test.clone() } else { Rc::new(Test::Not(test.clone())) };
                Condition { truth, domain: value.domain.clone(), test: Some(test) }
            }
            _ => Condition::new(truth, value.domain.clone()),
        };
        Some(known.iter().map(|k| (condition(&k.0), k.0.clone())).collect())
    }
}
