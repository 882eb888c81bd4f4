//! Source files, spans into them, and diagnostics that show the place.
//!
//! Every reader of a subject language reports its errors as a [`Diagnostic`]; the edge renders it with the line it
//! speaks of. Nothing here reads a file: the edge does, and hands the text over.

mod diagnostic;
mod file;

pub use diagnostic::Diagnostic;
pub use file::{Decode, SourceFile, decode};

/// A half-open range of byte offsets into one source text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The span from `start` to `end`.
    pub fn new(start: usize, end: usize) -> Self {
        let clamp = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
        Span { start: clamp(start), end: clamp(end.max(start)) }
    }

    /// The smallest span that holds both.
    pub fn to(self, other: Span) -> Self {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}
