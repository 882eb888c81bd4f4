//! Programs recorded and replayed: the replay must make the same steps to the same end, again and again, and on a copy of
//! the recording with the programs gone.
//!
//! Recording takes over the process that does it, so this binary runs itself with `--record`; replays run here. With
//! `PARALLAX_ALL_PROGRAMS` set all programs run, each replayed 20 times, and 50 recorders are killed; otherwise a slice.
//! There is no test harness, only the habits of one.

mod kill;
mod programs;
mod schedule;

use parallax_process::outside::live::{Live, enact};
use parallax_process::{Ending, Process, Program};
use parallax_record::{Archive, Recording, SavedEnding, Settings, replay};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The status that stands for "this cannot be recorded".
const CANNOT: i32 = 99;

/// A test: a name, and what to do, which says what went wrong.
pub type Test = (String, Box<dyn Fn() -> Result<(), String>>);

fn main() {
    let arguments: Vec<Vec<u8>> = std::env::args_os().skip(1).map(OsStringExt::into_vec).collect();
    if arguments.first().is_some_and(|first| first == b"--record") {
        record(&arguments[1..]);
    }
    if arguments.iter().any(|argument| argument == b"--list") {
        return;
    }
    let names: Vec<String> = arguments
        .iter()
        .map(|text| String::from_utf8_lossy(text).into_owned())
        .filter(|text| !text.starts_with('-'))
        .collect();
    let all = std::env::var_os("PARALLAX_ALL_PROGRAMS").is_some();
    let mut tests = programs::tests(all);
    tests.extend(kill::tests(all));
    tests.extend(schedule::tests());
    tests.retain(|(name, _)| names.is_empty() || names.iter().any(|wanted| name.contains(wanted.as_str())));
    println!("running {} tests", tests.len());
    let mut failures = Vec::new();
    for (name, test) in &tests {
        let started = std::time::Instant::now();
        match test() {
            Ok(()) => println!("test {name} ({:.1} s) ... ok", started.elapsed().as_secs_f32()),
            Err(why) => {
                println!("test {name} ... FAILED");
                failures.push(format!("---- {name} ----\n{why}"));
            }
        }
    }
    failures.iter().for_each(|failure| println!("{failure}"));
    println!("test result: {} passed; {} failed", tests.len() - failures.len(), failures.len());
    std::process::exit(i32::from(!failures.is_empty()));
}

/// Records a program in this process, and ends as it ends: a folder, a seed or nothing, its file, its arguments.
fn record(arguments: &[Vec<u8>]) -> ! {
    let text = |index: usize| String::from_utf8_lossy(&arguments[index]).into_owned();
    let program = Program {
        path: PathBuf::from(text(2)),
        arguments: arguments[2..].to_vec(),
        environment: vec![b"LC_ALL=C.UTF-8".to_vec(), b"PATH=/usr/bin:/bin".to_vec(), b"TZ=UTC".to_vec()],
        byte_bound: 2 << 30,
        instruction_bound: 20_000_000_000,
        schedule: text(1).parse().ok(),
    };
    let live = Live::owner().expect("nothing else runs here").catching();
    // Often, so that short programs are compared on their way too.
    let settings = Settings { between_digests: 100_000, ..Settings::default() };
    let door = match Recording::create(Path::new(&text(0)), &program, Box::new(live), settings) {
        Ok(door) => door,
        Err(error) => {
            eprintln!("{error}");
            std::process::exit(CANNOT);
        }
    };
    let ending = match Process::start(program, Box::new(door)) {
        Ok(mut process) => process.run(),
        Err(error) => {
            eprintln!("{error}");
            std::process::exit(CANNOT);
        }
    };
    if !matches!(ending, Ending::Exited(_) | Ending::Killed { why: None, .. }) {
        eprintln!("{ending}");
    }
    enact(&ending, CANNOT)
}

/// The command that records another.
pub fn recorder(folder: &Path, seed: Option<u64>, command: &[String]) -> Command {
    let mut recorder = Command::new(std::env::current_exe().expect("this file"));
    let seed = seed.map_or(String::from("-"), |seed| seed.to_string());
    recorder.arg("--record").arg(folder).arg(seed).args(command);
    recorder.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    recorder
}

/// A new folder for a test.
pub fn folder(name: &str) -> PathBuf {
    let letters: String =
        name.chars().map(|letter| if letter.is_alphanumeric() { letter } else { '-' }).collect();
    let path = std::env::temp_dir().join(format!("parallax-record-{}-{letters}", std::process::id()));
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).expect("a temporary folder");
    path
}

/// Compiles a source of ours.
pub fn compile(name: &str, flags: &[&str], folder: &Path) -> Result<PathBuf, String> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/sources").join(format!("{name}.c"));
    let binary = folder.join(name);
    let built = Command::new("gcc")
        .args(["-O1", "-pthread"])
        .args(flags)
        .arg("-o")
        .args([&binary, &source])
        .arg("-lm")
        .output();
    match built {
        Ok(output) if output.status.success() => Ok(binary),
        Ok(output) => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        Err(error) => Err(format!("gcc: {error} (scripts/setup names what the tests need)")),
    }
}

/// Replays every stream of a recording; each must come to the recorded end.
pub fn replay_all(recording: &Path) -> Result<(), String> {
    let archive = Archive::open(recording).map_err(|error| error.to_string())?;
    for stream in archive.streams() {
        let log = archive.log(&stream).map_err(|error| error.to_string())?;
        let mut process = replay(&log, true, false).map_err(|error| error.to_string())?;
        let ending = process.run();
        let recorded = log.ending().ok_or(format!("stream {stream} has no end"))?;
        if recorded != SavedEnding::new(&ending) || process.time() != log.last() {
            return Err(format!(
                "stream {stream}: recorded {} after {}, replayed {ending} after {}",
                recorded.restore(),
                log.last(),
                process.time()
            ));
        }
    }
    Ok(())
}
