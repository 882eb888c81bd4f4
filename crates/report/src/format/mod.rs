//! The formats, one module each: how to recognise it, how to read it and, for three of them, how to write it.

mod json;

use crate::Document;
use crate::read::Fault;
use std::fmt;

/// A file format that reports come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// The JSON form of the model itself, `parallax-report/1`.
    Json,
}

struct Row {
    format: Format,
    name: &'static str,
    sniff: fn(&Sample) -> bool,
    parse: fn(&[u8]) -> Result<Document, Fault>,
}

/// What sniffing looks at.
pub(crate) struct Sample<'a> {
    /// The beginning as text, without byte-order mark and leading blanks.
    pub head: String,
    /// All of it.
    #[allow(dead_code, reason = "readers of text will")]
    pub bytes: &'a [u8],
}

// The order matters only where two formats look alike: the stricter test stands first.
const ROWS: &[Row] =
    &[Row { format: Format::Json, name: "Parallax JSON", sniff: json::sniff, parse: json::parse }];

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

    /// The format these bytes are in, judged by their contents alone.
    pub fn sniff(bytes: &[u8]) -> Option<Format> {
        const HEAD: usize = 8192;
        let body = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let start = body.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(body.len());
        let body = &body[start..];
        let head = String::from_utf8_lossy(&body[..body.len().min(HEAD)]).into_owned();
        let sample = Sample { head, bytes: body };
        ROWS.iter().find(|row| (row.sniff)(&sample)).map(|row| row.format)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

pub(crate) fn parse(format: Format, bytes: &[u8]) -> Result<Document, Fault> {
    (format.row().parse)(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes))
}

/// Writes a document as `parallax-report/1`.
pub fn to_json(document: &Document) -> String {
    json::write(document)
}
