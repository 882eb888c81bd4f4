//! What has run: the code, and how it was left.

use parallax_ir::Flow;
use rustc_hash::FxHashSet;
use std::ops::Range;

/// The code that has run, while an engine noted it. A block that was stopped in its middle counts as a whole.
#[derive(Clone, Debug, Default)]
pub struct Ran {
    /// The blocks: first address and one past the last.
    pub blocks: FxHashSet<(u64, u64)>,
    /// Where direct calls went.
    pub calls: FxHashSet<u64>,
    /// Whether there were calls whose targets were computed.
    pub computed_calls: bool,
    /// Whether there were returns.
    pub returns: bool,
}

impl Ran {
    pub(super) fn note(&mut self, range: Range<u64>, flow: Option<(Flow, Option<u64>)>) {
        if !self.blocks.insert((range.start, range.end)) {
            return;
        }
        match flow {
            Some((Flow::Call, Some(target))) => {
                self.calls.insert(target);
            }
            Some((Flow::Call, None)) => self.computed_calls = true,
            Some((Flow::Return, _)) => self.returns = true,
            Some((Flow::Jump, _)) | None => {}
        }
    }
}
