//! `script`, `timeline` and `debug`: Python over a recording.
//!
//! The Python module `parallax` does the work; this finds an interpreter that has it. `$PARALLAX_PYTHON` names the
//! interpreter, `python3` is taken without it. The module that was built or installed with this command comes first.

use anyhow::{Context, Result};
use clap::Args;
use parallax_cli_base::exit::{Failure, Status};
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Run a Python script over a recording.
///
/// The names of the module `parallax` are there, and `the_execution` is the recording. The exit status is the script's own; 2 if it
/// fails.
#[derive(Args)]
#[command(after_help = "\
Example:
  parallax script server.rec find.py

where find.py says `print(len(the_execution.breakpoints(\"foo\")))`.")]
pub struct Script {
    /// The recording: a folder, or a packed file.
    #[arg(value_name = "RECORDING")]
    recording: PathBuf,
    /// The script.
    #[arg(value_name = "FILE.py")]
    script: PathBuf,
    /// What the script finds in `sys.argv`.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    arguments: Vec<OsString>,
    /// The process to look at: `0` is the first, `0.1` its first child.
    #[arg(long, value_name = "NAME", default_value = "0")]
    stream: String,
}

/// Show the traces of a script over time, as lanes of a page.
///
/// Each trace that the script gives a name to becomes a lane. The page needs nothing else.
#[derive(Args)]
#[command(after_help = "\
Example:
  parallax timeline server.rec --script races.py -o page.html

where races.py says `calls = the_execution.breakpoints(\"foo\")`.")]
pub struct Timeline {
    /// The recording: a folder, or a packed file.
    #[arg(value_name = "RECORDING")]
    recording: PathBuf,
    /// The script whose traces are drawn.
    #[arg(long, value_name = "FILE.py")]
    script: PathBuf,
    /// The page to write.
    #[arg(short, long, value_name = "PAGE.html", required_unless_present_any = ["chrome", "json"])]
    output: Option<PathBuf>,
    /// Write the lanes for ui.perfetto.dev and chrome://tracing too.
    #[arg(long, value_name = "FILE.json")]
    chrome: Option<PathBuf>,
    /// A folder to look for the source in, if it is not where it was compiled; more than once if need be.
    #[arg(long, value_name = "FOLDER")]
    src: Vec<PathBuf>,
    /// At how many items the whole state is kept on the page.
    #[arg(long, value_name = "NUMBER", default_value_t = 1000)]
    moments: u32,
    /// Print what the page shows as one JSON document.
    #[arg(long)]
    json: bool,
    /// The process to look at: `0` is the first, `0.1` its first child.
    #[arg(long, value_name = "NAME", default_value = "0")]
    stream: String,
}

/// Look into a recording at a Python prompt.
///
/// With a program behind `--`, it is recorded meanwhile: `the_execution.cont()` lets it run, Ctrl-C stops it.
#[derive(Args)]
#[command(after_help = "\
Examples:
  parallax debug server.rec
  parallax debug -- ./server --port 8080

At the prompt: `the_execution.breakpoints(\"foo\").last().value.backtrace()`.")]
pub struct Debug {
    /// The recording: a folder, or a packed file. With a program, where to record to.
    #[arg(value_name = "RECORDING", required_unless_present = "command")]
    recording: Option<PathBuf>,
    /// The process to look at: `0` is the first, `0.1` its first child.
    #[arg(long, value_name = "NAME", default_value = "0")]
    stream: String,
    /// The program to record, and its arguments.
    #[arg(last = true)]
    command: Vec<OsString>,
}

/// Runs a script.
pub fn script(arguments: &Script) -> Result<Status> {
    let mut python = python()?;
    python.arg("script").arg(&arguments.stream).arg(&arguments.recording).arg(&arguments.script);
    become_it(python.args(&arguments.arguments))
}

/// Draws the traces of a script.
pub fn timeline(arguments: &Timeline) -> Result<Status> {
    let mut python = python()?;
    python.arg("timeline").arg(&arguments.stream).arg(&arguments.recording).arg(&arguments.script);
    for (option, value) in [("-o", &arguments.output), ("--chrome", &arguments.chrome)] {
        if let Some(value) = value {
            python.arg(option).arg(value);
        }
    }
    for folder in &arguments.src {
        python.arg("--src").arg(folder);
    }
    python.arg("--moments").arg(arguments.moments.to_string());
    if arguments.json {
        python.arg("--json");
    }
    become_it(&mut python)
}

/// Gives a prompt.
pub fn debug(arguments: &Debug) -> Result<Status> {
    let mut python = python()?;
    let recording = arguments.recording.clone().unwrap_or_else(|| PathBuf::from("parallax.rec"));
    if arguments.command.is_empty() {
        return become_it(python.arg("debug").arg(&arguments.stream).arg(&recording));
    }
    if recording.exists() {
        let message = format!("{} is there already; name another place to record to", recording.display());
        return Err(Failure { status: Status::BadInput, message }.into());
    }
    // The prompt lets this command record.
    let this = std::env::current_exe().context("the path of this command")?;
    become_it(python.arg("live").arg(&arguments.stream).arg(this).arg(&recording).args(&arguments.command))
}

/// Ends this process by becoming another.
pub fn become_it(command: &mut Command) -> Result<Status> {
    let error = command.exec();
    Err(error).with_context(|| format!("{}", Path::new(command.get_program()).display()))
}

/// A call of the session, by an interpreter that has the module.
fn python() -> Result<Command> {
    module("parallax.session")
}

/// A call of a part of the module, by an interpreter that has it.
pub fn module(name: &str) -> Result<Command> {
    let (interpreter, path) = interpreter().map_err(|why| {
        let message = format!(
            "{why}. `make install` puts the module beside the command; docs/expositor.md tells how to install its wheel. \
             PARALLAX_PYTHON names another interpreter."
        );
        anyhow::Error::from(Failure { status: Status::Unsupported, message })
    })?;
    let mut command = Command::new(interpreter);
    command.args(["-m", name]).env("PYTHONPATH", path);
    Ok(command)
}

/// An interpreter that can import the module, and the search path with which it does. Or why there is none.
fn interpreter() -> Result<(OsString, OsString), String> {
    let interpreter = std::env::var_os("PARALLAX_PYTHON").unwrap_or_else(|| OsString::from("python3"));
    let path = module_path()?;
    let try_it = Command::new(&interpreter)
        .args(["-c", "import parallax._native"])
        .env("PYTHONPATH", &path)
        .stdin(Stdio::null())
        .output();
    let shown = Path::new(&interpreter).display();
    match try_it {
        Ok(output) if output.status.success() => Ok((interpreter, path)),
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr);
            let why = said.trim().lines().last().unwrap_or_default();
            Err(format!("{shown} does not have the Python module parallax ({why})"))
        }
        Err(error) => Err(format!("{shown}: {error}")),
    }
}

/// The search path with which an interpreter finds the module: that of this command comes first.
pub fn module_path() -> Result<OsString, String> {
    let mut paths: Vec<PathBuf> = with_this_command().into_iter().collect();
    if let Some(given) = std::env::var_os("PYTHONPATH") {
        paths.extend(std::env::split_paths(&given));
    }
    std::env::join_paths(paths).map_err(|error| error.to_string())
}

/// The folder with the module that was built or installed with this command.
fn with_this_command() -> Option<PathBuf> {
    let beside = std::env::current_exe().ok()?.parent()?.to_owned();
    let places = [beside.join("python"), beside.join("../lib/parallax/python")];
    places.into_iter().find(|folder| folder.join("parallax").is_dir())
}
