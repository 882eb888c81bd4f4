//! The worlds of explored programs: programs with effects find what every other run found, and reach nothing outside.
//!
//! What they come to is held against native runs, each from the same start. Not made here: programs of several processes, which `explore`
//! does not run.

use crate::safety::{Place, document, walls, without_walls};
use serde_json::Value;
use std::collections::BTreeSet;
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use tempfile::TempDir;

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
    IS("waits") { int ends[2]; if (pipe(ends) < 0) return 90; read(ends[0], &c, 1); return 1; }
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
    case 'o': return open("/proc/self/oom_score_adj", O_WRONLY) < 0 ? 90 : 1;
    case 's': return open("/proc/self/comm", O_WRONLY) < 0 ? 90 : 1;
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

/// Everything below a folder: names, modes, times, contents.
pub fn listing(folder: &Path) -> Vec<String> {
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
        "open of the memory or the name of a process",
    ] {
        let named = match why {
            "open of the memory or the name of a process" => {
                stopped.contains("openat of the memory or the name of a process") || stopped.contains(why)
            }
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

/// Runs end with the process that started them, also one that waits for what never comes.
#[test]
fn runs_end_with_the_explorer() {
    let state = |process: &u32| {
        let status = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        // The state stands behind the name, which ends with a bracket.
        status.rsplit(')').next().and_then(|rest| rest.trim().chars().next())
    };
    let is_alive = |process: &u32| !matches!(state(process), None | Some('Z' | 'X'));
    let folder = start();
    let out = tempfile::tempdir().expect("a folder");
    let mut explorer = Command::new(env!("CARGO_BIN_EXE_parallax"))
        .current_dir(folder.path())
        .args(["explore", "--stdin", "1", "--json", "--jobs", "1", "--out"])
        .arg(out.path().join("inputs"))
        .arg("--")
        .arg(effects())
        .arg("waits")
        .stdout(Stdio::null())
        .spawn()
        .expect("it runs");
    let children = || -> Vec<u32> {
        let list = format!("/proc/{0}/task/{0}/children", explorer.id());
        let list = std::fs::read_to_string(list).unwrap_or_default();
        list.split_whitespace().filter_map(|word| word.parse().ok()).collect()
    };
    // The keeper of the view and a run, both of which sleep for a while.
    let (mut all, mut asleep) = (Vec::new(), 0);
    for _ in 0..3000 {
        let now = children();
        let sleeps = now.len() > 1 && now == all && now.iter().all(|process| state(process) == Some('S'));
        asleep = if sleeps { asleep + 1 } else { 0 };
        all = now;
        if asleep == 30 {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert_eq!(asleep, 30, "a run waits: {all:?}");
    explorer.kill().expect("it is ours");
    explorer.wait().expect("it ends");
    for _ in 0..3000 {
        if !all.iter().any(is_alive) {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("processes are left: {all:?}");
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
