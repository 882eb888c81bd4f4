//! The semantic core: what a language's meaning is written over, and a reading implements.
//!
//! The operations are those that the paper factors its languages into (Lim, Lal, Reps: *Symbolic Analysis
//! via Semantic Reinterpretation*, Figs. 2 to 4): constants, operators, `cond`, `access` and `update`. Widths are
//! always passed, so a reading may keep bare machine integers and still know what an operation means.

use parallax_op::{
    BinOp, Bits, BoolOp, FloatBinOp, FloatFormat, FloatRelOp, FloatUnOp, RelOp, Rounding, UnOp, Width,
};

/// A reading of programs: what values, truth values and maps are, and what the operators do to them.
///
/// A reading is small and copied freely. That it is `Clone` is what lets states generic over it derive `Clone`.
pub trait Core: Clone {
    /// A bit-vector of a known width.
    type Val: Clone;
    /// A truth value.
    type Bool: Clone;
    /// A total function from bit-vectors to bit-vectors: a memory, a store.
    type Map: Clone;

    /// `const` of the paper.
    fn constant(&self, value: &Bits) -> Self::Val;
    /// The truth values.
    fn boolean(&self, value: bool) -> Self::Bool;

    /// What a constant symbol means when nothing says otherwise.
    fn symbol(&self, name: &str, width: Width) -> Self::Val;
    /// What a Boolean constant symbol means when nothing says otherwise.
    fn bool_symbol(&self, name: &str) -> Self::Bool;
    /// What a function symbol means when nothing says otherwise.
    fn map_symbol(&self, name: &str, key: Width, value: Width) -> Self::Map;
    /// The function that is `value` everywhere.
    fn constant_map(&self, key: Width, width: Width, value: &Self::Val) -> Self::Map;

    /// The address of a new object of `extent` cells: where no other object is. A reading that keeps numbers puts it at
    /// `placement`; one that keeps names calls it `name` (section 6: a fresh logical constant).
    fn address(&self, name: &str, extent: u64, placement: &Bits) -> Self::Val {
        let _ = (name, extent);
        self.constant(placement)
    }

    /// How many objects of one allocation site are told apart, where not all are.
    fn objects_per_site(&self) -> Option<u32> {
        None
    }

    /// The address of one of the later objects of a site that are not told apart. Their placements lie between `first`
    /// and `last`.
    fn some_address(&self, name: &str, extent: u64, first: &Bits, last: &Bits) -> Self::Val {
        let _ = last;
        self.address(name, extent, first)
    }

    /// An operator on one vector of `w` bits.
    fn unop(&self, op: UnOp, w: Width, a: &Self::Val) -> Self::Val;
    /// An operator on two vectors of `w` bits.
    fn binop(&self, op: BinOp, w: Width, a: &Self::Val, b: &Self::Val) -> Self::Val;
    /// A relation between two vectors of `w` bits.
    fn relop(&self, op: RelOp, w: Width, a: &Self::Val, b: &Self::Val) -> Self::Bool;
    /// An operator on two truth values.
    fn boolop(&self, op: BoolOp, a: &Self::Bool, b: &Self::Bool) -> Self::Bool;
    /// Negation of a truth value.
    fn not(&self, a: &Self::Bool) -> Self::Bool;

    /// `cond` of the paper: `t` where `b` holds, `e` elsewhere; both have `w` bits.
    fn cond(&self, w: Width, b: &Self::Bool, t: &Self::Val, e: &Self::Val) -> Self::Val;
    /// The same on truth values.
    fn cond_bool(&self, b: &Self::Bool, t: &Self::Bool, e: &Self::Bool) -> Self::Bool;
    /// The same on maps.
    fn cond_map(&self, b: &Self::Bool, t: &Self::Map, e: &Self::Map) -> Self::Map;

    /// Bits `low` to `low + to - 1` of a vector of `from` bits.
    fn extract(&self, from: Width, low: Width, to: Width, a: &Self::Val) -> Self::Val;
    /// `high`, of `wh` bits, above `low`, of `wl` bits.
    fn concat(&self, wh: Width, wl: Width, high: &Self::Val, low: &Self::Val) -> Self::Val;
    /// The same unsigned number in `to` bits.
    fn zext(&self, from: Width, to: Width, a: &Self::Val) -> Self::Val;
    /// The same signed number in `to` bits.
    fn sext(&self, from: Width, to: Width, a: &Self::Val) -> Self::Val;

    /// An operator on one float.
    fn float_un(&self, op: FloatUnOp, f: FloatFormat, r: Rounding, a: &Self::Val) -> Self::Val;
    /// An operator on two floats.
    fn float_bin(
        &self,
        op: FloatBinOp,
        f: FloatFormat,
        r: Rounding,
        a: &Self::Val,
        b: &Self::Val,
    ) -> Self::Val;
    /// `a * b + c`, rounded once.
    fn float_fma(
        &self,
        f: FloatFormat,
        r: Rounding,
        a: &Self::Val,
        b: &Self::Val,
        c: &Self::Val,
    ) -> Self::Val;
    /// A relation between two floats.
    fn float_rel(&self, op: FloatRelOp, f: FloatFormat, a: &Self::Val, b: &Self::Val) -> Self::Bool;
    /// A float in another format.
    fn float_to_float(&self, from: FloatFormat, to: FloatFormat, r: Rounding, a: &Self::Val) -> Self::Val;
    /// An integer of `w` bits as a float.
    fn int_to_float(&self, signed: bool, w: Width, to: FloatFormat, r: Rounding, a: &Self::Val) -> Self::Val;
    /// A float as an integer of `w` bits; see [`parallax_op::float::float_to_int`] for what lies outside.
    fn float_to_int(
        &self,
        signed: bool,
        from: FloatFormat,
        w: Width,
        r: Rounding,
        a: &Self::Val,
    ) -> Self::Val;

    /// `access` of the paper: the map at a key.
    fn access(&self, map: &Self::Map, key: &Self::Val) -> Self::Val;
    /// `update` of the paper: the map, changed at a key.
    fn update(&self, map: Self::Map, key: &Self::Val, value: Self::Val) -> Self::Map;

    /// The constants that a value used for control can be, each with the condition under which it is; `None` when the
    /// reading cannot tell.
    fn targets(&self, w: Width, value: &Self::Val) -> Option<Vec<(Self::Bool, Bits)>>;

    /// Whether `a - b` as signed numbers does not fit into `w` bits.
    fn signed_borrow(&self, w: Width, a: &Self::Val, b: &Self::Val) -> Self::Bool {
        signed_borrow(self, w, a, b)
    }

    /// Whether an address is one of the `length` addresses from `first` on.
    fn lies_within(&self, w: Width, address: &Self::Val, first: &Bits, length: &Bits) -> Self::Bool {
        let from_first = self.binop(BinOp::Sub, w, address, &self.constant(first));
        self.relop(RelOp::Ult, w, &from_first, &self.constant(length))
    }

    /// A truth value that the reading is certain of.
    fn decided(&self, b: &Self::Bool) -> Option<bool> {
        match self.targets(8, &self.bool_to_val(8, b)).as_deref() {
            Some([(_, only)]) => Some(!only.is_zero()),
            _ => None,
        }
    }

    /// A truth value as a vector of `w` bits, 1 or 0.
    fn bool_to_val(&self, w: Width, b: &Self::Bool) -> Self::Val {
        self.cond(w, b, &self.constant(&Bits::one(w)), &self.constant(&Bits::zero(w)))
    }

    /// Whether any bit is set.
    fn val_to_bool(&self, w: Width, a: &Self::Val) -> Self::Bool {
        self.relop(RelOp::Ne, w, a, &self.constant(&Bits::zero(w)))
    }

    /// The `bytes` bytes at `address` (of `key` bits) of a byte map, as one vector.
    fn load(
        &self,
        map: &Self::Map,
        key: Width,
        address: &Self::Val,
        bytes: u16,
        order: ByteOrder,
    ) -> Self::Val {
        let byte = |index: u16| self.access(map, &self.offset(key, address, index));
        let mut value = byte(order.index(bytes, 0));
        for low in 1..bytes {
            value = self.concat(8, low * 8, &byte(order.index(bytes, low)), &value);
        }
        value
    }

    /// The byte map with a vector of `bytes` bytes stored at `address` (of `key` bits).
    fn store(
        &self,
        map: Self::Map,
        key: Width,
        address: &Self::Val,
        bytes: u16,
        order: ByteOrder,
        value: &Self::Val,
    ) -> Self::Map {
        (0..bytes).fold(map, |map, low| {
            let byte = self.extract(bytes * 8, low * 8, 8, value);
            self.update(map, &self.offset(key, address, order.index(bytes, low)), byte)
        })
    }

    /// `address + index`, in `w` bits.
    fn offset(&self, w: Width, address: &Self::Val, index: u16) -> Self::Val {
        if index == 0 {
            return address.clone();
        }
        self.binop(BinOp::Add, w, address, &self.constant(&Bits::new(w, index.into())))
    }
}

/// What [`Core::signed_borrow`] means in every reading: the operands differ in sign, and the difference has the sign of
/// the second.
pub(crate) fn signed_borrow<C: Core>(core: &C, w: Width, a: &C::Val, b: &C::Val) -> C::Bool {
    let difference = core.binop(BinOp::Sub, w, a, b);
    let left = core.binop(BinOp::Xor, w, a, b);
    let right = core.binop(BinOp::Xor, w, &difference, a);
    let both = core.binop(BinOp::And, w, &left, &right);
    core.relop(RelOp::Slt, w, &both, &core.constant(&Bits::zero(w)))
}

/// Which end of a number comes first in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ByteOrder {
    /// The lowest byte first.
    Little,
    /// The highest byte first.
    Big,
}

impl ByteOrder {
    /// Where byte number `low`, counted from the lowest, of a number of `bytes` bytes stands in memory.
    #[inline]
    pub const fn index(self, bytes: u16, low: u16) -> u16 {
        match self {
            ByteOrder::Little => low,
            ByteOrder::Big => bytes - 1 - low,
        }
    }
}
