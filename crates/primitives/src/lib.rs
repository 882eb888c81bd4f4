//! The analyses in which a language and a reading meet: execution, symbolic evaluation, weakest liberal precondition,
//! composition, path constraints, and abstract interpretation, each for every [`Language`](parallax_sem::Language).
//!
//! There is no code here for any particular language, and none that says again what an operator means.

mod abstract_interpretation;
mod evaluate;
mod input;
mod leaving;
mod order;
mod run;
mod summary;
mod table;

pub use abstract_interpretation::{Analysis, Point, analyse};
pub use evaluate::{Assumption, Bounds, Evaluation, Explorer, PathError, Program, STACK_APART};
pub use input::{NoInput, input, is_placed, placements};
pub use run::{Run, Stopped, placed, run};
