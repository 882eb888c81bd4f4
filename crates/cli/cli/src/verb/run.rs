//! `run`: concrete execution.

use super::c_sources::{CFlags, CSources};
use super::process::Engine;
use anyhow::Result;
use clap::Args;
use parallax_cli_base::exit::Status;
use parallax_cli_formulas::subject::{Assume, Limits, Which};
use parallax_cli_formulas::{concrete, states};
use std::path::PathBuf;

/// A program of the small languages that takes longer than this is not going to end; a C program may.
const DEFAULT_STEPS: u64 = 100_000_000;

/// Run a program.
///
/// Example: with `x = x ^ y; y = x ^ y; x = x ^ y;` in swap.pl, `parallax run swap.pl --set x=3 --set y=4` prints
/// `x = 4` and `y = 3`. What is not set is zero; `--set 'p=&x'` makes a pointer.
///
/// A C program (.c, .bc, .ll) runs as it would natively, with arguments after `--`: `parallax run
/// corpus/c/run/levenshtein.c -- kitten sitting` prints 3.
///
/// Without a file, what follows `--` is a Linux program (x86-64, or static 32-bit PowerPC) that runs in an emulated
/// process: `parallax run -- sort -r /etc/passwd`. Its output and its exit status are its own. What a program that is run does
/// to files and to other programs, it does, as under `strace`.
#[derive(Args)]
pub struct Run {
    /// The program; `-` is standard input. Machine code comes from `--hex` or `--elf` instead. A C program may be
    /// several files.
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    flags: CFlags,
    /// An initial value.
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// How many instructions to execute at the most.
    #[arg(long, value_name = "N", default_value_t = DEFAULT_STEPS)]
    steps: u64,
    /// Run machine code from each state of this file, one JSON object a line:
    /// `{"regs":{"RAX":"0x1","ZF":1},"mem":{"0x10000":"0a 0b"}}`. What is not named is zero. Prints the states
    /// afterwards in the same shape, with `--json` as one document `{"states":[...]}`.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["set"])]
    states: Option<PathBuf>,
    /// How `--states` reads the code.
    #[arg(long, value_enum, default_value_t = states::Reading::Concrete, requires = "states")]
    reading: states::Reading,
    /// Let what a Linux program changes of files go to a layer that is gone with it, and give it a network of its own. Signals are real.
    #[arg(long)]
    layer: bool,
    /// What runs a Linux program: `native` is much faster, and makes the same steps.
    #[arg(long, value_enum, default_value_t)]
    engine: Engine,
    /// Print each system call of a Linux program to standard error, with its arguments and its result.
    #[arg(long)]
    calls: bool,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
    /// Without a file before them: a Linux program and its arguments. Behind a C program: its arguments.
    #[arg(last = true)]
    arguments: Vec<std::ffi::OsString>,
}

/// Does it.
pub fn run(arguments: &Run) -> Result<Status> {
    if arguments.files.is_empty() && !arguments.which.code.given() && !arguments.arguments.is_empty() {
        let steps = (arguments.steps != DEFAULT_STEPS).then_some(arguments.steps);
        anyhow::ensure!(
            !arguments.json && arguments.set.is_empty() && arguments.states.is_none(),
            "--json, --set and --states do not go with a Linux program"
        );
        if arguments.layer {
            super::process::enter_layer(Vec::new())?;
        }
        return super::process::run(
            arguments.which.processor()?,
            &arguments.arguments,
            steps,
            arguments.calls,
            arguments.engine,
        );
    }
    anyhow::ensure!(
        arguments.engine == Engine::Exact,
        "--engine goes with a Linux program: parallax run --engine native -- PROGRAM"
    );
    anyhow::ensure!(!arguments.calls, "--calls goes with a Linux program: parallax run --calls -- PROGRAM");
    if let Some(file) = &arguments.states {
        let limits = Limits { unroll: 64, steps: arguments.steps, time: None, assume: Assume::StackApart };
        let form = if arguments.json { states::Form::Document } else { states::Form::Lines };
        return states::run(&arguments.which.machine_code()?, file, arguments.reading, &limits, form);
    }
    anyhow::ensure!(!arguments.layer, "--layer is for a Linux program, which follows --");
    if arguments.files.first().is_some_and(|file| CSources::is_c(file) || file.is_dir()) {
        let sources = CSources { files: arguments.files.clone(), flags: arguments.flags.clone() };
        let steps = (arguments.steps != DEFAULT_STEPS).then_some(arguments.steps);
        return super::run_c::run_program(&sources, &arguments.arguments, steps);
    }
    anyhow::ensure!(arguments.files.len() < 2, "only a C program is made of several files");
    let file = arguments.files.first().cloned();
    concrete::run(&arguments.which, file, &arguments.set, arguments.steps, arguments.json)
}
