//! The corpus: C programs with a header that says how to run them.

#![allow(dead_code, reason = "each test takes what it needs")]

use parallax_cexplore::explore::{Argument, Entry, Settings};
use parallax_cexplore::{Program, Sources, program};
use parallax_cmachine::Checks;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;
use std::time::Duration;

/// Numbers that are the same in every run (xorshift).
pub struct Random(pub u64);

impl Random {
    /// Any number.
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below a bound.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// One of some texts.
    pub fn pick<'t>(&mut self, of: &[&'t str]) -> &'t str {
        of[self.below(of.len() as u64) as usize]
    }
}

pub struct Case {
    pub name: String,
    pub file: PathBuf,
    pub arguments: Vec<Vec<u8>>,
    pub stdin: Vec<u8>,
    pub text: String,
}

/// Does the same with every program, several at a time: what came of each, in no order, and all that failed.
pub fn each<T: Send>(
    all: &[Case],
    check: impl Fn(&Case, &mut Vec<String>) -> T + Sync,
) -> (Vec<String>, Vec<T>) {
    let next = Mutex::new(all.iter());
    let results = Mutex::new((Vec::new(), Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, |n| n.get()).min(4) {
            scope.spawn(|| {
                loop {
                    let Some(case) = next.lock().expect("no thread panics with the lock").next() else {
                        break;
                    };
                    let mut failures = Vec::new();
                    let result = check(case, &mut failures);
                    let mut results = results.lock().expect("as above");
                    results.0.append(&mut failures);
                    results.1.push(result);
                }
            });
        }
    });
    results.into_inner().expect("all threads are done")
}

/// Programs of a folder of the corpus, in order of name.
pub fn cases(folder: &str) -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../corpus/c").join(folder);
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| path.extension().is_some_and(|e| e == "c" || e == "i"))
        .filter(|path| path.file_name().is_some_and(|name| !name.to_string_lossy().starts_with("part_")))
        .collect();
    files.sort();
    files.into_iter().map(case).collect()
}

pub fn case(file: PathBuf) -> Case {
    let text = std::fs::read_to_string(&file).expect("a readable program");
    let name = file.file_stem().expect("a name").to_string_lossy().into_owned();
    let mut arguments = vec![name.clone().into_bytes()];
    arguments.extend(header(&text, "args").map(words).unwrap_or_default());
    let stdin = header(&text, "stdin").map(unescape).unwrap_or_default();
    Case { name, file, arguments, stdin, text }
}

/// The rest of a line `// key: rest`.
pub fn header<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    text.lines().find_map(|line| line.strip_prefix("// ")?.strip_prefix(key)?.strip_prefix(": "))
}

fn words(line: &str) -> Vec<Vec<u8>> {
    let mut words = Vec::new();
    for (index, part) in line.split('"').enumerate() {
        if index % 2 == 1 {
            words.push(part.as_bytes().to_vec());
        } else {
            words.extend(part.split_whitespace().map(|word| word.as_bytes().to_vec()));
        }
    }
    words
}

fn unescape(line: &str) -> Vec<u8> {
    line.replace("\\n", "\n").replace("\\\\", "\\").into_bytes()
}

/// The environment that a header says: `NAME=value` each.
pub fn environment(case: &Case) -> Vec<String> {
    header(&case.text, "env").unwrap_or("").split_whitespace().map(str::to_string).collect()
}

/// What the native build of a program does, in an empty folder and with the environment its header says.
pub fn native(case: &Case) -> Output {
    let folder = std::env::temp_dir().join(format!("parallax-corpus-{}-{}", std::process::id(), case.name));
    let world = folder.join("world");
    std::fs::create_dir_all(&world).expect("a folder for builds");
    let binary = folder.join(&case.name);
    let built = Command::new("clang-19")
        .args(["-w", "-O0"])
        .arg(&case.file)
        .arg("-o")
        .arg(&binary)
        .arg("-lm")
        .output()
        .expect("clang-19 runs");
    assert!(built.status.success(), "{}: {}", case.name, String::from_utf8_lossy(&built.stderr));
    use std::os::unix::process::CommandExt;
    let mut child = Command::new(&binary)
        .arg0(&case.name)
        .args(case.arguments[1..].iter().map(|a| String::from_utf8_lossy(a).into_owned()))
        .current_dir(&world)
        .env_clear()
        .envs(environment(case).iter().filter_map(|variable| variable.split_once('=')))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    // A program that does not read its input is fine.
    let _ = stdin.write_all(&case.stdin);
    drop(stdin);
    let output = child.wait_with_output().expect("the program ends");
    let _ = std::fs::remove_dir_all(&folder);
    output
}

/// How a program is to be explored, by its header.
pub fn settings(case: &Case) -> Settings {
    let number = |key: &str| header(&case.text, key).and_then(|n| n.trim().parse().ok()).unwrap_or(0);
    let entry = match header(&case.text, "entry") {
        Some(name) => Entry::Function(name.trim().to_string()),
        None => Entry::Main {
            arguments: header(&case.text, "symbolic-args")
                .unwrap_or("")
                .split_whitespace()
                .map(|len| match len.strip_suffix('?') {
                    Some(len) => Argument::Optional(len.parse().expect("a length")),
                    None => Argument::Unknown(len.parse().expect("a length")),
                })
                .collect(),
            stdin: number("symbolic-stdin"),
            files: header(&case.text, "symbolic-file")
                .and_then(|given| given.trim().split_once('='))
                .map(|(name, len)| (name.to_string(), Argument::Unknown(len.parse().expect("a length"))))
                .into_iter()
                .collect(),
            environment: header(&case.text, "symbolic-env")
                .unwrap_or("")
                .split_whitespace()
                .filter_map(|given| given.split_once('='))
                .map(|(name, len)| (name.to_string(), Argument::Unknown(len.parse().expect("a length"))))
                .collect(),
        },
    };
    let checks = header(&case.text, "checks").unwrap_or("");
    Settings {
        failing_allocation: header(&case.text, "failing-malloc").is_some(),
        failing_calls: number("failing-calls") as u32,
        leaks: matches!(entry, Entry::Main { .. }),
        loops: if matches!(entry, Entry::Main { .. }) { 32 } else { 5 },
        entry,
        checks: Checks {
            overflow: checks.split_whitespace().any(|check| check == "overflow"),
            shifts: checks.contains("shifts"),
            floats: checks.contains("floats"),
        },
        steps: if header(&case.text, "entry").is_some() { 20_000 } else { 300_000 },
        time: Duration::from_secs(60),
        chain: 3,
        array: 3,
        tests: true,
        ..Settings::default()
    }
}

/// The program, with the files its header names.
pub fn load(case: &Case) -> Program {
    let others = header(&case.text, "with").unwrap_or("").split_whitespace();
    let files =
        [case.file.clone()].into_iter().chain(others.map(|other| case.file.with_file_name(other))).collect();
    let mut sources = Sources { files, ..Sources::default() };
    let checks = header(&case.text, "checks").unwrap_or("");
    sources.options.instrument = program::instruments(
        checks.contains("unsigned"),
        checks.contains("conversions"),
        checks.contains("floats"),
    );
    program::load(&sources).unwrap_or_else(|e| panic!("{}: {e}", case.name))
}
