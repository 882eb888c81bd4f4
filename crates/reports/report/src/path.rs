//! Walking a path, and the rule that makes its frames a tree.

use crate::{Document, MAX_DEPTH, Path, Step};

/// Why indices do not make a path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Misshapen {
    /// A step lies in a frame that there is not.
    #[error("step {step} lies in frame {frame}, but there are only {count}")]
    NoSuchFrame {
        /// The step.
        step: usize,
        /// The frame it names.
        frame: usize,
        /// How many frames there are.
        count: usize,
    },
    /// A frame is called by a step that there is not, or that comes after it, or that has opened another frame.
    #[error("frame {frame} cannot be opened by step {call}")]
    BadCall {
        /// The frame.
        frame: usize,
        /// The step it names.
        call: usize,
    },
    /// A step goes back into a frame that has been left.
    #[error("step {step} goes back into frame {frame}, which has been left")]
    Reentered {
        /// The step.
        step: usize,
        /// The frame it names.
        frame: usize,
    },
    /// Frames nest deeper than [`MAX_DEPTH`].
    #[error("frame {0} nests deeper than {MAX_DEPTH} calls")]
    TooDeep(usize),
    /// A link of the text leads to a step or related place that there is not.
    #[error("piece {0} of the text leads nowhere")]
    DeadLink(usize),
    /// A line or column is zero.
    #[error("lines and columns count from one")]
    ZeroPosition,
}

/// One thing met on the way down a page: a frame opens, a step happens, a frame closes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outline {
    /// The frame with this index begins.
    Open(usize),
    /// The step with this index happens.
    Step(usize),
    /// The frame with this index ends.
    Close(usize),
}

impl Path {
    /// The frame that called `frame`.
    pub fn parent(&self, frame: usize) -> Option<usize> {
        self.frames.get(frame)?.call.and_then(|call| self.steps.get(call)).map(|step| step.frame)
    }

    /// How many calls lead to `frame`. Zero for a cycle's members too: a misshapen path stays harmless.
    pub fn depth(&self, frame: usize) -> usize {
        let mut depth = 0;
        let mut at = frame;
        while let Some(parent) = self.parent(at) {
            depth += 1;
            if depth > self.frames.len() {
                return 0;
            }
            at = parent;
        }
        depth
    }

    /// The frame that `step` opens.
    pub fn callee(&self, step: usize) -> Option<usize> {
        self.frames.iter().position(|frame| frame.call == Some(step))
    }

    /// For every step the frame it opens: [`callee`](Path::callee) for all of them at once.
    pub fn callees(&self) -> Vec<Option<usize>> {
        let mut callees = vec![None; self.steps.len()];
        for (index, frame) in self.frames.iter().enumerate().rev() {
            if let Some(slot) = frame.call.and_then(|call| callees.get_mut(call)) {
                *slot = Some(index);
            }
        }
        callees
    }

    /// The step where it goes wrong: the one marked, else the last.
    pub fn failing_step(&self) -> Option<usize> {
        self.steps.iter().rposition(|step| step.failing).or(self.steps.len().checked_sub(1))
    }

    /// The path as it is laid out: frames opening and closing around their steps. Needs a path that [`check`]s.
    ///
    /// [`check`]: Path::check
    pub fn outline(&self) -> Vec<Outline> {
        let mut out = Vec::with_capacity(self.steps.len() + 2 * self.frames.len());
        let mut open: Vec<usize> = Vec::new();
        let mut next = 0;
        // Before step `at` (or at the end), opens the frames whose turn it is: those called by the step just passed,
        // and the roots that lead to the step's own frame or hold no step at all.
        for at in 0..=self.steps.len() {
            let upto = self.steps.get(at).map_or(self.frames.len(), |step| (step.frame + 1).max(next));
            while next < upto {
                let parent = self.parent(next);
                while open.last().copied() != parent {
                    match open.pop() {
                        Some(frame) => out.push(Outline::Close(frame)),
                        None => break,
                    }
                }
                out.push(Outline::Open(next));
                open.push(next);
                next += 1;
            }
            let Some(step) = self.steps.get(at) else { break };
            while open.last().is_some_and(|&frame| frame != step.frame) {
                out.extend(open.pop().map(Outline::Close));
            }
            out.push(Outline::Step(at));
            // A frame that a step opens begins right under it, even when it stays empty.
            while self.frames.get(next).is_some_and(|frame| frame.call == Some(at)) {
                out.push(Outline::Open(next));
                open.push(next);
                next += 1;
            }
        }
        out.extend(open.into_iter().rev().map(Outline::Close));
        out
    }

    /// Whether frames and steps make a well-bracketed tree: frames stand in the order they are entered, each is
    /// opened by an earlier step (at most one per step) and starts right after it; and a frame once left, by a step of
    /// a caller or by another root, is not entered again.
    pub fn check(&self) -> Result<(), Misshapen> {
        let count = self.frames.len();
        let mut open: Vec<usize> = Vec::new();
        let mut next = 0;
        for (index, step) in self.steps.iter().enumerate() {
            self.check_positions(step)?;
            if step.frame >= count {
                return Err(Misshapen::NoSuchFrame { step: index, frame: step.frame, count });
            }
            while next <= step.frame {
                self.enter(next, index, &mut open)?;
                next += 1;
            }
            while open.last().is_some_and(|&frame| frame != step.frame) {
                open.pop();
            }
            if open.is_empty() {
                return Err(Misshapen::Reentered { step: index, frame: step.frame });
            }
            if self.frames.get(next).is_some_and(|frame| frame.call == Some(index)) {
                self.enter(next, index + 1, &mut open)?;
                next += 1;
            }
        }
        while next < count {
            self.enter(next, self.steps.len(), &mut open)?;
            next += 1;
        }
        Ok(())
    }

    fn enter(&self, frame: usize, at: usize, open: &mut Vec<usize>) -> Result<(), Misshapen> {
        match self.frames[frame].call {
            None => open.clear(),
            // Only the step just passed opens a frame, and only one.
            Some(call) if at.checked_sub(1) == Some(call) && open.last() == Some(&self.steps[call].frame) => {
            }
            Some(call) => return Err(Misshapen::BadCall { frame, call }),
        }
        open.push(frame);
        if open.len() > MAX_DEPTH + 1 { Err(Misshapen::TooDeep(frame)) } else { Ok(()) }
    }

    fn check_positions(&self, step: &Step) -> Result<(), Misshapen> {
        let zero = step.location.as_ref().is_some_and(|place| {
            [place.line, place.column, place.end_line, place.end_column].contains(&Some(0))
        });
        if zero { Err(Misshapen::ZeroPosition) } else { Ok(()) }
    }
}

impl Document {
    /// Whether every path is well-bracketed and every link of every text leads somewhere; says which report is not.
    pub fn check(&self) -> Result<(), (usize, Misshapen)> {
        for (index, report) in self.reports.iter().enumerate() {
            for path in &report.paths {
                path.check().map_err(|error| (index, error))?;
            }
            for (piece, segment) in report.text.iter().enumerate() {
                let alive = match &segment.link {
                    Some(crate::Link::Step { path, step }) => {
                        report.paths.get(*path).is_some_and(|path| *step < path.steps.len())
                    }
                    Some(crate::Link::Related(related)) => *related < report.related.len(),
                    Some(crate::Link::Url(_)) | None => true,
                };
                if !alive {
                    return Err((index, Misshapen::DeadLink(piece)));
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Frame, PathBuilder, Role};

    fn nested() -> Path {
        let mut path = PathBuilder::new("");
        path.enter(Frame::new("a", "f.c"));
        path.step(Step::call("f.c", 5));
        path.enter(Frame::new("b", "f.c"));
        path.step(Step::call("f.c", 10));
        path.enter(Frame::new("c", "f.c"));
        path.leave();
        path.leave();
        path.step(Step::new(Role::Note, "f.c", 20));
        path.finish()
    }

    #[test]
    fn the_outline_brackets_frames_around_their_steps() {
        use Outline::{Close, Open, Step};
        let path = nested();
        assert_eq!(path.check(), Ok(()));
        let want = [Open(0), Step(0), Open(1), Step(1), Open(2), Close(2), Close(1), Step(2), Close(0)];
        assert_eq!(path.outline(), want);
        assert_eq!((path.depth(2), path.parent(2), path.callee(0)), (2, Some(1), Some(1)));
    }

    #[test]
    fn a_frame_once_left_stays_left() {
        let mut path = nested();
        path.steps.push(crate::Step { frame: 1, ..Default::default() });
        assert_eq!(path.check(), Err(Misshapen::Reentered { step: 3, frame: 1 }));
    }

    #[test]
    fn cycles_and_wild_indices_are_named_and_harmless() {
        let mut path = nested();
        path.frames[0].call = Some(1);
        assert!(matches!(path.check(), Err(Misshapen::BadCall { frame: 0, call: 1 })));
        assert_eq!(path.depth(1), 0);
        path.outline();
        let mut path = nested();
        path.steps[2].frame = 99;
        assert!(matches!(path.check(), Err(Misshapen::NoSuchFrame { frame: 99, .. })));
        path.outline();
        let mut path = nested();
        path.frames[2].call = Some(usize::MAX);
        assert!(matches!(path.check(), Err(Misshapen::BadCall { .. })));
        path.outline();
    }
}
