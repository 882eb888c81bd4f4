//! The pair of two readings, run in lock-step: concrete beside symbolic is concolic execution.

use crate::{ByteOrder, Core};
use parallax_op::{
    BinOp, Bits, BoolOp, FloatBinOp, FloatFormat, FloatRelOp, FloatUnOp, RelOp, Rounding, UnOp, Width,
};

/// Two readings of one execution. Control follows the first that knows where it goes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pair<A, B>(pub A, pub B);

/// Each operation does its part on either side; references to pairs become pairs of references.
macro_rules! both {
    ($($(#[$meta:meta])* fn $name:ident($($arg:ident: $kind:tt $ty:ty),*) -> $ret:ident;)+) => { $(
        #[inline]
        fn $name(&self $(, $arg: $ty)*) -> Self::$ret {
            (self.0.$name($(both!(@first $kind $arg)),*), self.1.$name($(both!(@second $kind $arg)),*))
        }
    )+ };
    (@first pair $arg:ident) => { &$arg.0 };
    (@second pair $arg:ident) => { &$arg.1 };
    (@first plain $arg:ident) => { $arg };
    (@second plain $arg:ident) => { $arg };
}

impl<A: Core, B: Core> Core for Pair<A, B> {
    type Val = (A::Val, B::Val);
    type Bool = (A::Bool, B::Bool);
    type Map = (A::Map, B::Map);

    both! {
        fn constant(value: plain &Bits) -> Val;
        fn boolean(value: plain bool) -> Bool;
        fn symbol(name: plain &str, width: plain Width) -> Val;
        fn bool_symbol(name: plain &str) -> Bool;
        fn map_symbol(name: plain &str, key: plain Width, value: plain Width) -> Map;
        fn constant_map(key: plain Width, width: plain Width, value: pair &Self::Val) -> Map;
        fn address(name: plain &str, extent: plain u64, placement: plain &Bits) -> Val;
        fn unop(op: plain UnOp, w: plain Width, a: pair &Self::Val) -> Val;
        fn binop(op: plain BinOp, w: plain Width, a: pair &Self::Val, b: pair &Self::Val) -> Val;
        fn relop(op: plain RelOp, w: plain Width, a: pair &Self::Val, b: pair &Self::Val) -> Bool;
        fn signed_borrow(w: plain Width, a: pair &Self::Val, b: pair &Self::Val) -> Bool;
        fn lies_within(w: plain Width, address: pair &Self::Val, first: plain &Bits, length: plain &Bits) -> Bool;
        fn boolop(op: plain BoolOp, a: pair &Self::Bool, b: pair &Self::Bool) -> Bool;
        fn not(a: pair &Self::Bool) -> Bool;
        fn cond(w: plain Width, b: pair &Self::Bool, t: pair &Self::Val, e: pair &Self::Val) -> Val;
        fn cond_bool(b: pair &Self::Bool, t: pair &Self::Bool, e: pair &Self::Bool) -> Bool;
        fn cond_map(b: pair &Self::Bool, t: pair &Self::Map, e: pair &Self::Map) -> Map;
        fn extract(from: plain Width, low: plain Width, to: plain Width, a: pair &Self::Val) -> Val;
        fn concat(wh: plain Width, wl: plain Width, high: pair &Self::Val, low: pair &Self::Val) -> Val;
        fn zext(from: plain Width, to: plain Width, a: pair &Self::Val) -> Val;
        fn sext(from: plain Width, to: plain Width, a: pair &Self::Val) -> Val;
        fn float_un(op: plain FloatUnOp, f: plain FloatFormat, r: plain Rounding, a: pair &Self::Val) -> Val;
        fn float_bin(op: plain FloatBinOp, f: plain FloatFormat, r: plain Rounding, a: pair &Self::Val, b: pair &Self::Val) -> Val;
        fn float_fma(f: plain FloatFormat, r: plain Rounding, a: pair &Self::Val, b: pair &Self::Val, c: pair &Self::Val) -> Val;
        fn float_rel(op: plain FloatRelOp, f: plain FloatFormat, a: pair &Self::Val, b: pair &Self::Val) -> Bool;
        fn float_to_float(from: plain FloatFormat, to: plain FloatFormat, r: plain Rounding, a: pair &Self::Val) -> Val;
        fn int_to_float(signed: plain bool, w: plain Width, to: plain FloatFormat, r: plain Rounding, a: pair &Self::Val) -> Val;
        fn float_to_int(signed: plain bool, from: plain FloatFormat, w: plain Width, r: plain Rounding, a: pair &Self::Val) -> Val;
        fn access(map: pair &Self::Map, key: pair &Self::Val) -> Val;
    }

    #[inline]
    fn update(&self, map: Self::Map, key: &Self::Val, value: Self::Val) -> Self::Map {
        (self.0.update(map.0, &key.0, value.0), self.1.update(map.1, &key.1, value.1))
    }

    fn load(
        &self,
        map: &Self::Map,
        key: Width,
        address: &Self::Val,
        bytes: u16,
        order: ByteOrder,
    ) -> Self::Val {
        (
            self.0.load(&map.0, key, &address.0, bytes, order),
            self.1.load(&map.1, key, &address.1, bytes, order),
        )
    }

    fn store(
        &self,
        map: Self::Map,
        key: Width,
        address: &Self::Val,
        bytes: u16,
        order: ByteOrder,
        value: &Self::Val,
    ) -> Self::Map {
        let first = self.0.store(map.0, key, &address.0, bytes, order, &value.0);
        (first, self.1.store(map.1, key, &address.1, bytes, order, &value.1))
    }

    /// What both allow. Where only one side knows, the other is asked whether the value is that constant.
    fn targets(&self, w: Width, value: &Self::Val) -> Option<Vec<(Self::Bool, Bits)>> {
        match (self.0.targets(w, &value.0), self.1.targets(w, &value.1)) {
            (Some(first), Some(second)) => Some(
                first
                    .into_iter()
                    .filter_map(|(a, bits)| {
                        let (b, _) = second.iter().find(|(_, other)| *other == bits)?;
                        Some(((a, b.clone()), bits))
                    })
                    .collect(),
            ),
            (Some(first), None) => {
                let second = |bits: &Bits| self.1.relop(RelOp::Eq, w, &value.1, &self.1.constant(bits));
                Some(first.into_iter().map(|(a, bits)| ((a, second(&bits)), bits)).collect())
            }
            (None, Some(second)) => {
                let first = |bits: &Bits| self.0.relop(RelOp::Eq, w, &value.0, &self.0.constant(bits));
                Some(second.into_iter().map(|(b, bits)| ((first(&bits), b), bits)).collect())
            }
            (None, None) => None,
        }
    }
}
