//! Real tools on the sources of a project: gcc, clang's analyser and cppcheck on each file; valgrind, ThreadSanitizer and
//! AddressSanitizer on the program.

use crate::tree::{Tree, text};
use parallax_report::Document;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Tool {
    Gcc,
    Clang,
    Cppcheck,
    Valgrind,
    Thread,
    Address,
}

/// Seconds after which a program is stopped; what it reported until then does not count.
const PATIENCE: &str = "120";

/// Tools with the flags of a project. What they said of a text is kept: most files of an edited project are as they were.
pub struct Tools {
    flags: Vec<String>,
    said: HashMap<(Tool, String, Vec<u8>), Vec<u8>>,
    objects: tempfile::TempDir,
}

impl Tools {
    pub fn new(flags: &str) -> Tools {
        let flags = flags.split_whitespace().map(str::to_owned).collect();
        Tools { flags, said: HashMap::new(), objects: tempfile::tempdir().expect("a folder is made") }
    }

    fn command(&self, program: &str, folder: &Path) -> Command {
        let mut command = Command::new("timeout");
        command.arg(PATIENCE).arg(program).current_dir(folder).stdin(Stdio::null());
        command
    }

    /// Whether gcc takes a file.
    pub fn compiles(&self, folder: &Path, file: &str) -> bool {
        let mut gcc = self.command("gcc", folder);
        gcc.args(["-fsyntax-only", "-w", "-Werror=implicit-function-declaration", "-I."]).args(&self.flags);
        gcc.arg(file).output().expect("gcc runs").status.success()
    }

    /// The reports of a tool on the sources, which stand in `folder`; none where the program does not link or does not end.
    pub fn reports(&mut self, tool: Tool, tree: &Tree, folder: &Path) -> Option<Document> {
        let files: Vec<&String> = tree.files.keys().filter(|name| name.ends_with(".c")).collect();
        let mut all = Document::default();
        match tool {
            Tool::Gcc | Tool::Clang | Tool::Cppcheck => {
                for file in files {
                    let key = (tool, file.clone(), self.digest(tree, file));
                    if !self.said.contains_key(&key) {
                        let said = self.look(tool, file, folder)?;
                        self.said.insert(key.clone(), said);
                    }
                    take(&mut all, &self.said[&key], file);
                }
            }
            Tool::Valgrind | Tool::Thread | Tool::Address => {
                let program = self.program(tool, &files, tree, folder)?;
                take(&mut all, &self.run(tool, &program)?, "run");
            }
        }
        Some(all)
    }

    /// A digest of a file, its name, and all headers.
    fn digest(&self, tree: &Tree, file: &str) -> Vec<u8> {
        let mut hash = Sha256::new();
        for (name, lines) in tree.files.iter().filter(|(name, _)| *name == file || name.ends_with(".h")) {
            hash.update(format!("{name}\0{}\0", text(lines)));
        }
        hash.finalize().to_vec()
    }

    /// What a tool that reads code says of a file.
    fn look(&self, tool: Tool, file: &str, folder: &Path) -> Option<Vec<u8>> {
        let out = self.objects.path().join("said");
        let _ = std::fs::remove_file(&out);
        let mut command = match tool {
            Tool::Gcc => {
                let mut gcc = self.command("gcc", folder);
                gcc.args([
                    "-Wall",
                    "-Wextra",
                    "-Wconversion",
                    "-fdiagnostics-format=json",
                    "-c",
                    "-o",
                    "/dev/null",
                    "-I.",
                ]);
                gcc
            }
            Tool::Clang => {
                let mut clang = self.command("clang-19", folder);
                // A bound of its own on each function: the edits, not the depth of the search, are what is tried here.
                clang.args([
                    "--analyze",
                    "-w",
                    "-Xclang",
                    "-analyzer-config",
                    "-Xclang",
                    "max-nodes=3000",
                    "-I.",
                ]);
                clang.args(["--analyzer-output", "plist", "-o"]).arg(&out);
                clang
            }
            _ => {
                let mut cppcheck = self.command("cppcheck", folder);
                cppcheck.args(["-q", "--enable=style,warning,portability", "--xml", "-I."]);
                cppcheck
            }
        };
        let flags = self.flags.iter().filter(|flag| tool == Tool::Gcc || flag.starts_with("-D"));
        let output = command.args(flags).arg(file).output().expect("a tool of scripts/setup runs");
        if output.status.code() == Some(124) {
            return None;
        }
        Some(if tool == Tool::Clang { std::fs::read(&out).unwrap_or_default() } else { output.stderr })
    }

    /// Builds the program as a tool wants it.
    fn program(&self, tool: Tool, files: &[&String], tree: &Tree, folder: &Path) -> Option<PathBuf> {
        let mode: &[&str] = match tool {
            Tool::Thread => &["-fsanitize=thread"],
            Tool::Address => &["-fsanitize=address", "-fsanitize-recover=address"],
            _ => &[],
        };
        let mut objects = Vec::new();
        for file in files {
            let name: String = self.digest(tree, file).iter().map(|byte| format!("{byte:02x}")).collect();
            let object = self.objects.path().join(format!("{name}-{tool:?}.o"));
            if !object.exists() {
                let mut gcc = self.command("gcc", folder);
                gcc.args(["-g", "-w", "-I.", "-c", "-o"]).arg(&object).args(mode).args(&self.flags).arg(file);
                // The same text has the same object, wherever it stands.
                gcc.arg(format!("-fdebug-prefix-map={}=.", folder.display()));
                if !gcc.output().expect("gcc runs").status.success() {
                    return None;
                }
            }
            objects.push(object);
        }
        let program = self.objects.path().join(format!("program-{tool:?}"));
        let mut gcc = self.command("gcc", folder);
        gcc.args(mode).args(&objects).arg("-o").arg(&program).args(&self.flags).args(["-lpthread", "-lm"]);
        gcc.output().expect("gcc runs").status.success().then_some(program)
    }

    /// What a tool that watches a run says of it.
    fn run(&self, tool: Tool, program: &Path) -> Option<Vec<u8>> {
        let folder = self.objects.path();
        let out = folder.join("said");
        let _ = std::fs::remove_file(&out);
        let name = program.to_str().expect("a name in UTF-8");
        let mut command = if tool == Tool::Valgrind {
            let mut valgrind = self.command("valgrind", folder);
            valgrind
                .args(["--leak-check=full", "--xml=yes", "-q"])
                .arg(format!("--xml-file={}", out.display()))
                .arg(name);
            valgrind
        } else {
            let mut program = self.command(name, folder);
            program
                .env("TSAN_OPTIONS", "history_size=7")
                .env("ASAN_OPTIONS", "halt_on_error=0:detect_leaks=1");
            program
        };
        let output = command.output().expect("a tool of scripts/setup runs");
        if output.status.code() == Some(124) {
            return None;
        }
        Some(if tool == Tool::Valgrind { std::fs::read(&out).unwrap_or_default() } else { output.stderr })
    }
}

/// Adds the reports of a tool's output to a document. Where a tool has nothing to say, its output is no report.
fn take(all: &mut Document, said: &[u8], name: &str) {
    let text = String::from_utf8_lossy(said);
    if text.trim().is_empty() || (!text.starts_with(['[', '<']) && !text.contains("Sanitizer")) {
        return;
    }
    let document =
        parallax_report::read(said, name).unwrap_or_else(|error| panic!("{name}: {error}\n{text}"));
    all.reports.extend(document.reports.into_iter().map(|mut report| {
        report.run = None;
        report.extra.clear();
        report
    }));
    all.excerpts.extend(document.excerpts);
}
