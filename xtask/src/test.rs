//! `cargo xtask test [CRATE...]`: every test program of the workspace is built once, and as many run side by side as there are
//! processors; the Python module's tests and the pages' run among them.
//!
//! `cargo test` runs one program after another, so a program that waits, or runs its tests in turn, leaves a processor idle.
//! The number of tests is an assertion: each program lists its tests first, and what ran must be what was listed. A program that
//! lists nothing is an error unless its crate's library has no unit tests.

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::Instant;

/// Property tests draw the same cases in each run: a failure is of the change at hand. `fuzz properties` draws others.
const SEED: (&str, &str) = ("PROPTEST_RNG_SEED", "1729");
/// Where the times of the last run are kept: the longest programs start first.
const TIMES: &str = "target/test-seconds.json";

/// Something to run that holds tests.
struct Program {
    name: String,
    command: Vec<String>,
    folder: PathBuf,
    /// How many tests there have to be; unknown for what is not built by Cargo.
    listed: Option<usize>,
}

/// What came of a program.
struct Outcome {
    name: String,
    counts: Counts,
    seconds: f64,
    /// What it printed, if something is wrong.
    complaint: Option<String>,
}

/// Tests of a program that passed, failed, and were skipped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    passed: usize,
    failed: usize,
    skipped: usize,
}

/// Builds and runs what the arguments name: crates (`smt`), `python`, `viewer`; all without arguments.
pub fn run(arguments: &[String]) -> Result<()> {
    let is_wanted = |name: &str| arguments.is_empty() || arguments.iter().any(|wanted| wanted == name);
    let started = Instant::now();
    let mut programs = cargo_programs(arguments)?;
    if is_wanted("python") || is_wanted("viewer") {
        cargo(&["build", "--package", "parallax", "--package", "parallax-python"])?;
    }
    let built = started.elapsed().as_secs_f64();
    let top = std::env::current_dir()?;
    if is_wanted("python") {
        programs.push(script("python", "scripts/test-python", &top));
    }
    if is_wanted("viewer") {
        programs.push(script("viewer", "scripts/test-viewer", &top));
    }
    ensure!(!programs.is_empty(), "no crate has one of these names: {}", arguments.join(", "));
    sort(&mut programs);
    let mut outcomes = run_side_by_side(programs)?;
    if arguments.is_empty() {
        outcomes.push(documentation()?);
    }
    report(&outcomes, built, started.elapsed().as_secs_f64())
}

fn script(name: &str, path: &str, top: &Path) -> Program {
    Program { name: name.into(), command: vec![path.into()], folder: top.into(), listed: None }
}

fn cargo(arguments: &[&str]) -> Result<()> {
    let status = Command::new(env!("CARGO")).args(arguments).status().context("cargo")?;
    ensure!(status.success(), "cargo {} failed", arguments.join(" "));
    Ok(())
}

/// The test programs of the workspace, or of the crates that are named, built.
fn cargo_programs(crates: &[String]) -> Result<Vec<Program>> {
    let packages: Vec<String> = crates
        .iter()
        .filter(|name| !matches!(name.as_str(), "python" | "viewer"))
        .map(|name| package(name))
        .collect();
    if packages.is_empty() && !crates.is_empty() {
        return Ok(Vec::new());
    }
    let mut build = Command::new(env!("CARGO"));
    build.args(["test", "--no-run", "--message-format=json-render-diagnostics"]);
    if packages.is_empty() {
        build.arg("--workspace");
    }
    packages.iter().for_each(|name| {
        build.args(["--package", name]);
    });
    let output = build.stderr(Stdio::inherit()).output().context("cargo test --no-run")?;
    ensure!(output.status.success(), "the tests do not build");
    let mut programs = Vec::new();
    for line in String::from_utf8(output.stdout)?.lines() {
        let message: Value = serde_json::from_str(line).context("a message of cargo")?;
        programs.extend(program(&message)?);
    }
    Ok(programs)
}

/// The package of a crate: the command is `parallax`, its folder `cli`.
fn package(name: &str) -> String {
    match name {
        "cli" => "parallax".into(),
        "xtask" => "xtask".into(),
        _ => format!("parallax-{name}"),
    }
}

/// The test program that a message of Cargo tells of.
fn program(message: &Value) -> Result<Option<Program>> {
    let is_test = message["reason"] == "compiler-artifact" && message["profile"]["test"] == true;
    let (Some(executable), true) = (message["executable"].as_str(), is_test) else { return Ok(None) };
    let manifest = message["manifest_path"].as_str().context("a manifest")?;
    let folder = Path::new(manifest).parent().context("a folder")?.to_owned();
    let kind = message["target"]["kind"][0].as_str().unwrap_or_default();
    let krate = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let target = message["target"]["name"].as_str().unwrap_or_default();
    let is_own = kind == "test";
    let name = if is_own { format!("{krate} {target}") } else { krate };
    let mut program = Program { name, command: vec![executable.into()], folder, listed: None };
    let listed = list(&program)?;
    ensure!(
        listed > 0 || !is_own,
        "{}: lists no tests; a harness answers --list with a line `NAME: test` for each",
        program.name
    );
    program.listed = Some(listed);
    Ok((listed > 0).then_some(program))
}

fn list(program: &Program) -> Result<usize> {
    let output =
        start(program, &["--list", "--format", "terse"]).output().with_context(|| program.name.clone())?;
    ensure!(
        output.status.success(),
        "{} --list fails: {}",
        program.name,
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(String::from_utf8_lossy(&output.stdout).lines().filter(|line| line.ends_with(": test")).count())
}

fn start(program: &Program, arguments: &[&str]) -> Command {
    let mut command = Command::new(&program.command[0]);
    command.args(&program.command[1..]).args(arguments).current_dir(&program.folder).stdin(Stdio::null());
    if std::env::var_os(SEED.0).is_none() {
        command.env(SEED.0, SEED.1);
    }
    if program.listed.is_some() {
        // As Cargo does it: some tests find their files by it.
        command.env("CARGO_MANIFEST_DIR", &program.folder);
    }
    command
}

/// The longest first, by the last run; what was never run goes by the number of its tests, before the others.
fn sort(programs: &mut [Program]) {
    let times = times();
    let expected = |program: &Program| match times.get(&program.name) {
        Some(seconds) => *seconds,
        None => 10_000.0 + program.listed.unwrap_or(1_000) as f64,
    };
    programs.sort_by(|a, b| expected(b).total_cmp(&expected(a)));
}

fn times() -> BTreeMap<String, f64> {
    let text = std::fs::read_to_string(TIMES).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

fn run_side_by_side(programs: Vec<Program>) -> Result<Vec<Outcome>> {
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let total = programs.len();
    let waiting = Mutex::new(programs.into_iter());
    let finished = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..workers)
            .map(|_| {
                scope.spawn(|| -> Result<()> {
                    loop {
                        let Some(program) = waiting.lock().expect("no panic").next() else { return Ok(()) };
                        let outcome = run_one(&program)?;
                        let mut finished = finished.lock().expect("no panic");
                        finished.push(outcome);
                        let (number, last) = (finished.len(), &finished[finished.len() - 1]);
                        let Counts { passed, failed, .. } = last.counts;
                        println!(
                            "[{number}/{total}] {}: {passed} passed, {failed} failed ({:.0} s)",
                            last.name, last.seconds
                        );
                        if let Some(complaint) = &last.complaint {
                            println!("{complaint}");
                        }
                    }
                })
            })
            .collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("no panic"))
    })?;
    Ok(finished.into_inner().expect("no panic"))
}

fn run_one(program: &Program) -> Result<Outcome> {
    let started = Instant::now();
    let output = start(program, &[]).output().with_context(|| program.name.clone())?;
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let counts = counts(&text);
    let ran = counts.passed + counts.failed + counts.skipped;
    let short = program.listed.is_some_and(|listed| listed != ran) || ran == 0;
    let complaint = if short {
        Some(format!("{text}\n{}: {ran} tests ran of {:?} that it lists", program.name, program.listed))
    } else {
        (!output.status.success() || counts.failed > 0).then_some(text)
    };
    Ok(Outcome { name: program.name.clone(), counts, seconds: started.elapsed().as_secs_f64(), complaint })
}

/// What the closing lines of Rust's harness, Python's unittest and the pages' runner say.
fn counts(text: &str) -> Counts {
    let mut counts = Counts::default();
    for line in text.lines() {
        let before = |word: &str| -> usize {
            let mut words =
                line.split(|c: char| c.is_whitespace() || matches!(c, ';' | ',' | '.' | '(' | ')' | '='));
            let mut last = 0;
            words
                .find_map(|text| {
                    if text == word {
                        return Some(last);
                    }
                    last = text.parse().unwrap_or(last);
                    None
                })
                .unwrap_or(0)
        };
        if line.starts_with("test result: ") {
            counts.passed += before("passed");
            counts.failed += before("failed");
            counts.skipped += before("ignored");
        } else if line.starts_with("Ran ") && line.contains(" test") {
            counts.passed += before("tests").max(before("test"));
        } else if let [_, outcome, number] = line.split_whitespace().collect::<Vec<_>>()[..] {
            // Node's runner closes with `# pass 12`, or with another sign in front of it.
            let number = number.parse().unwrap_or(0);
            match outcome {
                "pass" => counts.passed += number,
                "fail" => counts.failed += number,
                "skipped" => counts.skipped += number,
                _ => {}
            }
        }
    }
    counts
}

/// The examples in documentation. Cargo builds them as it runs them, so they come when the processors are free.
fn documentation() -> Result<Outcome> {
    let started = Instant::now();
    let output = Command::new(env!("CARGO"))
        .args(["test", "--workspace", "--doc"])
        .output()
        .context("cargo test --doc")?;
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let counts = counts(&text);
    let complaint = (!output.status.success() || counts.passed == 0).then_some(text);
    Ok(Outcome { name: "documentation".into(), counts, seconds: started.elapsed().as_secs_f64(), complaint })
}

fn report(outcomes: &[Outcome], built: f64, all: f64) -> Result<()> {
    let mut times = times();
    times.extend(outcomes.iter().map(|outcome| (outcome.name.clone(), outcome.seconds)));
    std::fs::write(TIMES, serde_json::to_string_pretty(&times)?).context(TIMES)?;
    let mut slowest: Vec<&Outcome> = outcomes.iter().collect();
    slowest.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    println!("\nbuilding {built:.0} s, all {all:.0} s; the slowest:");
    for outcome in slowest.iter().take(10) {
        println!("  {:6.0} s  {}", outcome.seconds, outcome.name);
    }
    let sum =
        |number: fn(&Counts) -> usize| outcomes.iter().map(|outcome| number(&outcome.counts)).sum::<usize>();
    let wrong: Vec<&str> = outcomes
        .iter()
        .filter(|outcome| outcome.complaint.is_some())
        .map(|outcome| outcome.name.as_str())
        .collect();
    let failed = sum(|counts| counts.failed).max(wrong.len());
    for outcome in outcomes {
        if let Some(complaint) = &outcome.complaint {
            println!("\n{}: the end of what it printed", outcome.name);
            ending(complaint).for_each(|line| println!("  {line}"));
        }
    }
    println!(
        "\n{} passed, {failed} failed, {} skipped",
        sum(|counts| counts.passed),
        sum(|counts| counts.skipped)
    );
    if wrong.is_empty() {
        return Ok(());
    }
    bail!("something is wrong in: {}", wrong.join(", "))
}

/// The last lines of a complaint: the names of failed tests stand there.
fn ending(complaint: &str) -> impl Iterator<Item = &str> {
    let lines: Vec<&str> = complaint.lines().filter(|line| !line.trim().is_empty()).collect();
    let skipped = lines.len().saturating_sub(12);
    lines.into_iter().skip(skipped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closing_lines_are_counted() {
        let rust =
            "test result: ok. 12 passed; 1 failed; 2 ignored; 0 measured; 0 filtered out; finished in 0.1s";
        assert_eq!(counts(rust), Counts { passed: 12, failed: 1, skipped: 2 });
        assert_eq!(counts(&format!("{rust}\nother\n{rust}")).passed, 24);
        assert_eq!(counts("Ran 141 tests in 3.2s\n\nOK").passed, 141);
        assert_eq!(counts("# tests 9\n# pass 7\n# fail 2"), Counts { passed: 7, failed: 2, skipped: 0 });
        assert_eq!(counts("nothing"), Counts::default());
    }

    #[test]
    fn a_program_that_runs_fewer_tests_than_it_lists_is_wrong() {
        let say = |text: &str, listed| Program {
            name: "said".into(),
            command: vec!["echo".into(), text.into()],
            folder: ".".into(),
            listed,
        };
        let line = "test result: ok. 2 passed; 0 failed; 0 ignored";
        assert!(run_one(&say(line, Some(2))).expect("it runs").complaint.is_none());
        assert!(run_one(&say(line, Some(3))).expect("it runs").complaint.is_some());
        assert!(run_one(&say("nothing", None)).expect("it runs").complaint.is_some());
    }
}
