//! Hostile programs, sources and build files under the verbs that run something: what lies outside is as before.
//!
//! That each could do its harm is shown by `--run-unjailed`, with which it does. Programs that are run by a jail alone are
//! tried in `crates/core/jail`; here it is tried that the verbs use one. Not made here: programs of several processes, which
//! `explore` does not run.

use serde_json::Value;
use std::collections::BTreeSet;
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use tempfile::TempDir;

/// A folder with a file that programs go for, and one that they work in.
struct Place {
    marked: TempDir,
    own: TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Place {
            marked: tempfile::tempdir().expect("a folder"),
            own: tempfile::tempdir().expect("a folder"),
        };
        std::fs::write(place.target(), "as it was").expect("a file");
        place
    }

    fn target(&self) -> PathBuf {
        self.marked.path().join("target")
    }

    fn is_as_before(&self) -> bool {
        let names = std::fs::read_dir(self.marked.path()).expect("a folder").flatten().count();
        names == 1 && std::fs::read(self.target()).is_ok_and(|text| text == b"as it was")
    }

    fn write(&self, name: &str, text: &str) -> String {
        let file = self.own.path().join(name);
        std::fs::write(&file, text).expect("a file");
        file.display().to_string()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_parallax"));
        command.current_dir(self.own.path()).args(arguments);
        command
    }

    fn parallax(&self, arguments: &[&str]) -> Output {
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

fn document(output: &Output) -> Value {
    let said = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"))
}

/// Whether there is a jail here at all; if not, it is said that a test is skipped.
fn walls() -> Option<String> {
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
fn without_walls(command: &mut Command) -> &mut Command {
    let install = || {
        let step = |code: u16, k: u32, yes: u8, no: u8| libc::sock_filter { code, jt: yes, jf: no, k };
        let errno = |errno: i32| step(0x06, 0x0005_0000 | errno as u32, 0, 0);
        let mut steps = [
            step(0x20, 0, 0, 0),
            step(0x15, libc::SYS_landlock_create_ruleset as u32, 0, 1),
            errno(libc::ENOSYS),
            step(0x15, libc::SYS_mount as u32, 0, 1),
            errno(libc::EPERM),
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

/// Programs with effects, one a name, each with a byte of input. What they come to depends on files that they change.
const EFFECTS: &str = r#"
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <termios.h>
#include <unistd.h>
static int size(const char *name) { struct stat s; return stat(name, &s) < 0 ? -1 : (int)s.st_size; }
static void put(const char *name, const char *text, int flags) {
    int file = open(name, O_WRONLY | O_CREAT | flags, 0600);
    if (file < 0) _exit(90);
    write(file, text, strlen(text));
    close(file);
}
static int count(const char *name) {
    DIR *folder = opendir(name);
    int all = 0;
    if (!folder) return -1;
    while (readdir(folder)) all++;
    closedir(folder);
    return all;
}
static int run(const char *name, char c) {
#define IS(word) if (!strcmp(name, word))
    IS("editor") { if (c == 'w') { put("text", "saved", O_TRUNC); rename("text", "text~"); return 1; } return size("text~") >= 0 ? 9 : 2; }
    IS("append-log") { if (c == 'a') put("log", "x", O_APPEND); return size("log") > 1 ? 9 : c == 'b' ? 3 : 4; }
    IS("remove") { if (c == 'r') unlink("text"); return size("text") < 0 ? 1 : 2; }
    IS("mail-spool") { if (c == 'm') { put("spool/new", "mail", O_EXCL); return count("spool"); } return c == 'n' ? 20 + count("spool") : 7; }
    IS("database") { int file = open("db", O_RDWR); char n = 0; read(file, &n, 1); if (c == '+') { n++; pwrite(file, &n, 1, 0); } return n; }
    IS("archiver") { if (c == 'x') { mkdir("out", 0700); put("out/a", "1", 0); return 1; } return size("out/a") == 1 ? 9 : 2; }
    IS("truncate") { if (c == 't') truncate("text", 1); return size("text"); }
    IS("link") { if (c == 'l') { link("text", "hard"); symlink("text", "soft"); } return count("."); }
    IS("lock-file") { int file = open("lock", O_CREAT | O_EXCL | O_WRONLY, 0600); if (file < 0) return 9; return c == 'u' ? unlink("lock"), 1 : 2; }
    IS("mode") { if (c == 'm') chmod("text", 0400); struct stat s; stat("text", &s); return (s.st_mode & 0200) ? 1 : 2; }
    IS("times") { struct timeval t[2] = {{5, 0}, {5, 0}}; if (c == 't') utimes("text", t); struct stat s; stat("text", &s); return s.st_mtime == 5 ? 1 : 2; }
    IS("fifo") { if (c == 'f') return mkfifo("fifo", 0600) < 0 ? 9 : 1; return size("fifo") < 0 ? 2 : 9; }
    IS("rename-folder") { if (c == 'r') return rename("spool/old", "text2") < 0 ? 9 : 1; return size("text2") < 0 ? 2 : 9; }
    IS("remove-folder") { if (c == 'r') { unlink("spool/old"); return rmdir("spool") < 0 ? 9 : 1; } return count("spool") < 0 ? 9 : 2; }
    IS("shared-file") {
        int file = open("db", O_RDWR);
        char *at = mmap(0, 1, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (at == MAP_FAILED) return 90;
        if (c == 's') *at += 1;
        return *at;
    }
    IS("temporary") { char path[64] = "/tmp/parallax-effects"; if (c == 't') put(path, "x", O_EXCL); return size(path) < 0 ? 1 : 2; }
    IS("shared-memory") { if (c == 's') put("/dev/shm/parallax-effects", "x", O_EXCL); return size("/dev/shm/parallax-effects") < 0 ? 1 : 2; }
    IS("segment") { int m = shmget(KEY, 4096, IPC_CREAT | IPC_EXCL | 0600); return m < 0 ? 9 : c == 's' ? 1 : 2; }
    IS("semaphores") { if (c == 's') return semget(KEY, 1, IPC_CREAT | IPC_EXCL | 0600) < 0 ? 9 : 1; return semget(KEY, 1, 0) < 0 ? 2 : 9; }
    IS("queue") { if (c == 'q') return msgget(KEY, IPC_CREAT | IPC_EXCL | 0600) < 0 ? 9 : 1; return msgget(KEY, 0) < 0 ? 2 : 9; }
    IS("counter") { char n[8] = "0"; int file = open("count", O_RDWR | O_CREAT, 0600); read(file, n, 1); n[0]++; pwrite(file, n, 1, 0); return n[0] == '1' ? (c == 'c' ? 1 : 2) : 9; }
    IS("socket-path") {
        struct sockaddr_un a = {.sun_family = AF_UNIX, .sun_path = "sock"};
        int s = socket(AF_UNIX, SOCK_STREAM, 0);
        if (c == 's') return bind(s, (struct sockaddr *)&a, sizeof a) < 0 ? 9 : 1;
        return size("sock") < 0 ? 2 : 9;
    }
    /* The end that closes first keeps the port for a minute. */
    IS("port") {
        struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(7717)};
        int s = socket(AF_INET, SOCK_STREAM, 0), t = socket(AF_INET, SOCK_STREAM, 0);
        if (bind(s, (struct sockaddr *)&a, sizeof a) < 0) return 9;
        if (listen(s, 1) < 0 || connect(t, (struct sockaddr *)&a, sizeof a) < 0) return 90;
        close(accept(s, 0, 0));
        close(t);
        return c == 'p' ? 1 : 2;
    }
    IS("loopback") {
        struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        socklen_t length = sizeof a;
        int s = socket(AF_INET, SOCK_STREAM, 0), t = socket(AF_INET, SOCK_STREAM, 0);
        if (bind(s, (struct sockaddr *)&a, length) < 0 || listen(s, 1) < 0) return 90;
        getsockname(s, (struct sockaddr *)&a, &length);
        if (c == 'c') return connect(t, (struct sockaddr *)&a, length) < 0 ? 91 : 1;
        return 2;
    }
    return 99;
}
/* What reaches others, one a byte of input: words are the number of a victim. */
static int reach(char c, int victim) {
    int ends[2], s;
    struct stat known;
    struct { int kind, number; } owner = {1, victim};
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(9)};
    switch (c) {
    case 'a':
    case 'b':
        if (pipe(ends) < 0 || (c == 'a' ? fcntl(ends[0], F_SETOWN, victim) : fcntl(ends[0], F_SETOWN_EX, &owner)) < 0) return 90;
        fcntl(ends[0], F_SETSIG, SIGKILL);
        fcntl(ends[0], F_SETFL, O_ASYNC);
        write(ends[1], "x", 1);
        return 1;
    case 'c': return kill(victim, SIGKILL) < 0 ? 90 : 1;
    case 'd': return setpriority(PRIO_PROCESS, victim, 13) < 0 ? 90 : 1;
    case 'e': return chmod("/proc//self/exe", 0711) < 0 ? 90 : 1;
    case 'f': return chdir("/proc/self") < 0 || utimes("exe", 0) < 0 ? 90 : 1;
    case 'g': s = open("/proc/self/task/../exe", O_RDONLY); return s < 0 || fchmod(s, 0711) < 0 ? 90 : 1;
    /* By its usual names it is the program itself. */
    case 'r': return chmod("/proc/self/exe", 0711) < 0 ? 90 : 2;
    /* AF_VSOCK, AF_PACKET, NETLINK_AUDIT, a raw socket: they are only made. */
    case 'h': return socket(40, SOCK_STREAM, 0) < 0 ? 90 : 1;
    case 'i': return socket(17, SOCK_DGRAM, 0) < 0 ? 90 : 1;
    case 'j': return socket(16, SOCK_RAW, 9) < 0 ? 90 : 1;
    case 'k': return socket(AF_INET, SOCK_RAW, 1) < 0 ? 90 : 1;
    case 'l': return fcntl(open("text", O_RDONLY), F_SETLEASE, F_RDLCK) < 0 ? 90 : 1;
    case 'm': s = socket(AF_INET, SOCK_STREAM, 0); return listen(s, 1) < 0 ? 90 : 2;
    /* Without a family, a datagram goes where one with a family goes. */
    case 'n': a.sin_family = 0; s = socket(AF_INET, SOCK_DGRAM, 0); return sendto(s, "x", 1, 0, (struct sockaddr *)&a, sizeof a) < 0 ? 90 : 2;
    case 'o': return open("/proc/self/comm", O_WRONLY) < 0 ? 90 : 1;
    case 'p': return rename("spool", "spool2") < 0 ? 90 : 1;
    case 'q': return chroot("spool") < 0 ? 91 : 2;
    }
    return 3;
}
/* What comes before the moment that is asked about. */
__attribute__((noinline)) static int here(int x) { return x == 7 ? 1 : 2; }
static int before(const char *what) {
    struct shmid_ds known;
    if (!strcmp(what, "descriptor")) pwrite(57, "HARM", 4, 0);
    if (!strcmp(what, "copy-of-descriptor")) write(dup(57), "HARM", 4);
    if (!strcmp(what, "map")) *(char *)mmap(0, 1, PROT_READ | PROT_WRITE, MAP_SHARED, 57, 0) = 'H';
    if (!strcmp(what, "truncate")) ftruncate(57, 0);
    if (!strcmp(what, "mode")) fchmod(57, 0711);
    if (!strcmp(what, "times")) futimens(57, 0);
    if (!strcmp(what, "segment")) shmctl(KEY, IPC_RMID, &known);
    if (!strcmp(what, "listen")) listen(socket(AF_INET, SOCK_STREAM, 0), 1);
    if (!strcmp(what, "question")) { struct termios t; tcgetattr(57, &t); fcntl(57, F_GETFL); lseek(57, 0, SEEK_CUR); printf("x\n"); }
    return here(what[0]);
}
int main(int argc, char **argv) {
    if (argc > 2 && !strcmp(argv[1], "before")) return before(argv[2]);
    if (argc > 2 && !strcmp(argv[1], "others")) {
        char c = 0;
        return read(0, &c, 1) == 1 ? reach(c, atoi(argv[2])) : 3;
    }
    if (argc > 4 && !strcmp(argv[1], "reach")) {
        char c = 0;
        if (read(0, &c, 1) != 1 || c != 'c') return 3;
        struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[3]))};
        inet_pton(AF_INET, argv[2], &a.sin_addr);
        int s = socket(AF_INET, SOCK_STREAM, 0);
        return connect(s, (struct sockaddr *)&a, sizeof a) < 0 ? 4 : 5;
    }
    if (argc > 2 && !strcmp(argv[1], "signal")) {
        char c = 0;
        if (read(0, &c, 1) != 1 || c != 'k') return 3;
        return kill(atoi(argv[2]), SIGTERM) < 0 ? 4 : 5;
    }
    if (argc > 2 && !strcmp(argv[1], "early")) {
        put(argv[2], "early", O_TRUNC);
        char c = 0;
        read(0, &c, 1);
        return c == 'e' ? 1 : 2;
    }
    char c = 0;
    if (read(0, &c, 1) != 1) return 80;
    return run(argv[1], c);
}
"#;

const NAMES: [&str; 23] = [
    "editor",
    "append-log",
    "remove",
    "mail-spool",
    "database",
    "archiver",
    "truncate",
    "link",
    "lock-file",
    "mode",
    "times",
    "fifo",
    "rename-folder",
    "remove-folder",
    "shared-file",
    "temporary",
    "shared-memory",
    "segment",
    "semaphores",
    "queue",
    "counter",
    "socket-path",
    "loopback",
];

fn effects() -> &'static Path {
    static MADE: OnceLock<PathBuf> = OnceLock::new();
    MADE.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("effects-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let (source, program) = (folder.join("effects.c"), folder.join("effects"));
        std::fs::write(&source, EFFECTS).expect("a file");
        let key = format!("-DKEY={:#x}", key());
        let flags = ["-w", "-O0", key.as_str(), "-o"];
        let status = Command::new("gcc").args(flags).arg(&program).arg(&source).status();
        assert!(status.is_ok_and(|status| status.success()), "it compiles");
        program
    })
}

/// What each run starts from.
fn start() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    std::fs::create_dir(at("spool")).expect("a folder");
    for (name, text) in [("text", "some text\n"), ("log", ""), ("spool/old", "mail\n"), ("db", "\u{5}")] {
        std::fs::write(at(name), text).expect("a file");
    }
    folder
}

fn explored(folder: &Path, flags: &[&str], program: &[&str]) -> Value {
    let out = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(env!("CARGO_BIN_EXE_parallax"));
    command
        .current_dir(folder)
        .args(["explore", "--stdin", "1", "--json", "--out"])
        .arg(out.path().join("inputs"));
    document(&command.args(flags).arg("--").arg(effects()).args(program).output().expect("it runs"))
}

fn outcomes(found: &Value) -> BTreeSet<String> {
    let tests = found["tests"].as_array().expect("tests");
    tests.iter().map(|test| test["outcome"].as_str().unwrap_or_default().to_owned()).collect()
}

/// What it comes to natively, each input from the same start.
/// The key of System V's objects that the programs make: that of this process, as others may run this test beside.
fn key() -> i32 {
    0x5000_0000 | (std::process::id() as i32 & 0x0fff_ffff)
}

/// Removes what a native run left of System V's objects.
fn remove_objects() {
    // SAFETY: numbers alone go in, and the objects are those of our key.
    unsafe {
        libc::shmctl(libc::shmget(key(), 0, 0), libc::IPC_RMID, std::ptr::null_mut());
        libc::semctl(libc::semget(key(), 0, 0), 0, libc::IPC_RMID);
        libc::msgctl(libc::msgget(key(), 0), libc::IPC_RMID, std::ptr::null_mut());
    }
}

fn by_brute_force(name: &str) -> BTreeSet<String> {
    let inputs = (b'a'..=b'z').chain(*b"+\0");
    let one = |input: u8| {
        use std::io::Write;
        let folder = start();
        let mut child = Command::new(effects())
            .arg(name)
            .current_dir(folder.path())
            .stdin(Stdio::piped())
            .spawn()
            .expect("it runs");
        child.stdin.take().expect("asked for").write_all(&[input]).expect("it is read");
        let status = child.wait().expect("it ends").code().expect("a status");
        for left in ["/tmp/parallax-effects", "/dev/shm/parallax-effects"] {
            let _ = std::fs::remove_file(left);
        }
        remove_objects();
        format!("exited with status {status}")
    };
    inputs.map(one).collect()
}

#[test]
fn every_run_of_a_program_starts_in_the_same_world() {
    if walls().as_deref() != Some("name-spaces") {
        eprintln!("SKIPPED: no layer here");
        return;
    }
    for (number, name) in NAMES.iter().enumerate() {
        let expected = by_brute_force(name);
        // Both orders for each would say no more than half of each.
        let order = ["generational", "dfs"][number % 2];
        let folder = start();
        let before = listing(folder.path());
        let found = explored(folder.path(), &["--strategy", order], &[name]);
        assert_eq!(outcomes(&found), expected, "{name}, {order}: {found:#}");
        assert_eq!(found["divergences"], 0, "{name}, {order}");
        let stopped = found["stopped"].as_str().unwrap_or_default();
        if *name == "shared-file" {
            // Its input goes to the file through memory, where no call says which byte became which.
            assert!(stopped.starts_with("stands-in: ") && stopped.contains("through memory"), "{stopped}");
        } else {
            assert_eq!(stopped, "every way was taken", "{name}, {order}");
        }
        assert_eq!(found["world"]["layer"], "copy-on-write");
        assert_eq!(listing(folder.path()), before, "{name}, {order}");
        assert!(
            !Path::new("/tmp/parallax-effects").exists() && !Path::new("/dev/shm/parallax-effects").exists()
        );
    }
    // By a person's word a run changes the world of the next one: the test can fail.
    let folder = start();
    let found = explored(folder.path(), &["--run-unjailed", "--jobs", "1"], &["counter"]);
    let diverged = found["divergences"].as_u64().is_some_and(|count| count > 0);
    assert!(diverged || outcomes(&found).contains("exited with status 9"), "{found:#}");
    assert!(folder.path().join("count").exists());
}

fn listing(folder: &Path) -> Vec<String> {
    let mut all = Vec::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(path) = open.pop() {
        let known = std::fs::symlink_metadata(&path).expect("it is there");
        let bytes = std::fs::read(&path).unwrap_or_default();
        let time = known.modified().expect("a time");
        all.push(format!("{} {:?} {time:?} {bytes:?}", path.display(), known.permissions()));
        if known.is_dir() {
            open.extend(std::fs::read_dir(&path).expect("a folder").flatten().map(|entry| entry.path()));
        }
    }
    all.sort();
    all
}

fn bounds(found: &Value) -> String {
    found["stopped"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_run_reaches_nothing_outside() {
    if walls().as_deref() != Some("name-spaces") {
        eprintln!("SKIPPED: no layer here");
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.set_nonblocking(true).expect("a flag");
    let port = listener.local_addr().expect("an address").port().to_string();
    let folder = start();
    let found = explored(folder.path(), &[], &["reach", "127.0.0.1", &port, ""]);
    assert!(listener.accept().is_err(), "loopback is the run's own");
    assert_eq!(bounds(&found), "every way was taken", "{found:#}");
    let found = explored(folder.path(), &[], &["reach", "192.0.2.7", "9", ""]);
    assert!(bounds(&found).contains("connect to 192.0.2.7:9, which is outside; --allow-net"), "{found:#}");
    let address = format!("127.0.0.1:{port}");
    let found = explored(folder.path(), &["--allow-net", &address], &["reach", "127.0.0.1", &port, ""]);
    assert!(outcomes(&found).contains("exited with status 5"), "{found:#}");
    assert!(listener.accept().is_ok(), "what is allowed is reached");
    let found = explored(folder.path(), &["--allow-net", "127.0.0.1:1"], &["reach", "127.0.0.1", &port, ""]);
    assert!(bounds(&found).contains("which is outside"), "{found:#}");
    let victim = Command::new("sleep").arg("60").spawn().expect("a victim");
    let number = victim.id().to_string();
    let found = explored(folder.path(), &[], &["signal", &number]);
    assert!(bounds(&found).contains(&format!("kill of process {number}, which is not its own")), "{found:#}");
    let mut victim = victim;
    assert!(victim.try_wait().expect("it is ours").is_none(), "it lives");
    let _ = victim.kill();
    let _ = victim.wait();
}

/// Calls that reach other processes, the machine, or the file of Parallax itself end a run with their names.
#[test]
fn a_run_reaches_no_other_process_and_not_parallax() {
    if walls().as_deref() != Some("name-spaces") {
        eprintln!("SKIPPED: no layer here");
        return;
    }
    // A copy, whose mode can be lost. It finds its libraries from there.
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let copy = place.path().join("parallax");
    std::fs::copy(env!("CARGO_BIN_EXE_parallax"), &copy).expect("a copy");
    let known = || {
        let known = std::fs::metadata(&copy).expect("it is there");
        (known.permissions(), known.modified().expect("a time"))
    };
    let before = known();
    let all = |flags: &[&str]| {
        let folder = start();
        let mut victim = Command::new("sleep").arg("60").spawn().expect("a victim");
        let out = tempfile::tempdir().expect("a folder");
        let mut command = Command::new(&copy);
        command
            .current_dir(folder.path())
            .args(["explore", "--stdin", "1", "--json", "--jobs", "1", "--out"]);
        command.arg(out.path().join("inputs")).args(flags).arg("--").arg(effects());
        let found = document(&command.args(["others", &victim.id().to_string()]).output().expect("it runs"));
        let lives = victim.try_wait().expect("it is ours").is_none();
        // SAFETY: it asks for the priority of a child of ours.
        let priority = unsafe { libc::getpriority(libc::PRIO_PROCESS, victim.id()) };
        let _ = victim.kill();
        let _ = victim.wait();
        (found, lives, priority)
    };
    let (found, lives, priority) = all(&[]);
    assert!(lives && priority != 13, "the victim is as it was");
    assert_eq!(known(), before, "the program that explores is as it was");
    let stopped = bounds(&found);
    for why in [
        "fcntl that signals process",
        "kill of process",
        "setpriority of process",
        "chmod of the file of the program that explores",
        "utimes of the file of the program that explores",
        "fchmod of the file of the program that explores",
        "socket of family 40",
        "socket of family 17",
        "socket of family 16",
        "socket of family 2,",
        "fcntl with a lease",
        "open where the layer is read-only",
        "rename of a folder",
    ] {
        let named = match why {
            "open where the layer is read-only" => {
                stopped.contains("openat where the layer is read-only") || stopped.contains(why)
            }
            "utimes of the file of the program that explores" => {
                stopped.contains("utimes of the file") || stopped.contains("utimensat of the file")
            }
            _ => stopped.contains(why),
        };
        assert!(named, "{why} is named: {stopped}");
    }
    let expected =
        ["exited with status 2", "exited with status 3", "exited with status 91"].map(str::to_owned);
    assert_eq!(
        outcomes(&found).into_iter().filter(|outcome| outcome.starts_with("exited")).collect::<BTreeSet<_>>(),
        BTreeSet::from(expected)
    );
    // With the network of the machine.
    let (found, lives, _) = all(&["--allow-net", "127.0.0.1:1"]);
    assert!(lives);
    let stopped = bounds(&found);
    assert!(stopped.contains("listen, where others can connect"), "{stopped}");
    assert!(stopped.contains("sendto to 127.0.0.1:9, which is outside"), "{stopped}");
    assert_eq!(known(), before);
    // The test can fail.
    let (_, lives, _) = all(&["--run-unjailed"]);
    assert!(!lives && known() != before, "by a person's word it does its harm");
}

/// A port that a run closed is not taken for the next one.
#[test]
fn connections_of_one_run_are_not_there_for_the_next() {
    if walls().as_deref() != Some("name-spaces") {
        eprintln!("SKIPPED: no layer here");
        return;
    }
    let folder = start();
    let found = explored(folder.path(), &["--jobs", "1"], &["port"]);
    let expected = ["exited with status 1", "exited with status 2"].map(str::to_owned);
    assert_eq!(outcomes(&found), BTreeSet::from(expected), "{found:#}");
    assert_eq!(bounds(&found), "every way was taken");
}

/// On the way to a moment a program runs without a layer: what would change the world ends it, descriptors that Parallax was started
/// with included.
#[test]
fn what_comes_before_a_moment_changes_nothing() {
    use std::os::fd::AsRawFd;
    let place = Place::new();
    let file = std::fs::File::options().read(true).write(true).open(place.target()).expect("a file");
    let descriptor = file.as_raw_fd();
    let before = std::fs::metadata(place.target()).expect("it is there").permissions();
    let run = |what: &str, flags: &[&str]| {
        let mut command = place.command(&["explore", "--function", "here", "--symbolic", "RDI", "--json"]);
        command.args(flags).arg("--").arg(effects()).args(["before", what]);
        // SAFETY: it makes one system call.
        unsafe {
            command.pre_exec(move || match libc::dup2(descriptor, 57) {
                57 => Ok(()),
                _ => Err(std::io::Error::last_os_error()),
            });
        }
        command.output().expect("it runs")
    };
    for what in ["descriptor", "copy-of-descriptor", "map", "truncate", "mode", "times", "segment", "listen"]
    {
        let output = run(what, &[]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success(), "{what} ends it: {said}");
        assert!(place.is_as_before(), "{what}: {said}");
        assert_eq!(std::fs::metadata(place.target()).expect("it is there").permissions(), before, "{what}");
        let is_named =
            said.contains("changes the world outside") || said.contains("where others can connect");
        assert!(is_named || what == "map", "{what}: {said}");
    }
    let output = run("question", &[]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let tests = document(&output)["tests"].as_array().map_or(0, Vec::len);
    assert_eq!(tests, 2, "what only asks does not end it");
    // The test can fail.
    run("descriptor", &["--run-unjailed"]);
    assert!(!place.is_as_before(), "by a person's word it does its harm");
}

#[test]
fn what_comes_before_the_input_changes_nothing_either() {
    let folder = start();
    let file = folder.path().join("text").display().to_string();
    let before = listing(folder.path());
    if walls().as_deref() == Some("name-spaces") {
        let found = explored(folder.path(), &[], &["early", &file]);
        let expected = ["exited with status 1", "exited with status 2"].map(str::to_owned);
        assert_eq!(outcomes(&found), BTreeSet::from(expected), "{found:#}");
        assert_eq!(listing(folder.path()), before);
    }
    // Without a layer the change ends the run, and the answer says so.
    let out = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(env!("CARGO_BIN_EXE_parallax"));
    command.current_dir(folder.path()).args(["explore", "--stdin", "1", "--json", "--out"]);
    command.arg(out.path().join("inputs")).arg("--").arg(effects()).args(["early", &file]);
    let output = without_walls(&mut command).output().expect("it runs");
    let found = document(&output);
    assert!(bounds(&found).contains("changes the world outside, and there is no layer"), "{found:#}");
    assert_eq!(output.status.code(), Some(3), "it is not said to be complete");
    assert!(found["world"]["layer"].is_null() && found["world"]["reason"].is_string());
    assert_eq!(listing(folder.path()), before);
    // What may be changed is.
    if walls().as_deref() == Some("name-spaces") {
        let may = folder.path().display().to_string();
        explored(folder.path(), &["--allow-write", &may], &["early", &file]);
        assert_eq!(std::fs::read(&file).expect("a file"), b"early");
    }
}

/// What runs change is theirs; with a folder for it, it can be looked at afterwards.
#[test]
fn worlds_are_kept_where_that_is_asked_for() {
    if walls().as_deref() != Some("name-spaces") {
        eprintln!("SKIPPED: no layer here");
        return;
    }
    for (name, made, gone) in
        [("editor", "text~", "text"), ("archiver", "out/a", ""), ("remove", "", "text"), ("loopback", "", "")]
    {
        let folder = start();
        let top = folder.path().canonicalize().expect("it is there");
        let before = listing(folder.path());
        let kept = tempfile::tempdir().expect("a folder");
        let worlds = kept.path().join("worlds");
        let found = explored(&top, &["--keep-world", &worlds.display().to_string()], &[name]);
        assert_eq!(listing(folder.path()), before, "{name}");
        let tests = found["tests"].as_array().expect("tests");
        let has = |world: &Value, list: &str, path: &Path| {
            world[list]
                .as_array()
                .is_some_and(|all| all.iter().any(|one| one == path.to_str().expect("text")))
        };
        let changed: Vec<_> = tests.iter().filter(|test| !test["world"].is_null()).collect();
        assert_eq!(changed.is_empty(), made.is_empty() && gone.is_empty(), "{name}: {found:#}");
        for test in changed {
            let world = &test["world"];
            let number = test["number"].as_u64().expect("a number");
            let there = worlds.join(format!("{number:06}")).join(top.strip_prefix("/").expect("absolute"));
            if !made.is_empty() {
                assert!(has(world, "written", &top.join(made)), "{name}: {world}");
                assert!(there.join(made).exists(), "{name}");
            }
            if !gone.is_empty() {
                assert!(has(world, "removed", &top.join(gone)), "{name}: {world}");
            }
        }
        // A folder that holds something is not written over.
        std::fs::create_dir_all(worlds.join("mine")).expect("a folder");
        let place = Place::new();
        let worlds = worlds.display().to_string();
        let program = effects().display().to_string();
        let arguments = ["explore", "--stdin", "1", "--keep-world", worlds.as_str(), "--", &program, name];
        let refused = place.parallax(&arguments);
        assert_eq!(refused.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&refused.stderr).contains("the folder is not empty"));
    }
}

#[test]
fn a_layer_takes_what_a_program_changes() {
    if walls().as_deref() != Some("name-spaces") {
        eprintln!("SKIPPED: no layer here");
        return;
    }
    for verb in [&["run"][..], &["record", "-o", "kept.rec"]] {
        for layer in [true, false] {
            let place = Place::new();
            let target = place.target().display().to_string();
            let mut arguments = verb.to_vec();
            arguments.extend(layer.then_some("--layer"));
            arguments.extend(["--", "rm", target.as_str()]);
            let output = place.parallax(&arguments);
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(0), "{verb:?}, layer: {layer}: {said}");
            assert_eq!(place.is_as_before(), layer, "{verb:?}");
            if verb[0] == "record" {
                let replayed = place.parallax(&["replay", "--verify", "kept.rec"]);
                let said = String::from_utf8_lossy(&replayed.stderr).into_owned();
                assert_eq!(replayed.status.code(), Some(0), "layer: {layer}: {said}");
            }
        }
    }
}
