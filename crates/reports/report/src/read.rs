//! One door for every format: look at the bytes, choose the reader, tidy and check what it made.

use crate::advice::advice;
use crate::format::{self, Format};
use crate::terminal::plain_log;
use crate::{Document, Misshapen};
use std::borrow::Cow;

/// Files larger than this are refused: half a gigabyte of report is a mistake, and all of it would be held in memory.
pub const MAX_BYTES: usize = 512 << 20;

/// Why a report cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// No reader knows the format.
    #[error("{name}: not a report that Parallax can read; {advice}")]
    Unknown {
        /// The file.
        name: String,
        /// What it may be, and what to do.
        advice: String,
    },
    /// A page made for people to read.
    #[error(
        "{name}: an HTML page is drawn for people, and its path cannot be read back whole; have the tool write data instead: \
         `clang --analyze --analyzer-output plist` or `scan-build -plist`, SARIF, XML or JSON"
    )]
    Html {
        /// The file.
        name: String,
    },
    /// The format is known, but the file breaks its rules.
    #[error("{name}{place}: {message} (read as {format})")]
    Malformed {
        /// The file.
        name: String,
        /// What it was taken for.
        format: Format,
        /// Where, as `:line:column`, or empty.
        place: String,
        /// What is wrong.
        message: String,
    },
    /// The document's indices do not make paths.
    #[error("{name}: report {report}: {misshapen}")]
    Misshapen {
        /// The file.
        name: String,
        /// Which report, counted from one.
        report: usize,
        /// What is wrong with it.
        misshapen: Misshapen,
    },
    /// A bound was hit.
    #[error("{name}: {what} exceeds the bound of {bound}")]
    TooLarge {
        /// The file.
        name: String,
        /// What is too large.
        what: &'static str,
        /// How large it may be.
        bound: usize,
    },
}

/// What a format's reader says when it cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// Byte offset or line and column, where known.
    pub place: Place,
    pub message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Nowhere,
    Offset(usize),
    Line(usize, usize),
}

impl Fault {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Fault { place: Place::Nowhere, message: message.into() }
    }

    pub(crate) fn at(offset: usize, message: impl Into<String>) -> Self {
        Fault { place: Place::Offset(offset), message: message.into() }
    }
}

impl From<serde_json::Error> for Fault {
    fn from(error: serde_json::Error) -> Self {
        let place = if error.line() > 0 { Place::Line(error.line(), error.column()) } else { Place::Nowhere };
        let text = error.to_string();
        // The place is told apart from the message, so that it stands where places stand.
        let message = text.split(" at line ").next().unwrap_or(&text).to_owned();
        Fault { place, message }
    }
}

/// Reads a report file of any known format. `name` is what messages call it; the bytes alone decide the format.
pub fn read(bytes: &[u8], name: &str) -> Result<Document, ReadError> {
    let text = decode(bytes, name)?;
    let start: String = text.0.trim_start().chars().take(16).collect::<String>().to_ascii_lowercase();
    let html = start.starts_with("<!doctype html") || start.starts_with("<html");
    let format = Format::sniff(&text.0).filter(|_| !html).ok_or_else(|| match html {
        true => ReadError::Html { name: name.to_owned() },
        false => ReadError::Unknown { name: name.to_owned(), advice: advice(&text.0) },
    })?;
    read_text(format, &text.0, text.1, name)
}

/// The text of a report file, whatever its encoding.
pub fn text_of(bytes: &[u8]) -> Cow<'_, str> {
    crate::encoding::decode(bytes).0
}

/// Reads a report file of a given format.
pub fn read_as(format: Format, bytes: &[u8], name: &str) -> Result<Document, ReadError> {
    let (text, latin1) = decode(bytes, name)?;
    read_text(format, &text, latin1, name)
}

fn decode<'a>(bytes: &'a [u8], name: &str) -> Result<(Cow<'a, str>, bool), ReadError> {
    if bytes.len() > MAX_BYTES {
        return Err(ReadError::TooLarge { name: name.to_owned(), what: "the file's size", bound: MAX_BYTES });
    }
    let (text, latin1) = crate::encoding::decode(bytes);
    let plain = match text {
        Cow::Borrowed(text) => plain_log(text),
        Cow::Owned(text) => plain_log(&text).into_owned().into(),
    };
    Ok((plain, latin1))
}

fn read_text(format: Format, text: &str, latin1: bool, name: &str) -> Result<Document, ReadError> {
    let mut document = format::parse(format, text).map_err(|fault| ReadError::Malformed {
        name: name.to_owned(),
        format,
        place: match fault.place {
            Place::Nowhere => String::new(),
            Place::Line(line, column) => format!(":{line}:{column}"),
            Place::Offset(offset) => {
                let before = &text.as_bytes()[..offset.min(text.len())];
                let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
                let column = before.iter().rev().take_while(|&&byte| byte != b'\n').count() + 1;
                format!(":{line}:{column}")
            }
        },
        message: fault.message,
    })?;
    if latin1 {
        document.notes.push("the file is not UTF-8; it was read as Latin-1".to_owned());
    }
    document.tidy();
    document.check().map_err(|(report, misshapen)| ReadError::Misshapen {
        name: name.to_owned(),
        report: report + 1,
        misshapen,
    })?;
    Ok(document)
}
