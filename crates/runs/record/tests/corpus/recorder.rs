//! Recording in a process of its own, and running tests that do: recording takes over the process that does it, so a test binary
//! runs itself with `--record`. There is no test harness, only the habits of one.

use parallax_process::outside::live::{Live, enact};
use parallax_process::{Ending, Process, Program};
use parallax_record::{Recording, Settings};
use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The status that stands for "this cannot be recorded".
pub const CANNOT: i32 = 99;

/// The variable that asks a recorder for the native engine. The program does not see it.
const NATIVE: &str = "PARALLAX_NATIVE";

thread_local! {
    /// Whether the recorders of the test that this thread runs use the native engine.
    pub static NATIVELY: Cell<bool> = const { Cell::new(false) };
}

/// A test: a name, and what to do, which says what went wrong.
pub type Test = (String, Box<dyn Fn() -> Result<(), String> + Send>);

/// Runs the tests one behind the other: recording takes over the process that does it, and replays share its memory.
pub fn run(tests: Vec<Test>) -> ! {
    let mut arguments = libtest_mimic::Arguments::from_args();
    arguments.test_threads = Some(1);
    let trials = tests.into_iter().map(|(name, test)| {
        libtest_mimic::Trial::test(name, move || {
            let outcome = test().map_err(libtest_mimic::Failed::from);
            NATIVELY.set(false);
            outcome
        })
    });
    libtest_mimic::run(&arguments, trials.collect()).exit()
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
        Ok(mut process) => {
            if std::env::var_os(NATIVE).is_some()
                && let Err(why) = process.use_native()
            {
                eprintln!("no native engine: {why}");
                std::process::exit(CANNOT);
            }
            process.run()
        }
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
    if NATIVELY.get() {
        recorder.env(NATIVE, "1");
    }
    recorder.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    recorder
}
