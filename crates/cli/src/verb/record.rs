//! `record -- PROGRAM ARGUMENTS...`: runs a Linux program and writes down what it hears of the world.

use super::process::{environment, find, say};
use crate::exit::Status;
use anyhow::Result;
use clap::Args;
use parallax_process::outside::live::{Clock, Live, enact};
use parallax_process::{Process, Program};
use parallax_record::{Recording, Settings};
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// How much memory a program may touch.
const MEMORY: u64 = 8 << 30;

/// Record a program while it runs.
///
/// Example: `parallax record -o sorted.rec -- sort -r /etc/passwd`, then `parallax replay --verify sorted.rec`. Input and
/// output are the program's own, and so is the exit status. Children are recorded too, each into a stream
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
    let mut process = Process::start(program, Box::new(door)).map_err(super::process::start_error)?;
    let ending = process.run();
    let status = say(&ending);
    enact(&ending, status as i32)
}
