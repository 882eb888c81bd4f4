//! Programs run natively, to see at which lines they dereference null.
//!
//! A line that may crash begins with `AT`, which notes its number; a handler of the signal prints what was noted last. The
//! checker sees the same text, where `AT` is nothing.

use std::path::Path;
use std::process::Command;

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

/// Builds a program, runs it once with each number of arguments up to this, and gives the line of each crash.
pub fn crashes(folder: &Path, text: &str, most: usize) -> Vec<usize> {
    let (source, binary) = (folder.join("native.c"), folder.join("native"));
    std::fs::write(&source, text).expect("a file");
    let flags = ["-w", "-O0", "-fno-builtin", "-DNATIVE"];
    let built = Command::new("clang-19").args(flags).arg(&source).arg("-o").arg(&binary).status();
    assert!(built.expect("a compiler").success(), "{text}");
    let mut lines = Vec::new();
    for count in 0..most {
        let ran = Command::new(&binary).args(vec!["x"; count]).output().expect("it runs");
        match ran.status.code() {
            Some(0) => {}
            Some(3) => {
                let words = String::from_utf8_lossy(&ran.stderr);
                let line = words.trim().strip_prefix("crash ").and_then(|line| line.parse().ok());
                lines.push(line.unwrap_or_else(|| panic!("{words}\n{text}")));
            }
            other => panic!("{other:?} with {count} arguments\n{text}"),
        }
    }
    lines
}
