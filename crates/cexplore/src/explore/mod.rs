//! Symbolic exploration: every path of a program, each with what is certain on it.

mod host;
mod search;
mod settings;

pub use host::{Explorer, Finding, Input};
pub use search::{Coverage, Exploration, ExploreError, PathEnd, PathRecord, explore, explore_input};
pub use settings::{Argument, Entry, Settings, Strategy};
