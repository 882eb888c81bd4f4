//! What an analysis has against a program, with the path that shows it.

use parallax_source::{SourceFile, Span};

/// One complaint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    /// What sort of complaint.
    pub kind: ComplaintKind,
    /// The place in the source.
    pub span: Span,
    /// One sentence.
    pub message: String,
    /// What to try, where the other half is.
    pub notes: Vec<String>,
    /// Other places that have to do with it.
    pub related: Vec<(Span, String)>,
    /// How a symbolic execution got there.
    pub path: Option<Box<PathTo>>,
}

/// What sort of complaint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ComplaintKind {
    /// Something goes wrong, or the analysis cannot exclude that it does.
    Error,
    /// A bound was reached, or the solver gave up: part of the program was not looked at.
    Gap,
}

/// A path of a symbolic execution.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct PathTo {
    /// The path condition, in the logic's notation.
    pub condition: String,
    /// Values under which a run goes there, when the solver has some.
    pub example: Option<Example>,
    /// What happens on the way: every line, every condition, every call.
    pub steps: Vec<PathStep>,
}

impl PathTo {
    /// What a run with the example comes to.
    pub fn shown(&self) -> Option<Shown> {
        self.example.as_ref().map(|example| example.shown)
    }
}

/// Values under which the path is taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// The values.
    pub given: Vec<Given>,
    /// The symbolic block that starts with these values; none where they are all that the program has from outside.
    pub block: Option<Span>,
    /// What the interpreter made of them.
    pub shown: Shown,
}

/// What a run with the values of an example comes to, the weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shown {
    /// Nothing: the analysis takes the path with these values, of typed blocks among them.
    Assumed,
    /// The place of the complaint.
    Reached,
    /// An error at the place of the complaint.
    Failed,
}

/// A value of something that a symbolic block does not know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// The variable, or what else it is.
    pub name: String,
    /// The typed block whose value it is.
    pub block: Option<Span>,
    /// The value as the language writes it; the name of another value, if both are one reference.
    pub value: String,
}

/// One thing that happens on a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathStep {
    /// The place in the source.
    pub span: Span,
    /// What happens there.
    pub kind: StepKind,
    /// What was assumed, in the logic's notation; empty where nothing was.
    pub text: String,
    /// What got a new value here.
    pub values: Vec<(String, String)>,
}

/// What a step of a path is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepKind {
    /// A line is executed.
    Line,
    /// Something is assumed; for a condition, with the way it goes.
    Assumed(Option<bool>),
    /// This function is called.
    Call(String),
    /// Back from a call.
    Return,
}

impl Example {
    /// The example as a sentence; nothing where there is nothing to say.
    pub fn sentence(&self, file: &SourceFile) -> Option<String> {
        if self.given.is_empty() {
            return None;
        }
        let given: Vec<String> =
            self.given.iter().map(|given| format!("{} is {}", given.title(file), given.value)).collect();
        let mut given = given.join(", ");
        if let Some(block) = self.block {
            let (line, column) = file.position(block.start);
            given.push_str(&format!(" at the start of the block at {line}:{column}"));
        }
        Some(match self.shown {
            Shown::Failed => format!("for example when {given}"),
            Shown::Reached => format!("a run comes here when {given}"),
            Shown::Assumed => format!("the analysis assumes here that {given}; no run has shown this error"),
        })
    }
}

impl Given {
    /// The name, with the place of a typed block.
    pub fn title(&self, file: &SourceFile) -> String {
        match self.block {
            Some(span) => {
                let (line, column) = file.position(span.start);
                format!("{} at {line}:{column}", self.name)
            }
            None => self.name.clone(),
        }
    }
}

impl Complaint {
    /// An error at `span`.
    pub fn error(span: Span, message: impl Into<String>) -> Self {
        Complaint {
            kind: ComplaintKind::Error,
            span,
            message: message.into(),
            notes: Vec::new(),
            related: Vec::new(),
            path: None,
        }
    }

    /// A gap at `span`.
    pub fn gap(span: Span, message: impl Into<String>) -> Self {
        Complaint { kind: ComplaintKind::Gap, ..Complaint::error(span, message) }
    }

    /// The same with one more place.
    pub fn related(mut self, span: Span, message: impl Into<String>) -> Self {
        self.related.push((span, message.into()));
        self
    }

    /// The same with one more remark.
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }
}
