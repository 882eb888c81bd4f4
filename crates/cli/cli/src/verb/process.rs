//! `run -- PROGRAM ARGUMENTS...`: a Linux program in an emulated process.
//!
//! Standard input, output and errors are the program's own, and so is the exit status, or the signal it dies of; only
//! where Parallax itself has to give up does the status say so (3 unsupported, 4 a bound).

use anyhow::{Result, bail};
use clap::ValueEnum;
use parallax_cli_base::exit::{Failure, Status};
use parallax_jail::{Jail, SharedView};
use parallax_process::outside::live::{Live, enact};
use parallax_process::{Ending, Process, Program, StartError};
use parallax_travel::{Settings, Travel};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// How much memory a program may touch.
const MEMORY: u64 = 8 << 30;

/// What runs the instructions of a Linux program. Both make the same steps; each verb has its own default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Engine {
    /// The semantics, instruction by instruction.
    #[default]
    Exact,
    /// The processor itself, counted, and the semantics for what it cannot be given.
    Native,
}

impl Engine {
    /// Lets a process run this way. Where it cannot, that is said, and it runs exactly.
    pub fn use_in(self, process: &mut Process) {
        if self == Engine::Native
            && let Err(why) = process.use_native()
        {
            eprintln!("parallax: --engine native cannot be had ({why}): the exact engine runs it");
        }
    }
}

/// Runs a command line, with its system calls on standard error if `calls` says so.
pub fn run(
    lang: Option<&str>,
    command: &[OsString],
    steps: Option<u64>,
    calls: bool,
    engine: Engine,
) -> Result<Status> {
    let path = find(&command[0])?;
    let program = Program {
        path,
        arguments: command.iter().map(|argument| argument.as_bytes().to_vec()).collect(),
        environment: environment(),
        byte_bound: MEMORY,
        instruction_bound: steps.unwrap_or(u64::MAX),
        schedule: None,
    };
    // A signal that ends the program ends it in here, so that there is time to name it.
    let live = Live::owner()?.catching();
    let first = std::process::id();
    let mut process = Process::start(program, Box::new(live)).map_err(start_error)?;
    let machine = process.machine().name();
    if let Some(lang) = lang
        && lang != machine
    {
        bail!("{} is a program for {machine}, not for {lang}", command[0].display());
    }
    if calls {
        process.trace_calls(Box::new(|call| eprintln!("{call}")));
    }
    engine.use_in(&mut process);
    let ending = process.run();
    let status = say(&ending, std::process::id() == first);
    enact(&ending, status as i32)
}

/// Moves this process into a layer: what it changes from now on, but in these folders, is gone with it.
pub fn enter_layer(writable: Vec<PathBuf>) -> Result<()> {
    let jail = Jail { writable, ..Jail::default() };
    let failed = |why: String| Failure {
        status: Status::Unsupported,
        message: format!("no layer here: {why}\n  = without --layer the program's changes are real"),
    };
    let view = SharedView::new(&jail, false).map_err(|error| failed(error.to_string()))?;
    Ok(view.enter_alone().map_err(|error| failed(error.to_string()))?)
}

/// Our own environment, as a program wants it.
pub fn environment() -> Vec<Vec<u8>> {
    let pairs = std::env::vars_os().map(|(name, value)| {
        let mut text = name.into_vec();
        text.push(b'=');
        text.extend(value.into_vec());
        text
    });
    pairs.collect()
}

/// Opens a recording for travel, with a word about an index that cannot be used.
pub fn travel(recording: &Path, stream: &str) -> Result<Travel> {
    let travel = Travel::open(recording, stream, Settings::default())?;
    if let Some(notice) = travel.notice() {
        eprintln!("{notice}");
    }
    Ok(travel)
}

/// What to say if a program cannot be started.
pub fn start_error(error: StartError) -> anyhow::Error {
    match error {
        StartError::Load(_) => anyhow::Error::new(error),
        StartError::Lift(_) => {
            anyhow::Error::new(Failure { status: Status::Unsupported, message: error.to_string() })
        }
    }
}

/// Says what there is to say about the end of a program; our status, where it has none of its own. A signal that ends a child
/// of it is left to the child's parent to report.
pub fn say(ending: &Ending, is_first: bool) -> Status {
    match ending {
        Ending::Exited(_) => Status::Clean,
        Ending::Killed { why: None, .. } if !is_first => Status::Clean,
        Ending::Killed { .. } => {
            eprintln!("parallax: {ending}");
            Status::Clean
        }
        Ending::Unsupported { .. } | Ending::Closed { .. } => {
            eprintln!("error: {ending}");
            Status::Unsupported
        }
        Ending::GaveUp { .. } => {
            eprintln!("{ending}");
            Status::GaveUp
        }
    }
}

/// The file of a command, looked up like a shell does.
pub fn find(name: &OsStr) -> Result<PathBuf> {
    let given = Path::new(name);
    if name.as_bytes().contains(&b'/') {
        let exists = given.is_file();
        anyhow::ensure!(
            !exists || is_program(given),
            "{} is not executable (EACCES); `chmod +x` makes it so",
            given.display()
        );
        return Ok(given.to_owned());
    }
    let places = std::env::var_os("PATH").unwrap_or_else(|| OsString::from("/usr/bin:/bin"));
    let found = std::env::split_paths(&places).map(|place| place.join(given)).find(|path| is_program(path));
    match found {
        Some(path) => Ok(path),
        None if given.exists() => {
            bail!("no command {name:?} in PATH; for the file here say ./{}", given.display())
        }
        None => bail!("no command {name:?} in PATH"),
    }
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).is_ok_and(|status| status.is_file() && status.permissions().mode() & 0o111 != 0)
}
