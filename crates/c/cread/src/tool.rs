//! Tools of LLVM's, run on what strangers wrote: in a jail, which leaves them the folder that they write to.

use crate::Error;
use parallax_jail::{Command, End, Ended, Jail, Limits, NotRun, Wanted};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The bounds of a tool: those of the largest files that compilers are given.
const LIMITS: Limits = Limits {
    time: Duration::from_secs(600),
    memory: 8 << 30,
    file: 4 << 30,
    space: 8 << 30,
    files: 20_000,
    processes: 64,
    output: 1 << 30,
};

/// Runs a tool that writes into one folder at most.
pub fn run(command: &mut Command, wanted: Wanted, output: Option<&Path>) -> Result<Ended, Error> {
    run_for(command, wanted, output, LIMITS.time)
}

/// The same, for so long.
pub fn run_for(
    command: &mut Command,
    wanted: Wanted,
    output: Option<&Path>,
    time: Duration,
) -> Result<Ended, Error> {
    let name = command.program.to_string_lossy().into_owned();
    let folder = output.map(|file| match file.parent() {
        Some(folder) if folder != Path::new("") => folder.to_path_buf(),
        _ => PathBuf::from("."),
    });
    if let Some(folder) = &folder {
        // What tools write on the way lies beside what they write in the end.
        let folder = folder.canonicalize().map_err(|error| Error::Io(folder.display().to_string(), error))?;
        let mut variables: Vec<_> = std::env::vars_os().filter(|(name, _)| name != "TMPDIR").collect();
        variables.push(("TMPDIR".into(), folder.into()));
        command.environment = Some(variables);
    }
    let jail = Jail {
        wanted: if wanted == Wanted::Best { Wanted::Light } else { wanted },
        writable: folder.into_iter().collect(),
        limits: Limits { time, ..LIMITS },
        ..Jail::default()
    };
    let ended = jail.run(command).map_err(|error| match error {
        NotRun::Program { error, .. } => Error::NoCompiler(name.clone(), error),
        other => Error::NotRun(name.clone(), other),
    })?;
    match ended.end {
        _ if ended.truncated => Err(Error::Bound(name, "it printed more than a gigabyte")),
        End::Time => Err(Error::Bound(name, "it took too long")),
        End::Memory => Err(Error::Bound(name, "it used more than 8 gigabytes of memory")),
        End::Space => Err(Error::Bound(name, "it wrote more than 8 gigabytes")),
        End::Processes => Err(Error::Bound(name, "it started too many processes")),
        End::Exited(_) | End::Signal(_) => Ok(ended),
    }
}
