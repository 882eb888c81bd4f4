//! Programs that ask much of the system, recorded: those that the emulator is compared with the kernel by, random calls among them.
//!
//! Left out of `jit_x86.c` here: a system call that changes code in a shared mapping. A recording sees what others write into
//! shared memory when it is loaded, and code that was translated before is run as it was.

use crate::programs::check;
use crate::recorder::{Test, recorder};
use crate::{compile, folder, replay_all};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Programs beside which the emulator runs, and whether they print the same each time.
const PROGRAMS: &[(&str, bool)] = &[
    ("sources/mapped_files_x86.c", false),
    ("sources/jit_x86.c", true),
    ("sources/between_x86.c", true),
    ("sources/limits_x86.c", true),
    ("sources/large_io_x86.c", true),
    ("sources/blocked_signals_x86.c", true),
];

/// Random calls: a program, and how many seeds.
const RANDOM: &[(&str, u32)] = &[("random/memory_x86.c", 10), ("random/calls_x86.c", 14)];

/// Small programs of families of system calls: those in which recordings were wrong. The others are recorded with all tests.
const SMALL: &[(&str, &[&str])] = &[
    ("files", &["too_large"]),
    ("identity", &["vectors", "dropped_rights"]),
    ("machine", &["flags", "segments"]),
    ("memory", &[]),
    ("ipc", &[]),
    ("processes", &[]),
    ("signals", &["of_children", "interrupted"]),
    ("sockets", &[]),
    ("threads", &[]),
    ("times", &[]),
];

/// Those that are refused.
const REFUSED: &[&str] = &["not_for_us", "clocks"];

pub fn tests(all: bool) -> Vec<Test> {
    let mut tests: Vec<Test> = Vec::new();
    for (source, same) in PROGRAMS {
        tests.push((format!("linux: {source}"), Box::new(move || recorded(source, &[None], *same))));
    }
    for (source, seeds) in RANDOM {
        let seeds: Vec<_> = (1..=seeds * if all { 20 } else { 1 }).map(Some).collect();
        tests.push((format!("linux: {source}"), Box::new(move || recorded(source, &seeds, true))));
    }
    for (family, programs) in SMALL.iter().filter(|(_, programs)| all || !programs.is_empty()) {
        tests.push((format!("linux: family {family}"), Box::new(move || small(family, programs, all))));
    }
    tests.push((String::from("linux: every descriptor in use"), Box::new(descriptors)));
    tests.push((String::from("linux: a child that is killed"), Box::new(killed_child)));
    tests
}

fn built(source: &str, place: &Path) -> Result<PathBuf, String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../process/tests/programs").join(source);
    let binary = place.join("program");
    let output = Command::new("gcc")
        .args(["-O1", "-w", "-pthread", "-DLARGE=1048576", "-DWITHOUT_CALLS", "-o"])
        .args([&binary, &path])
        .args(["-lm", "-lrt"])
        .output();
    match output {
        Ok(output) if output.status.success() => Ok(binary),
        Ok(output) => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        Err(error) => Err(format!("gcc: {error} (scripts/setup names what the tests need)")),
    }
}

fn recorded(source: &str, seeds: &[Option<u32>], same: bool) -> Result<(), String> {
    let place = folder(source);
    let binary = built(source, &place)?;
    for seed in seeds {
        let mut command = vec![binary.display().to_string()];
        command.extend(seed.map(|seed| seed.to_string()));
        check(&place, &command, same, 1, None).map_err(|why| format!("seed {seed:?}: {why}"))?;
    }
    let _ = std::fs::remove_dir_all(&place);
    Ok(())
}

fn small(family: &str, programs: &[&str], all: bool) -> Result<(), String> {
    let place = folder(family);
    let binary = built(&format!("families/{family}.c"), &place)?.display().to_string();
    let listed = Command::new(&binary).output().map_err(|error| error.to_string())?;
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    let chosen =
        listed.lines().filter(|name| if all { !REFUSED.contains(name) } else { programs.contains(name) });
    for program in chosen {
        let own = place.join(program);
        std::fs::create_dir(&own).map_err(|error| error.to_string())?;
        let command = [binary.clone(), program.to_owned()];
        check(&own, &command, programs.contains(&program), 1, None)
            .map_err(|why| format!("{program}: {why}"))?;
    }
    let _ = std::fs::remove_dir_all(&place);
    Ok(())
}

/// A program may have all its descriptors in use when it forks, and when it runs another: the recording needs none.
fn descriptors() -> Result<(), String> {
    let place = folder("descriptors");
    let binary = compile("descriptors", &[], &place)?;
    check(&place, &[binary.display().to_string()], true, 1, None)?;
    let _ = std::fs::remove_dir_all(&place);
    Ok(())
}

/// A child that SIGKILL ends has no time to say so; its parent knows.
fn killed_child() -> Result<(), String> {
    let place = folder("killed-child");
    let binary = compile("killed_child", &[], &place)?;
    let recording = place.join("killed.rec");
    let recorded = recorder(&recording, None, &[binary.display().to_string()])
        .spawn()
        .and_then(|child| child.wait_with_output())
        .map_err(|error| error.to_string())?;
    if recorded.stdout != b"killed by 9\n".repeat(12) || !recorded.status.success() {
        return Err(format!("recorded {recorded:?}"));
    }
    replay_all(&recording)?;
    let archive = parallax_record::Archive::open(&recording).map_err(|error| error.to_string())?;
    let summaries = archive.summaries().map_err(|error| error.to_string())?;
    let killed = parallax_record::SavedEnding::Killed(9, None, None);
    let _ = std::fs::remove_dir_all(&place);
    match summaries.iter().filter(|one| one.ending.as_ref() == Some(&killed)).count() {
        12 => Ok(()),
        count => Err(format!("{count} of 12 children are known to be killed")),
    }
}
