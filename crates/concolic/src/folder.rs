//! The folder of an exploration: inputs that have run as files, and a log of all that were found, written as they are, so that a
//! search that was killed can go on. Several inputs wait for each that runs: files of them all would cost more than the runs.

use crate::constraint::Looked;
use crate::explore::{ExploreError, Settings};
use crate::input::{Input, Sources};
use crate::subject::Command;
use serde::{Deserialize, Serialize};
use std::io::Write;
use std::path::{Path, PathBuf};

/// What the log of a folder says, line by line.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Line {
    /// What the folder is of.
    Of {
        /// The file of the program.
        program: PathBuf,
        /// What of its input is unknown.
        sources: Sources,
    },
    /// There is an input.
    Test {
        /// Its number.
        number: usize,
        /// The number of the input it was derived from.
        parent: Option<usize>,
        /// The events of its run that were looked at before.
        looked: Option<Looked>,
        /// Its bytes, in hexadecimal.
        input: String,
    },
    /// All its ways were looked at.
    Expanded(usize),
}

/// The name of an input.
pub fn name(number: usize) -> String {
    format!("{number:06}")
}

/// The bytes of an input as text.
pub fn to_text(input: &[u8]) -> String {
    use std::fmt::Write;
    input.iter().fold(String::with_capacity(2 * input.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The bytes that a text stands for; nothing if it is not what an exploration writes.
pub fn from_text(text: &str) -> Option<Input> {
    let pairs = text.as_bytes().chunks(2);
    pairs
        .map(|pair| {
            u8::from_str_radix(std::str::from_utf8(pair).ok().filter(|pair| pair.len() == 2)?, 16).ok()
        })
        .collect()
}

/// An error that has to do with a file or a folder.
pub fn failed(path: &Path, error: std::io::Error) -> ExploreError {
    ExploreError::Folder { path: path.to_owned(), error }
}

/// The log of the folder, and what it says already.
pub fn open(
    settings: &Settings,
    command: &Command,
    sources: &Sources,
) -> Result<(std::fs::File, Vec<Line>), ExploreError> {
    let folder = &settings.folder;
    std::fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
    let path = folder.join("explore.jsonl");
    let old = if settings.resume {
        std::fs::read_to_string(&path).map_err(|error| failed(&path, error))?
    } else {
        String::new()
    };
    // The last line may have been cut off when the exploration was killed.
    let lines: Vec<Line> = old.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let program = std::fs::canonicalize(&command.path).unwrap_or_else(|_| command.path.clone());
    if settings.resume {
        let same = lines
            .iter()
            .any(|line| matches!(line, Line::Of { program: p, sources: s } if *p == program && s == sources));
        if !same {
            return Err(ExploreError::OtherFolder(folder.clone()));
        }
    }
    let mut options = std::fs::OpenOptions::new();
    options.create(true).append(settings.resume).write(true).truncate(!settings.resume);
    let mut log = options.open(&path).map_err(|error| failed(&path, error))?;
    if !settings.resume {
        let line =
            serde_json::to_string(&Line::Of { program, sources: sources.clone() }).expect("a line of text");
        writeln!(log, "{line}").map_err(|error| failed(&path, error))?;
    } else if !old.is_empty() && !old.ends_with('\n') {
        writeln!(log).map_err(|error| failed(&path, error))?;
    }
    Ok((log, lines))
}
