//! What the page is made of: the JSON form `parallax-page/1`, read by `viewer/src/lib/page.ts`.
//!
//! Field names are short where there may be many thousands of them: steps, tokens, blocks.

use crate::checklist::Checklist;
use crate::triage::Triage;
use serde::Serialize;
use sha2::{Digest, Sha256};

/// The name and version of the JSON form.
pub const FORMAT: &str = "parallax-page/1";

/// Everything on the page.
#[derive(Clone, Debug, Serialize)]
pub struct Page {
    /// Always [`FORMAT`].
    pub format: &'static str,
    /// What is looked at: the name of the project.
    pub name: String,
    /// What the project is known by, where answers are kept in a browser.
    pub project: String,
    /// When the page was made, as seconds since 1970.
    pub made: u64,
    /// Who triages, by default.
    pub author: String,
    /// Files that boxes refer to by index.
    pub files: Vec<File>,
    /// Definitions that tokens refer to by index.
    pub definitions: Vec<Definition>,
    /// The reports, in the order of the list.
    pub reports: Vec<Report>,
    /// Checklists that reports refer to by index.
    pub checklists: Vec<Checklist>,
    /// Answers given so far.
    pub triage: Triage,
    /// What was cut or left out.
    pub notes: Vec<String>,
    /// What the tools say about their rules.
    pub rules: Vec<Rule>,
    /// Opens a place in an editor: a link with `{file}` and `{line}` in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub editor: Option<String>,
    /// What the reports were compared with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against: Option<String>,
    /// Present when a server keeps the answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<Server>,
}

/// What the pages of a project that lies at `place` are known by; it does not tell the place.
pub fn project(place: &std::path::Path) -> String {
    let digest = Sha256::digest(place.as_os_str().as_encoded_bytes());
    digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// How the page reaches its server.
#[derive(Clone, Debug, Serialize)]
pub struct Server {
    /// Sent along with every answer, so that no other page can give them.
    pub token: String,
    /// A number that changes with the reports and sources, where they are watched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
}

/// What a tool says about a rule.
#[derive(Clone, Debug, Serialize)]
pub struct Rule {
    /// The tool's name for it.
    pub id: String,
    /// A name for people.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// One sentence.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub summary: String,
    /// What is wrong with code like this.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// What to do about it, as Markdown.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub help: String,
    /// A page about it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub url: String,
    /// A score of its severity, zero to ten.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub score: String,
}

/// A proposed edit.
#[derive(Clone, Debug, Serialize)]
pub struct Fix {
    /// What it does.
    pub description: String,
    /// Where, and what changes.
    pub changes: Vec<Change>,
}

/// Lines that change.
#[derive(Clone, Debug, Serialize)]
pub struct Change {
    /// The file.
    pub file: String,
    /// The number of the first line.
    pub first: u32,
    /// The lines now; none where the source is not there.
    pub old: Vec<String>,
    /// The lines then.
    pub new: Vec<String>,
}

/// A file, or as much of it as the page needs.
#[derive(Clone, Debug, Serialize)]
pub struct File {
    /// What to call it.
    pub name: String,
    /// How many lines the whole file has.
    pub lines: u32,
    /// The stretches that boxes show.
    pub chunks: Vec<Chunk>,
    /// Blocks: first line, last line, then the lines to show with any line inside.
    pub blocks: Vec<Vec<u32>>,
    /// Why there is no text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
    /// Where it lies on this machine, for pages that open it in an editor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

/// A stretch of lines.
#[derive(Clone, Debug, Serialize)]
pub struct Chunk {
    /// The number of its first line.
    pub first: u32,
    /// The lines.
    pub lines: Vec<String>,
    /// For each line its tokens: `k0,3 d8,8,12`, a class letter, start, length, and for `d` the definition.
    pub tokens: Vec<String>,
}

/// A definition to reveal.
#[derive(Clone, Debug, Serialize)]
pub struct Definition {
    /// The name.
    pub name: String,
    /// What it is.
    pub kind: &'static str,
    /// The file it stands in.
    pub file: String,
    /// Its text.
    pub chunk: Chunk,
    /// How many lines were left out at its end.
    #[serde(skip_serializing_if = "is_zero")]
    pub more: u32,
}

/// A report.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// `R-01` and so on, in the order of the input; a report that is known from before keeps its name.
    pub id: String,
    /// The key of its triage record.
    pub fingerprint: String,
    /// The keys of records that may be about it, the likeliest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub perhaps: Vec<String>,
    /// The tool's name for this kind of finding.
    pub rule: String,
    /// One line.
    pub title: String,
    /// The tool's own words.
    pub text: Vec<parallax_report::Segment>,
    /// 1 note, 2 warning, 3 error.
    pub severity: u8,
    /// Weakness numbers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cwe: Vec<u32>,
    /// The tool.
    pub tool: String,
    /// Where, as `file:line`.
    pub place: String,
    /// The paths.
    pub paths: Vec<Path>,
    /// Places off the paths: definitions by index where we have the source.
    pub related: Vec<Related>,
    /// Why somebody has suppressed it, if somebody has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suppressed: Option<String>,
    /// Index into [`Page::checklists`].
    pub checklist: usize,
    /// Index into [`Page::rules`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<usize>,
    /// Whether its paths are ones on which all is well.
    #[serde(skip_serializing_if = "is_false")]
    pub passed: bool,
    /// How it stands to the run compared with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<parallax_report::Baseline>,
    /// Proposed edits.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fixes: Vec<Fix>,
    /// How interesting the tool thinks it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<f64>,
    /// How often it was seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub occurrences: Option<u32>,
    /// The message as Markdown.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub markdown: String,
}

/// A place off the paths.
#[derive(Clone, Debug, Serialize)]
pub struct Related {
    /// As `file:line`.
    pub place: String,
    /// What is there.
    pub message: String,
    /// The lines there: index into [`Page::definitions`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub definition: Option<usize>,
}

/// A path.
#[derive(Clone, Debug, Serialize)]
pub struct Path {
    /// What to call it.
    pub label: String,
    /// Whether it is a call stack.
    pub stack: bool,
    /// Paths with the same number happen together.
    #[serde(skip_serializing_if = "is_zero")]
    pub flow: u32,
    /// The thread, as the tool calls it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub thread: String,
    /// All boxes.
    pub frames: Vec<Frame>,
    /// The outermost boxes.
    pub roots: Vec<usize>,
    /// All steps.
    pub steps: Vec<Step>,
}

/// A box.
#[derive(Clone, Debug, Serialize)]
pub struct Frame {
    /// The function; empty outside functions.
    #[serde(rename = "fn")]
    pub function: String,
    /// Index into [`Page::files`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<usize>,
    /// First and last line of the body.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<(u32, u32)>,
    /// The thread that starts here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    /// What is in it: a step `s` as `s`, a box `b` as `-1 - b`.
    pub items: Vec<i64>,
}

/// A step.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Step {
    /// The line.
    #[serde(rename = "l", skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The file, where it is not the box's.
    #[serde(rename = "f", skip_serializing_if = "Option::is_none")]
    pub file: Option<usize>,
    /// First column, and one past the last.
    #[serde(rename = "c", skip_serializing_if = "Option::is_none")]
    pub columns: Option<(u32, Option<u32>)>,
    /// `entry`, `call`, `return`, `branch`, `access`, `note`.
    #[serde(rename = "r")]
    pub role: parallax_report::Role,
    /// Which way a condition went.
    #[serde(rename = "t", skip_serializing_if = "Option::is_none")]
    pub taken: Option<bool>,
    /// How memory is touched.
    #[serde(rename = "a", skip_serializing_if = "Option::is_none")]
    pub access: Option<parallax_report::AccessMode>,
    /// Whether it goes wrong here.
    #[serde(rename = "x", skip_serializing_if = "is_false")]
    pub failing: bool,
    /// The tool's words.
    #[serde(rename = "m", skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// Known values.
    #[serde(rename = "v", skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<(String, String)>,
    /// Locks and other state.
    #[serde(rename = "s", skip_serializing_if = "Vec::is_empty")]
    pub state: Vec<(String, String)>,
    /// Its place in the order over all paths.
    #[serde(rename = "o", skip_serializing_if = "Option::is_none")]
    pub order: Option<u64>,
    /// When it happens.
    #[serde(rename = "w", skip_serializing_if = "String::is_empty")]
    pub time: String,
    /// Whether the line is merely passed.
    #[serde(rename = "p", skip_serializing_if = "is_false")]
    pub passing: bool,
    /// Whether the tool calls it essential.
    #[serde(rename = "e", skip_serializing_if = "is_false")]
    pub essential: bool,
}

fn is_false(value: &bool) -> bool {
    !value
}

fn is_zero(value: &u32) -> bool {
    *value == 0
}
