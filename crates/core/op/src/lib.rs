//! One row per operator of the logic: its operands, its concrete meaning, its names.
//!
//! The tables in [`table`] and [`float`] are the only place where an operator's meaning on constants is written.
//! Everything else derives from them: the concrete reading runs them, terms fold constants with them, printers take
//! their names from them. Values are [`Bits`]: bit-vectors that know their width, from 1 to [`MAX_WIDTH`] bits.

mod bits;
pub mod float;
mod table;

pub use bits::{Bits, ParseBitsError};
pub use float::{FloatBinOp, FloatFormat, FloatRelOp, FloatUnOp, Rounding};
pub use table::{BinOp, BoolOp, RelOp, UnOp};

/// How many bits a bit-vector has: 1 to [`MAX_WIDTH`].
pub type Width = u16;

/// The widest bit-vector.
pub const MAX_WIDTH: Width = 512;
