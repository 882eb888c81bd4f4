//! The analyses in which a language and a reading meet: execution, symbolic evaluation, weakest liberal precondition,
//! composition, path constraints, and abstract interpretation, each for every [`Language`](parallax_sem::Language).
//!
//! There is no code here for any particular language, and none that says again what an operator means.

mod abstractly;
mod order;
mod run;
mod symbolically;
mod table;

pub use abstractly::{Analysis, Point, analyse};
pub use run::{Run, Stopped, placed, run};
pub use symbolically::{Bounds, Evaluation, Explorer, PathError};
