//! The formats, one module each: how to recognise it, how to read it and, for three of them, how to write it; and a summary in Markdown, which is only written.

mod blast;
mod caret;
mod cbmc;
mod checkstyle;
mod compiler;
mod cppcheck;
mod gcc;
mod gcc_notes;
mod gcc_text;
mod gdb;
mod grouped;
mod infer;
mod java;
mod json;
mod klee;
mod locksmith;
mod markdown;
mod message;
mod pathreport;
mod plist;
mod python;
mod rust;
mod rustc;
mod sanitizer;
pub(crate) mod sarif;
mod valgrind;
mod valgrind_text;

pub use markdown::to_markdown;

use crate::read::Fault;
use crate::terminal::plain_log;
use crate::{Document, Frame, Location, MAX_DEPTH, Path, PathBuilder, Role, Step};
use std::fmt;

/// A file format that reports come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// The JSON form of the model itself, `parallax-report/1`.
    Json,
    /// Text marked up with `<path>`, `<detour>` and `<marker>`.
    Pathreport,
    /// SARIF 2.1.0.
    Sarif,
    /// Property lists of the clang static analyzer.
    Plist,
    /// gcc's diagnostics as JSON.
    Gcc,
    /// cppcheck's XML.
    Cppcheck,
    /// Checkstyle's XML, which many linters write.
    Checkstyle,
    /// Valgrind's XML.
    Valgrind,
    /// Infer's `report.json`.
    Infer,
    /// Traces of CBMC (JSON, XML, text) and ESBMC (JSON).
    Cbmc,
    /// KLEE's `.err` files.
    Klee,
    /// What the sanitizers of gcc and clang print.
    Sanitizer,
    /// Warnings of LOCKSMITH.
    Locksmith,
    /// Counterexample traces of BLAST.
    Blast,
    /// gdb backtraces.
    Gdb,
    /// Tracebacks of Python.
    Python,
    /// Stack traces of the Java virtual machine.
    Java,
    /// Panics of Rust programs.
    Rust,
    /// Diagnostics of rustc, as text and as JSON.
    Rustc,
    /// The lines valgrind prints.
    ValgrindText,
    /// `file:line: warning: …`, as compilers and linters print.
    Compiler,
}

struct Row {
    format: Format,
    name: &'static str,
    sniff: fn(&Sample) -> bool,
    parse: fn(&str) -> Result<Document, Fault>,
}

const fn row(
    format: Format,
    name: &'static str,
    sniff: fn(&Sample) -> bool,
    parse: fn(&str) -> Result<Document, Fault>,
) -> Row {
    Row { format, name, sniff, parse }
}

/// What sniffing looks at.
pub(crate) struct Sample<'a> {
    /// The beginning, without leading blanks.
    pub head: &'a str,
    /// All of it.
    pub text: &'a str,
}

// The order matters only where two formats look alike: the stricter test stands first.
const ROWS: &[Row] = &[
    row(Format::Json, "Parallax JSON", json::sniff, json::parse),
    row(Format::Sarif, "SARIF", sarif::sniff, sarif::parse),
    row(Format::Plist, "clang plist", plist::sniff, plist::parse),
    row(Format::Cppcheck, "cppcheck XML", cppcheck::sniff, cppcheck::parse),
    row(Format::Checkstyle, "Checkstyle XML", checkstyle::sniff, checkstyle::parse),
    row(Format::Valgrind, "valgrind XML", valgrind::sniff, valgrind::parse),
    row(Format::Pathreport, "pathreport XML", pathreport::sniff, pathreport::parse),
    row(Format::Infer, "Infer JSON", infer::sniff, infer::parse),
    row(Format::Cbmc, "CBMC and ESBMC", cbmc::sniff, cbmc::parse),
    row(Format::Gcc, "gcc JSON", gcc::sniff, gcc::parse),
    row(Format::Klee, "KLEE .err", klee::sniff, klee::parse),
    row(Format::ValgrindText, "valgrind text", valgrind_text::sniff, valgrind_text::parse),
    row(Format::Locksmith, "LOCKSMITH text", locksmith::sniff, locksmith::parse),
    row(Format::Sanitizer, "sanitizer text", sanitizer::sniff, sanitizer::parse),
    row(Format::Blast, "BLAST trace", blast::sniff, blast::parse),
    row(Format::Gdb, "gdb backtrace", gdb::sniff, gdb::parse),
    row(Format::Python, "Python traceback", python::sniff, python::parse),
    row(Format::Java, "Java stack trace", java::sniff, java::parse),
    row(Format::Rust, "Rust panic", rust::sniff, rust::parse),
    row(Format::Rustc, "rustc text and JSON", rustc::sniff, rustc::parse),
    row(Format::Compiler, "compiler text", compiler::sniff, compiler::parse),
];

impl Format {
    fn row(self) -> &'static Row {
        ROWS.iter().find(|row| row.format == self).expect("every format has its row")
    }

    /// What people call it.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Every format.
    pub fn all() -> impl Iterator<Item = Format> {
        ROWS.iter().map(|row| row.format)
    }

    pub(crate) fn list() -> String {
        ROWS.iter().map(|row| row.name).collect::<Vec<_>>().join(", ")
    }

    /// The format this text is in, judged by its contents alone.
    pub fn sniff(text: &str) -> Option<Format> {
        const HEAD: usize = 8192;
        let plain = plain_log(text);
        let text = plain.trim_start();
        let mut end = text.len().min(HEAD);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let sample = Sample { head: &text[..end], text };
        ROWS.iter().find(|row| (row.sniff)(&sample)).map(|row| row.format)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Formats that stand in one log, one after the other: what a build and its tests print.
const LOGS: [Format; 8] = [
    Format::ValgrindText,
    Format::Sanitizer,
    Format::Gdb,
    Format::Python,
    Format::Java,
    Format::Rust,
    Format::Rustc,
    Format::Compiler,
];

pub(crate) fn parse(format: Format, text: &str) -> Result<Document, Fault> {
    let mut document = (format.row().parse)(text)?;
    let sample = Sample { head: text, text };
    let holds = |other: Format| other == format || (other.row().sniff)(&sample);
    if LOGS.contains(&format) && !text.trim_start().starts_with('{') {
        // rustc's reader reads the lines of other compilers too.
        let rustc = holds(Format::Rustc);
        let others = LOGS.into_iter().filter(|&other| other != format);
        for other in others.filter(|&other| holds(other) && !(rustc && other == Format::Compiler)) {
            document.absorb((other.row().parse)(text)?);
        }
    }
    Ok(document)
}

/// What the notes say when calls nest too deep.
pub(crate) fn cut_note(path: &PathBuilder) -> String {
    format!(
        "path {:?}: calls nest deeper than {MAX_DEPTH}; the steps beyond stay in the deepest frame",
        path.label()
    )
}

/// The first thing in a text that looks like a version: digits with dots between.
fn version_in(text: &str) -> Option<String> {
    let candidates = text.split(|c: char| !(c.is_ascii_digit() || c == '.'));
    candidates.map(|word| word.trim_matches('.')).find(|word| word.contains('.')).map(str::to_owned)
}

/// A path for a report that has only a place.
fn one_step(location: impl Into<Option<Location>>, function: String, message: &str) -> Path {
    let location = location.into();
    let mut path = PathBuilder::new("");
    path.enter(Frame::new(function, location.as_ref().map_or("", |place| place.file.as_str())));
    path.step(Step::at(Role::Note, location).with_message(message).failing());
    path.finish()
}

/// Writes a document as SARIF 2.1.0.
pub fn to_sarif(document: &Document) -> String {
    sarif::write(document)
}

/// Writes a document as `parallax-report/1`.
pub fn to_json(document: &Document) -> String {
    json::write(document)
}

/// Writes a document as pathreport XML.
pub fn to_pathreport(document: &Document) -> String {
    pathreport::write(document)
}
