//! `run` on C: the program as it would run natively, with the files and streams of this process.

use super::c_sources::CSources;
use super::c_world::Process;
use super::plain::plain;
use anyhow::Result;
use parallax_cexplore::place::user_stack;
use parallax_cexplore::run::{Outcome, Settings, run};
use parallax_cli_base::exit::{Failure, Status};
use std::ffi::OsString;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;

/// Runs a C program. A program that ends normally decides the exit status itself, as it would natively.
pub fn run_program(sources: &CSources, arguments: &[OsString], steps: Option<u64>) -> Result<Status> {
    let program = sources.load()?;
    let module = &program.module;
    let mut words = vec![sources.files[0].as_os_str().as_bytes().to_vec()];
    words.extend(arguments.iter().map(|a| a.as_bytes().to_vec()));
    let settings = Settings { steps, ..Settings::default() };
    let finished = run(module, &words, &mut Process::default(), &settings, &mut |_| {});
    let _ = std::io::stdout().flush();
    let place = |stack: &[_]| {
        let (function, at) = user_stack(module, stack).next().unwrap_or_default();
        let location = module.location(at);
        match location.line {
            0 => String::new(),
            line => plain(&format!("\n --> {}:{line} in {function}", module.file_of(at))),
        }
    };
    match finished.outcome {
        Outcome::Exit(status) => {
            if let Some(built) = &program.built {
                built.remove();
            }
            std::process::exit(status.into())
        }
        Outcome::Mistake(mistake) => {
            eprintln!("{}: {}{}", mistake.problem.name(), mistake.detail, place(&mistake.stack));
            Ok(Status::Findings)
        }
        Outcome::Assumption => {
            eprintln!("an assumption of the harness does not hold");
            Ok(Status::Clean)
        }
        Outcome::Unsupported(words, stack) => {
            let status = if stack.is_empty() { Status::BadInput } else { Status::Unsupported };
            Err(Failure { status, message: format!("{words}{}", place(&stack)) }.into())
        }
        Outcome::StepLimit => {
            eprintln!("gave up: the program did not end within {} instructions", finished.steps);
            Ok(Status::GaveUp)
        }
    }
}
