//! `parallax lsp`: null errors in an editor, when a file is saved.
//!
//! The language server protocol over standard input and output. A save starts a check of the whole program; what clang made
//! of files that did not change is taken from where it is kept. Each finding is a diagnostic, with the way that null takes
//! as related information.

use super::check::{self, Check};
use anyhow::{Context, Result};
use clap::{Args, Parser};
use lsp_server::{Connection, Message, Notification, Response};
use parallax_cli_base::exit::Status;
use parallax_cli_base::fault;
use parallax_cmodule::{LocationId, Module};
use parallax_mixy::{Finding, Status as Sure, names::site_location, output};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

/// Show null errors in an editor (language server).
///
/// A file is checked when it is saved.
#[derive(Args)]
#[command(after_help = "\
Examples:
  parallax lsp
  parallax lsp -- compile_commands.json --refine-time 20 --sinks annotated

The editor starts it and talks to it over standard input and output. What is checked is compile_commands.json of the
workspace, or of its folder build; without one, the file that was saved. After -- come files and flags as parallax check
takes them. Unless flags say otherwise, functions are executed for 5 seconds to refute warnings, and the program is not run.")]
pub struct Lsp {
    /// Files and flags of `parallax check`.
    #[arg(last = true, value_name = "CHECK")]
    check: Vec<String>,
}

/// The flags of a check, by themselves.
#[derive(Parser)]
struct Flags {
    #[command(flatten)]
    check: Check,
}

/// Does it.
pub fn run(arguments: &Lsp) -> Result<Status> {
    let (connection, threads) = Connection::stdio();
    let capabilities = json!({ "textDocumentSync": { "openClose": true, "change": 0, "save": true } });
    let greeting = match connection.initialize(capabilities) {
        Ok(greeting) => greeting,
        // An editor that goes away without a word is no fault of anybody's.
        Err(_) => return Ok(Status::Clean),
    };
    if let Some(root) = root(&greeting) {
        std::env::set_current_dir(&root).with_context(|| format!("cannot use {}", root.display()))?;
    }
    let mut server = Server {
        connection: &connection,
        given: &arguments.check,
        shown: BTreeMap::new(),
        told: BTreeMap::new(),
        wanted: BTreeSet::new(),
        running: None,
    };
    server.serve()?;
    // A check that still runs ends with the process.
    drop(connection);
    // The threads end with the pipes.
    let _ = threads.join();
    Ok(Status::Clean)
}

/// The folder of the workspace.
fn root(greeting: &Value) -> Option<PathBuf> {
    let folder = &greeting["workspaceFolders"][0]["uri"];
    [folder, &greeting["rootUri"]].into_iter().find_map(|uri| path(uri.as_str()?))
}

struct Server<'c> {
    connection: &'c Connection,
    given: &'c [String],
    /// The diagnostics of each program that was checked, by file. A file may be part of several.
    shown: BTreeMap<PathBuf, Diagnostics>,
    /// Why programs could not be checked, as it was said last.
    told: BTreeMap<PathBuf, String>,
    /// Programs to check, each once.
    wanted: BTreeSet<PathBuf>,
    running: Option<Receiver<Outcome>>,
}

type Diagnostics = BTreeMap<PathBuf, Vec<Value>>;

/// What came of a check.
struct Outcome {
    /// What was checked: a database, or one file.
    program: PathBuf,
    found: Result<(Diagnostics, Vec<String>), Refused>,
}

/// Why there is nothing to show.
enum Refused {
    /// The program is wrong or cannot be read: the user wants to know.
    Wrong(String),
    /// The file is a part of a program that is not known: nothing is wrong with it.
    NoEntry(String),
}

/// How often a check that runs is looked after.
const PAUSE: Duration = Duration::from_millis(20);

impl Server<'_> {
    fn serve(&mut self) -> Result<()> {
        loop {
            let next = if self.running.is_some() {
                self.connection.receiver.recv_timeout(PAUSE).map_err(|error| error.is_disconnected())
            } else {
                self.connection.receiver.recv().map_err(|_| true)
            };
            match next {
                Ok(message) => {
                    // Saves that came while a check ran are one save.
                    let more: Vec<Message> = self.connection.receiver.try_iter().collect();
                    for message in std::iter::once(message).chain(more) {
                        if !self.take(message)? {
                            return Ok(());
                        }
                    }
                }
                Err(gone) if gone => return Ok(()),
                Err(_) => {}
            }
            if let Some(outcome) = self.running.as_ref().and_then(|running| running.try_recv().ok()) {
                self.running = None;
                // What was saved meanwhile is checked again, and this is of before.
                if !self.wanted.contains(&outcome.program) {
                    self.show(outcome)?;
                }
            }
            if self.running.is_none()
                && let Some(program) = self.wanted.pop_first()
            {
                self.running = Some(self.start(program));
            }
        }
    }

    /// Takes a message; whether the editor goes on. A request is answered at once, also while a check runs.
    fn take(&mut self, message: Message) -> Result<bool> {
        match message {
            Message::Request(request) => {
                // An editor that asks for the end and does not wait for it has what it wants.
                match self.connection.handle_shutdown(&request) {
                    Ok(false) => {}
                    Ok(true) | Err(_) => return Ok(false),
                }
                let words = format!("{} is not served", request.method);
                let code = lsp_server::ErrorCode::MethodNotFound as i32;
                self.send(Message::Response(Response::new_err(request.id, code, words)))?;
            }
            Message::Notification(Notification { method, params }) => {
                if matches!(method.as_str(), "textDocument/didOpen" | "textDocument/didSave") {
                    let file = params["textDocument"]["uri"].as_str().and_then(path);
                    self.wanted.extend(file.and_then(|file| self.program(&file)));
                }
                if method == "exit" {
                    return Ok(false);
                }
            }
            Message::Response(_) => {}
        }
        Ok(true)
    }

    fn send(&self, message: Message) -> Result<()> {
        self.connection.sender.send(message).context("the editor is gone")
    }

    fn notify(&self, method: &str, params: Value) -> Result<()> {
        self.send(Message::Notification(Notification { method: method.into(), params }))
    }

    /// The program that a file is part of: the database, or the file alone if it is C. A header without a database, or a
    /// file of another language, is part of nothing that could be checked.
    fn program(&self, file: &Path) -> Option<PathBuf> {
        if self.given.iter().any(|word| is_source(word)) {
            return Some(PathBuf::new());
        }
        let usual = ["compile_commands.json", "build/compile_commands.json"].map(PathBuf::from);
        let alone = || super::c_sources::CSources::is_c(file).then(|| file.to_path_buf());
        usual.into_iter().find(|usual| usual.is_file()).or_else(alone)
    }

    /// Starts to check a program.
    fn start(&self, program: PathBuf) -> Receiver<Outcome> {
        let words = self.words(&program);
        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || {
            // A fault in one check is not the end of the editor's session.
            let found =
                fault::contained(std::panic::AssertUnwindSafe(|| found(&words))).unwrap_or_else(|_| {
                    Err(Refused::Wrong("a fault of Parallax; see what the server printed".to_owned()))
                });
            // The editor may be gone by now.
            let _ = sender.send(Outcome { program, found });
        });
        receiver
    }

    /// The command line of the check.
    fn words(&self, program: &Path) -> Vec<String> {
        let mut words = vec!["check".to_string()];
        if !program.as_os_str().is_empty() {
            words.push(program.display().to_string());
        }
        let names = |flag: &str| self.given.iter().any(|word| word.split('=').next() == Some(flag));
        if !names("--no-refine") && !names("--refine-time") {
            words.push("--refine-time=5".into());
        }
        if !names("--confirm-time") {
            words.push("--confirm-time=0".into());
        }
        words.extend(self.given.iter().cloned());
        words
    }

    /// Diagnostics for every file of the program that has findings, and none for those that had some before. What other
    /// programs say of the same files stays.
    fn show(&mut self, Outcome { program, found }: Outcome) -> Result<()> {
        let (files, gaps) = match found {
            Ok(found) => found,
            Err(Refused::NoEntry(words)) => {
                // Said once, where it does not get in the way.
                return if self.told.insert(program, words.clone()).as_ref() == Some(&words) {
                    Ok(())
                } else {
                    self.notify(
                        "window/logMessage",
                        json!({ "type": 3, "message": format!("parallax: {words}") }),
                    )
                };
            }
            Err(Refused::Wrong(words)) => {
                let message = format!("parallax: {words}");
                return self.notify("window/showMessage", json!({ "type": 1, "message": message }));
            }
        };
        self.told.remove(&program);
        let before = self.shown.insert(program.clone(), files).unwrap_or_default();
        let now = self.shown.get(&program).map(|files| files.keys().cloned().collect::<Vec<_>>());
        let touched: BTreeSet<PathBuf> = before.into_keys().chain(now.into_iter().flatten()).collect();
        for file in touched {
            let mut all: Vec<&Value> = Vec::new();
            for one in self.shown.values().filter_map(|files| files.get(&file)).flatten() {
                if !all.contains(&one) {
                    all.push(one);
                }
            }
            let params = json!({ "uri": uri(&file), "diagnostics": all });
            self.notify("textDocument/publishDiagnostics", params)?;
        }
        if !gaps.is_empty() {
            let message = format!("parallax left out: {}", gaps.join("; "));
            self.notify("window/logMessage", json!({ "type": 2, "message": message }))?;
        }
        Ok(())
    }
}

fn is_source(word: &str) -> bool {
    !word.starts_with('-') && super::c_sources::CSources::is_c(Path::new(word))
}

/// Checks a program: its diagnostics by file, and what was left out.
fn found(words: &[String]) -> Result<(Diagnostics, Vec<String>), Refused> {
    let checked = Flags::try_parse_from(words).map_err(anyhow::Error::from);
    let checked = checked.and_then(|flags| check::checked(&flags.check)).map_err(|error| {
        let words = format!("{error:#}");
        match error.downcast_ref::<parallax_mixy::Error>() {
            Some(parallax_mixy::Error::NoFunction(_)) => Refused::NoEntry(words),
            _ => Refused::Wrong(words),
        }
    })?;
    let module = &checked.program.module;
    let mut files = Diagnostics::new();
    for finding in &checked.report.findings {
        let file = absolute(module.file_of(site_location(module, finding.site)));
        files.entry(file).or_default().push(diagnostic(module, finding));
    }
    Ok((files, checked.report.gaps.iter().cloned().collect()))
}

fn diagnostic(module: &Module, finding: &Finding) -> Value {
    let place = site_location(module, finding.site);
    let (severity, message) = match &finding.status {
        Sure::Confirmed => (1, format!("{}: confirmed by running the program", output::title(finding))),
        Sure::Possible(why) => (2, format!("{} (not decided: {why})", output::title(finding))),
    };
    let steps = finding.paths.first().map(|path| path.steps.as_slice()).unwrap_or_default();
    let related = steps.iter().filter(|step| module.location(step.location).line > 0).map(|step| {
        let file = absolute(module.file_of(step.location));
        json!({ "location": { "uri": uri(&file), "range": range(module, step.location) }, "message": step.words })
    });
    json!({
        "range": range(module, place),
        "severity": severity,
        "code": finding.kind.name(),
        "source": "parallax",
        "message": message,
        "relatedInformation": related.collect::<Vec<_>>(),
    })
}

/// From a place to the end of its line. Columns are bytes here, and units of UTF-16 there.
fn range(module: &Module, location: LocationId) -> Value {
    let place = module.location(location);
    let number = place.line.saturating_sub(1);
    let text = std::fs::read_to_string(module.file_of(location)).unwrap_or_default();
    let line = text.lines().nth(number as usize).unwrap_or("").trim_end();
    let bytes = (place.column.saturating_sub(1) as usize).min(line.len());
    let units = |text: &str| text.encode_utf16().count();
    let start = line.get(..bytes).map_or(0, units);
    let end = units(line).max(start + 1);
    json!({ "start": { "line": number, "character": start }, "end": { "line": number, "character": end } })
}

fn absolute(file: &str) -> PathBuf {
    let whole = std::path::absolute(file).unwrap_or_else(|_| PathBuf::from(file));
    std::fs::canonicalize(&whole).unwrap_or(whole)
}

/// A path as the protocol writes it.
fn uri(path: &Path) -> String {
    let mut text = String::from("file://");
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                text.push(*byte as char)
            }
            _ => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

/// The path that the protocol means; none for what is no file.
fn path(uri: &str) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStringExt;
    let rest = uri.strip_prefix("file://")?;
    let rest = &rest[rest.find('/')?..];
    let mut bytes = Vec::new();
    let mut all = rest.bytes();
    while let Some(byte) = all.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digits = [all.next()?, all.next()?];
        bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
    }
    Some(std::ffi::OsString::from_vec(bytes).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_survive_the_protocol() {
        for name in ["/a/b.c", "/a b/ü%.c", "/c++/x:y.c"] {
            assert_eq!(path(&uri(Path::new(name))), Some(PathBuf::from(name)));
        }
        assert_eq!(path("file:///a%20b"), Some(PathBuf::from("/a b")));
        for bad in ["http://x/y", "file://", "file:///%", "file:///%zz", "untitled:1"] {
            assert_eq!(path(bad), None, "{bad}");
        }
    }
}
