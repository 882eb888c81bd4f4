//! What can go wrong between a C file and a module.

/// Why there is no program.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// clang did not accept the source; its own words.
    #[error("{0}")]
    Compile(String),
    /// A tool of LLVM's could not be started.
    #[error("cannot run {0}: {1} (Debian packages clang-19 and llvm-19)")]
    NoCompiler(String, std::io::Error),
    /// A tool of LLVM's was not run, since nothing here would hold it.
    #[error("{0} was not run: {1}\n  = --run-unjailed runs it all the same, without walls")]
    NotRun(String, parallax_jail::NotRun),
    /// A tool of LLVM's hit a bound of its jail.
    #[error("{0} was ended: {1}")]
    Bound(String, &'static str),
    /// A project's build failed.
    #[error(
        "`{command}` {why}; what it said last:\n{said}\n  = it was run on a copy of the project, in the jail and without network; --run-unjailed runs it without walls"
    )]
    Build {
        /// The command.
        command: String,
        /// How it ended.
        why: String,
        /// Its last lines.
        said: String,
    },
    /// A file could not be read or written.
    #[error("{0}: {1}")]
    Io(String, std::io::Error),
    /// Not LLVM bitcode or assembly, or of a version this LLVM cannot read.
    #[error("{file}: not a module LLVM 19 can read: {message}")]
    BadModule {
        /// The file.
        file: String,
        /// LLVM's own words.
        message: String,
    },
    /// Two modules do not fit together.
    #[error("cannot link {file}: {message}")]
    Link {
        /// The module that was to be added.
        file: String,
        /// LLVM's own words.
        message: String,
    },
    /// The module asks for something that is outside C on this target.
    #[error("{0}")]
    Unsupported(String),
    /// Wrong use: nothing to compile, entry that does not exist, and the like.
    #[error("{0}")]
    Usage(String),
}
