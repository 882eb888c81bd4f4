//! The structs, and with them the JSON form `parallax-report/1`: field for field what serde writes here.

use crate::finding::{Baseline, Fix, Importance, Rule};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};
use std::collections::BTreeMap;

/// The name and version of the JSON form, found in [`Document::format`].
pub const FORMAT: &str = "parallax-report/1";

pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// What one file holds: the reports of one or several tools.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    /// Always [`FORMAT`].
    pub format: String,
    /// In the order the tools gave them.
    #[serde(default)]
    pub reports: Vec<Report>,
    /// What was lost or cut when the document was read: a reader never drops things in silence.
    #[serde(default, skip_serializing_if = "is_default")]
    pub notes: Vec<String>,
    /// Source that came along with the reports.
    #[serde(default, skip_serializing_if = "is_default")]
    pub excerpts: Vec<Excerpt>,
    /// What the tools say about their rules.
    #[serde(default, skip_serializing_if = "is_default")]
    pub rules: Vec<Rule>,
    /// SARIF runs without the results that became reports: [`Report::run`] leads here.
    #[serde(default, skip_serializing_if = "is_default")]
    pub runs: Vec<Value>,
    /// The property bag of a SARIF log.
    #[serde(default, skip_serializing_if = "is_default")]
    pub properties: Map<String, Value>,
}

impl Default for Document {
    fn default() -> Self {
        Document {
            format: FORMAT.to_owned(),
            reports: Vec::new(),
            notes: Vec::new(),
            excerpts: Vec::new(),
            rules: Vec::new(),
            runs: Vec::new(),
            properties: Map::new(),
        }
    }
}

impl Document {
    /// Takes in all of another document.
    pub fn absorb(&mut self, mut other: Document) {
        let before = self.runs.len();
        for report in &mut other.reports {
            report.run = report.run.map(|run| run + before);
        }
        self.reports.append(&mut other.reports);
        self.notes.append(&mut other.notes);
        self.excerpts.append(&mut other.excerpts);
        self.rules.append(&mut other.rules);
        self.runs.append(&mut other.runs);
        for (name, value) in other.properties {
            self.properties.entry(name).or_insert(value);
        }
        self.tidy();
    }

    /// The rule of a report: its place in [`Document::rules`].
    pub fn rule_of(&self, report: &Report) -> Option<usize> {
        self.rules.iter().position(|rule| rule.id == report.rule && rule.tool == report.tool)
    }
}

/// Lines of a source file as the tool saw them, for where the file itself is not at hand.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Excerpt {
    /// The file, named as in [`Location::file`].
    pub file: String,
    /// The number of the first line.
    pub line: u32,
    /// The lines.
    pub text: String,
}

/// One finding, with the paths that explain it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Report {
    /// What the tool calls this kind of finding, such as `core.NullDereference`; empty where it does not say.
    #[serde(skip_serializing_if = "is_default")]
    pub rule: String,
    /// One line that says what is wrong.
    pub title: String,
    /// The tool's own words, whole, with links into the paths.
    #[serde(skip_serializing_if = "is_default")]
    pub text: Vec<Segment>,
    /// How bad the tool thinks it is.
    pub severity: Severity,
    /// Weakness numbers (CWE), ascending.
    #[serde(skip_serializing_if = "is_default")]
    pub cwe: Vec<u32>,
    /// Who says so.
    pub tool: Tool,
    /// The place the tool would put its message at.
    #[serde(skip_serializing_if = "is_default")]
    pub location: Option<Location>,
    /// How it comes about: one path per thread, branch or stack.
    #[serde(skip_serializing_if = "is_default")]
    pub paths: Vec<Path>,
    /// Places worth knowing that are on no path: a declaration, where memory was allocated.
    #[serde(skip_serializing_if = "is_default")]
    pub related: Vec<Related>,
    /// Who has already judged this not worth fixing, and why.
    #[serde(skip_serializing_if = "is_default")]
    pub suppressions: Vec<Suppression>,
    /// Identities that the tool itself computed, by the name of the method.
    #[serde(skip_serializing_if = "is_default")]
    pub fingerprints: BTreeMap<String, String>,
    /// Whether this is no finding but the opposite: the tool shows paths on which all is well.
    #[serde(skip_serializing_if = "is_default")]
    pub passed: bool,
    /// Edits that would put it right.
    #[serde(skip_serializing_if = "is_default")]
    pub fixes: Vec<Fix>,
    /// How interesting the tool thinks it is, zero to a hundred.
    #[serde(skip_serializing_if = "is_default")]
    pub rank: Option<Number>,
    /// How often it was seen, where the tool counts.
    #[serde(skip_serializing_if = "is_default")]
    pub occurrences: Option<u32>,
    /// How it stands to an earlier run.
    #[serde(skip_serializing_if = "is_default")]
    pub baseline: Option<Baseline>,
    /// The message as Markdown, where the tool writes both.
    #[serde(skip_serializing_if = "is_default")]
    pub markdown: String,
    /// The SARIF run it comes from: index into [`Document::runs`].
    #[serde(skip_serializing_if = "is_default")]
    pub run: Option<usize>,
    /// The SARIF result that it was read from, as it was; empty where it comes from elsewhere.
    #[serde(skip_serializing_if = "is_default")]
    pub extra: Map<String, Value>,
}

/// A piece of the report text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Segment {
    /// The words; never empty in a tidy document.
    pub text: String,
    /// Where they lead.
    #[serde(default, skip_serializing_if = "is_default")]
    pub link: Option<Link>,
}

/// Where a piece of text leads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Link {
    /// To a step of a path; both count from zero.
    Step {
        /// Index into [`Report::paths`].
        path: usize,
        /// Index into [`Path::steps`].
        step: usize,
    },
    /// To a related place: index into [`Report::related`].
    Related(usize),
    /// To a page elsewhere; only `http:` and `https:` survive tidying.
    Url(String),
}

/// How bad it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// Probably wrong.
    #[default]
    Warning,
    /// Wrong.
    Error,
}

/// Who made the report.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Tool {
    /// Such as `clang`; empty where unknown.
    pub name: String,
    /// Such as `19.1.7`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub version: Option<String>,
}

/// A place in a source file. Lines and columns count from one, columns in characters.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Location {
    /// The file as the tool named it, with `/` between folders.
    pub file: String,
    /// The line; absent when only the file is known.
    #[serde(default, skip_serializing_if = "is_default")]
    pub line: Option<u32>,
    /// The first column.
    #[serde(default, skip_serializing_if = "is_default")]
    pub column: Option<u32>,
    /// The last line, where it differs from the first.
    #[serde(default, skip_serializing_if = "is_default")]
    pub end_line: Option<u32>,
    /// One past the last column.
    #[serde(default, skip_serializing_if = "is_default")]
    pub end_column: Option<u32>,
}

/// A place off the paths, and what is there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Related {
    /// The place.
    pub location: Location,
    /// What is there.
    #[serde(default, skip_serializing_if = "is_default")]
    pub message: String,
}

/// A judgement that a report need not be acted on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Suppression {
    /// Whether it stands in the source itself (a comment, an attribute) rather than in a file beside it.
    pub in_source: bool,
    /// Whether it has been agreed to.
    #[serde(default)]
    pub status: SuppressionStatus,
    /// The reason.
    #[serde(default, skip_serializing_if = "is_default")]
    pub justification: String,
}

/// Whether a suppression counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SuppressionStatus {
    /// It does.
    #[default]
    Accepted,
    /// Somebody proposed it.
    UnderReview,
    /// Somebody proposed it and was turned down.
    Rejected,
}

/// One way through the program: a thread, a branch of alternatives, or a stack.
///
/// Steps stand in the order they happen. Each lies in a frame; a frame is opened by the call step just before its
/// first step, or by nothing. [`Path::check`] has the exact rule.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Path {
    /// What to call it: a thread, an alternative.
    #[serde(skip_serializing_if = "is_default")]
    pub label: String,
    /// What the tool calls the thread: a number, a name.
    #[serde(skip_serializing_if = "is_default")]
    pub thread: String,
    /// What its steps are.
    pub kind: PathKind,
    /// Paths of one report with the same number happen together (threads); different numbers are alternatives.
    #[serde(skip_serializing_if = "is_default")]
    pub flow: u32,
    /// The function activations, in the order they are entered.
    pub frames: Vec<Frame>,
    /// The steps, in the order they happen.
    pub steps: Vec<Step>,
}

/// What the steps of a path are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PathKind {
    /// A way through the code, step by step.
    #[default]
    Flow,
    /// A call stack, outermost call first.
    Stack,
}

/// One activation of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    /// The function's name; empty where unknown.
    pub function: String,
    /// The file its body is in; empty where unknown.
    #[serde(default, skip_serializing_if = "is_default")]
    pub file: String,
    /// The step that called it: index into [`Path::steps`]. Absent for where the path begins.
    #[serde(default, skip_serializing_if = "is_default")]
    pub call: Option<usize>,
    /// The thread that starts here, when the call started one.
    #[serde(default, skip_serializing_if = "is_default")]
    pub thread: Option<String>,
}

/// One thing that happens on a path.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// The activation it happens in: index into [`Path::frames`].
    pub frame: usize,
    /// Where; absent where the tool does not say.
    #[serde(default, skip_serializing_if = "is_default")]
    pub location: Option<Location>,
    /// What kind of thing it is.
    #[serde(default)]
    pub role: Role,
    /// Whether the condition here held; only where the tool says.
    #[serde(default, skip_serializing_if = "is_default")]
    pub taken: Option<bool>,
    /// How memory is touched here; only where the tool says.
    #[serde(default, skip_serializing_if = "is_default")]
    pub access: Option<AccessMode>,
    /// Whether this is where it goes wrong: the failing or racing line.
    #[serde(default, skip_serializing_if = "is_default")]
    pub failing: bool,
    /// What the tool says here.
    #[serde(default, skip_serializing_if = "is_default")]
    pub message: String,
    /// Values of variables and expressions known here.
    #[serde(default, skip_serializing_if = "is_default")]
    pub values: Vec<Binding>,
    /// What the analysis knows besides: locks held, ownership, a typestate.
    #[serde(default, skip_serializing_if = "is_default")]
    pub state: Vec<Binding>,
    /// Its place in the order over all paths of the report; for interleavings.
    #[serde(default, skip_serializing_if = "is_default")]
    pub order: Option<u64>,
    /// When it happens, as the tool writes it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub time: String,
    /// How much it matters.
    #[serde(default, skip_serializing_if = "is_default")]
    pub importance: Importance,
}

/// What kind of thing a step is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// The function begins.
    Entry,
    /// A call; the frame it opens, if the path goes in, has this step as its `call`.
    Call,
    /// Back from a call, or about to leave.
    Return,
    /// A condition decides.
    Branch,
    /// Memory is read or written.
    Access,
    /// Anything else.
    #[default]
    Note,
}

/// How memory is touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AccessMode {
    /// Read only.
    Read,
    /// Written only.
    Write,
    /// Both, as in `n += 1`.
    ReadWrite,
}

/// A name and what is known of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Binding {
    /// A variable, an expression, or a kind of state such as `locks held`.
    pub name: String,
    /// Its value, as text.
    pub value: String,
}

impl Location {
    /// A line of a file.
    pub fn line(file: impl Into<String>, line: u32) -> Self {
        Location { file: file.into(), line: (line > 0).then_some(line), ..Location::default() }
    }

    /// The same with a first column; zero means unknown.
    pub fn at_column(mut self, column: u32) -> Self {
        self.column = (column > 0).then_some(column);
        self
    }
}

impl Segment {
    /// Words that lead nowhere.
    pub fn plain(text: impl Into<String>) -> Self {
        Segment { text: text.into(), link: None }
    }

    /// Words that lead to a step.
    pub fn step(text: impl Into<String>, path: usize, step: usize) -> Self {
        Segment { text: text.into(), link: Some(Link::Step { path, step }) }
    }

    /// Words that lead to a related place.
    pub fn related(text: impl Into<String>, index: usize) -> Self {
        Segment { text: text.into(), link: Some(Link::Related(index)) }
    }
}

impl Frame {
    /// An activation of `function`, whose body is in `file`.
    pub fn new(function: impl Into<String>, file: impl Into<String>) -> Self {
        Frame { function: function.into(), file: file.into(), ..Frame::default() }
    }

    /// The same, the first of a new thread.
    pub fn in_thread(mut self, thread: impl Into<String>) -> Self {
        self.thread = Some(thread.into());
        self
    }
}

impl Step {
    /// A step at a line; line zero means that only the file is known, an empty file that nothing is.
    pub fn new(role: Role, file: impl Into<String>, line: u32) -> Self {
        Step::at(role, Some(Location::line(file, line)).filter(|place| !place.file.is_empty()))
    }

    /// A step at a place.
    pub fn at(role: Role, location: Option<Location>) -> Self {
        Step { role, location, ..Step::default() }
    }

    /// A call.
    pub fn call(file: impl Into<String>, line: u32) -> Self {
        Step::new(Role::Call, file, line)
    }

    /// The same with the tool's words.
    pub fn with_message(mut self, message: impl Into<String>) -> Self {
        self.message = message.into();
        self
    }

    /// The same with one more known value.
    pub fn with_value(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.values.push(Binding { name: name.into(), value: value.into() });
        self
    }

    /// The same with one more piece of analysis state.
    pub fn with_state(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.state.push(Binding { name: name.into(), value: value.into() });
        self
    }

    /// The same, with the way the condition went.
    pub fn with_taken(mut self, taken: bool) -> Self {
        self.taken = Some(taken);
        self
    }

    /// The same, as a line that is merely executed.
    pub fn in_passing(mut self) -> Self {
        self.importance = Importance::Unimportant;
        self
    }

    /// Whether there is nothing to say but that the line is executed.
    pub fn says_nothing(&self) -> bool {
        self.role == Role::Note
            && !self.failing
            && self.message.is_empty()
            && self.values.is_empty()
            && self.state.is_empty()
    }

    /// The same, as the place where it goes wrong.
    pub fn failing(mut self) -> Self {
        self.failing = true;
        self
    }
}

impl Report {
    /// The text without its links.
    pub fn plain_text(&self) -> String {
        self.text.iter().map(|segment| segment.text.as_str()).collect()
    }

    /// Whether an accepted suppression stands.
    pub fn is_suppressed(&self) -> bool {
        self.suppressions.iter().any(|suppression| suppression.status == SuppressionStatus::Accepted)
    }
}
