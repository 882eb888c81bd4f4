//! The native half of the Python module `parallax`: a thin layer over `parallax-trace`.
//!
//! A method converts its arguments, releases the interpreter, calls the trace, and converts the answer. Functions that
//! come from Python attach to the interpreter again while they run.

mod edit;
mod errors;
mod events;
mod lazies;
mod object;
mod traces;

use pyo3::prelude::*;

/// Traces, lazies and EditHAMTs, written in Rust. Import `parallax` instead.
#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::edit::{EditHamt, Values};
    #[pymodule_export]
    use crate::errors::{CoincidenceError, Deferred, SelfDependence, TraceError};
    #[pymodule_export]
    use crate::events::Events;
    #[pymodule_export]
    use crate::lazies::Lazy;
    #[pymodule_export]
    use crate::traces::{Item, Items, Times, Trace};
}
