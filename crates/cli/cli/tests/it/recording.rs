//! Recordings from the command line: what `find` finds, and what is said about wrong questions.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn parallax(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_parallax")).args(arguments).output().expect("the command")
}

/// A recording of a program that writes three times, and its name.
fn recorded(folder: &Path) -> PathBuf {
    let source = folder.join("writes.c");
    let text =
        "#include <unistd.h>\nint main(void) { for (int i = 0; i < 3; i++) write(1, \"x\", 1); return 0; }";
    std::fs::write(&source, text).expect("a temporary file");
    let binary = folder.join("writes");
    let built = Command::new("gcc").args(["-static", "-o"]).args([&binary, &source]).status();
    assert!(built.is_ok_and(|status| status.success()), "scripts/setup names what the tests need");
    let recording = folder.join("writes.rec");
    let text = |path: &Path| path.to_str().expect("a plain path").to_owned();
    let output = parallax(&["record", "-o", &text(&recording), "--", &text(&binary)]);
    assert!(output.status.success(), "{output:?}");
    recording
}

#[test]
fn system_calls_are_found_both_ways() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let recording = recorded(folder.path());
    let recording = recording.to_str().expect("a plain path");
    let times = |more: &[&str]| -> Vec<u64> {
        let output = parallax(&[&["find", recording, "--system-call", "write", "--json"], more].concat());
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let document: Value = serde_json::from_slice(&output.stdout).expect("one document");
        let steps = document["steps"].as_array().expect("a list");
        steps.iter().map(|step| step["time"].as_u64().expect("a time")).collect()
    };
    let forward = times(&[]);
    assert_eq!(forward.len(), 3);
    let mut backward = times(&["--backward"]);
    assert_eq!(times(&["--backward", "--max", "1"]), backward[..1]);
    backward.reverse();
    assert_eq!(forward, backward);
    let last = forward[2].to_string();
    assert_eq!(times(&["--from", &last]), forward[2..]);
}

/// Where the processor cannot replay, the exact engine does, and a line says so.
#[test]
fn both_engines_replay_to_the_same_end() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let recording = recorded(folder.path());
    let recording = recording.to_str().expect("a plain path");
    let replayed = |engine: &str| -> Value {
        let shown = parallax(&["replay", "--verify", "--engine", engine, recording]);
        assert_eq!((shown.status.code(), &*shown.stdout), (Some(0), &b"xxx"[..]), "{shown:?}");
        let errors = String::from_utf8_lossy(&shown.stderr).into_owned();
        assert!(errors.contains("verified: "), "{errors}");
        let output = parallax(&["replay", "--verify", "--json", "--engine", engine, recording]);
        let mut document: Value = serde_json::from_slice(&output.stdout).expect("one document");
        let used = document["engine"].take();
        assert!(used == engine || errors.contains("cannot be had"), "{used}: {errors}");
        document
    };
    assert_eq!(replayed("native"), replayed("exact"));
}

/// A child that is not recorded runs all the same, knows who it is, and is waited for.
#[test]
fn children_are_followed_or_not() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let script = "sh -c 'test $PPID = '$$' && test $$ != '$$' && exit 3'; echo $?";
    for (follow, streams) in [("--follow", 2), ("--follow=false", 1)] {
        let recording = folder.path().join(follow);
        let name = recording.to_str().expect("a plain path");
        let output = parallax(&["record", follow, "-o", name, "--", "/bin/sh", "-c", script]);
        assert_eq!((output.status.code(), &*output.stdout), (Some(0), &b"3\n"[..]), "{output:?}");
        let files = std::fs::read_dir(&recording).expect("a folder").flatten();
        let is_stream = |name: &std::ffi::OsStr| name.to_string_lossy().ends_with(".stream");
        assert_eq!(files.filter(|file| is_stream(&file.file_name())).count(), streams, "{follow}");
        let output = parallax(&["replay", "--verify", name]);
        assert_eq!((output.status.code(), &*output.stdout), (Some(0), &b"3\n"[..]), "{output:?}");
    }
}

#[test]
fn wrong_questions_are_wrong_use() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let recording = recorded(folder.path());
    let recording = recording.to_str().expect("a plain path");
    for (arguments, words) in [
        (&["find", recording][..], "say what to find"),
        (&["find", recording, "--system-call", "brew"], "there is no system call brew"),
        (&["find", recording, "--execute", "main"], "not an address"),
        (&["find", recording, "--calls", "--from", "0"], "the times of the recording are"),
        (&["find", "/etc/passwd", "--calls"], "neither a folder nor a packed recording"),
        (&["gdbserver", "/nowhere"], "cannot read"),
    ] {
        let output = parallax(arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(words), "{arguments:?}: {said}");
    }
}

/// Records a command of a shell.
fn shell(folder: &Path, script: &str) -> (String, Vec<u8>) {
    let recording = folder.join("shell.rec").to_str().expect("a plain path").to_owned();
    let output = parallax(&["record", "-o", &recording, "--", "/bin/sh", "-c", script]);
    assert!(output.status.success(), "{output:?}");
    (recording, output.stdout)
}

#[test]
fn all_processes_are_replayed_and_verified() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let script = "echo one; (echo two; /bin/echo three); x=$(/bin/echo four | tr a-z A-Z); echo $x";
    let (recording, written) = shell(folder.path(), script);
    let output = parallax(&["replay", "--verify", &recording]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&written));
    let output = parallax(&["replay", "--verify", "--json", &recording]);
    let document: Value = serde_json::from_slice(&output.stdout).expect("one document");
    let processes = document["processes"].as_array().expect("a list");
    assert!(processes.len() >= 4, "{document}");
    assert!(processes.iter().all(|one| one["status"] == "same"), "{document}");
    // One that is damaged is named, whatever the others say.
    let child = processes[1]["stream"].as_str().expect("a name");
    let stream = Path::new(&recording).join(format!("{child}.stream"));
    let mut bytes = std::fs::read(&stream).expect("a stream");
    let half = bytes.len() * 3 / 4;
    bytes.truncate(half);
    std::fs::write(&stream, bytes).expect("the same stream");
    std::fs::remove_file(Path::new(&recording).join(format!("{child}.tail"))).expect("its tail");
    let output = parallax(&["replay", "--verify", "--quiet", &recording]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(4), "{said}");
    assert!(said.contains(&format!("process {child}: ")), "{said}");
}

#[test]
fn calls_of_a_function_that_is_chosen_at_run_time_are_found() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let source = folder.path().join("lengths.c");
    let text = "#include <string.h>\nint main(int count, char **words) {\n\
                unsigned long (*volatile length)(const char *) = strlen;\n\
                unsigned long sum = 0;\n\
                for (int i = 0; i < 7; i++) sum += length(words[0] + i % 3);\n\
                return sum > 200; }\n";
    std::fs::write(&source, text).expect("a temporary file");
    for (name, flags) in [("dynamic", &["-O1"][..]), ("static", &["-O1", "-static"])] {
        let binary = folder.path().join(name);
        let built = Command::new("gcc").args(flags).arg("-o").args([&binary, &source]).status();
        assert!(built.is_ok_and(|status| status.success()), "scripts/setup names what the tests need");
        let recording = folder.path().join(format!("{name}.rec"));
        let recording = recording.to_str().expect("a plain path");
        let output = parallax(&["record", "-o", recording, "--", binary.to_str().expect("a plain path")]);
        assert!(output.status.success(), "{output:?}");
        let find = |more: &[&str]| -> Vec<u64> {
            let output = parallax(&[&["find", recording, "--json", "--max", "100000"], more].concat());
            assert_eq!(output.status.code(), Some(0), "{output:?}");
            let document: Value = serde_json::from_slice(&output.stdout).expect("one document");
            let steps = document["steps"].as_array().expect("a list");
            steps.iter().map(|step| step["time"].as_u64().expect("a time")).collect()
        };
        let main = find(&["--function", "main"]);
        assert_eq!(main.len(), 1, "{name}");
        // From `main` on, up to its end: what follows it is the library's own.
        let from = main[0].to_string();
        let calls = find(&["--function", "strlen", "--from", &from]);
        assert!(calls.len() >= 7, "{name}: {calls:?}");
        let apart: Vec<u64> = calls.windows(2).map(|pair| pair[1] - pair[0]).take(6).collect();
        assert!(apart.iter().all(|steps| *steps < 500), "{name}: the loop of `main` calls it: {calls:?}");
    }
    let recording = folder.path().join("static.rec");
    let output = parallax(&["find", recording.to_str().expect("a plain path"), "--function", "strolen"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}

#[test]
fn a_damaged_index_is_named_and_made_anew() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let recording = recorded(folder.path());
    let find = || parallax(&["find", recording.to_str().expect("a plain path"), "--calls", "--times"]);
    let first = find();
    let index = recording.join("0.index");
    let mut bytes = std::fs::read(&index).expect("an index was left");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&index, &bytes).expect("the same file");
    let second = find();
    assert!(String::from_utf8_lossy(&second.stderr).contains("0.index is damaged"), "{second:?}");
    let third = find();
    assert!(!String::from_utf8_lossy(&third.stderr).contains("0.index"), "{third:?}");
    assert_eq!((&first.stdout, &first.stdout), (&second.stdout, &third.stdout));
}

/// The first process is named with the signal that ended it, and ends so itself; of its children their parents speak.
#[test]
fn signals_that_end_a_program_are_named() {
    use std::os::unix::process::ExitStatusExt;
    let run = |script: &str| parallax(&["run", "--", "/bin/sh", "-c", script]);
    for (number, name) in [(6, "SIGABRT"), (9, "SIGKILL"), (15, "SIGTERM"), (31, "SIGSYS"), (11, "SIGSEGV")] {
        let output = run(&format!("kill -{number} $$"));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.signal(), Some(number), "{said}");
        assert!(said.contains(&format!("parallax: killed by {name}\n")), "{said}");
    }
    let output = run("sh -c 'kill -TERM $$'; echo $?");
    assert_eq!((output.status.code(), &*output.stdout), (Some(0), &b"143\n"[..]), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!said.contains("killed by"), "{said}");
}

#[test]
fn files_that_are_not_executable_are_refused() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = |name: &str, text: &str, mode: u32| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("a temporary file");
        std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).expect("a mode");
        path.to_str().expect("a plain path").to_owned()
    };
    let plain = file("plain", "#!/bin/sh\necho ran\n", 0o644);
    let script = file("script", &format!("#!{plain}\n"), 0o755);
    let recording = folder.path().join("none.rec");
    let recording = recording.to_str().expect("a plain path");
    for arguments in [
        &["run", "--", &plain][..],
        &["record", "-o", recording, "--", &plain],
        // Its interpreter is not executable.
        &["run", "--", &script],
    ] {
        let output = parallax(arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((output.status.code(), &*output.stdout), (Some(2), &b""[..]), "{arguments:?}: {said}");
        assert!(said.contains("not executable") || said.contains("Permission denied"), "{said}");
    }
    assert!(Command::new(&plain).output().is_err(), "natively too");
}

/// GDB is told about x86-64 alone: for another machine there is nothing to wait for.
#[test]
fn a_recording_of_another_machine_is_not_listened_for() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let source = folder.path().join("small.c");
    std::fs::write(&source, "int main(void) { return 0; }").expect("a temporary file");
    let binary = folder.path().join("small");
    let built =
        Command::new("powerpc-linux-gnu-gcc").args(["-static", "-o"]).args([&binary, &source]).status();
    assert!(built.is_ok_and(|status| status.success()), "scripts/setup names what the tests need");
    let recording = folder.path().join("small.rec");
    let recording = recording.to_str().expect("a plain path");
    let output = parallax(&["record", "-o", recording, "--", binary.to_str().expect("a plain path")]);
    assert!(output.status.success(), "{output:?}");
    let mut served = Command::new("timeout");
    served.args(["60", env!("CARGO_BIN_EXE_parallax"), "gdbserver", "--port", "0", recording]);
    let output = served.output().expect("the command");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("x86-64") && !said.contains("listening"), "{said}");
}
