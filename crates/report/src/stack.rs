//! From a log with call stacks in it to a report: the log itself is the text, and each line of a stack leads to its step.

use crate::{AccessMode, Binding, Frame, Location, PathBuilder, PathKind, Report, Role, Segment, Step};

/// A stack, outermost call first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stack {
    pub label: String,
    pub frames: Vec<StackFrame>,
    pub flow: u32,
}

/// One line of a stack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StackFrame {
    /// Which line of the log it stands on.
    pub line: usize,
    pub function: String,
    pub location: Option<Location>,
    /// What the log says where there is no place.
    pub message: String,
    pub values: Vec<Binding>,
    pub state: Vec<Binding>,
    pub access: Option<AccessMode>,
    pub failing: bool,
    /// The thread that starts with this frame.
    pub thread: Option<String>,
}

impl Stack {
    /// A stack from frames in the order most tools print: innermost first.
    pub(crate) fn innermost_first(label: impl Into<String>, mut frames: Vec<StackFrame>) -> Self {
        frames.reverse();
        Stack { label: label.into(), frames, flow: 0 }
    }

    /// Marks the innermost frame as where it goes wrong.
    pub(crate) fn fails(mut self, access: Option<AccessMode>) -> Self {
        if let Some(last) = self.frames.last_mut() {
            last.failing = true;
            last.access = access;
        }
        self
    }
}

/// Puts stacks and log into the report, and its location at the innermost frame of the first stack that has one.
pub(crate) fn assemble(report: &mut Report, log: &[&str], stacks: Vec<Stack>, notes: &mut Vec<String>) {
    let mut links: Vec<Option<(usize, usize)>> = vec![None; log.len()];
    for stack in stacks {
        let mut path = PathBuilder::new(stack.label);
        path.describe(PathKind::Stack, stack.flow);
        let count = stack.frames.len();
        for (index, line) in stack.frames.into_iter().enumerate() {
            let file = line.location.as_ref().map_or(String::new(), |place| place.file.clone());
            path.enter(Frame { thread: line.thread, ..Frame::new(line.function, file) });
            let role = if index + 1 < count {
                Role::Call
            } else if line.access.is_some() {
                Role::Access
            } else {
                Role::Note
            };
            let mut step = Step::at(role, line.location).with_message(line.message);
            (step.values, step.state, step.access, step.failing) =
                (line.values, line.state, line.access, line.failing);
            let step = path.step(step);
            // A line that two stacks share leads to the first.
            if let Some(link) = links.get_mut(line.line).filter(|link| link.is_none()) {
                *link = Some((report.paths.len(), step));
            }
        }
        if path.was_cut() {
            notes.push(crate::format::cut_note(&path));
        }
        report.paths.push(path.finish());
    }
    for (line, link) in log.iter().zip(links) {
        match link {
            None => report.text.push(Segment::plain(*line)),
            Some((path, step)) => {
                let words = line.trim_start();
                report.text.push(Segment::plain(&line[..line.len() - words.len()]));
                report.text.push(Segment::step(words, path, step));
            }
        }
        report.text.push(Segment::plain("\n"));
    }
    if report.location.is_none() {
        let placed = report
            .paths
            .first()
            .and_then(|path| path.steps.iter().rev().find_map(|step| step.location.clone()));
        report.location = placed;
    }
}

/// `file:line` or `file:line:column` at the end of a text. Windows drives have a colon too.
pub(crate) fn place(text: &str) -> Option<Location> {
    let (rest, last) = text.rsplit_once(':')?;
    let last: u32 = last.parse().ok()?;
    let found = match rest.rsplit_once(':').map(|(file, line)| (file, line.parse::<u32>())) {
        Some((file, Ok(line))) => Location::line(file, line).at_column(last),
        _ => Location::line(rest, last),
    };
    (!found.file.is_empty()).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_from_the_right() {
        assert_eq!(place("a.c:3"), Some(Location::line("a.c", 3)));
        assert_eq!(place("a.c:3:9"), Some(Location::line("a.c", 3).at_column(9)));
        assert_eq!(place("C:\\x.c:3"), Some(Location::line("C:\\x.c", 3)));
        assert_eq!(place("C:\\x.c:3:1"), Some(Location::line("C:\\x.c", 3).at_column(1)));
        assert_eq!(place("a.c"), None);
        assert_eq!(place("a.c:x"), None);
        assert_eq!(place("a.c:99999999999"), None);
    }
}
