//! Abstract readings: a domain for values, beside small sets of constants for the addresses and program points that
//! every analysis has to follow.
//!
//! A [`Domain`] says what an operator does to its values; [`Abstract`] makes a reading of it. Where a map is accessed
//! at a key whose constants are known, the analysis reads and writes just there: one constant is a strong update,
//! several a weak one.

use crate::Core;
use parallax_op::{
    BinOp, Bits, BoolOp, FloatBinOp, FloatFormat, FloatRelOp, FloatUnOp, RelOp, Rounding, UnOp, Width,
};
use std::collections::{BTreeMap, BTreeSet};

/// A set with more constants than this becomes "any".
const CONSTANTS: usize = 8;

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

    fn known(self) -> Option<bool> {
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
#[derive(Clone, Debug, PartialEq)]
pub struct Value<D> {
    /// What the domain says.
    pub domain: D,
    /// Every constant it can be; `None` when they are too many or unknown.
    pub constants: Option<BTreeSet<BigKey>>,
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
    /// A value the domain describes, of unknown constants.
    pub fn described(domain: D) -> Self {
        Value { domain, constants: None }
    }

    /// A constant.
    pub fn constant(value: &Bits) -> Self {
        Value { domain: D::constant(value), constants: Some(BTreeSet::from([BigKey(value.clone())])) }
    }

    /// Either of two.
    pub fn join(&self, other: &Self) -> Self {
        let constants = match (&self.constants, &other.constants) {
            (Some(a), Some(b)) if a.union(b).count() <= CONSTANTS => Some(a.union(b).cloned().collect()),
            _ => None,
        };
        Value { domain: self.domain.join(&other.domain), constants }
    }

    fn map1(&self, domain: D, f: impl Fn(&Bits) -> Bits) -> Self {
        let constants = self.constants.as_ref().map(|set| set.iter().map(|k| BigKey(f(&k.0))).collect());
        Value { domain, constants }
    }

    fn map2(&self, other: &Self, domain: D, f: impl Fn(&Bits, &Bits) -> Bits) -> Self {
        let constants = match (&self.constants, &other.constants) {
            (Some(a), Some(b)) => {
                let all: BTreeSet<BigKey> =
                    a.iter().flat_map(|x| b.iter().map(|y| BigKey(f(&x.0, &y.0)))).collect();
                (all.len() <= CONSTANTS).then_some(all)
            }
            _ => None,
        };
        Value { domain, constants }
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
        let keys = self.entries.keys().chain(other.entries.keys());
        let entries = keys.map(|key| (key.clone(), self.get(key).join(other.get(key)))).collect();
        AbstractMap { entries, rest: self.rest.join(&other.rest) }
    }
}

/// The reading over a domain.
#[derive(Clone, Copy, Debug)]
pub struct Abstract<D> {
    /// What a symbol that nothing interprets is.
    pub unknown: D,
}

impl<D: Domain> Default for Abstract<D> {
    fn default() -> Self {
        Abstract { unknown: D::top() }
    }
}

impl<D: Domain> Core for Abstract<D> {
    type Val = Value<D>;
    type Bool = (Truth, D);
    type Map = AbstractMap<D>;

    fn constant(&self, value: &Bits) -> Value<D> {
        Value::constant(value)
    }
    fn boolean(&self, value: bool) -> (Truth, D) {
        (Truth::of(value), D::constant(&Bits::new(1, value.into())))
    }
    fn symbol(&self, _: &str, _: Width) -> Value<D> {
        Value::described(self.unknown.clone())
    }
    fn bool_symbol(&self, _: &str) -> (Truth, D) {
        (Truth::Unknown, self.unknown.clone())
    }
    fn map_symbol(&self, _: &str, _: Width, _: Width) -> AbstractMap<D> {
        AbstractMap::new(Value::described(self.unknown.clone()))
    }
    fn constant_map(&self, _: Width, _: Width, value: &Value<D>) -> AbstractMap<D> {
        AbstractMap::new(value.clone())
    }
    fn unop(&self, op: UnOp, w: Width, a: &Value<D>) -> Value<D> {
        a.map1(D::unop(op, w, &a.domain), |k| op.apply(k))
    }
    fn binop(&self, op: BinOp, w: Width, a: &Value<D>, b: &Value<D>) -> Value<D> {
        a.map2(b, D::binop(op, w, &a.domain, &b.domain), |x, y| op.apply(x, y))
    }
    fn relop(&self, op: RelOp, w: Width, a: &Value<D>, b: &Value<D>) -> (Truth, D) {
        let (mut truth, domain) = D::relop(op, w, &a.domain, &b.domain);
        if let (Some(x), Some(y)) = (&a.constants, &b.constants) {
            let outcomes = x.iter().flat_map(|x| y.iter().map(|y| Truth::of(op.apply(&x.0, &y.0))));
            if let Some(by_constants) = outcomes.reduce(Truth::join).and_then(Truth::known) {
                truth = Truth::of(by_constants);
            }
        }
        (truth, domain)
    }
    fn boolop(&self, op: BoolOp, a: &(Truth, D), b: &(Truth, D)) -> (Truth, D) {
        let options = |t: Truth| t.known().map_or(vec![true, false], |value| vec![value]);
        let outcomes = options(a.0).into_iter().flat_map(|x| {
            options(b.0).into_iter().map(move |y| Truth::of(op.apply(x, y))).collect::<Vec<_>>()
        });
        (outcomes.reduce(Truth::join).unwrap_or(Truth::Unknown), D::mixed(&[&a.1, &b.1]))
    }
    fn not(&self, a: &(Truth, D)) -> (Truth, D) {
        let truth = a.0.known().map_or(Truth::Unknown, |value| Truth::of(!value));
        (truth, D::mixed(&[&a.1]))
    }
    fn cond(&self, _: Width, b: &(Truth, D), t: &Value<D>, e: &Value<D>) -> Value<D> {
        let chosen = match b.0 {
            Truth::True => t.clone(),
            Truth::False => e.clone(),
            Truth::Unknown => t.join(e),
        };
        Value { domain: D::cond(&b.1, chosen.domain), constants: chosen.constants }
    }
    fn cond_bool(&self, b: &(Truth, D), t: &(Truth, D), e: &(Truth, D)) -> (Truth, D) {
        let chosen = match b.0 {
            Truth::True => t.clone(),
            Truth::False => e.clone(),
            Truth::Unknown => (t.0.join(e.0), t.1.join(&e.1)),
        };
        (chosen.0, D::cond(&b.1, chosen.1))
    }
    fn cond_map(&self, b: &(Truth, D), t: &AbstractMap<D>, e: &AbstractMap<D>) -> AbstractMap<D> {
        match b.0 {
            Truth::True => t.clone(),
            Truth::False => e.clone(),
            Truth::Unknown => {
                let mut joined = t.join(e);
                for value in joined.entries.values_mut().chain([&mut joined.rest]) {
                    value.domain = D::cond(&b.1, value.domain.clone());
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
    fn float_rel(&self, _: FloatRelOp, _: FloatFormat, a: &Value<D>, b: &Value<D>) -> (Truth, D) {
        (Truth::Unknown, D::mixed(&[&a.domain, &b.domain]))
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

    fn access(&self, map: &AbstractMap<D>, key: &Value<D>) -> Value<D> {
        let everything = || map.entries.values().fold(map.rest.clone(), |all, value| all.join(value));
        let found = match &key.constants {
            Some(keys) => {
                keys.iter().map(|k| map.get(k).clone()).reduce(|a, b| a.join(&b)).unwrap_or_else(everything)
            }
            None => everything(),
        };
        Value { domain: D::cond(&key.domain, found.domain), constants: found.constants }
    }

    /// Which key is meant decides what changes, so what describes the key goes into everything that may change.
    fn update(&self, mut map: AbstractMap<D>, key: &Value<D>, value: Value<D>) -> AbstractMap<D> {
        let perhaps = |old: &Value<D>| {
            let joined = old.join(&value);
            Value { domain: D::cond(&key.domain, joined.domain), constants: joined.constants }
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
        Some(known.iter().map(|k| ((truth, value.domain.clone()), k.0.clone())).collect())
    }
}
