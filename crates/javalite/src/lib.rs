//! Javalite, the object language of the heap-summary papers, and the engines that run it.
//!
//! [`parse`] gives a checked [`Program`]; [`Task::step`] is one set of small-step rules over any [`Memory`]. The
//! concrete memory gives the concrete machine, [`Lazy`] gives lazy, lazier and lazier# initialisation, [`Summary`]
//! gives exact heap summaries. [`exact::compare`] checks the last against the first of these.

mod concrete;
pub mod construct;
mod declare;
pub mod describe;
mod elaborate;
pub mod engine;
pub mod equivalent;
pub mod exact;
mod explore;
mod lazy;
mod machine;
mod memory;
mod precondition;
mod replay;
mod setup;
mod sexpr;
mod summary;
mod syntax;

pub use concrete::{Concrete, ConcreteObject, ConcreteValue};
pub use declare::parse;
pub use explore::{Progress, explore};
pub use lazy::{Laziness, Lazy, Pointer};
pub use machine::{Bounds, Cut, End, Event, Fault, MachineDrafts, Outcome, State, Step, Task};
pub use memory::{Allocation, Forks, Memory, Stop, Value, ValueOf};
pub use replay::Replay;
pub use setup::{Inputs, Setup};
pub use summary::{PARAMETERS_LOC, Summary, THIS_LOC};
pub use syntax::*;
