//! One check in a process of its own, so that it can be ended at any time: what it finds is written to standard output, a
//! line of JSON for each analysis.

use super::super::c_sources::CSources;
use super::super::check::{self, Check, WithoutMain};
use super::place::uri;
use anyhow::{Context, Result};
use clap::Parser;
use parallax_cli_base::exit::Status;
use parallax_cmodule::{LocationId, Module};
use parallax_mixy::{Finding, Status as Sure, names::site_location, output};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

/// Diagnostics by file.
pub(super) type Diagnostics = BTreeMap<PathBuf, Vec<Value>>;

/// What one analysis of a program says.
#[derive(Serialize, Deserialize)]
pub(super) struct Answer {
    /// `check` or `explore`.
    pub analysis: String,
    pub found: Found,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Found {
    /// Diagnostics, and what was left out.
    Diagnostics(Diagnostics, Vec<String>),
    /// The program is wrong or cannot be read: the user wants to know.
    Wrong(String),
    /// The file is a part of a program that is not known: nothing is wrong with it.
    NoEntry(String),
}

/// A worker that runs. It ends with this value, and with everything that it started.
pub(super) struct Worker {
    process: Child,
}

impl Worker {
    /// Starts one for the words of a check; gives what it writes.
    pub(super) fn start(words: &[String]) -> Result<(Worker, ChildStdout)> {
        use std::os::unix::process::CommandExt;
        let mut command = Command::new(std::env::current_exe().context("the path of this command")?);
        command.args(["lsp", "--worker", "--"]).args(words);
        // A group of its own: the compiler that it runs ends with it.
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).process_group(0);
        let mut process = command.spawn().context("cannot start a check")?;
        let output = process.stdout.take().context("a check without output")?;
        Ok((Worker { process }, output))
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // SAFETY: a signal to the group of a child that was not waited for, so that its number belongs to nothing else.
        unsafe { libc::kill(-(self.process.id() as libc::pid_t), libc::SIGKILL) };
        // It was killed or had ended: either way nothing is left to do.
        let _ = self.process.wait();
    }
}

/// The flags of a check, by themselves.
#[derive(Parser)]
struct Flags {
    #[command(flatten)]
    check: Check,
}

/// Does the work of a worker.
pub(super) fn run(words: &[String]) -> Result<Status> {
    // The server holds the other end: where it goes away without a word, nobody waits for the answer.
    std::thread::spawn(|| {
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        std::process::exit(1);
    });
    let words = std::iter::once("check").chain(words.iter().map(String::as_str));
    let flags = match Flags::try_parse_from(words) {
        Ok(flags) => flags,
        Err(error) => {
            say("check", Found::Wrong(error.to_string()))?;
            return Ok(Status::Clean);
        }
    };
    let found = checked(&flags.check);
    let is_program = matches!(found, Found::Diagnostics(..));
    say("check", found)?;
    if is_program && let Some((sources, words)) = check::explored(&flags.check)? {
        say("explore", explored(&sources, &words))?;
    }
    Ok(Status::Clean)
}

fn say(analysis: &str, found: Found) -> Result<()> {
    let line = serde_json::to_string(&Answer { analysis: analysis.to_owned(), found })?;
    writeln!(std::io::stdout().lock(), "{line}").context("the server is gone")
}

/// Null errors of a program.
fn checked(arguments: &Check) -> Found {
    let all = match check::checked(arguments, WithoutMain::Part) {
        Ok(all) => all,
        Err(error) => {
            let words = format!("{error:#}");
            return match error.downcast_ref::<parallax_mixy::Error>() {
                Some(parallax_mixy::Error::NoFunction(_)) => Found::NoEntry(words),
                _ => Found::Wrong(words),
            };
        }
    };
    let mut files = Diagnostics::new();
    let mut gaps = BTreeSet::new();
    for checked in &all {
        let module = &checked.program.module;
        for finding in &checked.report.findings {
            let file = absolute(module.file_of(site_location(module, finding.site)));
            let shown = diagnostic(module, finding);
            let known = files.entry(file).or_default();
            // Programs share files.
            if !known.contains(&shown) {
                known.push(shown);
            }
        }
        gaps.extend(checked.report.gaps.iter().cloned());
    }
    Found::Diagnostics(files, gaps.into_iter().collect())
}

fn diagnostic(module: &Module, finding: &Finding) -> Value {
    let place = site_location(module, finding.site);
    let (severity, message) = match &finding.status {
        Sure::Confirmed => (1, format!("{}: confirmed by running the program", output::title(finding))),
        Sure::Likely(why) => (2, format!("{} (likely: {why})", output::title(finding))),
        Sure::Possible(why) => (3, format!("{} (possible, not decided: {why})", output::title(finding))),
    };
    let at = |location: LocationId| {
        let place = module.location(location);
        range(module.file_of(location), place.line, place.column)
    };
    let steps = finding.paths.first().map(|path| path.steps.as_slice()).unwrap_or_default();
    let related = steps.iter().filter(|step| module.location(step.location).line > 0).map(|step| {
        let file = absolute(module.file_of(step.location));
        json!({ "location": { "uri": uri(&file), "range": at(step.location) }, "message": step.words })
    });
    json!({
        "range": at(place),
        "severity": severity,
        "code": finding.kind.name(),
        "source": "parallax",
        "message": message,
        "relatedInformation": related.collect::<Vec<_>>(),
    })
}

/// What exploring a program finds. Nothing runs natively.
fn explored(sources: &CSources, words: &[String]) -> Found {
    let run = || -> Result<(Option<Value>, String)> {
        let mut command = Command::new(std::env::current_exe().context("the path of this command")?);
        command.args(["explore", "--json", "--no-native"]).args(words).args(sources.flags.words());
        // A name that begins with `-` is a file all the same.
        command.args(sources.files.iter().map(|file| Path::new(".").join(file)));
        let done = command.stdin(Stdio::null()).output().context("cannot start exploring")?;
        let said = String::from_utf8_lossy(&done.stderr).trim().to_owned();
        Ok((serde_json::from_slice(&done.stdout).ok(), said))
    };
    let document = match run() {
        Ok((Some(document), _)) => document,
        Ok((None, said)) => return Found::Wrong(format!("explore: {said}")),
        Err(error) => return Found::Wrong(format!("explore: {error:#}")),
    };
    let mut files = Diagnostics::new();
    for finding in document["findings"].as_array().into_iter().flatten() {
        let file = absolute(finding["file"].as_str().unwrap_or_default());
        files.entry(file).or_default().push(explored_diagnostic(finding));
    }
    let left = document["bounds"].as_array().into_iter().flatten();
    let left = left.filter_map(|bound| Some(format!("explore: {}", bound["message"].as_str()?)));
    Found::Diagnostics(files, left.collect())
}

/// A finding of `explore --json`.
fn explored_diagnostic(finding: &Value) -> Value {
    let text = |name: &str| finding[name].as_str().unwrap_or_default();
    let number = |value: &Value| value.as_u64().and_then(|number| u32::try_from(number).ok()).unwrap_or(0);
    let verdict = text("verdict");
    let relied: Vec<&str> =
        finding["relies_on"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let mut message = format!("{}: {}", text("kind"), text("message"));
    if !relied.is_empty() {
        message.push_str(&format!(" (not where callers see to it that {})", relied.join("; ")));
    }
    match verdict {
        "confirmed" => {}
        "guessed" => message.push_str(" (rests on a guess of what code without a model returns)"),
        _ => message.push_str(" (running its input again does not confirm it)"),
    }
    let steps = finding["path"].as_array().map(Vec::as_slice).unwrap_or_default();
    let related = steps.iter().filter(|step| number(&step["line"]) > 0).map(|step| {
        let (file, line) = (step["file"].as_str().unwrap_or_default(), number(&step["line"]));
        let taken = step["taken"].as_bool().map(|taken| if taken { "taken" } else { "not taken" }.to_owned());
        let values = step["values"].as_object().into_iter().flatten();
        let values = values.map(|(name, value)| format!("{name} = {}", value.as_str().unwrap_or_default()));
        let function = step["function"].as_str().unwrap_or_default().to_owned();
        let words: Vec<String> = [function].into_iter().chain(taken).chain(values).collect();
        json!({ "location": { "uri": uri(&absolute(file)), "range": range(file, line, 1) }, "message": words.join(", ") })
    });
    // Editors list them beneath the diagnostic: of a long path the end is what leads to the mistake.
    let related: Vec<Value> = related.collect();
    let related = &related[related.len().saturating_sub(40)..];
    json!({
        "range": range(text("file"), number(&finding["line"]), number(&finding["column"])),
        "severity": if verdict == "confirmed" { 1 } else { 2 },
        "code": text("kind"),
        "source": "parallax explore",
        "message": message,
        "relatedInformation": related,
    })
}

/// From a place to the end of its line. Columns are bytes here, and units of UTF-16 there.
fn range(file: &str, line: u32, column: u32) -> Value {
    let number = line.saturating_sub(1);
    let text = parallax_cread::source_text(Path::new(file)).unwrap_or_default();
    let line = text.lines().nth(number as usize).unwrap_or("").trim_end();
    let bytes = (column.saturating_sub(1) as usize).min(line.len());
    let units = |text: &str| text.encode_utf16().count();
    let start = line.get(..bytes).map_or(0, units);
    let end = units(line).max(start + 1);
    json!({ "start": { "line": number, "character": start }, "end": { "line": number, "character": end } })
}

fn absolute(file: &str) -> PathBuf {
    let whole = std::path::absolute(file).unwrap_or_else(|_| PathBuf::from(file));
    std::fs::canonicalize(&whole).unwrap_or(whole)
}
