//! Small programs by families of system calls, natively and emulated: equal, or refused by name.
//!
//! A family is a file whose programs say their names. Not made here: what depends on devices, mounts and other machines; what
//! [`crate::random`] makes, calls with random flags, is not repeated.

use crate::compiled::compile;
use crate::{CANNOT, Outcome, Test, emulated, native, same};
use std::path::{Path, PathBuf};

/// Programs that are not equal, and what they say instead: calls that are refused, and the flag that has no effect.
const OTHERWISE: &[(&str, &str)] = &[
    ("identity not_for_us", "system call reboot"),
    // PR_SET_TIMERSLACK.
    ("identity settings", "1 done 0 done 1 EINVAL -1 done 12 0 EINVAL"),
    // Writing to /proc/self/comm, and to that of another thread.
    ("identity tasks", "one-of-them one-of-them -1 one-of-them"),
    ("threads names_of_others", "13 0 "),
    ("memory own_memory_file", "EACCES"),
    ("memory residence", "ENOSYS"),
    ("signals single_steps", "0"),
    // The clock of a thread by its number.
    ("threads clocks_of_threads", "0 EINVAL done done"),
    ("times clocks", "system call clock_settime"),
    // clock_adjtime.
    ("times adjustments", "0 0"),
];

/// Of so many programs one may be otherwise.
const ONE_IN: usize = 10;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/programs/families")
}

pub fn tests() -> Vec<Test> {
    let mut sources: Vec<PathBuf> =
        std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
    sources.retain(|source| source.extension().is_some_and(|extension| extension == "c"));
    sources.sort();
    let texts: Vec<String> = sources.iter().map(|source| std::fs::read_to_string(source).unwrap()).collect();
    let tests = sources.into_iter().map(|source| -> Test {
        let name = source.file_stem().unwrap().to_string_lossy().into_owned();
        (format!("family: {name}"), Box::new(move || family(&name, &source)))
    });
    let share: Test = (
        String::from("family: nine programs in ten are equal"),
        Box::new(move || {
            let count: usize = texts.iter().map(|text| text.matches("\nPROGRAM(").count()).sum();
            let others = OTHERWISE.len();
            if others * ONE_IN <= count { Ok(()) } else { Err(format!("{others} of {count} are not equal")) }
        }),
    );
    tests.chain(std::iter::once(share)).collect()
}

fn family(name: &str, source: &Path) -> Result<(), String> {
    let binary = compile("gcc", &["-O1", "-w"], source, name)?;
    let path = binary.display().to_string();
    let listed = String::from_utf8(native(&[&path], b"").output).unwrap();
    let mut wrong = Vec::new();
    for program in listed.lines() {
        let (native, emulated) = (native(&[&path, program], b""), emulated(&[&path, program], b""));
        let label = format!("{name} {program}");
        let known = OTHERWISE.iter().find(|(one, ..)| *one == label);
        let held = match known {
            Some((_, instead)) => otherwise(&native, &emulated, instead),
            None => same(&native, &emulated),
        };
        wrong.extend(held.err().map(|why| format!("{label}: {why}")));
    }
    let _ = std::fs::remove_file(binary);
    if listed.lines().count() < 5 {
        wrong.push(format!("{name} has few programs: {listed:?}"));
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n\n")) }
}

/// The output parts where the known words come, or nothing is made and the message has them.
fn otherwise(native: &Outcome, emulated: &Outcome, instead: &str) -> Result<(), String> {
    let (output, errors) =
        (String::from_utf8_lossy(&emulated.output), String::from_utf8_lossy(&emulated.errors));
    let says = if emulated.status == CANNOT { &errors } else { &output };
    if says.contains(instead) && same(native, emulated).is_err() {
        return Ok(());
    }
    Err(format!("expected {instead:?}: {emulated:?}, natively {native:?}"))
}
