//! Recording in a process of its own, and running tests that do: recording takes over the process that does it, so a test binary
//! runs itself with `--record`. There is no test harness, only the habits of one.

use parallax_process::outside::live::{Live, enact};
use parallax_process::{Ending, Process, Program};
use parallax_record::{Recording, Settings};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The status that stands for "this cannot be recorded".
pub const CANNOT: i32 = 99;

/// A test: a name, and what to do, which says what went wrong.
pub type Test = (String, Box<dyn Fn() -> Result<(), String>>);

/// Runs those of the tests that the arguments name, one behind the other, and ends with what came of them.
pub fn run(arguments: &[Vec<u8>], mut tests: Vec<Test>) -> ! {
    if arguments.iter().any(|argument| argument == b"--list") {
        std::process::exit(0);
    }
    let names: Vec<String> = arguments
        .iter()
        .map(|text| String::from_utf8_lossy(text).into_owned())
        .filter(|text| !text.starts_with('-'))
        .collect();
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
pub fn record(arguments: &[Vec<u8>], settings: Settings) -> ! {
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
