//! The engines over input heaps, for any language of objects.
//!
//! A language gives a [`Machine`]: states, and one step of them over any [`Memory`]. The concrete memory then gives
//! the concrete machine, [`Lazy`] gives lazy, lazier and lazier# initialisation, [`Summary`] gives exact heap summaries.
//! [`exact::compare`] checks the last against the first of these, [`Replay`] runs the inputs of a path for real.

mod concrete;
pub mod describe;
mod difference;
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
mod summary;

pub use concrete::{Concrete, ConcreteObject, ConcreteValue};
pub use explore::{Explored, Progress, explore};
pub use lazy::{Laziness, Lazy, Pointer};
pub use machine::{End, EndOf, Machine, MachineState, Step, Steps, Urgency};
pub use memory::{Allocation, BoolOf, Forks, IntOf, Memory, Stop, Value, ValueOf};
pub use replay::Replay;
pub use setup::{Inputs, Setup};
pub use summary::{PARAMETERS_LOC, Summary, THIS_LOC};
