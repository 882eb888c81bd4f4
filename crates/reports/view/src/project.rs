//! Projecting a path onto code: which function bodies stand in which box, and where each step lies in them.
//!
//! Tools differ in how much they say about calls. Where a report brackets its steps into frames, the boxes are those
//! frames. Where steps leave the function of their frame (flat reports, as of cppcheck), the source tells which
//! function they are in: one that the step before calls is put in a box under it, any other in a box of its own.

use crate::sources::Sources;
use crate::syntax::{Lines, unqualified};
use parallax_report::{Outline, Path, Role};

/// A box: one function body, or a stretch of a file outside functions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Box {
    /// The function's name; empty outside functions.
    pub function: String,
    /// Index into [`Sources::all`]; absent when the report names no file.
    pub source: Option<usize>,
    /// The lines of the body; absent when there is no source.
    pub lines: Option<Lines>,
    /// The thread that starts here.
    pub thread: Option<String>,
    /// What is in it, from top to bottom.
    pub items: Vec<Item>,
    /// Whether the report itself has this frame, or we found it in the source.
    pub inferred: bool,
}

/// What a box holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item {
    /// A step: index into the path's steps.
    Step(usize),
    /// A box inside: index into [`Projection::boxes`].
    Box(usize),
}

/// A projected path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Projection {
    /// All boxes.
    pub boxes: Vec<Box>,
    /// The outermost ones, from top to bottom.
    pub roots: Vec<usize>,
}

/// Projects one path.
pub fn project(path: &Path, sources: &mut Sources) -> Projection {
    let mut state = State { path, sources, out: Projection::default(), open: Vec::new(), bases: Vec::new() };
    for event in path.outline() {
        match event {
            Outline::Open(frame) => state.open_frame(frame),
            Outline::Step(step) => state.step(step),
            Outline::Close(_) => state.close_frame(),
        }
    }
    let mut out = state.out;
    for a_box in &mut out.boxes {
        settle(a_box, path, sources);
    }
    out
}

struct State<'a> {
    path: &'a Path,
    sources: &'a mut Sources,
    out: Projection,
    /// The boxes around the current place, outermost first.
    open: Vec<usize>,
    /// For every open frame of the path, where its first box is in `open`.
    bases: Vec<usize>,
}

/// Where a step is.
struct Place {
    source: Option<usize>,
    line: Option<u32>,
    function: Option<(String, Lines)>,
}

impl State<'_> {
    fn open_frame(&mut self, frame: usize) {
        let frame = &self.path.frames[frame];
        let source = (!frame.file.is_empty()).then(|| self.sources.get(&frame.file));
        let new = Box {
            function: frame.function.clone(),
            source,
            lines: None,
            thread: frame.thread.clone(),
            items: Vec::new(),
            inferred: false,
        };
        self.bases.push(self.open.len());
        self.push(new);
    }

    fn close_frame(&mut self) {
        if let Some(base) = self.bases.pop() {
            self.open.truncate(base);
        }
    }

    /// Adds a box inside the innermost open one.
    fn push(&mut self, new: Box) {
        let index = self.out.boxes.len();
        match self.open.last() {
            Some(&around) => self.out.boxes[around].items.push(Item::Box(index)),
            None => self.out.roots.push(index),
        }
        self.out.boxes.push(new);
        self.open.push(index);
    }

    fn step(&mut self, step: usize) {
        let place = self.place(step);
        let base = self.bases.last().copied().unwrap_or(0);
        if let Some(at) = (base..self.open.len()).rev().find(|&at| self.holds(self.open[at], &place)) {
            self.open.truncate(at + 1);
        } else if place.line.is_some() {
            let (function, lines) = match place.function {
                Some((name, lines)) => (name, Some(lines)),
                None => (String::new(), None),
            };
            // Under its call if the step before makes it, beside the frame's box otherwise.
            if !self.calls(step, &function) {
                self.open.truncate(base);
            }
            self.push(Box {
                function,
                source: place.source,
                lines,
                thread: None,
                items: Vec::new(),
                inferred: true,
            });
        }
        if let Some(&innermost) = self.open.last() {
            self.claim(innermost, step);
        }
    }

    /// Adds a step to a box; the first one with a place says which lines the box is about.
    fn claim(&mut self, index: usize, step: usize) {
        let place = self.place(step);
        let target = &mut self.out.boxes[index];
        target.items.push(Item::Step(step));
        if target.lines.is_none()
            && let Some((name, lines)) = place.function
        {
            target.source = place.source;
            target.lines = Some(lines);
            if target.function.is_empty() {
                target.function = name;
            }
        } else if target.source.is_none() {
            target.source = place.source;
        }
    }

    fn place(&mut self, step: usize) -> Place {
        let step = &self.path.steps[step];
        let Some(location) = &step.location else {
            return Place { source: None, line: None, function: None };
        };
        let wanted = self.path.frames.get(step.frame).map(|frame| frame.function.as_str());
        let source = self.sources.get(&location.file);
        let function = location.line.and_then(|line| {
            let outline = &self.sources.text(source)?.outline;
            let function = outline.function_at(line, wanted.filter(|name| !name.is_empty()))?;
            Some((function.name.clone(), function.lines))
        });
        Place { source: Some(source), line: location.line, function }
    }

    fn holds(&self, index: usize, place: &Place) -> bool {
        let candidate = &self.out.boxes[index];
        if place.line.is_none() {
            return true;
        }
        let untouched = candidate.lines.is_none()
            && !candidate.items.iter().any(|item| match item {
                Item::Step(step) => self.path.steps[*step].location.is_some(),
                Item::Box(_) => false,
            });
        if untouched {
            return true;
        }
        candidate.source == place.source
            && match (&candidate.lines, &place.function) {
                (Some(lines), Some((_, inside))) => lines == inside,
                (None, None) => true,
                _ => false,
            }
    }

    /// Whether the step before `step`, in the innermost open box, is a call of `function`.
    fn calls(&self, step: usize, function: &str) -> bool {
        let (Some(&innermost), Some(before)) = (self.open.last(), step.checked_sub(1)) else { return false };
        if self.out.boxes[innermost].items.last() != Some(&Item::Step(before)) || function.is_empty() {
            return false;
        }
        let before = &self.path.steps[before];
        if before.role == Role::Call {
            return true;
        }
        let line = before.location.as_ref().and_then(|location| location.line);
        let code = line
            .zip(self.out.boxes[innermost].source)
            .and_then(|(line, source)| self.sources.text(source).map(|text| text.line(line)));
        code.is_some_and(|code| has_word(code, unqualified(function)))
    }
}

fn has_word(code: &str, word: &str) -> bool {
    code.split(|c: char| !c.is_alphanumeric() && c != '_').any(|candidate| candidate == word)
}

/// Gives a box without a function the lines it needs: what encloses its steps, and a little around them.
fn settle(a_box: &mut Box, path: &Path, sources: &Sources) {
    const AROUND: u32 = 3;
    const LARGEST: u32 = 400;
    let Some(text) = a_box.source.and_then(|source| sources.text(source)) else {
        a_box.lines = None;
        return;
    };
    if let Some(lines) = a_box.lines {
        a_box.lines = Some(text.clip(lines));
        return;
    }
    let numbers: Vec<u32> = a_box
        .items
        .iter()
        .filter_map(|item| match item {
            Item::Step(step) => path.steps[*step].location.as_ref()?.line,
            Item::Box(_) => None,
        })
        .filter(|&line| line <= text.line_count())
        .collect();
    if numbers.is_empty() {
        // A frame without steps shows its function, if the file has it.
        let function = unqualified(&a_box.function);
        let named = text.outline.functions.iter().find(|candidate| candidate.name == function);
        a_box.lines = named.filter(|_| !function.is_empty()).map(|function| function.lines);
        return;
    }
    let mut lines = span(&numbers);
    for block in &text.outline.blocks {
        if numbers.iter().any(|&line| block.lines.contains(line)) && block.lines.count() <= LARGEST {
            lines.first = lines.first.min(block.lines.first);
            lines.last = lines.last.max(block.lines.last);
        }
    }
    lines.first = lines.first.saturating_sub(AROUND).max(1);
    lines.last = lines.last.saturating_add(AROUND);
    a_box.lines = Some(text.clip(lines));
}

fn span(numbers: &[u32]) -> Lines {
    let first = numbers.iter().copied().min().unwrap_or(1);
    Lines { first, last: numbers.iter().copied().max().unwrap_or(first) }
}
