//! The programs.

use crate::recorder::{NATIVELY, Test, recorder};
use crate::{compile, folder, replay_all, replay_all_natively};
use parallax_record::Archive;
use std::io::Write;
use std::path::Path;
use std::process::Command;

/// Sources of ours: a name, flags of the compiler, and whether every run prints the same.
const SOURCES: &[(&str, &[&str], bool)] = &[
    ("hello", &["-static"], true),
    ("hello", &[], true),
    ("floats", &[], true),
    ("locks", &[], true),
    ("race", &[], false),
    ("conditions", &[], true),
    ("signals", &[], true),
    ("queued", &[], true),
    ("pauses", &[], true),
    ("pausing_threads", &[], true),
    ("process_signal", &[], true),
    ("sockets", &[], true),
    ("forks", &[], true),
    ("rights", &[], true),
    ("timers", &[], true),
    ("random", &[], false),
    ("shared", &[], true),
    ("siblings", &[], true),
    ("interrupted_write", &[], true),
    ("partial", &[], true),
    ("dropped", &[], true),
    ("rewritten", &[], true),
    ("large", &[], false),
    ("ownercode", &[], true),
    ("counter", &[], false),
    ("undefined_flags", &[], true),
    ("breakout", &[], true),
];

/// Programs of the system.
const COMMANDS: &[&[&str]] = &[
    &["/bin/true"],
    &["/bin/date"],
    &["/usr/bin/sort", "-r", "/etc/passwd"],
    &["/bin/sh", "-c", "kill -9 $$"],
    &["/bin/sh", "-c", "sh -c 'kill -KILL $$'; echo $?"],
    &["/bin/sh", "-c", "ls / | wc -l; (exit 3); echo $?"],
    &["/usr/bin/python3", "-c", "import random, time; print(sum(range(1000)), random.random(), time.time())"],
    &[
        "/usr/bin/sqlite3",
        ":memory:",
        "create table t(a); insert into t values (random()); select count(*) from t;",
    ],
    &["/usr/bin/perl", "-e", "print join(',', map { int(rand(100)) } 1..10), qq(\\n)"],
    &["/usr/bin/awk", "BEGIN { srand(); for (i = 0; i < 5000; i++) x += rand(); print x }"],
];

const SLOW: &[&[&str]] = &[
    &["/usr/bin/perl", "-MPOSIX=pause", "-e", "$SIG{ALRM} = sub { print qq(rang\\n) }; alarm 1; pause()"],
    &[
        "/usr/bin/python3",
        "-c",
        "import threading\nl = []\nts = [threading.Thread(target=lambda: l.append(sum(range(20000)))) for _ in range(4)]\n[t.start() for t in ts]\n[t.join() for t in ts]\nprint(len(l))",
    ],
    &[
        "/usr/bin/python3",
        "-c",
        "import json, hashlib, re; print(json.dumps({'a': [1, 2.5]}), hashlib.sha256(b'x').hexdigest())",
    ],
    &[
        "/bin/bash",
        "-c",
        "for i in 1 2 3; do echo $((i * RANDOM)) > /dev/null; done; cat /etc/passwd | sort | uniq | wc -l",
    ],
    &["/bin/sh", "-c", "head -c 10000000 /dev/urandom | gzip -1 | wc -c"],
    &["/usr/bin/xz", "-c", "-T1", "/bin/true"],
    &["/usr/bin/openssl", "rand", "-hex", "16"],
];

/// How often each is replayed.
fn rounds(all: bool) -> usize {
    if all { 20 } else { 2 }
}

pub fn tests(all: bool) -> Vec<Test> {
    let mut tests: Vec<Test> = Vec::new();
    for (name, flags, same) in SOURCES {
        let title = format!("source: {name} {}", flags.join(" "));
        tests.push((
            title.clone(),
            Box::new(move || {
                let place = folder(&title);
                let binary = compile(name, flags, &place)?;
                let command = [binary.display().to_string()];
                let result = check(&place, &command, *same, rounds(all), Some(&binary));
                let _ = std::fs::remove_dir_all(&place);
                result
            }),
        ));
    }
    let slow = SLOW.iter().filter(|_| all);
    for command in COMMANDS.iter().chain(slow) {
        let command: Vec<String> = command.iter().map(|part| (*part).to_owned()).collect();
        let title: String =
            format!("command: {}", command.join(" ").replace('\n', " ")).chars().take(60).collect();
        tests.push((
            title.clone(),
            Box::new(move || {
                if !Path::new(&command[0]).exists() {
                    return Err(format!(
                        "{} is not installed: scripts/setup names what the tests need",
                        command[0]
                    ));
                }
                let place = folder(&title);
                let result = check(&place, &command, false, rounds(all), None);
                let _ = std::fs::remove_dir_all(&place);
                result
            }),
        ));
    }
    tests
}

/// Records a command and replays it; with the program gone and the recording elsewhere, and packed, too.
pub fn check(
    place: &Path,
    command: &[String],
    same: bool,
    rounds: usize,
    gone: Option<&Path>,
) -> Result<(), String> {
    let recording = place.join("first.rec");
    let mut child = recorder(&recording, None, command).spawn().map_err(|error| error.to_string())?;
    child.stdin.take().expect("piped").write_all(b"3 1 4 1 5\n").map_err(|error| error.to_string())?;
    let recorded = child.wait_with_output().map_err(|error| error.to_string())?;
    if recorded.status.code() == Some(crate::recorder::CANNOT) {
        return Err(format!("cannot be recorded: {}", String::from_utf8_lossy(&recorded.stderr)));
    }
    if same {
        let native =
            Command::new(&command[0]).args(&command[1..]).output().map_err(|error| error.to_string())?;
        if (native.status, &native.stdout) != (recorded.status, &recorded.stdout) {
            return Err(format!("natively {native:?}, recorded {recorded:?}"));
        }
    }
    let moved = place.join("moved");
    std::fs::rename(&recording, &moved).map_err(|error| error.to_string())?;
    if let Some(program) = gone {
        std::fs::remove_file(program).map_err(|error| error.to_string())?;
    }
    for _ in 0..rounds {
        replay_all(&moved)?;
    }
    // What is recorded exactly is replayed natively where it was made for that.
    if NATIVELY.get() || command.iter().any(|part| part.ends_with("breakout")) {
        replay_all_natively(&moved)?;
    }
    let packed = place.join("packed.plx");
    let archive = Archive::open(&moved).map_err(|error| error.to_string())?;
    archive.pack(&packed).map_err(|error| error.to_string())?;
    std::fs::remove_dir_all(&moved).map_err(|error| error.to_string())?;
    replay_all(&packed)
}
