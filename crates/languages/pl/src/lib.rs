//! PL: the source-level language of Lim, Lal and Reps (section 3.2), with the constructs of section 6.
//!
//! Variables hold 32-bit numbers and live in a store; pointers, address arithmetic, `if`, `while`, labels and `goto`,
//! procedures and `malloc`. A program is read straight into numbered instructions ([`syntax`]); their meaning is in
//! [`semantics`], one function per judgment of Fig. 3.

mod expression;
mod lexer;
mod reader;
mod semantics;
mod syntax;

pub use reader::{read, read_condition, read_expression};
pub use semantics::{Condition, Control, State, condition, expression};
pub use syntax::{Expression, Instruction, Node, Place, Procedure, Program, Variable};

/// How wide values and addresses are.
pub const WIDTH: parallax_op::Width = 32;

/// The function symbol of the store.
pub const STORE: &str = "F_rho";
