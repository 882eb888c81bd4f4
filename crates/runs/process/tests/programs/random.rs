//! Random sequences of system calls, natively and emulated: the same errors, the same results, the same memory in the end.
//!
//! Each program prints what every call came to, and is a function of its seed. With `FUZZ_ROUNDS` set so many seeds run, from
//! `FUZZ_SEED` on. What the programs do not make is said at their heads.

use crate::compiled::compile;
use crate::{Test, emulated, native, same};
use std::path::{Path, PathBuf};

/// A program, and how many seeds are tried.
const PROGRAMS: &[(&str, u64)] = &[("memory_x86", 150), ("calls_x86", 140)];

/// So many seeds are one test.
const AT_A_TIME: u64 = 35;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

pub fn tests() -> Vec<Test> {
    let mut tests: Vec<Test> = Vec::new();
    let from = number("FUZZ_SEED").unwrap_or(1);
    for (name, usual) in PROGRAMS {
        let end = from + number("FUZZ_ROUNDS").unwrap_or(*usual);
        for first in (from..end).step_by(AT_A_TIME as usize) {
            let seeds = first..(first + AT_A_TIME).min(end);
            tests.push((
                format!("random: {name} from {first} on"),
                Box::new(move || compare(name, seeds.clone())),
            ));
        }
    }
    tests
}

fn compare(name: &str, seeds: std::ops::Range<u64>) -> Result<(), String> {
    let source =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/programs/random").join(format!("{name}.c"));
    let binary = build(&source, &format!("{name}-{}", seeds.start))?;
    let path = binary.display().to_string();
    let result = seeds.clone().try_for_each(|seed| {
        let command = [&path[..], &seed.to_string()];
        same(&native(&command, b""), &emulated(&command, b"")).map_err(|why| format!("seed {seed}: {why}"))
    });
    let _ = std::fs::remove_file(binary);
    result
}

fn build(source: &Path, stem: &str) -> Result<PathBuf, String> {
    compile("gcc", &["-O1", "-w"], source, stem)
}
