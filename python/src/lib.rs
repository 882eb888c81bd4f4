//! The native half of the Python module `parallax`: a thin layer over `parallax-trace`,
//! `parallax-travel` and `parallax-symbols`.
//!
//! A method converts its arguments, releases the interpreter, calls the trace, and converts the answer. Functions that
//! come from Python attach to the interpreter again while they run.

mod draw;
mod edit;
mod errors;
mod events;
mod execution;
mod flow;
mod lazies;
mod object;
mod predicate;
mod recorded;
mod scene;
mod snapshot;
mod term;
mod traces;
mod value;

use pyo3::prelude::*;

/// Traces, lazies and EditHAMTs, written in Rust. Import `parallax` instead.
#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::edit::{EditHamt, Values};
    #[pymodule_export]
    use crate::errors::{
        CoincidenceError, DebugError, Deferred, MemoryUnreadable, OptimizedOut, RecordingError,
        SelfDependence, TraceError, UnknownName,
    };
    #[pymodule_export]
    use crate::events::Events;
    #[pymodule_export]
    use crate::execution::Execution;
    #[pymodule_export]
    const READ: u8 = crate::execution::READ;
    #[pymodule_export]
    const WRITE: u8 = crate::execution::WRITE;
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
    #[pymodule_export]
    use crate::flow::{Flow, FlowStep};
    #[pymodule_export]
    use crate::lazies::Lazy;
    #[pymodule_export]
    use crate::predicate::Predicate;
    #[pymodule_export]
    use crate::snapshot::{Frame, Snapshot, Stack};
    #[pymodule_export]
    use crate::term::{Term, arg, memory, register, thread, var};
    #[pymodule_export]
    use crate::traces::{Item, Items, Times, Trace};
    #[pymodule_export]
    use crate::value::Value;
}
