//! Programs recorded and replayed: the replay must make the same steps to the same end, again and again, and on a copy of
//! the recording with the programs gone.
//!
//! Each is recorded by both engines, and replayed exactly; what was recorded natively is replayed natively too. Replays compare digests
//! on the way, at times that differ from program to program.
//!
//! Recorders are processes of their own (`recorder`); replays run here. With `PARALLAX_ALL_PROGRAMS` set all programs run, each
//! replayed 20 times, and 50 recorders are killed; otherwise a slice.

mod beyond;
mod files;
mod kill;
mod linux;
mod pieces;
mod programs;
mod recorder;
mod schedule;

use parallax_record::{
    Archive, SavedEnding, Settings, Verdict, replay, replay_family, replay_natively, stream_order,
};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    let arguments: Vec<Vec<u8>> = std::env::args_os().skip(1).map(OsStringExt::into_vec).collect();
    if arguments.first().is_some_and(|first| first == b"--record") {
        let between_digests = between_digests(&arguments[1..]);
        recorder::record(&arguments[1..], Settings { between_digests, ..Settings::default() });
    }
    let all = std::env::var_os("PARALLAX_ALL_PROGRAMS").is_some();
    let exactly = tests(all);
    let natively = tests(all).into_iter().map(|(name, test)| {
        let test = move || {
            recorder::NATIVELY.set(true);
            test()
        };
        (format!("natively: {name}"), Box::new(test) as Box<dyn Fn() -> Result<(), String> + Send>)
    });
    recorder::run(exactly.into_iter().chain(natively).collect())
}

/// How many steps are between two digests: few, so that short programs are compared on their way too.
fn between_digests(command: &[Vec<u8>]) -> u64 {
    let asked = std::env::var("PARALLAX_DIGESTS").ok().and_then(|text| text.parse().ok());
    let spread =
        command[3..].iter().flatten().fold(7, |all: u64, byte| all.wrapping_mul(31) ^ u64::from(*byte));
    asked.unwrap_or(50_000 + spread % 100_000)
}

fn tests(all: bool) -> Vec<recorder::Test> {
    let mut tests = programs::tests(all);
    tests.extend(kill::tests(all));
    tests.extend(pieces::tests());
    tests.extend(files::tests());
    tests.extend(schedule::tests());
    tests.extend(beyond::tests());
    tests.extend(linux::tests(all));
    tests
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

/// Replays every stream of a recording, alone and with its family; each must come to the recorded end.
pub fn replay_all(recording: &Path) -> Result<(), String> {
    let archive = Archive::open(recording).map_err(|error| error.to_string())?;
    for stream in archive.streams() {
        let log = archive.log(&stream).map_err(|error| error.to_string())?;
        let mut process = replay(&log, true, false).map_err(|error| error.to_string())?;
        let ending = process.run();
        if log.told.is_some() && process.time() >= log.last() {
            // Its end is known from its parent; that of its recording is compared below.
            continue;
        }
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
    let mut together = Vec::new();
    replay_family(&archive, true, false, |one| together.push(one)).map_err(|error| error.to_string())?;
    if let Some(one) = together.iter().find(|one| one.verdict != Verdict::Same) {
        return Err(format!("{} with its family: {}, recorded {:?}", one.stream, one.ending, one.recorded));
    }
    let mut names: Vec<String> = together.into_iter().map(|one| one.stream).collect();
    names.sort_by_key(|name| stream_order(name));
    if names == archive.streams() { Ok(()) } else { Err(format!("only {names:?} were replayed together")) }
}

/// Replays all streams by the processor itself.
pub fn replay_all_natively(recording: &Path) -> Result<(), String> {
    let archive = Archive::open(recording).map_err(|error| error.to_string())?;
    let together = replay_natively(&archive, None, true, false).map_err(|error| error.to_string())?;
    match together.iter().find(|one| one.verdict != Verdict::Same) {
        Some(one) => Err(format!("{} natively: {}, recorded {:?}", one.stream, one.ending, one.recorded)),
        None if together.len() == archive.streams().len() => Ok(()),
        None => Err(format!("only {} streams were replayed natively", together.len())),
    }
}
