//! `cargo xtask bench [name...]`: runs benchmarks and records what they say under `bench/runs/`.
//!
//! A benchmark is an example of some crate that prints `name value unit` lines, and `# note` lines on what it ran with.
//! To join, add a row to [`BENCHMARKS`].

use anyhow::{Context, Result, bail, ensure};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

struct Benchmark {
    name: &'static str,
    package: &'static str,
    /// What it measures, in a sentence.
    about: &'static str,
}

/// Every benchmark: an example called `bench-NAME` of a package.
const BENCHMARKS: &[Benchmark] = &[
    Benchmark {
        name: "foundation",
        package: "parallax-primitives",
        about: "Hash-consing, symbolic evaluation of 100,000 statements, preconditions through 50 pointers.",
    },
    Benchmark {
        name: "solvers",
        package: "parallax-smt",
        about: "Tier 0 against Z3, and the default solver, on small path queries: time for one query.",
    },
    Benchmark {
        name: "trace",
        package: "parallax-trace",
        about: "Traces over a list: a million items, lazy beside strict, the EditHAMT beside other maps.",
    },
    Benchmark {
        name: "c",
        package: "parallax-cexplore",
        about: "C programs: instructions per second concrete and symbolic, paths per second, memory per state.",
    },
    Benchmark {
        name: "view",
        package: "parallax-view",
        about: "Making a page: 200 reports over one file of 50,000 lines, one report beside 3,000 files.",
    },
];

/// Runs the benchmarks that are named, or all.
pub fn run(names: &[String]) -> Result<()> {
    if let Some(unknown) = names.iter().find(|name| BENCHMARKS.iter().all(|b| b.name != **name)) {
        let known: Vec<&str> = BENCHMARKS.iter().map(|b| b.name).collect();
        bail!("no benchmark is called {unknown}; there are: {}", known.join(", "));
    }
    for benchmark in BENCHMARKS {
        if names.is_empty() || names.iter().any(|name| name == benchmark.name) {
            record(benchmark)?;
        }
    }
    Ok(())
}

/// One measured number.
struct Measured {
    name: String,
    value: f64,
    unit: String,
}

fn record(benchmark: &Benchmark) -> Result<()> {
    let example = format!("bench-{}", benchmark.name);
    let arguments = ["run", "--release", "--quiet", "--package", benchmark.package, "--example", &example];
    eprintln!("bench: cargo {}", arguments.join(" "));
    let output = Command::new("cargo").args(arguments).stderr(std::process::Stdio::inherit()).output()?;
    ensure!(output.status.success(), "{example} failed");
    let text = String::from_utf8(output.stdout).context("benchmarks print text")?;
    let (measured, notes) = read(&text)?;

    let before = previous(benchmark.name)?;
    let date = said("date", &["-u", "+%Y-%m-%d"]);
    let folder = PathBuf::from(format!("bench/runs/{date}-{}", benchmark.name));
    std::fs::create_dir_all(&folder)?;
    let mut csv = String::from("name,value,unit\n");
    for m in &measured {
        let _ = writeln!(csv, "{},{},{}", m.name, m.value, m.unit);
        match before.get(&m.name) {
            Some(old) => println!("{:<44} {:>12} {:<6} before {old}", m.name, m.value, m.unit),
            None => println!("{:<44} {:>12} {}", m.name, m.value, m.unit),
        }
    }
    std::fs::write(folder.join("raw.csv"), csv)?;
    std::fs::write(folder.join("README.md"), readme(benchmark, &date, &measured, &notes))?;
    eprintln!("bench: recorded in {}", folder.display());
    Ok(())
}

/// The numbers and the notes in what a benchmark printed.
fn read(text: &str) -> Result<(Vec<Measured>, Vec<String>)> {
    let (mut measured, mut notes) = (Vec::new(), Vec::new());
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        if let Some(note) = line.strip_prefix("# ") {
            notes.push(note.to_owned());
            continue;
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        let [name, value, unit] = words[..] else { bail!("not `name value unit`: {line}") };
        let value = value.parse().with_context(|| format!("not a number: {line}"))?;
        measured.push(Measured { name: name.to_owned(), value, unit: unit.to_owned() });
    }
    ensure!(!measured.is_empty(), "the benchmark measured nothing");
    Ok((measured, notes))
}

/// What the latest recorded run of this name measured.
fn previous(name: &str) -> Result<BTreeMap<String, String>> {
    let suffix = format!("-{name}");
    let runs = Path::new("bench/runs");
    let mut folders: Vec<PathBuf> = match std::fs::read_dir(runs) {
        Ok(entries) => entries.filter_map(|entry| Some(entry.ok()?.path())).collect(),
        Err(_) => return Ok(BTreeMap::new()),
    };
    folders.retain(|path| path.file_name().is_some_and(|n| n.to_string_lossy().ends_with(&suffix)));
    folders.sort();
    let Some(latest) = folders.pop() else { return Ok(BTreeMap::new()) };
    let Ok(text) = std::fs::read_to_string(latest.join("raw.csv")) else { return Ok(BTreeMap::new()) };
    let row = |line: &str| {
        let mut fields = line.split(',');
        Some((fields.next()?.to_owned(), fields.next()?.to_owned()))
    };
    Ok(text.lines().skip(1).filter_map(row).collect())
}

fn readme(benchmark: &Benchmark, date: &str, measured: &[Measured], notes: &[String]) -> String {
    let mut text = format!("# {}, {date}\n\n{}\n\n", benchmark.name, benchmark.about);
    let _ = writeln!(text, "- command: `cargo xtask bench {}`", benchmark.name);
    let _ = writeln!(text, "- machine: {}", machine());
    let _ = writeln!(text, "- versions: {}", said("rustc", &["--version"]));
    for note in notes {
        let _ = writeln!(text, "- with: {note}");
    }
    let _ = writeln!(text, "- commit: {}", said("git", &["describe", "--always", "--dirty"]));
    text.push_str("\n| what | value | unit |\n| --- | ---: | --- |\n");
    for m in measured {
        let _ = writeln!(text, "| {} | {} | {} |", m.name, m.value, m.unit);
    }
    text
}

/// Processor, cores, memory, kernel.
fn machine() -> String {
    let field = |file: &str, key: &str| -> Option<String> {
        let text = std::fs::read_to_string(file).ok()?;
        let line = text.lines().find(|line| line.starts_with(key))?;
        Some(line.split(':').nth(1)?.trim().to_owned())
    };
    let processor = field("/proc/cpuinfo", "model name").unwrap_or_else(|| "unknown processor".to_owned());
    let memory = field("/proc/meminfo", "MemTotal").unwrap_or_else(|| "unknown".to_owned());
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    format!("{processor}, {cores} cores, {memory} memory, {}", said("uname", &["-sr"]))
}

/// The first line that a command prints, or `unknown`.
fn said(command: &str, arguments: &[&str]) -> String {
    let output = Command::new(command).args(arguments).output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    text.lines().next().map_or_else(|| "unknown".to_owned(), |line| line.trim().to_owned())
}
