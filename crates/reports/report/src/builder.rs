//! Building a path from what tools say: calls and returns, nesting levels, or stacks.

use crate::{Frame, MAX_DEPTH, Path, PathKind, Role, Step};

/// Collects frames and steps so that the result is always well-bracketed.
#[derive(Clone, Debug, Default)]
pub struct PathBuilder {
    path: Path,
    open: Vec<usize>,
    /// Frames that were entered beyond the depth bound: entered in name only.
    beyond: usize,
    cut: bool,
}

impl PathBuilder {
    /// An empty path called `label`.
    pub fn new(label: impl Into<String>) -> Self {
        PathBuilder { path: Path { label: label.into(), ..Path::default() }, ..PathBuilder::default() }
    }

    /// Enters a frame. The step just added to the frame around it is taken as its call; a step that cannot be one,
    /// because it has opened a frame already, makes room for a synthetic call step without a place.
    pub fn enter(&mut self, mut frame: Frame) {
        if self.open.len() > MAX_DEPTH {
            self.beyond += 1;
            self.cut = true;
            return;
        }
        frame.call = None;
        if let Some(&around) = self.open.last() {
            let last = self.path.steps.len().wrapping_sub(1);
            let fits = self.path.steps.get(last).is_some_and(|step| step.frame == around)
                && self.path.frames.last().and_then(|frame| frame.call) != Some(last);
            if !fits {
                self.path.steps.push(Step { frame: around, role: Role::Call, ..Step::default() });
            }
            frame.call = Some(self.path.steps.len() - 1);
        }
        self.open.push(self.path.frames.len());
        self.path.frames.push(frame);
    }

    /// Leaves the innermost frame; leaving nothing does nothing.
    pub fn leave(&mut self) {
        if self.beyond > 0 {
            self.beyond -= 1;
        } else {
            self.open.pop();
        }
    }

    /// Leaves frames until `depth` are open.
    pub fn leave_to(&mut self, depth: usize) {
        while self.depth() > depth {
            self.leave();
        }
    }

    /// How many frames are open.
    pub fn depth(&self) -> usize {
        self.open.len() + self.beyond
    }

    /// The innermost open frame.
    pub fn current(&self) -> Option<&Frame> {
        self.open.last().and_then(|&frame| self.path.frames.get(frame))
    }

    /// Names the innermost frame, if it has no name yet.
    pub(crate) fn name_current(&mut self, function: &str) {
        self.name(0, function);
    }

    /// Names the frame around the innermost one, if it has no name yet.
    pub(crate) fn name_caller(&mut self, function: &str) {
        self.name(1, function);
    }

    fn name(&mut self, outwards: usize, function: &str) {
        let frame = self.open.iter().rev().nth(outwards).and_then(|&frame| self.path.frames.get_mut(frame));
        if let Some(frame) = frame.filter(|frame| frame.function.is_empty()) {
            frame.function = function.to_owned();
        }
    }

    /// How many frames are around the innermost open one of `function`.
    pub(crate) fn innermost_named(&self, function: &str) -> Option<usize> {
        self.open.iter().rposition(|&frame| self.path.frames[frame].function == function)
    }

    /// Says what the path is, and which paths it happens together with.
    pub fn describe(&mut self, kind: PathKind, flow: u32) {
        self.path.kind = kind;
        self.path.flow = flow;
    }

    /// Says what the tool calls the thread.
    pub fn in_thread(&mut self, thread: &str) {
        self.path.thread = thread.to_owned();
    }

    /// The steps so far, for what becomes known of them later.
    pub fn steps_mut(&mut self) -> &mut [Step] {
        &mut self.path.steps
    }

    /// The last step.
    pub fn last_step_mut(&mut self) -> Option<&mut Step> {
        self.path.steps.last_mut()
    }

    /// Adds a step to the innermost frame and says which it is. Outside any frame, one without a name is opened.
    pub fn step(&mut self, mut step: Step) -> usize {
        if self.open.is_empty() {
            let file = step.location.as_ref().map_or(String::new(), |place| place.file.clone());
            self.enter(Frame::new("", file));
        }
        step.frame = self.open[self.open.len() - 1];
        self.path.steps.push(step);
        self.path.steps.len() - 1
    }

    /// Adds a step. A step just before it in the frame that says no more than that the same line is executed gives way.
    pub fn say(&mut self, step: Step) -> usize {
        let line = |step: &Step| step.location.as_ref().map(|place| (place.file.clone(), place.line));
        let opened = self.path.frames.last().and_then(|frame| frame.call);
        let last = self.path.steps.len().wrapping_sub(1);
        match self.path.steps.last_mut() {
            Some(before)
                if before.says_nothing()
                    && self.open.last() == Some(&before.frame)
                    && opened != Some(last)
                    && line(before) == line(&step) =>
            {
                *before = Step { frame: before.frame, ..step };
                last
            }
            _ => self.step(step),
        }
    }

    /// How many steps there are.
    pub fn len(&self) -> usize {
        self.path.steps.len()
    }

    /// Whether there is no step yet.
    pub fn is_empty(&self) -> bool {
        self.path.steps.is_empty()
    }

    /// Whether calls were left out because they nest too deep.
    pub fn was_cut(&self) -> bool {
        self.cut
    }

    /// The path's name.
    pub fn label(&self) -> &str {
        &self.path.label
    }

    /// The path.
    pub fn finish(self) -> Path {
        self.path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runaway_recursion_stays_in_the_deepest_frame() {
        let mut path = PathBuilder::new("");
        for _ in 0..100_000 {
            path.enter(Frame::new("f", "f.c"));
            path.step(Step::call("f.c", 1));
        }
        assert!(path.was_cut());
        path.leave_to(1);
        path.step(Step::call("f.c", 2));
        let path = path.finish();
        assert_eq!(path.check(), Ok(()));
        assert_eq!((path.frames.len(), path.steps.len()), (MAX_DEPTH + 1, 100_001));
        assert_eq!(path.steps[100_000].frame, 0);
    }

    #[test]
    fn two_calls_in_one_statement_get_a_step_each() {
        let mut path = PathBuilder::new("");
        path.enter(Frame::new("f", "f.c"));
        path.step(Step::call("f.c", 1));
        path.enter(Frame::new("g", "f.c"));
        path.leave();
        path.enter(Frame::new("h", "f.c"));
        let path = path.finish();
        assert_eq!(path.check(), Ok(()));
        assert_eq!(path.steps.len(), 2);
    }
}
