//! `parallax doctor` in environments that were broken on purpose: it names what is broken, nothing else, and what mends it.
//!
//! What is not arranged here: a kernel without a jail (`safety`), a folder that is mounted noexec, a full disk.

use serde_json::Value;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::Command;

/// A place in which commands are put on the path one by one.
struct Machine {
    folder: tempfile::TempDir,
    variables: Vec<(&'static str, String)>,
}

fn on_this_machine(name: &str) -> PathBuf {
    let path = std::env::var_os("PATH").expect("a path");
    let mut found = std::env::split_paths(&path).map(|folder| folder.join(name));
    found.find(|file| file.is_file()).unwrap_or_else(|| panic!("scripts/setup tests brings {name}"))
}

impl Machine {
    /// Nothing is on the path; Python finds the module of this build.
    fn new() -> Machine {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["bin", "home", "module", "tmp"] {
            fs::create_dir(folder.path().join(name)).expect("a folder");
        }
        Machine { folder, variables: Vec::new() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Puts a command of this machine on the path. Python may be a script there that looks for it: the interpreter itself is taken.
    fn with(self, name: &str) -> Machine {
        let mut command = on_this_machine(name);
        if name == "python3" {
            let said = Command::new(&command).args(["-c", "import sys; print(sys.executable)"]).output();
            command = String::from_utf8(said.expect("it runs").stdout).expect("text").trim().into();
        }
        symlink(command, self.path("bin").join(name)).expect("a link");
        self
    }

    /// Puts a shell script on the path; REAL is the command of this machine.
    fn with_script(self, name: &str, text: &str) -> Machine {
        let text = match text.contains("REAL") {
            true => text.replace("REAL", &on_this_machine(name).display().to_string()),
            false => text.to_owned(),
        };
        let file = self.path("bin").join(name);
        fs::write(&file, format!("#!/bin/sh\n{text}\n")).expect("written");
        fs::set_permissions(&file, PermissionsExt::from_mode(0o755)).expect("a mode");
        self
    }

    /// A module `parallax` whose native half is this text.
    fn with_module(self, text: &str) -> Machine {
        let module = self.path("module/parallax");
        fs::create_dir(&module).expect("a folder");
        fs::write(module.join("__init__.py"), "").expect("written");
        fs::write(module.join("_native.py"), text).expect("written");
        self
    }

    fn set(mut self, name: &'static str, value: impl Into<String>) -> Machine {
        self.variables.push((name, value.into()));
        self
    }

    /// What the doctor says of these checks, and its exit status.
    fn ask(&self, checks: &[&str]) -> (Value, Option<i32>) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_parallax"));
        command.arg("doctor").args(checks).arg("--json").env_clear();
        command.env("PATH", self.path("bin")).env("HOME", self.path("home")).env("TMPDIR", self.path("tmp"));
        command.env("PYTHONPATH", self.path("module"));
        command.envs(self.variables.iter().cloned());
        let output = command.output().expect("it runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let document =
            serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"));
        (document, output.status.code())
    }
}

fn row<'d>(document: &'d Value, check: &str) -> &'d Value {
    let rows = document["needs"].as_array().expect("rows");
    rows.iter().find(|row| row["check"] == check).unwrap_or_else(|| panic!("{check}: {document}"))
}

/// What is arranged, the check that must see it, words of its reason, words of what mends it.
fn broken() -> Vec<(&'static str, Machine, &'static str, &'static str, &'static str)> {
    let new = Machine::new;
    let nowhere = "/nowhere/at/all";
    vec![
        ("no clang", new(), "clang", "clang-19 is not on the PATH", "apt-get install clang-19"),
        (
            "clang that dies",
            new().with_script(
                "clang-19",
                "echo 'error while loading shared libraries: libLLVM' >&2; exit 127",
            ),
            "clang",
            "error while loading shared libraries: libLLVM",
            "apt-get install --reinstall clang-19",
        ),
        (
            "another clang under that name",
            new().with_script(
                "clang-19",
                "[ \"$1\" = --version ] && { echo 'Debian clang version 14.0.6'; exit; }\nexec REAL \"$@\"",
            ),
            "clang",
            "another version: Debian clang version 14.0.6",
            "apt-get install --reinstall clang-19",
        ),
        (
            "no headers of the C library",
            new().with_script("clang-19", "exec REAL -nostdinc \"$@\""),
            "clang",
            "does not find the headers of the C library",
            "apt-get install libc6-dev",
        ),
        (
            "no libraries of the sanitizers",
            new().with("ld").with_script(
                "clang-19",
                "case \"$*\" in *-lm*) exec REAL -resource-dir=/nowhere \"$@\";; esac\nexec REAL \"$@\"",
            ),
            "sanitizers",
            "no libraries for its sanitizers",
            "apt-get install libclang-rt-19-dev",
        ),
        (
            "no objcopy",
            new().with("clang-19"),
            "objcopy",
            "llvm-objcopy-19 is not on the PATH",
            "apt-get install llvm-19",
        ),
        (
            "no folder for temporary files",
            new().set("TMPDIR", nowhere),
            "temporary",
            "nothing can be written in /nowhere",
            "export TMPDIR=",
        ),
        (
            "a file where the cache should be",
            {
                let machine = new().with("clang-19");
                let file = machine.path("cache");
                fs::write(&file, "").expect("written");
                machine.set("XDG_CACHE_HOME", file.display().to_string())
            },
            "cache",
            "cache",
            "export XDG_CACHE_HOME=",
        ),
        ("no Python", new(), "python", "python3 is not on the PATH", "apt-get install python3"),
        (
            "an old Python",
            new().with_script("python3", "echo 3.7"),
            "python",
            "is Python 3.7; the module needs 3.9",
            "export PARALLAX_PYTHON=",
        ),
        (
            "a Python that dies",
            new().with_script("python3", "echo 'Fatal Python error: no encodings' >&2; exit 1"),
            "python",
            "does not run: exit status: 1: Fatal Python error: no encodings",
            "apt-get install --reinstall python3",
        ),
        (
            "no module",
            new().with("python3"),
            "python",
            "does not have the Python module parallax",
            "make install",
        ),
        (
            "a module that cannot be loaded",
            new().with("python3").with_module("raise ImportError('GLIBC_2.99 not found')"),
            "python",
            "(ImportError: GLIBC_2.99 not found)",
            "make install",
        ),
        (
            "a module of another version",
            new().with("python3").with_module("VERSION = '0.0.9'"),
            "python",
            "is of version 0.0.9, this command of",
            "make install",
        ),
        (
            "a variable that names no interpreter",
            new().with("python3").set("PARALLAX_PYTHON", nowhere),
            "python",
            "PARALLAX_PYTHON names /nowhere",
            "unset PARALLAX_PYTHON",
        ),
        ("no Java", new(), "java", "java is not on the PATH", "apt-get install default-jdk-headless"),
        (
            "a variable that names no JDK",
            new().set("JAVA_HOME", nowhere),
            "java",
            "JAVA_HOME names /nowhere",
            "unset JAVA_HOME",
        ),
        (
            "a Java without the classes of a JDK",
            new().with_script("java", "exit 0"),
            "java",
            "does not belong to a JDK",
            "apt-get install default-jdk-headless",
        ),
        (
            "a GDB that dies",
            new().with_script("gdb", "echo 'libpython3.11.so: cannot open' >&2; exit 127"),
            "gdb",
            "libpython3.11.so: cannot open",
            "apt-get install --reinstall gdb",
        ),
        (
            "a browser that dies",
            new().with_script("xdg-open", "exit 3"),
            "browser",
            "exit status: 3",
            "apt-get install chromium",
        ),
    ]
}

#[test]
fn what_is_broken_is_named_with_what_mends_it() {
    let cases = broken();
    assert!(cases.len() >= 10);
    for (name, machine, check, reason, mend) in cases {
        let (document, status) = machine.ask(&[check]);
        let row = row(&document, check);
        assert_eq!(row["works"], false, "{name}: {row}");
        let said = |field: &str| row[field].as_str().unwrap_or_default().to_owned();
        assert!(said("reason").contains(reason), "{name}: {row}");
        assert!(said("mend").contains(mend), "{name}: {row}");
        assert!(row["found"].is_null(), "{name}: {row}");
        let expected = i32::from(row["optional"] == false);
        assert_eq!(status, Some(expected), "{name}: {row}");
        assert!(
            fs::read_dir(machine.path("tmp")).expect("a folder").next().is_none(),
            "{name}: it leaves nothing behind"
        );
    }
}

/// Where everything is there, nothing is said to be missing; so what the other test sees is what was broken.
#[test]
fn what_works_is_said_to_work() {
    let names = ["clang-19", "llvm-objcopy-19", "ld", "python3", "gdb", "java"];
    let machine = names.into_iter().fold(Machine::new(), Machine::with);
    super::docs::module_into(&machine.path("module"));
    let checks = ["temporary", "clang", "sanitizers", "objcopy", "cache", "run", "python", "gdb", "java"];
    let (document, status) = machine.ask(&checks);
    assert_eq!(status, Some(0), "{document:#}");
    for check in checks {
        let row = row(&document, check);
        assert_eq!(row["works"], true, "{row}");
        assert!(row["found"].is_string() && row["mend"].is_null() && row["reason"].is_null(), "{row}");
    }
    assert_eq!(
        document["needs"].as_array().map(Vec::len),
        Some(checks.len()),
        "what was asked for, and nothing else"
    );
}

/// The text says as much as the document, and one command for all packages that are needed.
#[test]
fn the_text_names_the_command() {
    let machine = Machine::new();
    let output = Command::new(env!("CARGO_BIN_EXE_parallax"))
        .args(["doctor", "temporary", "clang", "java"])
        .env_clear()
        .env("PATH", machine.path("bin"))
        .env("TMPDIR", machine.path("tmp"))
        .output()
        .expect("it runs");
    let said = String::from_utf8(output.stdout).expect("text");
    assert!(said.contains("\n  MISSING clang-19 is not on the PATH\n     "), "{said}");
    assert!(said.contains("\n  -- java is not on the PATH\n     "), "{said}");
    assert!(said.ends_with("1 part works, 1 thing is MISSING, 1 optional part left out\n"), "{said}");
    assert_eq!(output.status.code(), Some(1));
}
