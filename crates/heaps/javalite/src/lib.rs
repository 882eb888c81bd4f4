//! Javalite, the object language of the heap-summary papers.
//!
//! [`parse`] gives a checked [`Program`]; a [`Task`] is one set of small-step rules over any
//! [`Memory`](parallax_engines::Memory), which is what the engines run.

pub mod construct;
mod declare;
pub mod describe;
mod elaborate;
mod machine;
mod setup;
mod sexpr;
mod syntax;

pub use declare::parse;
pub use machine::{Bounds, Cut, Event, Fault, MachineDrafts, Outcome, State, Task};
pub use setup::setup;
pub use syntax::*;

/// The traces of Javalite.
pub type Trace = parallax_engines::engine::TraceOf<Task>;
/// How Javalite's paths end.
pub type Ending = parallax_engines::engine::Ending<Fault, Cut>;
/// One concrete run of Javalite.
pub type Replay = parallax_engines::Replay<Task>;
