//! Real programs, run natively and emulated: output and exit status must be the same.
//!
//! Every emulated run is a process of its own, since the program may fork, change directories and die: this binary runs
//! itself with `--emulate`. With `PARALLAX_ALL_PROGRAMS` set, the slow ones run too.

mod commands;
mod compiled;
mod families;
mod hostile;
mod lines;
mod random;
mod refused;
mod steps;

use libtest_mimic::{Arguments, Failed, Trial};
use parallax_process::elf::Machine;
use parallax_process::outside::live::{Live, enact};
use parallax_process::{Ending, Process, Program};
use std::cell::Cell;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

thread_local! {
    /// Whether the test that this thread runs emulates with the native engine.
    static NATIVELY: Cell<bool> = const { Cell::new(false) };
}

/// Whether the test that this thread runs emulates with the native engine.
pub fn is_native() -> bool {
    NATIVELY.get()
}

/// The variable that lets an emulation say how many instructions it ran.
const TIME: &str = "PARALLAX_TIME";

/// What a run left behind.
#[derive(Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Exit status, or the signal as a negative number.
    pub status: i32,
    /// What it printed.
    pub output: Vec<u8>,
    /// What it complained about.
    pub errors: Vec<u8>,
}

/// The status that stands for "Parallax cannot do this", unlike any that the tested programs use.
pub const CANNOT: i32 = 99;

fn main() {
    let arguments: Vec<Vec<u8>> = std::env::args_os().skip(1).map(OsStringExt::into_vec).collect();
    match arguments.first().map(Vec::as_slice) {
        Some(b"--emulate") => emulate(arguments[1..].to_vec(), false),
        Some(b"--emulate-natively") => emulate(arguments[1..].to_vec(), true),
        _ => {}
    }
    let all = std::env::var_os("PARALLAX_ALL_PROGRAMS").is_some();
    let mut tests = commands::tests();
    tests.extend(lines::tests(all));
    let (compiled, skipped) = compiled::tests();
    tests.extend(compiled);
    tests.extend(refused::tests());
    tests.extend(hostile::tests());
    tests.extend(random::tests());
    tests.extend(families::tests());
    if !all {
        tests.retain(|(name, _)| !commands::is_slow(name));
    }
    let trials = tests.into_iter().flat_map(|(name, test)| {
        let test = Arc::new(test);
        [("", false), ("natively: ", true)].map(|(how, natively)| {
            let test = test.clone();
            let run = move || {
                NATIVELY.set(natively);
                test().map_err(Failed::from)
            };
            Trial::test(format!("{how}{name}"), run)
        })
    });
    let steps = steps::tests().into_iter();
    let trials =
        trials.chain(steps.map(|(name, test)| Trial::test(name, move || test().map_err(Failed::from))));
    // Skipped: this processor cannot run them.
    let skipped = skipped.into_iter().map(|name| Trial::test(name, || Ok(())).with_ignored_flag(true));
    libtest_mimic::run(&Arguments::from_args(), trials.chain(skipped).collect()).exit();
}

/// A test: a name, and what to do, which says what went wrong.
pub type Test = (String, Box<dyn Fn() -> Result<(), String> + Send + Sync>);

/// Runs a program in this process, and ends as it ends: its file, then its arguments from the first on, its name.
fn emulate(arguments: Vec<Vec<u8>>, natively: bool) -> ! {
    let mut arguments: Vec<Vec<u8>> = arguments
        .into_iter()
        .flat_map(|argument| if argument == hostile::HOST { hostile::host_places() } else { vec![argument] })
        .collect();
    let path = PathBuf::from(std::ffi::OsString::from_vec(arguments.remove(0)));
    let environment = std::env::vars_os().map(|(name, value)| {
        let mut text = name.into_vec();
        text.push(b'=');
        text.extend(value.into_vec());
        text
    });
    let program = Program {
        path,
        arguments,
        environment: environment.collect(),
        byte_bound: 2 << 30,
        instruction_bound: 20_000_000_000,
        schedule: None,
    };
    let ending = match Process::start(program, Box::new(Live::owner().expect("nothing else runs here"))) {
        Ok(mut process) => {
            if natively
                && process.machine() == Machine::X86_64
                && let Err(why) = process.use_native()
            {
                eprintln!("parallax: no native engine: {why}");
                std::process::exit(CANNOT);
            }
            if std::env::var_os("PARALLAX_TRACE").is_some() {
                process.trace_calls(Box::new(|call| eprintln!("{call}")));
            }
            let ending = process.run();
            if std::env::var_os(TIME).is_some() {
                eprintln!("{} instructions", process.time());
            }
            ending
        }
        Err(error) => {
            eprintln!("parallax: {error}");
            std::process::exit(CANNOT);
        }
    };
    if !matches!(ending, Ending::Exited(_) | Ending::Killed { why: None, .. }) {
        eprintln!("parallax: {ending}");
    }
    enact(&ending, CANNOT)
}

/// Runs a command line natively (or under another emulator).
pub fn native(command: &[&str], input: &[u8]) -> Outcome {
    finish(Command::new(command[0]).args(&command[1..]), input)
}

/// Runs a command line natively in a folder.
pub fn native_in(folder: &Path, command: &[&str], input: &[u8]) -> Outcome {
    finish(Command::new(command[0]).args(&command[1..]).current_dir(folder), input)
}

/// Runs a command line emulated in a folder.
pub fn emulated_in(folder: &Path, command: &[&str], input: &[u8]) -> Outcome {
    let me = std::env::current_exe().unwrap();
    let mut emulation = Command::new(me);
    finish(emulation.arg(how()).arg(find(command[0])).args(command).current_dir(folder), input)
}

/// Runs a command line emulated. The program is looked up like a shell does.
pub fn emulated(command: &[&str], input: &[u8]) -> Outcome {
    let program = find(command[0]);
    let me = std::env::current_exe().unwrap();
    finish(Command::new(me).arg(how()).arg(program).args(command), input)
}

/// The same by one of the engines; its errors end with the number of instructions.
pub fn timed(natively: bool, command: &[&str], input: &[u8]) -> Outcome {
    NATIVELY.set(natively);
    let me = std::env::current_exe().unwrap();
    finish(Command::new(me).env(TIME, "1").arg(how()).arg(find(command[0])).args(command), input)
}

/// A name in the temporary folder that this test alone uses.
pub fn temporary(name: &str) -> PathBuf {
    let engine = if NATIVELY.get() { "native" } else { "exact" };
    std::env::temp_dir().join(format!("parallax-{}-{engine}-{name}", std::process::id()))
}

/// The argument for the engine of the test.
fn how() -> &'static str {
    if NATIVELY.get() { "--emulate-natively" } else { "--emulate" }
}

fn find(name: &str) -> PathBuf {
    if name.contains('/') {
        return PathBuf::from(name);
    }
    let found =
        ["/usr/bin", "/bin", "/usr/sbin", "/sbin"].iter().map(|place| PathBuf::from(place).join(name));
    found.into_iter().find(|path| path.exists()).unwrap_or_else(|| PathBuf::from(name))
}

fn finish(command: &mut Command, input: &[u8]) -> Outcome {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.env("LC_ALL", "C.UTF-8").env("TZ", "UTC").env("PATH", "/usr/bin:/bin");
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = std::thread::spawn(move || {
        let _ = stdin.write_all(&input);
    });
    let mut errors = Vec::new();
    let mut stderr = child.stderr.take().unwrap();
    let reader = std::thread::spawn(move || {
        stderr.read_to_end(&mut errors).unwrap();
        errors
    });
    let mut output = Vec::new();
    child.stdout.take().unwrap().read_to_end(&mut output).unwrap();
    let status = child.wait().unwrap();
    writer.join().unwrap();
    let errors = reader.join().unwrap();
    let status = status.code().unwrap_or_else(|| -status.signal().unwrap());
    Outcome { status, output, errors }
}

/// What a program itself complained about, without what Parallax, or its peer, says about its end.
fn own_errors(outcome: &Outcome) -> Vec<u8> {
    let lines = outcome.errors.split_inclusive(|byte| *byte == b'\n');
    let said_about_it = |line: &[u8]| {
        line.starts_with(b"parallax: killed by") || line.starts_with(b"qemu: uncaught target signal")
    };
    lines.filter(|line| !said_about_it(line)).flatten().copied().collect()
}

/// Compares two runs, and shows where they part.
pub fn same(native: &Outcome, emulated: &Outcome) -> Result<(), String> {
    if native.status == emulated.status
        && native.output == emulated.output
        && own_errors(native) == own_errors(emulated)
    {
        return Ok(());
    }
    let show = |bytes: &[u8]| String::from_utf8_lossy(&bytes[..bytes.len().min(400)]).into_owned();
    let part = native.output.iter().zip(&emulated.output).position(|(a, b)| a != b);
    let part = part.unwrap_or(native.output.len().min(emulated.output.len()));
    Err(format!(
        "native: status {}, {} bytes\nemulated: status {}, {} bytes\noutputs part at byte {part}\nnative there: {}\nemulated there: {}\nnative stderr: {}\nemulated stderr: {}",
        native.status,
        native.output.len(),
        emulated.status,
        emulated.output.len(),
        show(&native.output[part..]),
        show(&emulated.output[part..]),
        show(&native.errors),
        show(&emulated.errors),
    ))
}
