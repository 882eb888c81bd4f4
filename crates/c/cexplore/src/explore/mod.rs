//! Symbolic exploration: every path of a program, each with what is certain on it.

mod coverage;
mod estimate;
mod globals;
mod host;
mod joins;
mod nearest;
mod relied;
mod search;
mod settings;
mod settle;
mod start;
mod steps;
mod unknown;
mod world;

pub use coverage::{Coverage, Covered, FileCoverage};
pub use host::{Explorer, Finding, Input};
pub use relied::Relied;
pub use search::{Exploration, ExploreError, PathEnd, PathRecord, explore, explore_input};
pub use settings::{Argument, Entry, Globals, LoopBound, Merge, Settings};
pub use unknown::{UnknownCell, UnknownMemory, UnknownObject};
