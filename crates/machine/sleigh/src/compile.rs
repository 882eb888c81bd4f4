//! Specifications as people write them: `.slaspec` source to the bytes of a `.sla` file.
//!
//! The compiler is C++ like the library that reads its output, and is handed whatever a user has: it works in a process
//! of its own, which may crash, run into nesting without end, or be stopped when it takes too long.

use sleigh_compiler::{Error, SleighCompiler};
use std::io;
use std::path::Path;

/// Ghidra's own specifications take seconds.
const PATIENCE_SECONDS: u32 = 120;

/// Why there is no compiled specification.
#[derive(Debug, thiserror::Error)]
pub enum CompileError {
    /// What the compiler says about the source.
    #[error("{0}")]
    Source(String),
    /// It died, or was stopped after too long a time.
    #[error("the specification's compiler crashed, or did not end within {PATIENCE_SECONDS} s")]
    Died,
    /// Files or processes.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// The compiled specification. Files that it includes are found beside it.
pub fn compile(source: &Path) -> Result<Vec<u8>, CompileError> {
    // Reading it here first gives a plain message when it is not there.
    std::fs::File::open(source)?;
    let source = source.canonicalize()?;
    let folder = tempfile::tempdir()?;
    let (output, messages) = (folder.path().join("out.sla"), folder.path().join("messages"));
    // SAFETY: the child runs only the code below and leaves through `_exit`.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: plain system calls of a process of our own. What the compiler prints is not for the user's output.
        unsafe {
            libc::alarm(PATIENCE_SECONDS);
            let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
            libc::setrlimit(libc::RLIMIT_CORE, &none);
            let nowhere = libc::open(c"/dev/null".as_ptr(), libc::O_WRONLY);
            libc::dup2(nowhere, 1);
            libc::dup2(nowhere, 2);
        }
        let status = match SleighCompiler::default().compile(&source, &output) {
            Ok(_) => 0,
            Err(error) => {
                let text = match error {
                    Error::NonZeroExitCode(response) => {
                        complaints(response.errors.iter().map(String::as_str))
                    }
                    Error::InternalCompilerError(error) => error.to_string(),
                };
                let _ = std::fs::write(&messages, text);
                1
            }
        };
        // SAFETY: ends this process without running what belongs to the parent.
        unsafe { libc::_exit(status) }
    }
    if child < 0 {
        return Err(io::Error::last_os_error().into());
    }
    let mut status = 0;
    // SAFETY: the child is ours.
    unsafe { libc::waitpid(child, &mut status, 0) };
    if !libc::WIFEXITED(status) {
        return Err(CompileError::Died);
    }
    match (libc::WEXITSTATUS(status), std::fs::read(&messages)) {
        (0, _) => Ok(std::fs::read(&output)?),
        (_, Ok(text)) if !text.is_empty() => {
            Err(CompileError::Source(String::from_utf8_lossy(&text).into_owned()))
        }
        _ => Err(CompileError::Source("the compiler refuses it without saying why".to_owned())),
    }
}

/// The first few messages.
fn complaints<'a>(all: impl Iterator<Item = &'a str>) -> String {
    all.take(8).collect::<Vec<_>>().join("\n")
}
