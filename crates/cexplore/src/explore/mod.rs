//! Symbolic exploration: every path of a program, each with what is certain on it.

mod host;
mod joins;
mod search;
mod settings;
mod steps;
mod unknown;

pub use host::{Explorer, Finding, Input};
pub use search::{Coverage, Exploration, ExploreError, PathEnd, PathRecord, explore, explore_input};
pub use settings::{Argument, Entry, Settings, Strategy};
pub use unknown::{UnknownCell, UnknownMemory, UnknownObject};
