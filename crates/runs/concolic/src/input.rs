//! What of a program's input is unknown, and the inputs that runs are given.

use parallax_term::{Store, Term};
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
    /// A register at the moment from which the program is explored.
    Register(String),
    /// Memory at that moment, by what it is counted from.
    Memory {
        /// A register, a name or an address.
        base: String,
        /// How far behind it the bytes begin.
        offset: u64,
    },
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
            Kind::Register(name) => format!("register_{name}"),
            Kind::Memory { base, offset } => format!("memory_{}_{offset}", plain(base)),
        }
    }

    /// Its name in formulas.
    pub fn symbol(&self) -> String {
        match self {
            Kind::Stdin => String::from("stdin"),
            Kind::Argument(number) => format!("argv{number}"),
            Kind::Environment(name) => format!("env_{name}"),
            Kind::File(path) => format!("file_{}", path.display()),
            Kind::Register(name) | Kind::Memory { base: name, .. } => name.clone(),
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

    /// Every byte as a term. A register is one symbol, of which these are parts; other bytes are symbols each.
    pub fn terms(&self, store: &Store) -> Vec<Term> {
        let mut terms = Vec::new();
        for source in &self.0 {
            let name = source.kind.symbol();
            for byte in 0..source.bytes {
                terms.push(match &source.kind {
                    Kind::Register(_) => store.extract(self.register(store, source), 8 * byte as u16, 8),
                    Kind::Memory { offset, .. } => {
                        store.symbol(&format!("{name}.{}", *offset as usize + byte), 8)
                    }
                    _ => store.symbol(&format!("{name}[{byte}]"), 8),
                });
            }
        }
        terms
    }

    /// A register as one term.
    pub fn register(&self, store: &Store, source: &Source) -> Term {
        store.symbol(&source.kind.symbol(), 8 * source.bytes as u16)
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
}
