//! What GDB shows of a recording beside what it shows of the program itself: signals, programs that replace each other, libraries.

use crate::{compile, in_order, recorded, session};
use parallax_record::Archive;
use parallax_trace::Target;
use parallax_travel::{Settings, Travel};
use std::path::Path;
use std::process::Command;

/// A recording of a command, of which nothing is left beside it.
fn travel(place: &Path, command: &[&Path], gone: &[&Path]) -> Travel {
    let recording = place.join("this.rec");
    let command: Vec<String> = command.iter().map(|part| part.display().to_string()).collect();
    recorded::record_command(&recording, None, &command).expect("it can be recorded");
    gone.iter().for_each(|file| std::fs::remove_file(file).expect("it was there"));
    let log = Archive::open(&recording).and_then(|archive| archive.log("0")).expect("a recording");
    Travel::new(log, Settings::default()).expect("steps")
}

/// What GDB says to the same commands about the program itself.
fn natively(binary: &Path, commands: &[&str]) -> String {
    let mut gdb = Command::new("timeout");
    gdb.args(["300", "gdb", "-nx", "-batch", "-iex", "set debuginfod enabled off", "-iex", "set width 0"]);
    gdb.args(["-ex", "set pagination off", "-ex", "set startup-with-shell off", "-ex", "starti"]);
    for command in commands {
        gdb.args(["-ex", command]);
    }
    let output = gdb.arg(binary).output().expect("scripts/setup names what the tests need");
    String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
}

/// The lines about signals, catchpoints and values, without numbers of threads.
fn told(output: &str) -> Vec<String> {
    let is_told =
        |line: &&str| line.contains(" signal SIG") || line.starts_with("Catchpoint") || line.starts_with("$");
    let plain = |line: &str| match line.find("received signal") {
        Some(at) => line[at..].to_owned(),
        None => line.replace("Thread 1.1 \"crash\" hit ", ""),
    };
    output.lines().filter(is_told).map(plain).collect()
}

/// Signals stop GDB where they stop it natively, and a crash is a signal too.
pub fn signals() {
    let place = recorded::folder("gdb-signals");
    let binary = place.0.join("crash");
    compile("crash", &[], &binary);
    let commands = [
        "continue",
        "print heard",
        "stepi",
        "print $pc == (unsigned long)hear",
        "print $rdi",
        "continue",
        "print heard",
        "handle SIGUSR1 nostop noprint",
        "continue",
        "print heard",
        "print where",
    ];
    let real = natively(&binary, &commands);
    let travel = travel(&place.0, &[&binary], &[&binary]);
    let ours = session(&travel, &[&commands[..], &["detach"]].concat());
    assert_eq!(told(&ours), told(&real), "{ours}\nnatively\n{real}");
    assert_eq!(told(&real).iter().filter(|line| line.contains("SIGUSR1")).count(), 2, "{real}");
    // The end stays where it is, and the way back leads over the same signals.
    let output = session(
        &travel,
        &[
            "handle SIGUSR1 nostop noprint",
            "continue",
            "continue",
            "print where",
            "handle SIGUSR1 stop print",
            "reverse-continue",
            "print heard",
            "reverse-continue",
            "print heard",
            "reverse-continue",
            "catch signal SIGUSR1",
            "continue",
            "monitor find signals",
            "detach",
        ],
    );
    let all = [
        "received signal SIGSEGV",
        "No more reverse-execution history.",
        "$1 = (int *) 0x8",
        "received signal SIGUSR1",
        "$2 = 11",
        "received signal SIGUSR1",
        "$3 = 0",
        "No more reverse-execution history.",
        "Catchpoint 1 (signal SIGUSR1)",
        "thread ",
        "thread ",
    ];
    in_order(&output, &all);
}

/// The symbols are those of the program that runs, on both sides of its start.
pub fn executed() {
    let place = recorded::folder("gdb-exec");
    let (first, second) = (place.0.join("first"), place.0.join("second"));
    compile("first", &[], &first);
    compile("run", &[], &second);
    let travel = travel(&place.0, &[&first, &second], &[&first, &second]);
    let output = session(
        &travel,
        &[
            "break prepare",
            "continue",
            "continue",
            "break main",
            "continue",
            "tbreak move_by",
            "continue",
            "print by",
            "info functions -q prepare",
            "delete",
            "reverse-continue",
            "info symbol $pc",
            "detach",
        ],
    );
    in_order(
        &output,
        &[
            "Breakpoint 1, prepare (",
            "Breakpoint 1, prepare (",
            "is executing new program: ",
            "second",
            "Breakpoint 2, main () at ",
            "run.c",
            "move_by (p=",
            "$1 = 7",
            "is executing new program: ",
            "first",
        ],
    );
    let output = session(
        &travel,
        &[&format!("monitor seek {}", travel.span().end - 10), "stepi", "break move_by", "detach"],
    );
    in_order(&output, &["is executing new program: ", "second", "Breakpoint 1 at "]);
}

/// A library that was opened by a link has its symbols; conditions are asked in the server; `monitor` knows variables.
pub fn loaded() {
    let place = recorded::folder("gdb-loaded");
    let (binary, by_link) = (place.0.join("loads"), place.0.join("by-link"));
    let (library, link) = (place.0.join("libplugin.so.1.2"), place.0.join("libplugin.so"));
    compile("loads", &[], &binary);
    compile("plugin", &["-shared", "-fPIC"], &library);
    std::os::unix::fs::symlink(&library, &link).expect("a link");
    std::os::unix::fs::symlink(&binary, &by_link).expect("a link");
    let travel = travel(&place.0, &[&by_link, &link], &[&binary, &by_link, &library, &link]);
    let output = session(
        &travel,
        &[
            "break main",
            "continue",
            "set breakpoint pending on",
            "break plugin_add if plugin_calls == 29990 && left > right",
            "continue",
            "print plugin_calls",
            "info breakpoints",
            "monitor last-write plugin_calls",
            "monitor find execute plugin_add before 99999999999",
            "monitor find write no_such_variable",
            "backtrace",
            "detach",
        ],
    );
    in_order(
        &output,
        &[
            "Breakpoint 1, main (count=2",
            "Breakpoint 2, plugin_add (left=",
            "$1 = 29990",
            "(target evals)",
            "#0  plugin_add (left=",
            "#1  ",
            " in main (count=2",
        ],
    );
    // What `monitor` says comes on another stream.
    in_order(&output, &["  plugin_add (", "plugin.c:4)", "100 found", "no variable no_such_variable"]);
}
