//! The `parallax` command: reads what the user hands over, calls an analysis, prints what it says.
//!
//! One module per verb under `verb`; `main` only maps results to exit statuses.

mod help;
mod verb;

use clap::{CommandFactory, FromArgMatches, Parser};
use parallax_cli_base::{exit, fault};
use std::process::ExitCode;

/// Exploration of programs makes a process for every input. What the C library's allocator reuses lies all over its memory, and each
/// page of it is copied anew: it was six of ten page faults, and page faults were most of a short run.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// See one program from several positions: a program-analysis and debugging workbench.
#[derive(Parser)]
#[command(name = "parallax", version, about, max_term_width = 110)]
struct Arguments {
    /// What to do.
    #[command(subcommand)]
    verb: verb::Verb,
}

/// A reader that has seen enough closes the pipe: the command then ends quietly, as other commands do, instead of
/// failing in the middle of a line.
fn end_with_the_reader() {
    // SAFETY: no other thread runs yet, and the default action needs no handler.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
}

fn main() -> ExitCode {
    end_with_the_reader();
    let all = help::wants_all(std::env::args_os());
    let parsed = help::by_task(Arguments::command(), all).try_get_matches();
    let arguments = match parsed.and_then(|matches| Arguments::from_arg_matches(&matches)) {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and version are not errors; everything else is wrong use.
            let _ = error.print();
            if !error.use_stderr() {
                return ExitCode::SUCCESS;
            }
            let words = error.to_string();
            exit::say_as_json(words.trim_end().trim_start_matches("error: "), exit::Status::BadInput);
            return exit::Status::BadInput.into();
        }
    };
    match fault::contained(|| verb::run(arguments.verb)) {
        Ok(Ok(status)) => status.into(),
        Ok(Err(error)) => exit::report(&error).into(),
        Err(fault) => fault.into(),
    }
}
