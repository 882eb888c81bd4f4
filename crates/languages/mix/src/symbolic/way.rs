//! What a path came by, in order, for people who read it. No rule depends on it.

use super::Value;
use crate::syntax::{ExprId, FunId, Use};
use parallax_path::Chain;
use parallax_source::Span;

/// Beyond so many things a path is told by its decisions and open calls alone: a loop with a known end may go round
/// a million times.
const ROOM: usize = 4096;

/// One thing that a path came by.
#[derive(Clone, Debug)]
pub(crate) enum Passed {
    /// An expression on another line than the one before.
    Line(ExprId),
    /// A condition that could go one way only.
    Known(Span, bool),
    /// Something was assumed: the decision of this number.
    Decided(usize),
    /// Something got a value.
    Set(Held, Value, Span),
    /// A call.
    Entered(FunId, Span),
    /// Back from a call.
    Left,
}

/// What holds a value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Held {
    /// A variable.
    Variable(Use),
    /// The location that a variable refers to.
    Content(Use),
    /// A typed block, which stands for any value of its type.
    Block,
}

/// Everything that a path came by, unless that was too much.
#[derive(Clone, Default)]
pub(crate) struct Way {
    passed: Chain<Passed>,
    line: u32,
}

impl Way {
    /// The path comes to an expression on this line.
    pub(crate) fn comes_to(&mut self, e: ExprId, line: u32) {
        if self.line != line {
            self.line = line;
            self.push(Passed::Line(e));
        }
    }

    /// Something happens on the line that the path has come to.
    pub(crate) fn push(&mut self, passed: Passed) {
        if self.passed.len() < ROOM {
            self.passed.push(passed);
        }
    }

    /// A call; gives back the line to return to.
    pub(crate) fn enter(&mut self, fun: FunId, span: Span) -> u32 {
        self.push(Passed::Entered(fun, span));
        std::mem::take(&mut self.line)
    }

    /// Back on the line of the call.
    pub(crate) fn leave(&mut self, line: u32) {
        self.push(Passed::Left);
        self.line = line;
    }

    /// All of it, in order; nothing where it was too much.
    pub(crate) fn told(&self) -> Option<Vec<&Passed>> {
        (self.passed.len() < ROOM).then(|| self.passed.to_vec())
    }
}
