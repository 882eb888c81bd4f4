//! `record -- PROGRAM ARGUMENTS...`: runs a Linux program and writes down what it hears of the world.

use super::process::{Engine, enter_layer, environment, find, say};
use anyhow::{Context, Result};
use clap::Args;
use parallax_cli_base::exit::Status;
use parallax_process::outside::live::{Clock, Live, enact};
use parallax_process::{Process, Program};
use parallax_record::{Recording, Settings};
use std::ffi::OsString;
use std::io::IsTerminal;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// How much memory a program may touch.
const MEMORY: u64 = 8 << 30;

/// Record a program while it runs.
///
/// Example: `parallax record -o sorted.rec -- sort -r /etc/passwd`, then `parallax replay --verify sorted.rec`. Input and
/// output are the program's own, and so is the exit status; what it does to files and to other programs, it does, as under
/// `strace`. Children are recorded too, each into a stream
/// of its own.
#[derive(Args)]
pub struct Record {
    /// The folder to record into, which must not hold a recording.
    #[arg(short, long, value_name = "FOLDER", default_value = "parallax.rec")]
    output: PathBuf,
    /// What the turns of threads are drawn from; without it they are of one length, in order.
    #[arg(long, value_name = "N", alias = "schedule")]
    seed: Option<u64>,
    /// Let clocks count instructions, and sleeping pass at once: equal inputs give equal recordings.
    #[arg(long)]
    virtual_time: bool,
    /// Keep no contents of programs: the recording replays only where they are.
    #[arg(long)]
    lean: bool,
    /// Record children too, each into a stream of its own: `--follow=false` records the program alone.
    #[arg(long, value_name = "BOOL", default_value_t = true, num_args = 0..=1, require_equals = true, default_missing_value = "true", action = clap::ArgAction::Set)]
    follow: bool,
    /// Wait for the disk after each piece.
    #[arg(long)]
    sync: bool,
    /// Let what the program changes of files go to a layer that is gone with it, and give it a network of its own. Signals are real.
    #[arg(long)]
    layer: bool,
    /// What runs the program. Both make the same recording; `native`, the default where the machine and the program allow it,
    /// is much faster. `parallax info` says which one it was.
    #[arg(long, value_enum)]
    engine: Option<Engine>,
    /// How many instructions to execute at the most.
    #[arg(long, value_name = "N", default_value_t = u64::MAX)]
    steps: u64,
    /// The program and its arguments.
    #[arg(last = true, required = true)]
    command: Vec<OsString>,
}

/// Does it.
pub fn run(arguments: &Record) -> Result<Status> {
    let path = find(&arguments.command[0])?;
    if arguments.layer {
        std::fs::create_dir_all(&arguments.output)
            .with_context(|| format!("cannot make {}", arguments.output.display()))?;
        enter_layer(vec![arguments.output.clone()])?;
    }
    let program = Program {
        path,
        arguments: arguments.command.iter().map(|argument| argument.as_bytes().to_vec()).collect(),
        environment: environment(),
        byte_bound: MEMORY,
        instruction_bound: arguments.steps,
        schedule: arguments.seed,
    };
    let mut live = Live::owner()?.catching();
    if arguments.virtual_time {
        live = live.with_clock(Clock::counting_from(0));
    }
    let (sync, lean, alone) = (arguments.sync, arguments.lean, !arguments.follow);
    let settings = Settings { sync, lean, alone, ..Settings::default() };
    let door = Recording::create(&arguments.output, &program, Box::new(live), settings)?;
    let health = door.health();
    let mut process = Process::start(program, Box::new(door)).map_err(super::process::start_error)?;
    match arguments.engine {
        Some(engine) => engine.use_in(&mut process),
        // The native engine is only a default here: without it the exact one records, and `info` says so.
        None => drop(process.use_native()),
    }
    let first = std::process::id();
    let ending = process.run();
    // A child of the program comes by here as well: it is a process of its own.
    let is_first = std::process::id() == first;
    let status = say(&ending, is_first);
    if is_first && std::io::stderr().is_terminal() {
        eprintln!("{}", made(&arguments.output, process.time()));
    }
    if health.is_lost() {
        // The program's own status would say that all went well.
        return Ok(Status::BadInput);
    }
    enact(&ending, status as i32)
}

/// What there is now, and what can be done with it.
fn made(folder: &Path, steps: u64) -> String {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let streams =
        entries.filter(|entry| entry.path().extension().is_some_and(|ending| ending == "stream")).count();
    let children = match streams.saturating_sub(1) {
        0 => String::new(),
        1 => String::from(", and one child"),
        more => format!(", and {more} children"),
    };
    let name = folder.display();
    format!(
        "parallax: {name}: {steps} steps{children}. `parallax debug {name}` asks it, `parallax replay {name}` shows it again."
    )
}

#[cfg(test)]
mod tests {
    use super::made;

    #[test]
    fn children_are_counted() {
        let folder = tempfile::tempdir().expect("a folder");
        let add = |name: &str| std::fs::write(folder.path().join(name), "").expect("a file");
        add("0.stream");
        add("0.tail");
        assert!(made(folder.path(), 12).contains(": 12 steps. `parallax debug "));
        add("0.1.stream");
        assert!(made(folder.path(), 12).contains(": 12 steps, and one child. "));
        add("0.2.stream");
        assert!(made(folder.path(), 12).contains(": 12 steps, and 2 children. "));
    }
}
