//! The folder of an exploration: inputs that have run as files, and a log of all that were found, written as they are, so that a
//! search that was killed can go on. Several inputs wait for each that runs: files of them all would cost more than the runs.

use crate::constraint::Looked;
use crate::explore::{ExploreError, Settings};
use crate::input::{Input, Sources};
use crate::subject::Command;
use parallax_path::Entry;
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
        /// A checksum of the program's file.
        #[serde(default)]
        checksum: u64,
        /// What else decides which ways there are: flags and arguments.
        #[serde(default)]
        flags: Vec<String>,
    },
    /// Something was left out.
    Left(Entry),
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
    let mut lines: Vec<Line> = Vec::new();
    let count = old.lines().count();
    for (number, line) in (1..).zip(old.lines()) {
        match serde_json::from_str(line) {
            Ok(line) => lines.push(line),
            // The last line may have been cut off when the exploration was killed. It may have said what was left out; the
            // input that it was left out of has not been noted as expanded then, and runs again.
            Err(_) if number == count => {}
            Err(_) => return Err(ExploreError::Damaged { folder: folder.clone(), line: number }),
        }
    }
    let program = std::fs::canonicalize(&command.path).unwrap_or_else(|_| command.path.clone());
    let checksum = checksum(&std::fs::read(&program).map_err(|error| failed(&program, error))?);
    let flags = flags(settings, command);
    if settings.resume {
        let before = lines.iter().find_map(|line| match line {
            Line::Of { program: p, sources: s, checksum: c, flags } => {
                (*p == program && s == sources && *c == checksum).then_some(flags)
            }
            _ => None,
        });
        let Some(before) = before else { return Err(ExploreError::OtherFolder(folder.clone())) };
        if *before != flags {
            let words = |flags: &[String]| match flags {
                [] => String::from("no flags"),
                flags => flags.join(" "),
            };
            let (before, now) = (words(before), words(&flags));
            return Err(ExploreError::OtherFlags { folder: folder.clone(), before, now });
        }
    }
    let mut options = std::fs::OpenOptions::new();
    options.create(true).append(settings.resume).write(true).truncate(!settings.resume);
    let mut log = options.open(&path).map_err(|error| failed(&path, error))?;
    if !settings.resume {
        let line = Line::Of { program, sources: sources.clone(), checksum, flags };
        let line = serde_json::to_string(&line).expect("a line of text");
        writeln!(log, "{line}").map_err(|error| failed(&path, error))?;
    } else if !old.is_empty() && !old.ends_with('\n') {
        writeln!(log).map_err(|error| failed(&path, error))?;
    }
    Ok((log, lines))
}

/// The flags that decide which ways a program has, and its arguments.
fn flags(settings: &Settings, command: &Command) -> Vec<String> {
    let mut flags: Vec<String> = Vec::new();
    flags.extend(settings.approximate.then(|| "--approximate".into()));
    flags.extend(settings.summaries.then(|| "--summaries".into()));
    if let Some((moment, unknown)) = &settings.at {
        flags.push(format!("--function {}#{}", moment.function, moment.count));
        flags.extend(unknown.iter().map(|place| format!("--symbolic {place}")));
    }
    flags.extend(settings.avoid.iter().map(|place| format!("--avoid {place}")));
    if command.arguments.len() > 1 {
        let arguments = command.arguments[1..].iter().map(|argument| String::from_utf8_lossy(argument));
        flags.push(format!("-- {}", arguments.collect::<Vec<_>>().join(" ")));
    }
    flags
}

/// A checksum of bytes (FNV-1a).
fn checksum(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}
