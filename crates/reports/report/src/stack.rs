//! From a log with call stacks in it to a report: the log itself is the text, and each line of a stack leads to its step.

use crate::{AccessMode, Binding, Frame, Location, Path, PathBuilder, PathKind, Report, Role, Segment, Step};
use std::collections::HashMap;

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
    /// Whether the tool says that this is a function it has put its own in place of.
    pub intercepted: bool,
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

/// Functions that start programs and threads, before any code of the user's.
const STARTUP: &[&str] = &[
    "_start",
    "__libc_start_main",
    "__libc_start_main_impl",
    "__libc_start_call_main",
    "(below main)",
    "clone",
    "clone3",
    "__clone",
    "__clone3",
    "start_thread",
    "thread_start",
    "_pthread_start",
    "asan_thread_start",
    "HwasanThreadStartFunc",
    "invoke_main",
    "__scrt_common_main",
    "__scrt_common_main_seh",
    "mainCRTStartup",
    "BaseThreadInitThunk",
    "RtlUserThreadStart",
];
/// Functions that make threads, below `pthread_create`.
const CREATION: &[&str] =
    &["clone", "clone3", "__clone3", "__clone_internal", "__GI___clone_internal", "create_thread"];

/// Frames, innermost first, without those of the tool's own runtime (`__interceptor_malloc`, a wrapper of
/// `pthread_create`) and without start-up code.
pub(crate) fn own_code(frames: Vec<StackFrame>) -> Vec<StackFrame> {
    let inner = frames.iter().take_while(|frame| is_runtime(frame) || creates_thread(frame)).count();
    if inner == frames.len() {
        return frames;
    }
    let called = inner.checked_sub(1).and_then(|last| stands_for(&frames[last])).map(str::to_owned);
    let mut own: Vec<StackFrame> = frames.into_iter().skip(inner).collect();
    // The call itself is where the program's code ends; what it calls is told there.
    if let Some(called) = called.filter(|_| own[0].message.is_empty()) {
        own[0].message = format!("calls {called}");
    }
    without_startup(own)
}

/// Frames, innermost first, without the code around `main` or around a thread's first function; all of them where
/// nothing else is there.
pub(crate) fn without_startup(mut frames: Vec<StackFrame>) -> Vec<StackFrame> {
    // Windows adds how far in the function it is, clang's sanitizers what it takes.
    let name = |frame: &StackFrame| {
        frame.function.split('+').next().unwrap_or_default().trim_end_matches("(void*)").to_owned()
    };
    let starts = |frame: &StackFrame| STARTUP.contains(&name(frame).as_str());
    let mut kept = frames.len();
    if frames.last().is_some_and(starts) {
        while kept > 0 && (starts(&frames[kept - 1]) || is_runtime(&frames[kept - 1])) {
            kept -= 1;
        }
    }
    if kept > 0 {
        frames.truncate(kept);
    }
    frames
}

fn is_runtime(frame: &StackFrame) -> bool {
    let place = frame.location.as_ref().map_or(String::new(), |place| place.file.replace('\\', "/"));
    place.contains("libsanitizer/")
        || place.contains("compiler-rt/")
        || frame.function.starts_with("__interceptor_")
        || frame.function.starts_with("__interceptor.")
        || frame.intercepted
        || frame.message.contains("/vgpreload_")
}

/// The function of the program's that a tool's own stands in place of: `free` for `__interceptor_free`.
fn stands_for(frame: &StackFrame) -> Option<&str> {
    let name = frame.function.split('@').next().unwrap_or_default();
    let name =
        ["__interceptor_", "__interceptor."].iter().find_map(|mark| name.strip_prefix(mark)).unwrap_or(name);
    let hidden = ["", "???"].contains(&name) || name.starts_with("0x") || name.starts_with("__hwasan_");
    (!hidden).then_some(name)
}

fn creates_thread(frame: &StackFrame) -> bool {
    CREATION.contains(&frame.function.as_str())
        || frame.function.starts_with("pthread_create@")
        || frame.function.starts_with("__pthread_create_")
}

/// How many creators of creators are put in front of a stack.
const ANCESTORS: usize = 16;

/// Where threads were created: by thread, the thread that did it and its stack, innermost first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Creations(HashMap<String, (String, Vec<StackFrame>)>);

impl Creations {
    /// Remembers where a thread was created.
    pub(crate) fn insert(&mut self, thread: &str, creator: &str, frames: Vec<StackFrame>) {
        self.0.insert(thread.to_owned(), (creator.to_owned(), own_code(frames)));
    }

    /// Puts the creation of a stack's thread, and of that thread's creator, in front: the path then leads from `main`
    /// through the creation of the thread.
    pub(crate) fn lead_to(&self, stack: &mut Stack, thread: &str) {
        let mut thread = thread.to_owned();
        let mut seen = Vec::new();
        while seen.len() < ANCESTORS
            && !seen.contains(&thread)
            && let Some((creator, creation)) = self.0.get(&thread)
        {
            if let Some(first) = stack.frames.first_mut() {
                first.thread = Some(thread.clone());
            }
            let mut frames: Vec<StackFrame> = creation.iter().rev().cloned().collect();
            frames.append(&mut stack.frames);
            stack.frames = frames;
            seen.push(std::mem::replace(&mut thread, creator.clone()));
        }
    }
}

/// Puts stacks and log into the report, and its location at the innermost frame that has one, of the first stack that goes wrong.
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
        let fails = |path: &&Path| path.steps.iter().any(|step| step.failing);
        let path = report.paths.iter().find(fails).or(report.paths.first());
        let placed = path.and_then(|path| path.steps.iter().rev().find_map(|step| step.location.clone()));
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
