//! `parallax lsp`: findings in an editor, when a file is saved.
//!
//! The language server protocol over standard input and output. A save starts a check of the whole program; what clang made
//! of files that did not change is taken from where it is kept. Each finding is a diagnostic, with the way there as related
//! information. A check runs in a process of its own, which ends when the file is saved again, when the user cancels it,
//! and when the editor goes.

mod place;
mod worker;

use anyhow::{Context, Result};
use clap::Args;
use lsp_server::{Connection, Message, Notification, Request, Response};
use parallax_cli_base::exit::Status;
use place::{path, uri};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, TryRecvError};
use std::time::Duration;
use worker::{Answer, Diagnostics, Found, Worker};

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
takes them. Unless flags say otherwise, functions are executed for 5 seconds to refute warnings, and the program is not run.
With a table [lsp.explore] in parallax.toml the program is explored as well, and what that finds is shown too.")]
pub struct Lsp {
    /// Do one check and write what it finds, for the server.
    #[arg(long, hide = true)]
    worker: bool,
    /// Files and flags of `parallax check`.
    #[arg(last = true, value_name = "CHECK", allow_hyphen_values = true)]
    check: Vec<String>,
}

/// Does it.
pub fn run(arguments: &Lsp) -> Result<Status> {
    if arguments.worker {
        return worker::run(&arguments.check);
    }
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
        shows_progress: greeting["capabilities"]["window"]["workDoneProgress"] == true,
        started: 0,
        shown: BTreeMap::new(),
        told: BTreeMap::new(),
        wanted: BTreeSet::new(),
        running: None,
    };
    server.serve()?;
    drop(server);
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
    /// Whether the editor shows that a check runs, and lets the user cancel it.
    shows_progress: bool,
    /// How many checks were started.
    started: u64,
    /// The diagnostics of each analysis of each program, by file. A file may be part of several programs.
    shown: BTreeMap<(PathBuf, String), Diagnostics>,
    /// Why programs could not be checked, as it was said last.
    told: BTreeMap<PathBuf, String>,
    /// Programs to check, each once.
    wanted: BTreeSet<PathBuf>,
    running: Option<Running>,
}

/// A check that runs.
struct Running {
    /// What is checked: a database, or one file.
    program: PathBuf,
    /// Where its answers come. Disconnected once it has ended.
    answers: Receiver<Answer>,
    /// The analyses whose answers have come.
    answered: BTreeSet<String>,
    /// Its name in the editor, and whether the editor has agreed to it.
    progress: String,
    is_shown: bool,
    _worker: Worker,
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
            // What is checked now is of before the save.
            if self.running.as_ref().is_some_and(|running| self.wanted.contains(&running.program)) {
                self.end()?;
            }
            self.listen()?;
            if self.running.is_none()
                && let Some(program) = self.wanted.pop_first()
            {
                self.start(program)?;
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
            Message::Notification(Notification { method, params }) => match method.as_str() {
                "textDocument/didOpen" | "textDocument/didSave" => {
                    let file = params["textDocument"]["uri"].as_str().and_then(path);
                    self.wanted.extend(file.and_then(|file| self.program(&file)));
                }
                "window/workDoneProgress/cancel" => {
                    let is_asked = |running: &Running| params["token"] == running.progress.as_str();
                    if self.running.as_ref().is_some_and(is_asked) {
                        self.end()?;
                    }
                }
                "exit" => return Ok(false),
                // Requests are answered as they come, so `$/cancelRequest` finds none that waits.
                _ => {}
            },
            Message::Response(response) => {
                let agreed = response.error.is_none();
                let asked =
                    self.running.as_mut().filter(|running| response.id == running.progress.clone().into());
                if let Some(running) = asked
                    && agreed
                {
                    running.is_shown = true;
                    let token = running.progress.clone();
                    let name = running.program.file_name().unwrap_or_default().to_string_lossy().into_owned();
                    let begins = json!({ "kind": "begin", "title": "parallax check", "message": name, "cancellable": true });
                    self.notify("$/progress", json!({ "token": token, "value": begins }))?;
                }
            }
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
    fn start(&mut self, program: PathBuf) -> Result<()> {
        let (worker, output) = Worker::start(&self.words(&program))?;
        let (sender, answers) = mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let Ok(answer) = serde_json::from_str(&line) else { continue };
                // The check may have been cancelled.
                if sender.send(answer).is_err() {
                    return;
                }
            }
        });
        self.started += 1;
        let progress = format!("parallax-{}", self.started);
        if self.shows_progress {
            let params = json!({ "token": progress });
            let method = "window/workDoneProgress/create".to_owned();
            self.send(Message::Request(Request { id: progress.clone().into(), method, params }))?;
        }
        let answered = BTreeSet::new();
        self.running =
            Some(Running { program, answers, answered, progress, is_shown: false, _worker: worker });
        Ok(())
    }

    /// Takes what the check that runs has found, and notices its end.
    fn listen(&mut self) -> Result<()> {
        while let Some(running) = &mut self.running {
            match running.answers.try_recv() {
                Ok(answer) => {
                    running.answered.insert(answer.analysis.clone());
                    let program = running.program.clone();
                    self.show(program, answer)?;
                }
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => {
                    let (program, answered) =
                        (running.program.clone(), std::mem::take(&mut running.answered));
                    self.end()?;
                    if answered.is_empty() {
                        let words = "parallax: a fault of Parallax; see what the server printed";
                        self.notify("window/showMessage", json!({ "type": 1, "message": words }))?;
                    } else {
                        // What an analysis has shown that the project no longer asks for goes.
                        let asked = |key: &(PathBuf, String)| key.0 != program || answered.contains(&key.1);
                        let stale: Vec<_> = self.shown.keys().filter(|key| !asked(key)).cloned().collect();
                        stale.into_iter().try_for_each(|key| self.publish(key, Diagnostics::new()))?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Ends the check that runs, wherever it is.
    fn end(&mut self) -> Result<()> {
        match self.running.take() {
            Some(running) if running.is_shown => {
                self.notify("$/progress", json!({ "token": running.progress, "value": { "kind": "end" } }))
            }
            _ => Ok(()),
        }
    }

    /// The words of the check.
    fn words(&self, program: &Path) -> Vec<String> {
        let mut words = Vec::new();
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

    /// Shows what an analysis says of a program.
    fn show(&mut self, program: PathBuf, Answer { analysis, found }: Answer) -> Result<()> {
        match found {
            Found::Diagnostics(files, gaps) => {
                self.told.remove(&program);
                self.publish((program, analysis), files)?;
                if !gaps.is_empty() {
                    let message = format!("parallax left out: {}", gaps.join("; "));
                    self.notify("window/logMessage", json!({ "type": 2, "message": message }))?;
                }
                Ok(())
            }
            Found::NoEntry(words) => {
                self.publish((program.clone(), analysis), Diagnostics::new())?;
                // Said once, where it does not get in the way.
                if self.told.insert(program, words.clone()).as_ref() == Some(&words) {
                    return Ok(());
                }
                let message = format!("parallax: {words}");
                self.notify("window/logMessage", json!({ "type": 3, "message": message }))
            }
            Found::Wrong(words) => {
                let message = format!("parallax: {words}");
                self.notify("window/showMessage", json!({ "type": 1, "message": message }))
            }
        }
    }

    /// Diagnostics for every file of the program that has findings, and none for those that had some before. What other
    /// programs and analyses say of the same files stays.
    fn publish(&mut self, key: (PathBuf, String), files: Diagnostics) -> Result<()> {
        let now: Vec<PathBuf> = files.keys().cloned().collect();
        let before = self.shown.insert(key, files).unwrap_or_default();
        let touched: BTreeSet<PathBuf> = before.into_keys().chain(now).collect();
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
        Ok(())
    }
}

fn is_source(word: &str) -> bool {
    !word.starts_with('-') && super::c_sources::CSources::is_c(Path::new(word))
}
