//! What holds a run: kinds of walls, and why there are none.

use crate::landlock;
use std::fmt;

/// A kind of walls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Name spaces of its own, and a copy-on-write view of the file system.
    NameSpaces,
    /// Landlock on the real file system.
    Landlock,
}

/// What holds a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Walls {
    /// Their kind.
    pub kind: Kind,
    /// The version of Landlock's interface; 0 if the kernel has none.
    pub landlock: u32,
    /// Whether all of the file system is copy-on-write; if not, parts of it are read-only.
    pub copies_all: bool,
}

impl Walls {
    /// Its name in documents for programs.
    pub fn name(&self) -> &'static str {
        match self.kind {
            Kind::NameSpaces => "name-spaces",
            Kind::Landlock => "landlock",
        }
    }

    /// What holds what, row by row.
    pub fn rows(&self) -> Vec<(&'static str, String)> {
        let landlock = format!("Landlock (version {})", self.landlock);
        let spaces = self.kind == Kind::NameSpaces;
        let files = match (self.kind, self.copies_all) {
            (Kind::NameSpaces, true) => "copy-on-write view (overlay mounts)".into(),
            (Kind::NameSpaces, false) => "copy-on-write view, parts of it read-only".into(),
            (Kind::Landlock, _) => format!("{landlock}: own folder writable, devices hidden"),
        };
        let network =
            if spaces { "own network name space, without interfaces" } else { "refused by seccomp" };
        let processes = if spaces { "own process name space" } else { "ended by their subreaper" };
        let signals = match self.kind {
            Kind::NameSpaces => "only to its own processes (name space)".into(),
            Kind::Landlock if self.landlock >= landlock::SCOPES => {
                format!("only to its own processes ({landlock})")
            }
            Kind::Landlock => "only to its own processes (asked at each call)".into(),
        };
        vec![
            ("files", files),
            ("network", network.into()),
            ("processes", processes.into()),
            ("signals", signals),
            ("privileges", "none: no_new_privs, capabilities dropped".into()),
            ("system calls", "a list (seccomp), others refused".into()),
        ]
    }
}

impl fmt::Display for Walls {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            Kind::NameSpaces => write!(out, "name spaces, seccomp"),
            Kind::Landlock => write!(out, "Landlock (version {}), seccomp", self.landlock),
        }
    }
}

/// There is no jail here: each kind of walls with the reason why this kernel does not allow it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoJail(pub Vec<(Kind, String)>);

impl fmt::Display for NoJail {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "no jail here")?;
        for (index, (kind, why)) in self.0.iter().enumerate() {
            let name = match kind {
                Kind::NameSpaces => "name spaces",
                Kind::Landlock => "Landlock",
            };
            write!(out, "{} {name}: {why}", if index == 0 { ":" } else { ";" })?;
        }
        Ok(())
    }
}

/// Why a program was not run.
#[derive(Debug, thiserror::Error)]
pub enum NotRun {
    /// Nothing here would hold it.
    #[error("{0}")]
    NoJail(NoJail),
    /// The jail could not be set up this time.
    #[error("the jail could not be set up: {step}: {error}")]
    SetUp {
        /// What failed.
        step: &'static str,
        /// What the kernel said.
        error: std::io::Error,
    },
    /// The program could not be started.
    #[error("{program} cannot be started: {error}")]
    Program {
        /// Its name.
        program: String,
        /// What the kernel said.
        error: std::io::Error,
    },
}
