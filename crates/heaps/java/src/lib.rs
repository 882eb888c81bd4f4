//! Java class files: reader, the meaning of bytecode over any heap, models of the library.
//!
//! A [`ClassPath`] gives class files, a [`Program`] loads and links them, a [`Task`] is one set of rules over any
//! memory: the concrete one runs programs, the others of `parallax_engines` explore them.

mod arithmetic;
mod arrays;
mod builders;
pub mod calls;
pub mod cases;
mod classpath;
pub mod code;
mod copy;
pub mod coverage;
mod digits;
mod exec;
pub mod floats;
mod flow;
mod handles;
mod image;
mod invoke;
mod jar;
pub mod junit;
mod known;
mod library;
mod link;
mod machine;
mod meet;
mod mismatch;
mod names;
mod natives;
mod objects;
mod operands;
mod program;
pub mod read;
pub mod run;
mod setup;
mod shared;
mod state;
mod types;
mod unsafely;
mod walk;

pub use classpath::{ClassPath, PathError, by_simple_name, installed};
pub use machine::{Bounds, Cut, Task, Uncaught};
pub use names::FindError;
pub use program::{Class, FieldPlace, InstanceField, LinkError, Method, OBJECT, Program};
pub use setup::{InputClasses, Instances};
pub use state::{Control, Event, Outcome, Place, Slot, State};
pub use types::{Signature, Type, dotted};
pub use walk::{Ended, Seer};
