//! What an expression is made of: ids, sorts, the packed form that is stored and the view that is matched on.

use crate::store::Symbol;
use parallax_op::{BinOp, Bits, BoolOp, FloatBinOp, FloatRelOp, FloatUnOp, RelOp, Rounding, UnOp, Width};

/// The index of an expression of any sort in its store.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Id(pub(crate) u32);

impl Id {
    /// The index as a number: ids are dense and grow, and operands come before what is built from them.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl std::fmt::Debug for Id {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "#{}", self.0)
    }
}

macro_rules! sorted_ids {
    ($($(#[doc = $doc:literal])+ $name:ident,)+) => { $(
        $(#[doc = $doc])+
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub(crate) u32);

        impl $name {
            /// The id without its sort.
            pub fn id(self) -> Id {
                Id(self.0)
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "#{}", self.0)
            }
        }

        impl From<$name> for Id {
            fn from(value: $name) -> Id {
                Id(value.0)
            }
        }
    )+ };
}

sorted_ids! {
    /// A bit-vector expression.
    Term,
    /// A truth-valued expression.
    Formula,
    /// A function expression: a map from bit-vectors to bit-vectors.
    FuncExpr,
}

/// An expression with its sort.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Expr {
    /// A bit-vector.
    Term(Term),
    /// A truth value.
    Formula(Formula),
    /// A map.
    Func(FuncExpr),
}

/// What an expression denotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sort {
    /// A truth value.
    Bool,
    /// A bit-vector of this width.
    Bits(Width),
    /// A map between vectors of these widths.
    Map {
        /// The width of keys.
        key: Width,
        /// The width of values.
        value: Width,
    },
}

/// The operator of a packed node; operands and parameters are in its fields `a`, `b`, `c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    True,
    False,
    /// Up to 64 bits, in `a` (low) and `b` (high).
    Const,
    /// Index into the table of wide constants.
    WideConst,
    /// Index into the symbol table; the width tells a bit-vector from a Boolean.
    Symbol,
    FuncSymbol,
    ConstMap,
    Un(UnOp),
    Bin(BinOp),
    Rel(RelOp),
    Bool(BoolOp),
    Not,
    Ite,
    /// `a` from bit `b` on.
    Extract,
    Concat,
    Zext,
    Sext,
    /// Rounding mode in `c`.
    FloatUn(FloatUnOp),
    FloatBin(FloatBinOp),
    Fma(Rounding),
    FloatRel(FloatRelOp),
    FloatToFloat(Rounding),
    SintToFloat(Rounding),
    UintToFloat(Rounding),
    FloatToSint(Rounding),
    FloatToUint(Rounding),
    Access,
    Update,
    IteMap,
}

impl Op {
    /// A number for each operator, for hashing.
    fn code(self) -> u16 {
        let (family, member) = match self {
            Op::True => (0, 0),
            Op::False => (1, 0),
            Op::Const => (2, 0),
            Op::WideConst => (3, 0),
            Op::Symbol => (4, 0),
            Op::FuncSymbol => (5, 0),
            Op::ConstMap => (6, 0),
            Op::Un(op) => (7, op as u8),
            Op::Bin(op) => (8, op as u8),
            Op::Rel(op) => (9, op as u8),
            Op::Bool(op) => (10, op as u8),
            Op::Not => (11, 0),
            Op::Ite => (12, 0),
            Op::Extract => (13, 0),
            Op::Concat => (14, 0),
            Op::Zext => (15, 0),
            Op::Sext => (16, 0),
            Op::FloatUn(op) => (17, op as u8),
            Op::FloatBin(op) => (18, op as u8),
            Op::Fma(r) => (19, r as u8),
            Op::FloatRel(op) => (20, op as u8),
            Op::FloatToFloat(r) => (21, r as u8),
            Op::SintToFloat(r) => (22, r as u8),
            Op::UintToFloat(r) => (23, r as u8),
            Op::FloatToSint(r) => (24, r as u8),
            Op::FloatToUint(r) => (25, r as u8),
            Op::Access => (26, 0),
            Op::Update => (27, 0),
            Op::IteMap => (28, 0),
        };
        u16::from(member) << 8 | family
    }
}

/// The stored form: sixteen bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Packed {
    pub op: Op,
    /// Of a bit-vector its width, of a map the width of its values, of a formula zero.
    pub width: Width,
    pub a: u32,
    pub b: u32,
    pub c: u32,
}

const _: () = assert!(std::mem::size_of::<Packed>() == 16);

impl std::hash::Hash for Packed {
    /// Two words: this is the hottest function of the store.
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        state.write_u64(u64::from(self.op.code()) << 48 | u64::from(self.width) << 32 | u64::from(self.a));
        state.write_u64(u64::from(self.b) << 32 | u64::from(self.c));
    }
}

impl Packed {
    pub fn new(op: Op, width: Width, a: u32, b: u32, c: u32) -> Self {
        Packed { op, width, a, b, c }
    }

    /// The operand ids, in order.
    pub fn operands(&self) -> impl DoubleEndedIterator<Item = Id> + use<> {
        let n = match self.op {
            Op::True | Op::False | Op::Const | Op::WideConst | Op::Symbol | Op::FuncSymbol => 0,
            Op::ConstMap | Op::Un(_) | Op::Not | Op::Extract | Op::Zext | Op::Sext | Op::FloatUn(_) => 1,
            Op::FloatToFloat(_)
            | Op::SintToFloat(_)
            | Op::UintToFloat(_)
            | Op::FloatToSint(_)
            | Op::FloatToUint(_) => 1,
            Op::Bin(_)
            | Op::Rel(_)
            | Op::Bool(_)
            | Op::Concat
            | Op::FloatBin(_)
            | Op::FloatRel(_)
            | Op::Access => 2,
            Op::Ite | Op::IteMap | Op::Fma(_) | Op::Update => 3,
        };
        let all = [Id(self.a), Id(self.b), Id(self.c)];
        all.into_iter().take(n).rev().rev()
    }
}

/// One level of an expression, to match on.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// A truth constant.
    Bool(bool),
    /// A bit-vector constant.
    Const(Bits),
    /// A constant symbol, bit-vector or Boolean.
    Symbol(Symbol),
    /// A function symbol.
    FuncSymbol(Symbol),
    /// The map that is this term everywhere.
    ConstMap(Term),
    /// An operator on one vector.
    Un(UnOp, Term),
    /// An operator on two vectors.
    Bin(BinOp, Term, Term),
    /// A relation; only `Eq`, `Ult`, `Ule`, `Slt`, `Sle` are stored.
    Rel(RelOp, Term, Term),
    /// An operator on truth values.
    BoolOp(BoolOp, Formula, Formula),
    /// Negation.
    Not(Formula),
    /// If-then-else on vectors.
    Ite(Formula, Term, Term),
    /// If-then-else on truth values.
    IteBool(Formula, Formula, Formula),
    /// If-then-else on maps.
    IteMap(Formula, FuncExpr, FuncExpr),
    /// The bits from `low` on; the width of the node tells how many.
    Extract {
        /// The vector.
        of: Term,
        /// The first bit.
        low: Width,
    },
    /// The first above the second.
    Concat(Term, Term),
    /// Zero extension to the width of the node.
    Zext(Term),
    /// Sign extension to the width of the node.
    Sext(Term),
    /// An operator on one float.
    FloatUn(FloatUnOp, Rounding, Term),
    /// An operator on two floats.
    FloatBin(FloatBinOp, Rounding, Term, Term),
    /// Fused multiply-add.
    Fma(Rounding, Term, Term, Term),
    /// A relation between floats.
    FloatRel(FloatRelOp, Term, Term),
    /// To the format of the node's width.
    FloatToFloat(Rounding, Term),
    /// Signed or unsigned integer to the format of the node's width.
    IntToFloat {
        /// Whether the integer is signed.
        signed: bool,
        /// The rounding mode.
        rounding: Rounding,
        /// The integer.
        of: Term,
    },
    /// Float to signed or unsigned integer of the node's width.
    FloatToInt {
        /// Whether the integer is signed.
        signed: bool,
        /// The rounding mode.
        rounding: Rounding,
        /// The float.
        of: Term,
    },
    /// A map applied to a key.
    Access(FuncExpr, Term),
    /// A map changed at a key.
    Update(FuncExpr, Term, Term),
}
