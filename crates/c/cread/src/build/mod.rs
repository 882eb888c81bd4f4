//! A project's own build, run to see how it compiles its C files.
//!
//! The build system is a stranger's program. It runs in the jail, without network, on a copy of the project's folder that is seen at the
//! folder's own place where the kernel has name spaces: so what a configured build says of absolute paths holds, and the project
//! stays as it was. Stand-ins in front of `PATH` note each call of a compiler and make it ([`stand_ins`]). The copy stays for
//! as long as the sources are read, with what the build generated ([`Built`]).
//!
//! Deliberately absent: what the flags mean. A call becomes an [`Entry`], as a compile database has them, and is believed no more than
//! one: the build could have noted anything.

mod calls;
mod copy;
mod stand_ins;

use crate::Error;
use parallax_jail::{Command, End, Ended, Jail, Kind, Limits, NotRun, Walls, Wanted};
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

/// The bounds of a build.
const LIMITS: Limits = Limits {
    time: Duration::from_secs(3600),
    memory: 8 << 30,
    file: 4 << 30,
    space: 16 << 30,
    files: 1_000_000,
    processes: 1024,
    output: 4 << 20,
};
/// Lines of a failed build that are shown: the last ones.
const LINES: usize = 30;

/// A file that is compiled, as a compile database says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Where the compiler was called.
    pub directory: PathBuf,
    /// What was compiled, relative to that.
    pub file: PathBuf,
    /// The call: the compiler, and its arguments.
    pub arguments: Vec<String>,
}

/// What a build showed. Its files are there until this is dropped.
#[derive(Debug)]
pub struct Built {
    /// The C files that it compiled, in the order of the calls. Those that it made and removed again are not among them.
    pub entries: Vec<Entry>,
    /// The calls of compilers that were seen.
    pub calls: usize,
    /// Files of other languages that were compiled.
    pub other_languages: usize,
    /// C files that were compiled and are gone, but for the trials of `configure`.
    pub gone: Vec<PathBuf>,
    /// What held it; nothing if that was a person's word.
    pub walls: Option<Walls>,
    /// Calls of the system that the jail refused, or answered otherwise than the world outside might have.
    pub hindered: Vec<String>,
    /// The project's folder.
    root: PathBuf,
    /// Its copy, after the build.
    copy: PathBuf,
    scratch: tempfile::TempDir,
}

impl Built {
    /// Where what the build calls by this path lies: in the copy, if the path is one below the project's folder.
    pub fn place(&self, path: &Path) -> PathBuf {
        let path = without_dots(path);
        path.strip_prefix(&self.root).map_or_else(|_| path.clone(), |below| self.copy.join(below))
    }

    /// What to call a file: one of the copy by its name in the project's folder.
    pub fn name(&self, file: &Path) -> PathBuf {
        file.strip_prefix(&self.copy).map_or_else(|_| file.to_path_buf(), |below| self.root.join(below))
    }

    /// Removes its files now, for a process that ends without dropping anything.
    pub fn remove(&self) {
        // What cannot be removed lies in the folder for such things.
        let _ = std::fs::remove_dir_all(self.scratch.path());
    }

    /// The flags with which a source says the names of the project's folder of itself.
    pub fn flags(&self) -> Vec<String> {
        vec![format!("-fmacro-prefix-map={}={}", self.copy.display(), self.root.display())]
    }
}

/// Runs the build command of the project in a folder, by the shell.
pub fn run(command: &str, folder: &Path, wanted: Wanted) -> Result<Built, Error> {
    let wrong = |path: &Path| {
        let path = path.display().to_string();
        move |error| Error::Io(path.clone(), error)
    };
    let root = folder.canonicalize().map_err(wrong(folder))?;
    let scratch = tempfile::Builder::new().prefix("parallax-build-").tempdir();
    let scratch = scratch.map_err(wrong(&std::env::temp_dir()))?;
    let here = scratch.path().canonicalize().map_err(wrong(scratch.path()))?;
    let at = |name: &str| here.join(name);
    let (tree, calls, temporary, bin) = (at("tree"), at("calls"), at("temporary"), at("bin"));
    for folder in [&calls, &temporary, &bin] {
        std::fs::create_dir(folder).map_err(wrong(folder))?;
    }
    if here.starts_with(&root) {
        let (root, here) = (root.display(), here.display());
        let why =
            format!("{root}: {here}, for the copy that is built, lies in it: set TMPDIR to another folder");
        return Err(Error::Usage(why));
    }
    copy::tree(&root, &tree)?;
    let paths = std::env::var_os("PATH").unwrap_or_default();
    stand_ins::make(&bin, &calls, &paths).map_err(wrong(&bin))?;
    let jail = Jail {
        wanted,
        writable: vec![tree.clone(), calls.clone(), temporary.clone()],
        in_place: vec![(tree.clone(), root.clone())],
        limits: LIMITS,
        ..Jail::default()
    };
    let is_in_place = wanted != Wanted::Unjailed
        && parallax_jail::available().is_ok_and(|walls| walls.kind == Kind::NameSpaces);
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", command]);
    shell.folder = Some(if is_in_place { root.clone() } else { tree.clone() });
    shell.environment = Some(environment(&bin, &paths, &temporary));
    let ended = jail.run(&shell).map_err(|error| match error {
        NotRun::Program { error, .. } => Error::Io("/bin/sh".into(), error),
        other => Error::NotRun(format!("`{command}`"), other),
    })?;
    if let Some(why) = failure(&ended) {
        return Err(Error::Build { command: command.into(), why, said: last_lines(&ended) });
    }
    copy::keep_files(&tree);
    let mut built = Built {
        entries: Vec::new(),
        calls: 0,
        other_languages: 0,
        gone: Vec::new(),
        walls: ended.walls,
        hindered: ended.hindered.into_iter().collect(),
        root,
        copy: tree,
        scratch,
    };
    built.read(&calls)?;
    if built.entries.is_empty() {
        let why = match (built.calls, built.gone.len() + built.other_languages) {
            (0, _) => {
                "called no compiler that was seen: is everything built already (then `make clean all`, or the like, builds it in \
                       the copy), or is the compiler called by its full path (then CC=cc)?"
            }
            (_, 0) => "compiled no C file",
            _ => "compiled no C file that is still there",
        };
        return Err(Error::Usage(format!("`{command}` {why}")));
    }
    Ok(built)
}

impl Built {
    /// Takes the calls in.
    fn read(&mut self, folder: &Path) -> Result<(), Error> {
        for call in calls::all(folder)? {
            self.calls += 1;
            let sources = call.sources();
            self.other_languages += sources.of_other_languages;
            for file in sources.of_c {
                let place = self.place(&call.folder.join(&file));
                let entry = Entry { directory: call.folder.clone(), file, arguments: call.words.clone() };
                match std::fs::metadata(&place).is_ok_and(|known| known.is_file()) {
                    true if !is_of_the_build_system(&place) => self.entries.push(entry),
                    false if !calls::is_trial(&place) && !self.gone.contains(&self.name(&place)) => {
                        self.gone.push(self.name(&place));
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }
}

/// Whether a file is no part of the project, but of how CMake or Meson finds out what the compiler is.
fn is_of_the_build_system(file: &Path) -> bool {
    file.components().any(|part| matches!(part.as_os_str().to_str(), Some("CMakeFiles" | "meson-private")))
}

/// All variables but those of a `make` around this process, with the stand-ins in front of `PATH`.
fn environment(bin: &Path, paths: &OsString, temporary: &Path) -> Vec<(OsString, OsString)> {
    const LEFT_OUT: [&str; 6] = ["PATH", "TMPDIR", "MAKEFLAGS", "MFLAGS", "MAKELEVEL", "GNUMAKEFLAGS"];
    let mut variables: Vec<_> =
        std::env::vars_os().filter(|(name, _)| !LEFT_OUT.iter().any(|left_out| name == left_out)).collect();
    let mut path = bin.as_os_str().to_owned();
    path.push(":");
    path.push(paths);
    variables.extend([("PATH".into(), path), ("TMPDIR".into(), temporary.into())]);
    variables
}

/// Why a build that ended so says nothing.
fn failure(ended: &Ended) -> Option<String> {
    let why = match ended.end {
        End::Exited(0) => return None,
        End::Exited(status) => format!("ended with status {status}"),
        End::Signal(signal) => format!("was ended by signal {signal}"),
        End::Time => "took more than an hour".into(),
        End::Memory => "used more than 8 gigabytes of memory".into(),
        End::Space => "wrote more than 16 gigabytes, or a million files".into(),
        End::Processes => "started more than a thousand processes".into(),
    };
    let hindered: Vec<&str> = ended.hindered.iter().map(String::as_str).collect();
    Some(match hindered.is_empty() {
        true => why,
        false => format!("{why} (the jail refused: {})", hindered.join(", ")),
    })
}

fn last_lines(ended: &Ended) -> String {
    let said = [ended.stdout.as_slice(), ended.stderr.as_slice()].concat();
    let said = String::from_utf8_lossy(&said);
    // What a stranger's program prints is text here, and nothing that a terminal obeys.
    let plain = |line: &str| line.chars().filter(|c| *c == '\t' || !c.is_control()).collect::<String>();
    let lines: Vec<String> = said.lines().map(|line| format!("  {}", plain(line))).collect();
    lines[lines.len().saturating_sub(LINES)..].join("\n")
}

/// A path without `.` and `..`, as far as its text says.
fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}
