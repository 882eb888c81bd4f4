//! MIXY: null errors in C, by mixing qualifier inference with symbolic execution.
//!
//! Qualifier inference is cheap and covers whole programs, but knows neither the order of statements nor conditions.
//! Symbolic execution knows both, and is expensive. Here a program is cut into *blocks* at function calls, each analysed by
//! one of the two, and at the cuts what one knows is translated for the other (Khoo, Chang, Foster: *Mixing Type Checking
//! and Symbolic Execution*, 2010, section 4).
//!
//! - [`declared`]: what declarations say;
//! - [`graph`]: where null may flow; [`region`]: what it reaches in a typed region;
//! - [`finding`]: what is reported; [`output`]: in which forms.

pub mod caller;
mod calls;
pub mod check;
pub mod confirm;
pub mod declared;
mod explore;
pub mod finding;
pub mod footprint;
mod freed;
mod fresh;
pub mod graph;
mod host;
mod leaves;
mod left_null;
mod local;
pub mod mix;
pub mod names;
pub mod output;
mod paper;
mod place;
mod rank;
pub mod region;
mod returns;
mod starts;
mod tested;
mod ways;
mod world;

pub use check::{Error, Settings, check};
pub use declared::Mode;
pub use finding::{Finding, Kind, Report, Status, Step, Where};
pub use graph::Origin;
pub use region::Sinks;
