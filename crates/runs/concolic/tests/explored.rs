//! Programs whose target lies behind something that explorers stumble over: reached, without a divergence, and the input
//! reaches it natively as well.

mod in_turn;
mod left_out;
mod places;

use in_turn::in_turn;
use parallax_concolic::{
    Command, Exploration, Input, Kind, Outcome, Settings, Source, Sources, apart, explore,
};
use parallax_path::Strategy;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

/// A program is its own process here: one test behind the other, since runs are forks of this process, which is to have one thread.
fn main() {
    let cases: &[(&str, fn())] = &[
        // First: what other tests have given back would be room for a search that is to have none.
        ("killed", left_out::killed),
        ("a_process_of_its_own", a_process_of_its_own),
        ("maze", maze),
        ("maze_static", maze_static),
        ("sbox", || reaches("sbox", &["-O2"], 16)),
        ("table", || reaches("table", &["-O2"], 10)),
        ("index", || reaches("index", &["-O1"], 4)),
        ("checksum", || reaches("checksum", &["-O2"], 16)),
        ("crc", || reaches("crc", &["-O2"], 12)),
        ("windows", windows),
        ("recursion", || reaches("recursion", &["-O1"], 8)),
        ("json", || reaches("json", &["-O1"], 12)),
        ("sse", || reaches("sse", &["-O1"], 32)),
        ("printed", || reaches("printed", &["-O1"], 4)),
        ("strings", strings),
        ("crash", crash),
        ("nowhere", nowhere),
        ("hurried", hurried),
        ("approximate", approximate),
        ("repeats", left_out::repeats),
        ("aside", left_out::aside),
        ("passes", left_out::passes),
        ("children", left_out::children),
        ("resumed", left_out::resumed),
        ("within_blocks", places::within_blocks),
        ("named_places", places::named),
        ("names_of_cplusplus", places::of_cplusplus),
        ("told_apart", places::crashes),
    ];
    in_turn(cases)
}

/// What work in another process comes to is handed back; nothing is where it dies.
fn a_process_of_its_own() {
    assert_eq!(apart(1 << 30, || 3u8).unwrap(), Some(3));
    assert_eq!(apart(1 << 30, || -> u8 { std::process::abort() }).unwrap(), None);
    assert_eq!(apart(1 << 30, || -> u8 { panic!("planted") }).unwrap(), None);
}

fn folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("concolic-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn compile(name: &str, flags: &[&str]) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/programs/{name}.c"));
    let program = folder().join(format!("{name}{}", flags.concat()));
    let status =
        std::process::Command::new("gcc").args(flags).arg("-g").arg("-o").arg(&program).arg(source).status();
    assert!(status.unwrap().success());
    program
}

fn settings(name: &str, targets: &[&str]) -> Settings {
    Settings {
        strategy: Strategy::Coverage,
        approximate: false,
        at: None,
        summaries: false,
        targets: targets.iter().map(|&target| target.to_owned()).collect(),
        avoid: Vec::new(),
        tests: 5_000,
        // Far more than it takes, a second or two: these are seconds of the clock, on a machine that others use too.
        time: Duration::from_secs(300),
        solver_time: Duration::from_secs(120),
        patience: Duration::from_millis(100),
        steps: 10_000_000,
        memory: 1 << 30,
        term_memory: 4 << 30,
        jobs: 2,
        stop_at_target: true,
        folder: folder().join(format!("{name}-inputs")),
        resume: false,
        seeds: Vec::new(),
        allowed: parallax_concolic::Allowed::default(),
        keep_world: None,
    }
}

fn command(program: &Path, arguments: &[&str]) -> Command {
    let mut list = vec![program.as_os_str().as_encoded_bytes().to_vec()];
    list.extend(arguments.iter().map(|argument| argument.as_bytes().to_vec()));
    Command { path: program.to_owned(), arguments: list, environment: Vec::new(), unjailed: false }
}

fn stdin(bytes: usize) -> Sources {
    Sources(vec![Source { kind: Kind::Stdin, bytes }])
}

fn look(command: &Command, sources: &Sources, settings: &Settings) -> Exploration {
    let found = explore(command, sources, settings, &mut |_, _| ()).unwrap();
    for test in &found.tests {
        assert_eq!(test.diverged, None, "input {} diverged: {:?}", test.number, test.input);
    }
    found
}

/// Runs the real program with an input: its status and its signal.
fn native(program: &Path, sources: &Sources, input: &Input, at: &Path) -> std::process::ExitStatus {
    let mut command = std::process::Command::new(program);
    command.env_clear().current_dir(at).stdout(Stdio::null()).stderr(Stdio::null()).stdin(Stdio::null());
    for (source, range) in sources.ranges() {
        use std::os::unix::ffi::OsStrExt;
        let bytes = &input[range];
        let text = bytes.split(|byte| *byte == 0).next().unwrap();
        match &source.kind {
            Kind::Stdin => {
                let path = at.join("stdin");
                std::fs::write(&path, bytes).unwrap();
                command.stdin(std::fs::File::open(path).unwrap());
            }
            Kind::Argument(_) => drop(command.arg(std::ffi::OsStr::from_bytes(text))),
            Kind::Environment(name) => drop(command.env(name, std::ffi::OsStr::from_bytes(text))),
            Kind::File(path) => std::fs::write(at.join(path), bytes).unwrap(),
            Kind::Register(_) | Kind::Memory { .. } => unreachable!("the program runs from its start"),
        }
    }
    command.status().unwrap()
}

fn reaches(name: &str, flags: &[&str], bytes: usize) {
    // Parsers want to be followed to the end of the input before its beginning is varied.
    let strategy = if name == "table" { Strategy::Depth } else { Strategy::Coverage };
    let settings = Settings { strategy, ..settings(name, &["target"]) };
    let program = compile(name, flags);
    let found = look(&command(&program, &[]), &stdin(bytes), &settings);
    let number = found.reached[0].unwrap_or_else(|| {
        panic!("{name}: not reached after {} tests: {:?}", found.tests.len(), found.completeness)
    });
    let test = found.tests.iter().find(|test| test.number == number).unwrap();
    assert_eq!(test.outcome, Outcome::Exited(42), "{name}");
    let status = native(&program, &stdin(bytes), &test.input, &folder());
    assert_eq!(status.code(), Some(42), "{name}: {:?}", test.input);
}

/// A call to nowhere is the way that its input was made for: a crash, and no divergence.
fn nowhere() {
    let program = compile("nowhere", &["-O0"]);
    let found = look(&command(&program, &[]), &stdin(1), &settings("nowhere", &[]));
    assert!(found.completeness.is_complete(), "{:?}", found.completeness);
    assert_eq!(found.crashes().count(), 1);
}

/// Questions that there was no patience for are asked again: nothing is left out.
fn hurried() {
    let program = compile("nowhere", &["-O0"]);
    let settings = Settings { patience: Duration::ZERO, ..settings("hurried", &[]) };
    let found = look(&command(&program, &[]), &stdin(1), &settings);
    assert!(found.completeness.is_complete(), "{:?}", found.completeness);
    assert_eq!(found.crashes().count(), 1);
}

/// Of an index that may go further than is looked at in one run, every part is looked at in some run, also beyond one
/// that no run can access.
fn windows() {
    reaches("windows", &["-O1"], 2);
    let program = compile("windows", &["-O1"]);
    let whole = Settings { stop_at_target: false, ..settings("whole-windows", &["target"]) };
    let found = look(&command(&program, &[]), &stdin(2), &whole);
    assert!(found.completeness.is_complete(), "{:?}", found.completeness);
    assert!(found.reached[0].is_some());
    assert!(found.crashes().count() > 0, "the hole was not found");
    let entries = |test: &parallax_concolic::Test| u16::from_le_bytes([test.input[0], test.input[1]]) % 4096;
    let blocks: std::collections::BTreeSet<u16> =
        found.tests.iter().map(entries).filter(|at| !(1024..3072).contains(at)).map(|at| at / 32).collect();
    assert_eq!(blocks.len(), 64, "parts of the table were left out");
}

fn maze() {
    reaches("maze", &["-O0"], 16);
    // All of it: every way out is found, and then there is nothing left.
    let program = compile("maze", &["-O2"]);
    let whole = Settings { stop_at_target: false, ..settings("whole-maze", &[]) };
    let found = look(&command(&program, &[]), &stdin(16), &whole);
    let mut statuses: Vec<u8> =
        found
            .tests
            .iter()
            .map(|test| {
                if let Outcome::Exited(status) = test.outcome { status } else { panic!("{:?}", test.outcome) }
            })
            .collect();
    for test in &found.tests {
        let status = native(&program, &stdin(16), &test.input, &folder());
        assert_eq!(test.outcome, Outcome::Exited(status.code().unwrap() as u8), "{:?}", test.input);
    }
    statuses.sort_unstable();
    statuses.dedup();
    assert_eq!(statuses, [2, 3, 4, 42]);
    assert!(found.completeness.is_complete(), "{:?}", found.completeness);
}

fn maze_static() {
    reaches("maze", &["-O1", "-static"], 16);
}

fn strings() {
    let program = compile("strings", &["-O1"]);
    let sources = Sources(vec![
        Source { kind: Kind::Argument(1), bytes: 6 },
        Source { kind: Kind::Environment(String::from("WHO")), bytes: 4 },
        Source { kind: Kind::File(PathBuf::from("input.txt")), bytes: 8 },
    ]);
    let found = look(&command(&program, &["A"]), &sources, &settings("strings", &["target"]));
    let number = found.reached[0].unwrap_or_else(|| panic!("from {}: {:?}", found.start, found.completeness));
    let test = found.tests.iter().find(|test| test.number == number).unwrap();
    assert_eq!(native(&program, &sources, &test.input, &folder()).code(), Some(42), "{:?}", test.input);
}

fn crash() {
    let program = compile("crash", &["-O1"]);
    let found = look(&command(&program, &[]), &stdin(4), &settings("crash", &[]));
    let mut signals = Vec::new();
    for test in found.crashes() {
        let Outcome::Killed(signal, _) = test.outcome else { unreachable!() };
        assert_eq!(native(&program, &stdin(4), &test.input, &folder()).signal(), Some(signal), "{test:?}");
        assert!(test.backtrace.iter().any(|frame| frame.contains("main")), "{:?}", test.backtrace);
        signals.push(signal);
    }
    signals.sort_unstable();
    signals.dedup();
    assert_eq!(signals, [libc::SIGABRT, libc::SIGFPE, libc::SIGSEGV]);
}

/// The approximate reading misses what hangs on a table, and says that it does.
fn approximate() {
    let program = compile("index", &["-O1"]);
    let settings = Settings { approximate: true, ..settings("approximate", &["target"]) };
    let found = explore(&command(&program, &[]), &stdin(4), &settings, &mut |_, _| ()).unwrap();
    assert_eq!(found.reached, [None]);
    assert!(!found.completeness.is_complete());
    assert!(found.divergences() > 0, "{} tests", found.tests.len());
}
