//! The verbs about heaps: symbolic execution of Javalite and Java, and Java on the concrete machine.
//!
//! They stand apart from the rest of the command because their engines are instantiated here.

pub mod heap;
pub mod java;
