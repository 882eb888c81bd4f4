//! The semantic core and its readings.
//!
//! A subject language writes its meaning once, as functions over [`Core`]; each reading implements [`Core`] once. The
//! two never name each other and first meet in an analysis, so N languages and M readings cost N + M.

mod core;

pub use crate::core::{ByteOrder, Core};
