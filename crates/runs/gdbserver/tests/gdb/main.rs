//! Stock GDB on a recording of ten million instructions, by script.
//!
//! Recording takes over the process that does it, so this binary runs itself with `--record`.

#[path = "../../../travel/tests/travel/recorded.rs"]
#[allow(dead_code, reason = "the sources of its corpus are not used here")]
mod recorded;

mod others;

use parallax_gdbserver::serve;
use parallax_record::Archive;
use parallax_trace::Target;
use parallax_travel::{Settings, Travel};
use std::net::TcpListener;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;
use std::process::Command;

fn main() {
    let arguments: Vec<Vec<u8>> = std::env::args_os().skip(1).map(OsStringExt::into_vec).collect();
    if arguments.first().is_some_and(|first| first == b"--record") {
        recorded::recorder::record(&arguments[1..], parallax_record::Settings::default());
    }
    let test = |name: &str, test: fn()| {
        libtest_mimic::Trial::test(name, move || {
            test();
            Ok(())
        })
    };
    let tests = vec![
        test("a_recording_in_gdb", a_recording_in_gdb),
        test("signals_stop_as_natively", others::signals),
        test("a_program_that_runs_another", others::executed),
        test("libraries_by_links_and_conditions", others::loaded),
    ];
    libtest_mimic::run(&libtest_mimic::Arguments::from_args(), tests).exit();
}

fn a_recording_in_gdb() {
    let place = recorded::folder("gdb");
    let binary = place.0.join("run");
    compile("run", &[], &binary);
    let recording = place.0.join("run.rec");
    recorded::record_command(&recording, None, &[binary.display().to_string()]).expect("it can be recorded");
    // GDB finds everything in the recording; the source is elsewhere and stays.
    std::fs::remove_file(&binary).expect("it was there");
    let log = Archive::open(&recording).and_then(|archive| archive.log("0")).expect("a recording");
    let travel = Travel::new(log, Settings::default()).expect("steps");
    assert!(travel.span().end > 10_000_000, "{:?}", travel.span());
    break_watch_and_back(&travel);
    threads(&travel);
    locals(&travel);
    system_calls(&travel);
    there_and_back(&travel);
}

/// Compiles a source of ours.
fn compile(name: &str, flags: &[&str], binary: &Path) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/gdb/{name}.c"));
    let mut gcc = Command::new("gcc");
    let built = gcc.args(["-O0", "-g", "-pthread"]).args(flags).arg("-o").args([binary, &source]).status();
    assert!(built.is_ok_and(|status| status.success()), "scripts/setup names what the tests need");
}

/// What GDB says to some commands.
fn session(travel: &Travel, commands: &[&str]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("bound").port();
    let mut gdb = Command::new("timeout");
    gdb.args(["300", "gdb", "-nx", "-batch", "-iex", "set debuginfod enabled off", "-iex", "set width 0"]);
    gdb.args(["-ex", "set pagination off", "-ex", &format!("target remote 127.0.0.1:{port}")]);
    for command in commands {
        gdb.args(["-ex", command]);
    }
    let gdb = gdb.stdin(std::process::Stdio::null()).stdout(std::process::Stdio::piped());
    let child =
        gdb.stderr(std::process::Stdio::piped()).spawn().expect("scripts/setup names what the tests need");
    let (connection, _) = listener.accept().expect("GDB connects");
    serve(travel, connection).expect("GDB is served");
    let output = child.wait_with_output().expect("GDB ends");
    let text = [output.stdout, output.stderr].concat();
    String::from_utf8_lossy(&text).into_owned()
}

/// Each text is there, after the one before it.
#[track_caller]
fn in_order(output: &str, texts: &[&str]) {
    let mut rest = output;
    for text in texts {
        let at = rest.find(text).unwrap_or_else(|| panic!("{text:?} is not there, or too early:\n{output}"));
        rest = &rest[at + text.len()..];
    }
}

fn break_watch_and_back(travel: &Travel) {
    let output = session(
        travel,
        &[
            "break move_by",
            "continue",
            "backtrace",
            "print *p",
            "print p->next->name",
            "print by",
            "up",
            "print i",
            "down",
            "watch place.x",
            "continue",
            "continue",
            "print by",
            "reverse-continue",
            "print place",
            "print $pc",
            "reverse-stepi",
            "stepi",
            "print place.x",
            "next",
            "print place.x",
            "reverse-next",
            "print place.x",
            "info proc mappings",
            "monitor when",
            "monitor last-write 0x10",
            "print $fs_base != 0",
            "delete",
            "reverse-continue",
            "continue",
            "print place.x = 3",
            "detach",
        ],
    );
    in_order(
        &output,
        &[
            "Breakpoint 1, move_by (p=",
            "by=7) at",
            "#0  move_by",
            "#1  ",
            "in main () at",
            "$1 = {x = 1, y = 2, name = \"start\\000\\000\", next = ",
            "$2 = \"end\\000\\000\\000\\000\"",
            "$3 = 7",
            "$4 = 500",
            "atchpoint 2: place.x",
            "Old value = 1",
            "New value = 8",
            "Breakpoint 1, move_by (p=",
            "$5 = 5",
            "atchpoint 2: place.x",
            "Old value = 8",
            "New value = 1",
            "$6 = {x = 1, y = 2",
            "$7 = ",
            "<move_by+",
            "$8 = 1",
            "atchpoint 2: place.x",
            "New value = 8",
            "$9 = 8",
            "Old value = 8",
            "$10 = 1",
            "libc.so.6",
            "[stack]",
            "$11 = 1",
            "No more reverse-execution history.",
            "No more reverse-execution history.",
        ],
    );
    for text in [" of 1 to ", "nothing has written it", "Cannot access memory at address"] {
        assert!(output.contains(text), "{text:?} is not there:\n{output}");
    }
}

fn threads(travel: &Travel) {
    let output = session(
        travel,
        &["break second", "continue", "info threads", "backtrace", "thread 1", "backtrace 1", "detach"],
    );
    in_order(&output, &["hit Breakpoint 1, second", "Thread 1.", "Thread 1.", "#0  second"]);
}

/// Variables that each thread has of its own.
fn locals(travel: &Travel) {
    let output = session(
        travel,
        &[
            "break work if n == 20",
            "continue",
            "print own",
            "thread 1",
            "print own",
            "print &own == 0",
            "tbreak move_by",
            "delete 1",
            "continue",
            "print own",
            "info breakpoints",
            "detach",
        ],
    );
    in_order(
        &output,
        &[
            "hit Breakpoint 1, work (n=20)",
            "$1 = 7",
            "$2 = 42",
            "$3 = 0",
            "Temporary breakpoint 2, move_by (",
            "$4 = 42",
            "No breakpoints or watchpoints.",
        ],
    );
}

/// Each call twice: before it and behind it, the other way round when going back.
fn system_calls(travel: &Travel) {
    let output = session(
        travel,
        &[
            "break printf",
            "continue",
            "catch syscall write",
            "continue",
            "print $rax",
            "print $rdi",
            "continue",
            "print $rax > 5",
            "reverse-continue",
            "print $rax",
            "reverse-continue",
            "delete",
            "catch syscall",
            "reverse-continue",
            "reverse-continue",
            "detach",
        ],
    );
    in_order(
        &output,
        &[
            "Breakpoint 1, ",
            "Catchpoint 2 (syscall 'write' [1])",
            "Catchpoint 2 (call to syscall write)",
            "$1 = 1",
            "$2 = 1",
            "Catchpoint 2 (returned from syscall write)",
            "$3 = 1",
            "Catchpoint 2 (call to syscall write)",
            "$4 = 1",
            "Breakpoint 1, ",
            "Catchpoint 3 (returned from syscall",
            "Catchpoint 3 (call to syscall",
        ],
    );
}

fn there_and_back(travel: &Travel) {
    let output = session(
        travel,
        &[
            "break move_by if by == 5",
            "continue",
            "next",
            "print p->x",
            "reverse-next",
            "print p->x",
            "reverse-finish",
            "reverse-finish",
            "print i",
            "watch -l place.next->x",
            "watch -l place.y",
            "continue",
            "continue",
            "print place.y",
            "reverse-continue",
            "print place.y",
            "reverse-continue",
            "reverse-continue",
            "print place.y",
            "finish",
            "info threads",
            "detach",
        ],
    );
    in_order(
        &output,
        &[
            "Breakpoint 1, move_by (p=",
            "by=5) at",
            "$1 = 13",
            "$2 = 8",
            // GDB goes back to the second part of the line; the breakpoint is on its first.
            "Breakpoint 1, move_by (p=",
            "main () at",
            "$3 = 700",
            "Breakpoint 1, move_by (p=",
            "atchpoint 3: -location place.y",
            "Old value = -5",
            "New value = -10",
            "$4 = -10",
            "atchpoint 3: -location place.y",
            "Old value = -10",
            "New value = -5",
            "$5 = -5",
            "Breakpoint 1, move_by (p=",
            "atchpoint 3: -location place.y",
            "New value = 2",
            "$6 = 2",
            "Thread 1.",
        ],
    );
}
