//! Programs run natively, to see at which lines they dereference null.
//!
//! A line that may crash begins with `AT`, which notes its number; a handler of the signal prints what was noted last. The
//! checker sees the same text, where `AT` is nothing.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// What every program begins with; `N` is the number of arguments.
pub const HEAD: &str = "#define _GNU_SOURCE
#ifdef NATIVE
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static volatile int at;
static void crashed(int s) { char t[32]; int n = snprintf(t, 32, \"crash %d\\n\", at); write(2, t, n); _exit(3); }
__attribute__((constructor)) static void watch(void) { signal(SIGSEGV, crashed); signal(SIGBUS, crashed); }
#define AT at = __LINE__;
#else
#define AT
#endif
";

/// Builds a program; gives the file.
fn built(folder: &Path, text: &str) -> PathBuf {
    let (source, binary) = (folder.join("native.c"), folder.join("native"));
    std::fs::write(&source, text).expect("a file");
    let flags = ["-w", "-O0", "-fno-builtin", "-pthread", "-DNATIVE"];
    let built = Command::new("clang-19").args(flags).arg(&source).arg("-o").arg(&binary).arg("-lm").status();
    assert!(built.expect("a compiler").success(), "{text}");
    binary
}

/// Builds a program, runs it once with each number of arguments up to this, and gives the line of each crash.
pub fn crashes(folder: &Path, text: &str, most: usize) -> Vec<usize> {
    let binary = built(folder, text);
    let mut lines = Vec::new();
    for count in 0..most {
        let ran = Command::new(&binary).args(vec!["x"; count]).output().expect("it runs");
        match ran.status.code() {
            Some(0) => {}
            Some(3) => lines.extend(crashed(&ran, text)),
            other => panic!("{other:?} with {count} arguments\n{text}"),
        }
    }
    lines
}

/// Lines that handlers of signals have printed.
fn crashed(ran: &Output, text: &str) -> Vec<usize> {
    let words = String::from_utf8_lossy(&ran.stderr);
    let lines: Vec<&str> = words.lines().filter_map(|line| line.strip_prefix("crash ")).collect();
    assert!(!lines.is_empty(), "{words}\n{text}");
    lines.iter().map(|line| line.trim().parse().expect("the number of a line")).collect()
}

/// What is around a program when it runs.
#[derive(Clone, Copy, Default)]
pub struct World {
    /// Variables.
    pub variables: &'static [(&'static str, &'static str)],
    /// Standard input; without it, it cannot be read.
    pub input: Option<&'static str>,
    /// The file `input`, if it is there.
    pub file: Option<&'static str>,
    /// Whether there are a folder `dir` with a file, and a link `link`.
    pub folder: bool,
    /// Whether nothing can be written.
    pub full: bool,
}

/// Ten worlds.
pub const WORLDS: [World; 10] = [
    World { variables: &[], input: Some(""), file: None, folder: false, full: false },
    World { variables: &[("HOME", "/root")], input: Some("y\n"), file: Some(""), folder: false, full: false },
    World {
        variables: &[("MODE", "on")],
        input: Some("42 17\n"),
        file: Some("key=value\n"),
        folder: true,
        full: false,
    },
    World { variables: &[("NUM", "12"), ("HOME", "")], input: None, file: None, folder: true, full: false },
    World {
        variables: &[],
        input: Some("a long line, much longer than ten bytes\n"),
        file: Some("x"),
        folder: false,
        full: true,
    },
    World {
        variables: &[("MODE", "off"), ("TERM", "dumb")],
        input: Some("\n"),
        file: None,
        folder: false,
        full: true,
    },
    World {
        variables: &[("HOME", "h"), ("MODE", "on"), ("NUM", "3")],
        input: Some("7"),
        file: Some("7 8 9"),
        folder: true,
        full: false,
    },
    World {
        variables: &[("NUM", "x")],
        input: Some("yes\nno\n"),
        file: Some("yes\n"),
        folder: false,
        full: false,
    },
    World {
        variables: &[("LANG", "C")],
        input: None,
        file: Some("a much longer line than most of these, it is\n"),
        folder: false,
        full: true,
    },
    World {
        variables: &[("HOME", "/"), ("NUM", "99")],
        input: Some("0 0 0"),
        file: None,
        folder: true,
        full: false,
    },
];

/// Builds a program, runs it in each of these worlds, and gives the line of each crash.
pub fn crashes_in(folder: &Path, text: &str, worlds: &[World]) -> BTreeSet<usize> {
    let binary = built(folder, text);
    let mut lines = BTreeSet::new();
    for (number, world) in worlds.iter().enumerate() {
        let at = folder.join(format!("world{number}"));
        std::fs::create_dir(&at).expect("a folder");
        if let Some(text) = world.file {
            std::fs::write(at.join("input"), text).expect("a file");
        }
        if world.folder {
            std::fs::create_dir(at.join("dir")).expect("a folder");
            std::fs::write(at.join("dir/one"), "1").expect("a file");
            std::os::unix::fs::symlink("dir/one", at.join("link")).expect("a link");
        }
        let standard = folder.join(format!("stdin{number}"));
        let input = match world.input {
            Some(text) => {
                std::fs::write(&standard, text).expect("a file");
                File::open(&standard)
            }
            // Reading a folder fails.
            None => File::open(folder),
        };
        let output = File::options().write(true).open(if world.full { "/dev/full" } else { "/dev/null" });
        let mut command = Command::new(&binary);
        command.current_dir(&at).env_clear().envs(world.variables.iter().copied());
        command.stdin(input.expect("it is there")).stdout(output.expect("it is there"));
        let ran = command.stderr(Stdio::piped()).spawn().expect("it runs").wait_with_output();
        let ran = ran.expect("it ends");
        assert_eq!(ran.status.code(), Some(0), "{ran:?} in world {number}\n{text}");
        if !ran.stderr.is_empty() {
            lines.extend(crashed(&ran, text));
        }
    }
    lines
}
