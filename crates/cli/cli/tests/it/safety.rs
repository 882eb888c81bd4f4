//! Hostile programs, sources and build files under the verbs that run something: what lies outside is as before.
//!
//! That each could do its harm is shown by `--run-unjailed`, with which it does. Programs that are run by a jail alone are
//! tried in `crates/core/jail`; here it is tried that the verbs use one. Not made here: programs of several processes, which
//! `explore` does not run.

use serde_json::Value;
use std::collections::BTreeSet;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// A folder with a file that programs go for, and one that they work in.
pub struct Place {
    pub marked: TempDir,
    pub own: TempDir,
}

impl Place {
    pub fn new() -> Self {
        let place = Place {
            marked: tempfile::tempdir().expect("a folder"),
            own: tempfile::tempdir().expect("a folder"),
        };
        std::fs::write(place.target(), "as it was").expect("a file");
        place
    }

    pub fn target(&self) -> PathBuf {
        self.marked.path().join("target")
    }

    pub fn is_as_before(&self) -> bool {
        let names = std::fs::read_dir(self.marked.path()).expect("a folder").flatten().count();
        names == 1 && std::fs::read(self.target()).is_ok_and(|text| text == b"as it was")
    }

    pub fn write(&self, name: &str, text: &str) -> String {
        let file = self.own.path().join(name);
        std::fs::write(&file, text).expect("a file");
        file.display().to_string()
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_parallax"));
        command.current_dir(self.own.path()).args(arguments);
        command
    }

    pub fn parallax(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("it runs")
    }

    /// A program that goes for the marked file where its input is a `d`, and then makes a mistake.
    fn deleting(&self) -> String {
        let text = r#"
            #include <stdio.h>
            #include <unistd.h>
            int main(void) {
                if (getchar() != 'd') return 0;
                unlink("TARGET");
                FILE *file = fopen("TARGET.new", "w");
                if (file) { fputs("new", file); fclose(file); }
                int *p = 0;
                return *p;
            }"#;
        self.write("deleting.c", &text.replace("TARGET", &self.target().display().to_string()))
    }
}

pub fn document(output: &Output) -> Value {
    let said = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"))
}

/// Whether there is a jail here at all; if not, it is said that a test is skipped.
pub fn walls() -> Option<String> {
    let output = Command::new(env!("CARGO_BIN_EXE_parallax"))
        .args(["doctor", "jail", "--json"])
        .output()
        .expect("it runs");
    let jail = document(&output)["jail"].clone();
    let walls = jail["walls"].as_str().map(str::to_owned);
    if walls.is_none() {
        eprintln!("SKIPPED: {}", jail["reason"]);
    }
    walls
}

#[test]
fn findings_are_confirmed_in_a_jail() {
    let Some(walls) = walls() else { return };
    for verb in [&["explore", "--stdin", "1"][..], &["check", "--confirm-time", "20"]] {
        for unjailed in [false, true] {
            let place = Place::new();
            let file = place.deleting();
            let mut arguments = verb.to_vec();
            arguments.extend(["--json", "--no-cache", file.as_str()]);
            arguments.extend(unjailed.then_some("--run-unjailed"));
            let found = document(&place.parallax(&arguments));
            let native = match verb[0] {
                "explore" => found["findings"][0]["native"] == "confirmed",
                _ => found["findings"][0]["witness"]["native"]["confirmed"] == true,
            };
            assert!(native, "{verb:?}, unjailed: {unjailed}: {found:#}");
            assert_eq!(
                place.is_as_before(),
                !unjailed,
                "{verb:?}: a person's word, and nothing else, changes the world"
            );
            let held = found["jail"]["walls"].as_str();
            assert_eq!(held, (!unjailed).then_some(walls.as_str()), "{}", found["jail"]);
        }
    }
}

/// Makes a command find a kernel without Landlock on which nobody mounts.
pub fn without_walls(command: &mut Command) -> &mut Command {
    without(command, libc::SYS_landlock_create_ruleset as u32)
}

/// Makes a command find a kernel on which nobody mounts.
pub fn without_mounts(command: &mut Command) -> &mut Command {
    without(command, libc::SYS_mount as u32)
}

/// Makes a command find a kernel on which nobody mounts, and that has no such call.
fn without(command: &mut Command, missing: u32) -> &mut Command {
    let install = move || {
        let step = |code: u16, k: u32, yes: u8, no: u8| libc::sock_filter { code, jt: yes, jf: no, k };
        let errno = |errno: i32| step(0x06, 0x0005_0000 | errno as u32, 0, 0);
        let mut steps = [
            step(0x20, 0, 0, 0),
            step(0x15, libc::SYS_mount as u32, 0, 1),
            errno(libc::EPERM),
            step(0x15, missing, 0, 1),
            errno(libc::ENOSYS),
            step(0x06, 0x7fff_0000, 0, 0),
        ];
        let program = libc::sock_fprog { len: 6, filter: steps.as_mut_ptr() };
        // SAFETY: the kernel copies the program.
        let done = unsafe {
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
            libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program)
        };
        if done == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
    };
    // SAFETY: it makes system calls alone.
    unsafe { command.pre_exec(install) }
}

#[test]
fn without_walls_nothing_is_run() {
    let place = Place::new();
    let file = place.deleting();
    for verb in [&["explore", "--stdin", "1"][..], &["check"], &["run"]] {
        let mut arguments = verb.to_vec();
        arguments.extend(["--no-cache", file.as_str()]);
        let output = without_walls(&mut place.command(&arguments)).output().expect("it runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(3), "{verb:?}: {said}");
        assert!(said.contains("clang-19 was not run: no jail here: "), "{said}");
        assert!(
            said.contains("name spaces: mounts are made private") && said.contains("Landlock: "),
            "{said}"
        );
        assert!(said.contains("--run-unjailed"), "{said}");
        assert!(place.is_as_before());
    }
    let output = without_walls(&mut place.command(&["doctor", "jail", "clang"])).output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("MISSING no jail here: ") && said.contains("name spaces: "), "{said}");
    assert!(said.contains("clang-19 was not tried: there is no jail"), "{said}");
    assert_eq!(output.status.code(), Some(1), "{said}");
}

#[test]
fn what_strangers_send_starts_nothing() {
    if walls().is_none() {
        return;
    }
    let place = Place::new();
    let target = place.target().display().to_string();
    let evil = place.write("evil", &format!("#!/bin/sh\nrm -f {target}\n"));
    std::fs::set_permissions(&evil, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("a mode");
    place.write("plain.c", "int main(void) { return 0; }\n");
    // Another command as the compiler, plug-ins, outputs elsewhere, a file of flags, a shell's tricks.
    let commands = [
        format!("{evil} -c plain.c"),
        format!("cc -fplugin={evil} -Xclang -load -Xclang {evil} -c plain.c"),
        format!("cc -c plain.c -o {target} -MD -MF {target} -save-temps={target}"),
        format!("cc -B{} -wrapper {evil} -specs={evil} -c plain.c", place.own.path().display()),
        format!("cc @{evil} -c plain.c; {evil}; `{evil}` $({evil})"),
    ];
    for command in commands {
        let folder = place.own.path().display().to_string();
        let entry = serde_json::json!([{ "directory": folder, "file": "plain.c", "command": command }]);
        let file = place.write("compile_commands.json", &entry.to_string());
        for verb in ["explore", "check", "run"] {
            let output = place.parallax(&[verb, "--no-cache", &file]);
            assert!(output.status.code().is_some_and(|code| code != 101), "{verb} {command}");
            assert!(place.is_as_before(), "{verb} {command}");
        }
    }
    // Text of a file outside comes in, as with any compiler; nothing goes out.
    let secret =
        place.write("stealing.c", &format!("#include \"{target}\"\nint main(void) {{ return 0; }}\n"));
    let assembled = place.write(
        "bytes.c",
        &format!("__asm__(\".incbin \\\"{target}\\\"\");\nint main(void) {{ return 0; }}\n"),
    );
    for file in [secret, assembled] {
        place.parallax(&["explore", "--no-cache", &file]);
        assert!(place.is_as_before(), "{file}");
    }
    // Reports with paths to what is not theirs: they are read, and nothing else.
    let report = serde_json::json!({
        "version": "2.1.0",
        "runs": [{ "tool": { "driver": { "name": "x" } }, "results": [{
            "message": { "text": "x" },
            "locations": [{ "physicalLocation": {
                "artifactLocation": { "uri": format!("file://{target}") }, "region": { "startLine": 1 },
            }}],
        }]}],
    });
    let report = place.write("report.sarif", &report.to_string());
    let page = place.own.path().join("page.html").display().to_string();
    place.parallax(&["view", &report, "-o", &page]);
    place.parallax(&["convert", &report, "-o", &page]);
    assert!(place.is_as_before());
}

/// What a stranger's source says of itself is text on the terminal: no escape sequence of its lines and names comes through.
#[test]
fn sources_do_not_control_the_terminal() {
    let place = Place::new();
    let harm = "\u{1b}]0;HARM\u{7}\u{9b}2J";
    let line = place
        .write("line.c", &format!("int main(void) {{\n    int *p = 0;\n    return *p; /* {harm} */\n}}\n"));
    let name = format!("int main(void) {{\n# 7 \"na{harm}me.c\"\n    int *p = 0; return *p + q;\n}}\n");
    let name = place.write("name.c", &name.replace(" + q", ""));
    let bad =
        place.write("bad.c", &format!("# 7 \"na{harm}me.c\"\nint main(void) {{ return q; /* {harm} */ }}\n"));
    for verb in ["explore", "check", "run"] {
        for file in [&line, &name, &bad] {
            let output = place.parallax(&[verb, "--no-cache", file]);
            let shown = [output.stdout, output.stderr].concat();
            let shown = String::from_utf8_lossy(&shown).into_owned();
            assert!(!shown.trim().is_empty(), "{verb} {file}");
            let obeyed = shown.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\t'));
            assert_eq!(obeyed, None, "{verb} {file}: {shown:?}");
        }
    }
}

/// A repository can name programs that git starts where it compares files: a filter, a hook.
#[test]
fn what_a_repository_names_is_held() {
    if walls().is_none() {
        return;
    }
    for unjailed in [false, true] {
        let place = Place::new();
        let target = place.target().display().to_string();
        let file = place.write("plain.c", "int main(void) { return 0; }\n");
        let harm = place.write("harm", &format!("#!/bin/sh\nrm -f {target}\ncat\n"));
        std::fs::set_permissions(&harm, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("a mode");
        let git = |words: &[&str]| {
            let done = Command::new("git")
                .current_dir(place.own.path())
                .args(["-c", "user.name=x", "-c", "user.email=x@x"])
                .args(words)
                .output()
                .expect("git runs");
            assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
        };
        git(&["init", "--quiet"]);
        git(&["add", "plain.c"]);
        git(&["commit", "--quiet", "--message", "x"]);
        place.write(".gitattributes", "*.c filter=harm\n");
        for setting in ["filter.harm.clean", "filter.harm.smudge", "core.fsmonitor", "diff.external"] {
            git(&["config", setting, &harm]);
        }
        place.write("plain.c", "int main(void) { return 1; }\n");
        let mut arguments = vec!["check", "--no-cache", "--no-refine", "--changed-since", "HEAD", &file];
        arguments.extend(unjailed.then_some("--run-unjailed"));
        let output = place.parallax(&arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(matches!(output.status.code(), Some(0 | 4)), "{said}");
        assert_eq!(place.is_as_before(), !unjailed, "{said}");
    }
}

/// Kills a command that makes a process or a socket. Threads are let through.
fn alone(command: &mut Command) -> &mut Command {
    const CLONE_THREAD: u32 = 0x1_0000;
    let install = || {
        let step = |code: u16, k: u32, yes: u8, no: u8| libc::sock_filter { code, jt: yes, jf: no, k };
        let (number, first_argument) = (0, 16);
        let mut steps = vec![
            step(0x20, number, 0, 0),
            // The C library takes `clone` where there is no `clone3`; its flags can be looked at.
            step(0x15, libc::SYS_clone3 as u32, 0, 1),
            step(0x06, 0x0005_0000 | libc::ENOSYS as u32, 0, 0),
            step(0x15, libc::SYS_clone as u32, 0, 4),
            step(0x20, first_argument, 0, 0),
            step(0x45, CLONE_THREAD, 0, 1),
            step(0x06, 0x7fff_0000, 0, 0),
            step(0x06, 0x8000_0000, 0, 0),
        ];
        for call in
            [libc::SYS_fork, libc::SYS_vfork, libc::SYS_socket, libc::SYS_socketpair, libc::SYS_execveat]
        {
            steps.extend([step(0x15, call as u32, 0, 1), step(0x06, 0x8000_0000, 0, 0)]);
        }
        steps.push(step(0x06, 0x7fff_0000, 0, 0));
        let program = libc::sock_fprog { len: steps.len() as u16, filter: steps.as_mut_ptr() };
        // SAFETY: the kernel copies the program.
        let done = unsafe {
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
            libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program)
        };
        if done == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
    };
    // SAFETY: the memory that it allocates is the child's own, and this process holds no lock of the allocator while it forks.
    unsafe { command.pre_exec(install) }
}

/// Verbs that only read: on what a stranger could send they start nothing, reach nothing, write only what was asked for, and show
/// nothing of files outside. Not made here: files that are damaged (each reader has a fuzz of its own), folders as links.
#[test]
fn verbs_that_read_do_nothing_else() {
    const SECRET: &str = "the-words-of-a-file-outside";
    let corpus =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../corpus").canonicalize().expect("a corpus");
    let place = Place::new();
    std::fs::write(place.target(), SECRET).expect("a file");
    let is_as_before = || {
        let names = std::fs::read_dir(place.marked.path()).expect("a folder").flatten().count();
        names == 1 && std::fs::read(place.target()).is_ok_and(|text| text == SECRET.as_bytes())
    };
    let target = place.target().display().to_string();
    let up = format!("{}{target}", "../".repeat(12));
    let location = |uri: &str| {
        serde_json::json!({ "physicalLocation": {
            "artifactLocation": { "uri": uri, "uriBaseId": "ROOT" }, "region": { "startLine": 1 },
        }})
    };
    let result = |uri: &str| serde_json::json!({ "message": { "text": "x" }, "locations": [location(uri)] });
    let sarif = serde_json::json!({
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "x", "informationUri": format!("file://{target}") } },
            "originalUriBaseIds": { "ROOT": { "uri": format!("file://{}/", place.marked.path().display()) } },
            "externalPropertyFileReferences": {
                "results": [{ "location": { "uri": format!("file://{target}") }, "guid": "0" }],
                "artifacts": [{ "location": { "uri": up } }],
            },
            "artifacts": [{ "location": { "uri": format!("file://{target}") } }],
            "results": [result(&format!("file://{target}")), result(&target), result(&up), result("target")],
        }],
    });
    let sarif = place.write("report.sarif", &sarif.to_string());
    let gcc = place.write(
        "report.txt",
        &format!(
            "{target}:1:1: warning: x [-Wx]\n{up}:1:1: warning: y [-Wx]\nIn file included from {target}:1:\n"
        ),
    );
    let smt = place.write(
        "channels.smt2",
        &format!(
            "(set-option :regular-output-channel \"{target}\")\n(set-option :diagnostic-output-channel \"{target}\")\n\
             (set-logic QF_BV)\n(declare-const x (_ BitVec 8))\n(assert (= x #x01))\n(check-sat)\n(get-model)\n"
        ),
    );
    let including = place.write("including.smt2", &format!("(include \"{target}\")\n(check-sat)\n"));
    let recorded = place.own.path().join("true.rec").display().to_string();
    assert!(place.parallax(&["record", "-o", &recorded, "--", "/bin/true"]).status.success());
    let file = |name: &str| corpus.join(name).display().to_string();
    let own = place.own.path().display().to_string();
    let asked = |name: &str| place.own.path().join(name).display().to_string();
    let (page, converted, packed) = (asked("page.html"), asked("converted.sarif"), asked("packed.rec"));
    let (swap, error, morris) = (file("pl/swap.pl"), file("pl/error.pl"), file("pl/morris.pl"));
    let (mix, queue) = (file("mix/div.plain.mix"), file("javalite/queue.jl"));
    let lines: &[&[&str]] = &[
        &["view", &sarif, "--src", &own, "-o", &page],
        &["view", &gcc, "--src", &own, "-o", &page],
        &["convert", &sarif, "-o", &converted],
        &["convert", &gcc, "-o", &converted],
        &["solve", &smt],
        &["solve", &including],
        &["run", &swap],
        &["eval", &swap],
        &["wlp", &morris, "--post", "x == 5"],
        &["path", &error, "--through", "ERROR"],
        &["compose", &swap, &swap],
        &["signs", &swap],
        &["ranges", &swap],
        &["lift", "--lang", "x86-64", "--hex", "90"],
        &["mix", "check", &mix],
        &["heap", &queue, "--method", "Queue.checkBug", "--k", "1"],
        &["info", &recorded],
        &["replay", &recorded],
        &["find", &recorded, "--system-call", "exit_group"],
        &["origin", &recorded, "--register", "RAX"],
        &["pack", &recorded, &packed],
        &["completions", "bash"],
    ];
    for line in lines {
        let mut command = place.command(line);
        let output = alone(&mut command).output().expect("it starts");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let code = output.status.code();
        // A command that there is none of is refused.
        let is_refused = code == Some(3) && line.contains(&including.as_str());
        assert!(
            matches!(code, Some(0 | 1)) || is_refused,
            "{line:?} does its work: {}: {said}",
            output.status
        );
        assert!(is_as_before(), "{line:?}");
        let shown = [output.stdout, output.stderr].concat();
        let written =
            [&page, &converted].into_iter().flat_map(|path| std::fs::read(path).unwrap_or_default());
        let all: Vec<u8> = shown.into_iter().chain(written).collect();
        assert!(!String::from_utf8_lossy(&all).contains(SECRET), "{line:?} shows a file outside");
    }
    let mut names: Vec<_> = std::fs::read_dir(place.own.path())
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    let expected = [
        "channels.smt2",
        "converted.sarif",
        "including.smt2",
        "packed.rec",
        "page.html",
        "report.sarif",
        "report.txt",
        "true.rec",
    ];
    assert_eq!(names, expected, "what was asked for, and nothing else");
    // The test can fail: what starts a program dies of it.
    let mut doctor = place.command(&["doctor"]);
    assert_eq!(alone(&mut doctor).output().expect("it starts").status.code(), None);
}

/// Every verb has a row in the document of what is run, read, written and sent.
#[test]
fn every_verb_has_a_row() {
    let page = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/safety.md"));
    let page = page.expect("a document");
    let table =
        page.split("## Verb by verb").nth(1).and_then(|rest| rest.split("\n## ").next()).expect("a table");
    let help = Command::new(env!("CARGO_BIN_EXE_parallax")).arg("--help").output().expect("it runs");
    let help = String::from_utf8(help.stdout).expect("text");
    let verbs: BTreeSet<&str> = help
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next())
        .filter(|word| word.len() > 2 && word.bytes().all(|byte| byte.is_ascii_lowercase()))
        .collect();
    assert!(verbs.len() > 25 && verbs.contains("check"), "{verbs:?}");
    let first = |row: &str| row.split('|').nth(1).unwrap_or_default().to_owned();
    let named: String = table.lines().map(first).collect();
    let missing: Vec<_> = verbs
        .iter()
        .filter(|verb| !named.contains(&format!("`{verb}`")) && !named.contains(&format!("`{verb} ")))
        .collect();
    assert!(missing.is_empty(), "no row in docs/safety.md: {missing:?}");
}
