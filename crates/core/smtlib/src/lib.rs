//! Scripts in SMT-LIB 2, read into the logic and answered by the solvers of `smt`.
//!
//! The logics are those of the store: bit-vectors up to [`MAX_WIDTH`](parallax_op::MAX_WIDTH) bits, arrays between them,
//! uninterpreted functions over them (QF_ABV, QF_UFBV and what lies between). [`Interpreter::run`] takes a script command by
//! command and gives each answer to the caller as it comes. What the logic does not have is a [`Refusal`] that names it.
//!
//! Reading is linear and never recurses: a script may nest as deep as it likes.
//!
//! ```
//! use parallax_smt::Tier0;
//! use parallax_smtlib::{Interpreter, Response};
//! use parallax_term::Store;
//!
//! let store = Store::new();
//! let interpreter = Interpreter::new(Box::new(Tier0::new(&store)));
//! let mut answers = Vec::new();
//! let script = "(declare-const x (_ BitVec 8)) (assert (= (bvmul x x) #x31)) (assert (bvult x #x08))
//!               (check-sat) (get-value (x))";
//! interpreter.run(script, &mut |response: Response| answers.push(response.to_string())).unwrap();
//! assert_eq!(answers, ["sat", "((x #x07))"]);
//! ```

mod apply;
mod interpreter;
mod model;
mod reader;
mod scope;
mod token;

pub use interpreter::{Interpreter, Response};

use parallax_source::{Diagnostic, Span};

/// Why a script cannot be followed further.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It is no script: what is wrong, and where.
    Malformed(Diagnostic),
    /// It asks for what is not there: what, and where.
    Unsupported(Diagnostic),
}

impl Refusal {
    fn malformed<T>(span: Span, message: impl Into<String>) -> Result<T, Refusal> {
        Err(Refusal::Malformed(Diagnostic::new(span, message)))
    }

    fn unsupported<T>(span: Span, message: impl Into<String>) -> Result<T, Refusal> {
        Err(Refusal::Unsupported(Diagnostic::new(span, message)))
    }
}
