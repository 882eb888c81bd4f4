//! The concrete reading: values are bit-vectors, maps are tables.

use crate::Core;
use archery::RcK;
use parallax_op::{
    BinOp, Bits, BoolOp, FloatBinOp, FloatFormat, FloatRelOp, FloatUnOp, RelOp, Rounding, UnOp, Width, float,
};
use rpds::HashTrieMap;
use rustc_hash::FxBuildHasher;

/// Runs programs. Symbols that nothing interprets are zero, false, and zero everywhere.
///
/// No operation on vectors of up to 128 bits allocates; a table that nobody else holds changes in place.
#[derive(Clone, Copy, Debug, Default)]
pub struct Concrete;

/// A total function with finitely many exceptions. Copies are cheap and independent.
#[derive(Clone)]
pub struct Table {
    default: Bits,
    entries: HashTrieMap<Bits, Bits, RcK, FxBuildHasher>,
}

impl Table {
    /// The function that is `default` everywhere.
    pub fn new(default: Bits) -> Self {
        Table { default, entries: HashTrieMap::new_with_hasher_and_ptr_kind(FxBuildHasher) }
    }

    /// The value at a key.
    #[inline]
    pub fn get(&self, key: &Bits) -> &Bits {
        self.entries.get(key).unwrap_or(&self.default)
    }

    /// Changes the value at a key.
    #[inline]
    pub fn set(&mut self, key: Bits, value: Bits) {
        self.entries.insert_mut(key, value);
    }

    /// The value everywhere but at the exceptions.
    pub fn default_value(&self) -> &Bits {
        &self.default
    }

    /// The keys that were set, with their values, in no order; a value may equal the default.
    pub fn entries(&self) -> impl Iterator<Item = (&Bits, &Bits)> {
        self.entries.iter()
    }
}

impl PartialEq for Table {
    /// Equal as functions.
    fn eq(&self, other: &Self) -> bool {
        self.default == other.default
            && self.entries().all(|(key, value)| other.get(key) == value)
            && other.entries().all(|(key, value)| self.get(key) == value)
    }
}

impl std::fmt::Debug for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut entries: Vec<_> = self.entries().collect();
        entries.sort_by_key(|(key, _)| key.to_big());
        f.debug_map().entries(entries).key(&"else").value(&self.default).finish()
    }
}

impl Core for Concrete {
    type Val = Bits;
    type Bool = bool;
    type Map = Table;

    #[inline]
    fn constant(&self, value: &Bits) -> Bits {
        value.clone()
    }
    #[inline]
    fn boolean(&self, value: bool) -> bool {
        value
    }
    fn symbol(&self, _: &str, width: Width) -> Bits {
        Bits::zero(width)
    }
    fn bool_symbol(&self, _: &str) -> bool {
        false
    }
    fn map_symbol(&self, _: &str, _: Width, value: Width) -> Table {
        Table::new(Bits::zero(value))
    }
    fn constant_map(&self, _: Width, _: Width, value: &Bits) -> Table {
        Table::new(value.clone())
    }
    #[inline]
    fn unop(&self, op: UnOp, _: Width, a: &Bits) -> Bits {
        op.apply(a)
    }
    #[inline]
    fn binop(&self, op: BinOp, _: Width, a: &Bits, b: &Bits) -> Bits {
        op.apply(a, b)
    }
    #[inline]
    fn relop(&self, op: RelOp, _: Width, a: &Bits, b: &Bits) -> bool {
        op.apply(a, b)
    }
    #[inline]
    fn boolop(&self, op: BoolOp, a: &bool, b: &bool) -> bool {
        op.apply(*a, *b)
    }
    #[inline]
    fn not(&self, a: &bool) -> bool {
        !a
    }
    #[inline]
    fn cond(&self, _: Width, b: &bool, t: &Bits, e: &Bits) -> Bits {
        if *b { t.clone() } else { e.clone() }
    }
    #[inline]
    fn cond_bool(&self, b: &bool, t: &bool, e: &bool) -> bool {
        if *b { *t } else { *e }
    }
    fn cond_map(&self, b: &bool, t: &Table, e: &Table) -> Table {
        if *b { t.clone() } else { e.clone() }
    }
    #[inline]
    fn extract(&self, _: Width, low: Width, to: Width, a: &Bits) -> Bits {
        a.extract(low, to)
    }
    #[inline]
    fn concat(&self, _: Width, _: Width, high: &Bits, low: &Bits) -> Bits {
        high.concat(low)
    }
    #[inline]
    fn zext(&self, _: Width, to: Width, a: &Bits) -> Bits {
        a.zext(to)
    }
    #[inline]
    fn sext(&self, _: Width, to: Width, a: &Bits) -> Bits {
        a.sext(to)
    }
    fn float_un(&self, op: FloatUnOp, _: FloatFormat, r: Rounding, a: &Bits) -> Bits {
        op.apply(r, a)
    }
    fn float_bin(&self, op: FloatBinOp, _: FloatFormat, r: Rounding, a: &Bits, b: &Bits) -> Bits {
        op.apply(r, a, b)
    }
    fn float_fma(&self, _: FloatFormat, r: Rounding, a: &Bits, b: &Bits, c: &Bits) -> Bits {
        float::fused_multiply_add(r, a, b, c)
    }
    fn float_rel(&self, op: FloatRelOp, _: FloatFormat, a: &Bits, b: &Bits) -> bool {
        op.apply(a, b)
    }
    fn float_to_float(&self, _: FloatFormat, to: FloatFormat, r: Rounding, a: &Bits) -> Bits {
        float::float_to_float(r, a, to)
    }
    fn int_to_float(&self, signed: bool, _: Width, to: FloatFormat, r: Rounding, a: &Bits) -> Bits {
        float::int_to_float(signed, r, a, to)
    }
    fn float_to_int(&self, signed: bool, _: FloatFormat, w: Width, r: Rounding, a: &Bits) -> Bits {
        float::float_to_int(signed, r, a, w)
    }
    #[inline]
    fn access(&self, map: &Table, key: &Bits) -> Bits {
        map.get(key).clone()
    }
    #[inline]
    fn update(&self, mut map: Table, key: &Bits, value: Bits) -> Table {
        map.set(key.clone(), value);
        map
    }
    #[inline]
    fn decided(&self, b: &bool) -> Option<bool> {
        Some(*b)
    }
    fn targets(&self, _: Width, value: &Bits) -> Option<Vec<(bool, Bits)>> {
        Some(vec![(true, value.clone())])
    }
}
