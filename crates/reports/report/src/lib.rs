//! The path model: what every analysis explains itself with, and what the viewer shows.
//!
//! A [`Document`] holds reports; a [`Report`] holds [`Path`]s; a path is a list of [`Step`]s, each inside a [`Frame`].
//! Frames and steps refer to each other by index, so nothing here is recursive: a report as deep as a runaway
//! recursion neither overflows a stack when it is read nor when it is dropped.
//!
//! ```
//! use parallax_report::*;
//! let mut path = PathBuilder::new("main");
//! path.enter(Frame::new("main", "main.c"));
//! path.step(Step::call("main.c", 4));
//! path.enter(Frame::new("store", "store.c"));
//! path.step(Step::new(Role::Access, "store.c", 9).with_value("p", "NULL").failing());
//! let path = path.finish();
//! assert_eq!(path.depth(1), 1);
//! assert_eq!(path.callee(0), Some(1));
//! assert!(path.check().is_ok());
//! ```

mod advice;
pub mod baseline;
mod builder;
mod encoding;
mod finding;
mod fingerprint;
mod flow;
mod format;
pub mod identity;
mod locks;
pub mod loss;
mod model;
mod narrate;
mod narration;
mod path;
mod read;
mod stack;
mod terminal;
mod tidy;
mod value;
mod xml;

pub use builder::PathBuilder;
pub use finding::{Baseline, Change, Fix, Importance, Rule};
pub use format::{Format, to_json, to_markdown, to_pathreport, to_sarif};
pub use model::{
    AccessMode, Binding, Document, Excerpt, FORMAT, Frame, Link, Location, Path, PathKind, Related, Report,
    Role, Segment, Severity, Step, Suppression, SuppressionStatus, Tool,
};
pub use path::{Misshapen, Outline};
pub use read::{MAX_BYTES, ReadError, read, read_as, text_of};

/// How deep frames may nest. Deeper calls stay in the deepest frame, and the document's notes say so.
pub const MAX_DEPTH: usize = 400;
