//! The analyses in which a language and a reading meet: execution, symbolic evaluation, weakest liberal precondition,
//! composition, path constraints, and abstract interpretation, each for every [`Language`](parallax_sem::Language).
//!
//! There is no code here for any particular language, and none that says again what an operator means.

mod abstract_interpretation;
mod compose;
mod evaluate;
mod input;
mod leaving;
mod order;
mod run;
mod summary;
mod table;

pub use abstract_interpretation::{Analysis, Point, analyse};
pub use compose::{Composition, compose};
pub use evaluate::{Assumption, Bounds, Evaluation, Explorer, Program, STACK_APART, assumptions};
pub use input::{Input, NotFound, input, is_placed, placements};
pub use run::{Run, Stopped, placed, run};
