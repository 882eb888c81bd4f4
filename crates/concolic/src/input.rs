//! What of a program's input is unknown, and the inputs that runs are given.

use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// One part of the input that is unknown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// Standard input, from its beginning.
    Stdin,
    /// An argument; the first behind the program's name is 1.
    Argument(usize),
    /// A variable of the environment.
    Environment(String),
    /// A file, by the name under which the program opens it.
    File(PathBuf),
}

impl Kind {
    /// The ending of the files that hold its bytes.
    pub fn suffix(&self) -> String {
        let plain = |text: &str| -> String {
            text.chars().map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '_' }).collect()
        };
        match self {
            Kind::Stdin => String::from("stdin"),
            Kind::Argument(number) => format!("arg{number}"),
            Kind::Environment(name) => format!("env_{}", plain(name)),
            Kind::File(path) => format!("file_{}", plain(&path.display().to_string())),
        }
    }

    /// Its name in formulas.
    pub fn symbol(&self) -> String {
        match self {
            Kind::Stdin => String::from("stdin"),
            Kind::Argument(number) => format!("argv{number}"),
            Kind::Environment(name) => format!("env_{name}"),
            Kind::File(path) => format!("file_{}", path.display()),
        }
    }
}

/// A part of the input, and how many bytes of it are unknown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// Which part.
    pub kind: Kind,
    /// How many bytes.
    pub bytes: usize,
}

/// All unknown parts, in order: an input is their bytes one behind the other.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sources(pub Vec<Source>);

/// The bytes of an input.
pub type Input = Vec<u8>;

impl Sources {
    /// How many bytes an input has.
    pub fn bytes(&self) -> usize {
        self.0.iter().map(|source| source.bytes).sum()
    }

    /// Where the bytes of each source are in an input.
    pub fn ranges(&self) -> impl Iterator<Item = (&Source, std::ops::Range<usize>)> {
        self.0.iter().scan(0, |at, source| {
            let start = *at;
            *at += source.bytes;
            Some((source, start..*at))
        })
    }

    /// Where the bytes of a source are.
    pub fn range(&self, index: usize) -> std::ops::Range<usize> {
        let start = self.0[..index].iter().map(|source| source.bytes).sum();
        start..start + self.0[index].bytes
    }

    /// The name of a byte in formulas.
    pub fn symbol(&self, index: usize) -> String {
        let (source, range) =
            self.ranges().find(|(_, range)| range.contains(&index)).expect("a byte of the input");
        format!("{}[{}]", source.kind.symbol(), index - range.start)
    }

    /// Writes an input into a folder, one file for each source; their paths.
    pub fn write(&self, folder: &Path, name: &str, input: &[u8]) -> std::io::Result<Vec<PathBuf>> {
        self.ranges()
            .map(|(source, range)| {
                let path = folder.join(format!("{name}.{}", source.kind.suffix()));
                let bytes = &input[range];
                std::fs::write(&path, bytes)?;
                Ok(path)
            })
            .collect()
    }

    /// Reads an input back from a folder.
    pub fn read(&self, folder: &Path, name: &str) -> std::io::Result<Input> {
        let mut input = Vec::new();
        for source in &self.0 {
            let path = folder.join(format!("{name}.{}", source.kind.suffix()));
            let mut bytes = std::fs::read(path)?;
            bytes.resize(source.bytes, 0);
            input.extend(bytes);
        }
        Ok(input)
    }
}
