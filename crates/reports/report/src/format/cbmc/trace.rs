//! A counterexample of CBMC, whichever way it was printed, as paths.
//!
//! CBMC writes for its own eyes: a parameter gets its value at the call site, after the call; results travel in variables
//! of its own; its models of library functions are stepped through. Here a call opens one frame, whose first step has the
//! parameters, names are those of the program, and functions without source stay closed.

use crate::{Binding, Frame, Location, Path, PathBuilder, Role, Step};
use regex::Regex;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// What CBMC says happens.
pub(super) enum Kind {
    /// A function begins; with the place of its definition.
    Call { function: String, defined: Option<Location> },
    /// The innermost function ends.
    Return,
    /// A variable gets a value; `parameter` when that is because of the call before.
    Assign { name: String, value: String, parameter: bool },
    /// A value comes from outside or goes there.
    Transfer { what: &'static str, name: String, value: String },
    /// A condition that CBMC takes for granted.
    Assume,
    /// The place is passed.
    Pass,
    /// The property does not hold.
    Fail { reason: String },
    /// Another property does not hold here, and the trace goes on.
    Broken { reason: String },
}

/// One step of the trace.
pub(super) struct Happening {
    pub kind: Kind,
    pub hidden: bool,
    pub at: Option<Location>,
    pub function: String,
    pub thread: String,
}

/// The paths of a trace, one for each thread.
pub(super) fn paths(trace: Vec<Happening>, notes: &mut Vec<String>) -> Vec<Path> {
    let mut threads: BTreeMap<String, Thread> = BTreeMap::new();
    for (order, happening) in trace.into_iter().enumerate() {
        let thread = threads.entry(happening.thread.clone()).or_default();
        thread.happen(happening, order as u64);
    }
    let several = threads.values().filter(|thread| !thread.path.is_empty()).count() > 1;
    let mut paths = Vec::new();
    for (name, mut thread) in threads {
        thread.flush();
        if thread.path.was_cut() {
            notes.push(super::super::cut_note(&thread.path));
        }
        let mut path = thread.path.finish();
        if path.steps.is_empty() {
            continue;
        }
        if several {
            path.label = format!("thread {name}");
            path.thread = name;
        } else {
            path.steps.iter_mut().for_each(|step| step.order = None);
        }
        paths.push(path);
    }
    paths
}

/// A function that is open.
struct Open {
    /// Whether its steps are shown: not those of CBMC's own start-up and of its models of the library.
    shown: bool,
}

#[derive(Default)]
struct Thread {
    path: PathBuilder,
    open: Vec<Open>,
    /// The first step of the function just called, as long as its parameters come in.
    entry: Option<Step>,
    /// A line that was passed, told only if nothing else happens there.
    passed: Option<Step>,
    /// Inputs before the first function.
    inputs: Vec<Binding>,
}

impl Thread {
    fn happen(&mut self, happening: Happening, order: u64) {
        let Happening { kind, hidden, at, function, .. } = happening;
        let at = at.filter(|place| !place.file.starts_with('<'));
        let quiet = self.open.last().is_some_and(|open| !open.shown);
        let step = |role: Role| Step { order: Some(order), ..Step::at(role, at.clone()) };
        match kind {
            Kind::Assign { name, value, parameter: true } if !hidden => {
                let binding = binding(&name, &value);
                if let Some(entry) = &mut self.entry {
                    entry.values.retain(|known| known.name != binding.name);
                    entry.values.push(binding);
                } else if let (true, Some(call)) = (quiet, self.path.last_step_mut()) {
                    // The function stays closed, so what it is given stands at the call.
                    if call.role == Role::Call {
                        call.values.push(binding);
                    }
                }
            }
            Kind::Call { function: callee, defined } => {
                let source = defined.filter(|place| !place.file.starts_with('<'));
                let shown = !hidden && !quiet && (source.is_some() || at.is_some() && self.open.is_empty());
                if !hidden && !quiet && !self.open.is_empty() {
                    self.settle(&function, &at);
                    self.tell(step(Role::Call).with_message(format!("call {callee}")));
                }
                if shown {
                    let file =
                        source.as_ref().or(at.as_ref()).map_or(String::new(), |place| place.file.clone());
                    self.path.enter(Frame::new(callee.clone(), file));
                    let mut entry = Step { order: Some(order), ..Step::at(Role::Entry, source) };
                    if self.open.iter().all(|open| !open.shown) {
                        entry.values = std::mem::take(&mut self.inputs);
                    }
                    self.entry = Some(entry);
                }
                self.open.push(Open { shown });
            }
            Kind::Return => {
                self.flush();
                if self.open.pop().is_some_and(|open| open.shown) {
                    self.path.leave();
                }
            }
            Kind::Broken { reason } => {
                self.settle(&function, &at);
                let mut step =
                    step(Role::Note).with_message(format!("also fails here: {reason}")).in_passing();
                // In a function that stays closed, the place is the call.
                if let (true, None, Some(call)) = (quiet, &at, self.path.last_step_mut()) {
                    step.location = call.location.clone();
                }
                self.tell(step);
            }
            Kind::Fail { reason } => {
                self.settle(&function, &at);
                self.tell(step(Role::Note).with_message(reason).failing());
            }
            _ if hidden || quiet => {}
            Kind::Assign { name, value, .. } => {
                self.settle(&function, &at);
                let mut step = step(Role::Note);
                let binding = binding(&name, &value);
                if name.starts_with("goto_symex$$return_value$$") {
                    step.role = Role::Return;
                }
                // A call's result, told once more as it is stored.
                let twice = |last: &Step| last.location == step.location && last.values.contains(&binding);
                if self.path.last_step_mut().is_some_and(|last| twice(last)) && self.entry.is_none() {
                    return;
                }
                step.values.push(binding);
                self.tell(step);
            }
            Kind::Transfer { what, name, value } => {
                let binding = binding(&name, &value);
                if self.path.depth() == 0 {
                    self.inputs.push(binding);
                } else {
                    let mut step = step(Role::Note).with_message(what);
                    step.values.push(binding);
                    self.tell(step);
                }
            }
            Kind::Assume => {
                if at.is_some() {
                    self.settle(&function, &at);
                    self.tell(step(Role::Branch).with_message("assumption").with_taken(true));
                }
            }
            Kind::Pass => {
                let step = step(Role::Note).in_passing();
                let again = self.passed.as_ref().is_some_and(|passed| same_line(passed, &step));
                if at.is_some() && self.path.depth() > 0 && !again {
                    self.flush();
                    self.passed = Some(step);
                }
            }
        }
    }

    /// A trace may begin in the middle; then the first place says which function that is.
    fn settle(&mut self, function: &str, at: &Option<Location>) {
        if self.path.depth() == 0 && at.is_some() {
            let file = at.as_ref().map_or(String::new(), |place| place.file.clone());
            self.path.enter(Frame::new(function, file));
            self.open.push(Open { shown: true });
        }
    }

    fn tell(&mut self, step: Step) {
        if self.passed.as_ref().is_some_and(|passed| same_line(passed, &step)) {
            self.passed = None;
        }
        self.flush();
        self.path.step(step);
    }

    /// Tells what was held back.
    fn flush(&mut self) {
        if let Some(entry) = self.entry.take() {
            self.path.step(entry);
        }
        if let Some(passed) = self.passed.take()
            && !self.path.last_step_mut().is_some_and(|last| same_line(last, &passed))
        {
            self.path.step(passed);
        }
    }
}

fn same_line(a: &Step, b: &Step) -> bool {
    let line = |step: &Step| step.location.as_ref().map(|place| (place.file.clone(), place.line));
    line(a).is_some() && line(a) == line(b)
}

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("well-formed")
}
/// What CBMC adds to a name: which activation, which thread, which write; `'` for what it made up itself.
static MARKS: LazyLock<Regex> = LazyLock::new(|| regex(r"![0-9@#]+|@[0-9#]+|#[0-9]+|\$[0-9]+|'"));
static VERSION: LazyLock<Regex> =
    LazyLock::new(|| regex(r"![0-9]+@[0-9]+(?:#[0-9]+)?|\$[0-9]+|\b([A-Za-z_]\w*)'"));
static SUFFIX: LazyLock<Regex> = LazyLock::new(|| regex(r"\b(-?[0-9]+)(?:[uU]?[lL]{1,2}|[uU])\b"));
static SIZE: LazyLock<Regex> = LazyLock::new(|| regex(r"^sizeof\(.*\) /\*(.*)\*/\s*$"));
static NULL: LazyLock<Regex> = LazyLock::new(|| regex(r"^\(\([^()]*\)\s*NULL\)$"));

/// A variable as the program calls it, and its value as people write it.
pub(super) fn binding(name: &str, value: &str) -> Binding {
    let plain = MARKS.replace_all(name.rsplit("::").next().unwrap_or(name), "");
    let result = |plain: &str| {
        let function =
            plain.strip_prefix("goto_symex$$return_value$$").or_else(|| plain.strip_prefix("return_value_"));
        function.map(|function| format!("{function}()"))
    };
    let name = result(&plain).unwrap_or_else(|| SUFFIX.replace_all(&plain, "$1").into_owned());
    Binding { name, value: readable(value) }
}

fn readable(value: &str) -> String {
    let value = SIZE.replace(value.trim(), "$1");
    if NULL.is_match(&value) {
        return "NULL".to_owned();
    }
    if value.starts_with(['"', '\'']) {
        return value.into_owned();
    }
    let plain = SUFFIX.replace_all(&VERSION.replace_all(&value, "$1"), "$1").into_owned();
    plain.replace("{ ", "{").replace(" }", "}")
}

/// The kind of a property: `main.pointer_dereference.7` is one of `pointer_dereference`.
pub(super) fn class(property: &str) -> &str {
    let mut parts = property.rsplit('.');
    match (parts.next(), parts.next()) {
        (Some(number), Some(class)) if number.bytes().all(|byte| byte.is_ascii_digit()) => class,
        _ => property,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values_are_those_of_the_program() {
        let shown = |name: &str, value: &str| {
            let binding = binding(name, value);
            format!("{}={}", binding.name, binding.value)
        };
        assert_eq!(shown("goto_symex$$return_value$$scale", "1371"), "scale()=1371");
        assert_eq!(shown("main::1::a!0@1", "-3l"), "a=-3");
        assert_eq!(shown("data[2l]", "16ul"), "data[2]=16");
        assert_eq!(shown("p", "((struct node *)NULL)"), "p=NULL");
        assert_eq!(shown("malloc_size", "sizeof(struct node) /*16ul*/ "), "malloc_size=16");
        assert_eq!(shown("argv'[1l]", "&dynamic_object$0"), "argv[1]=&dynamic_object");
        assert_eq!(class("main.pointer_dereference.7"), "pointer_dereference");
        assert_eq!(class("assertion"), "assertion");
    }
}
