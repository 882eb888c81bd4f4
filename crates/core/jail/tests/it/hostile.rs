//! Hostile programs: after each of them the world outside is as before. Without a jail each does its harm, to what the test
//! made itself: so the test can fail.
//!
//! Not made here: harm by reading (a jail does not promise to keep secrets), attacks on the kernel, and hardware.

use crate::outside::{Outside, hostile};
use parallax_jail::{Command, End, Ended, Jail, Kind, Limits, NotRun, Wanted};
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::time::Duration;

/// What a program does without a jail.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Twin {
    /// Its harm, which is seen.
    Harms,
    /// Its harm, where the kernel allows it to this user.
    MayHarm,
    /// It is not tried: it could reach what the test did not make, or nothing of it can be seen outside.
    NotTried,
}
use Twin::{Harms, MayHarm, NotTried};

const CASES: &[(&str, Twin)] = &[
    ("unlink-absolute", Harms),
    ("unlink-relative", Harms),
    ("rename-absolute", Harms),
    ("overwrite", Harms),
    ("truncate-by-open", Harms),
    ("truncate", Harms),
    ("create", Harms),
    ("make-folder", Harms),
    ("remove-folder", Harms),
    ("remove-tree", Harms),
    ("make-fifo", Harms),
    ("chmod", Harms),
    ("fchmod", Harms),
    ("times", Harms),
    // File systems without attributes or flags refuse them.
    ("attribute", MayHarm),
    ("flags", MayHarm),
    ("symbolic-link", Harms),
    ("symbolic-link-race", Harms),
    ("hard-link", Harms),
    ("hard-link-race", Harms),
    // Without privileges only of files that one may write.
    ("hard-link-by-descriptor", MayHarm),
    ("open-again", Harms),
    ("map", Harms),
    ("program-in-memory", Harms),
    ("proc-root", Harms),
    // Only root sees the root of another user name space; of its own user's processes anybody does.
    ("proc-victim-root", MayHarm),
    ("proc-victim-cwd", Harms),
    ("inherited-descriptor", Harms),
    ("shared-memory-file", Harms),
    ("shared-memory", Harms),
    ("signal", Harms),
    ("signal-group", Harms),
    ("signal-thread", Harms),
    ("signal-by-descriptor", Harms),
    ("signal-by-owner", Harms),
    // In the jail alone: it signals all that the user runs.
    ("signal-everybody", NotTried),
    // Some systems allow it to parents alone.
    ("trace", MayHarm),
    ("proc-mem", MayHarm),
    ("process-memory", MayHarm),
    ("priority", Harms),
    ("limits", MayHarm),
    ("affinity", MayHarm),
    ("scheduling", Harms),
    ("io-priority", Harms),
    ("proc-victim-score", Harms),
    ("proc-victim-output", Harms),
    ("descriptor-of-victim", MayHarm),
    ("tcp", Harms),
    ("udp", Harms),
    ("unix-socket", Harms),
    ("abstract-socket", Harms),
    ("escape-sequence", Harms),
    // Kernels allow it to the terminal's own session, or to root, or not at all.
    ("type-at-terminal", MayHarm),
    // In the jail alone: what they reach is the kernel, and it must refuse them.
    ("netlink", NotTried),
    ("vsock", NotTried),
    ("packet", NotTried),
    ("io-uring", NotTried),
    ("userfaultfd", NotTried),
    ("keys", NotTried),
    ("bpf", NotTried),
    ("mount", NotTried),
    ("file-system", NotTried),
    ("clone-tree", NotTried),
    ("mount-flags", NotTried),
    ("spaces-of-victim", NotTried),
    ("handle", NotTried),
    ("host-name", NotTried),
    ("kernel-setting", NotTried),
    ("control-group", NotTried),
    ("lease", NotTried),
    ("watch-everything", NotTried),
    ("counters", NotTried),
    // In the jail alone: the devices are those of the machine. They set what is there already.
    ("device-mode", NotTried),
    ("device-times", NotTried),
];

/// The kinds of walls that this kernel allows; the others are said to be skipped.
pub fn kinds() -> Vec<Kind> {
    let jail = |kind| Jail { wanted: Wanted::Only(kind), ..Jail::default() };
    let there = |kind: &Kind| match jail(*kind).run(&Command::new("true")) {
        Ok(_) => true,
        Err(NotRun::NoJail(why)) => {
            eprintln!("SKIPPED for {kind:?}: {why}");
            false
        }
        Err(error) => panic!("{error}"),
    };
    [Kind::NameSpaces, Kind::Landlock].into_iter().filter(there).collect()
}

fn limits() -> Limits {
    Limits {
        time: Duration::from_secs(6),
        memory: 64 << 20,
        file: 4 << 20,
        space: 16 << 20,
        files: 20_000,
        processes: 20,
        output: 1 << 16,
    }
}

/// Runs a case in a jail.
fn jailed(outside: &Outside, kind: Kind, case: &str) -> Ended {
    let mut command = Command::new(hostile().0);
    command.args(outside.arguments(case));
    command.folder = Some(outside.own.path().to_path_buf());
    let own = vec![outside.own.path().to_path_buf()];
    // Tracing within is allowed, so that a victim outside has nothing but the walls.
    let jail =
        Jail { wanted: Wanted::Only(kind), own, traces_itself: true, limits: limits(), ..Jail::default() };
    jail.run(&command).unwrap_or_else(|error| panic!("{case} in {kind:?}: {error}"))
}

/// Runs a case without one.
fn twin(outside: &Outside, case: &str) {
    let mut command = std::process::Command::new(hostile().0);
    command.args(outside.arguments(case)).current_dir(outside.own.path());
    command.stdout(std::process::Stdio::null());
    let done = command.status().expect("it runs");
    assert!(done.success(), "{case} ends by itself");
}

/// A descriptor of the marked file that this process forgot to close when it started others.
struct Forgotten(std::fs::File);

impl Forgotten {
    fn new(outside: &Outside) -> Self {
        let file =
            std::fs::File::options().write(true).open(outside.marked.path().join("a")).expect("a file");
        // SAFETY: the number is used by nothing else in this program.
        unsafe { libc::dup2(file.as_raw_fd(), 57) };
        Forgotten(file)
    }
}

impl Drop for Forgotten {
    fn drop(&mut self) {
        let _ = &self.0;
        // SAFETY: it was opened above.
        unsafe { libc::close(57) };
    }
}

#[test]
fn the_world_outside_is_as_before() {
    let kinds = kinds();
    let mut tried = 0;
    for (case, expected) in CASES {
        for kind in &kinds {
            let outside = Outside::new();
            let _forgotten = (*case == "inherited-descriptor").then(|| Forgotten::new(&outside));
            let ended = jailed(&outside, *kind, case);
            let said = String::from_utf8_lossy(&ended.stdout).into_owned();
            assert!(!said.contains("unknown case"), "{case}");
            if *expected == NotTried && *case != "signal-everybody" {
                assert_ne!(said.trim(), "done", "{case} is refused in {kind:?}");
            }
            let harm = outside.harmed();
            assert!(harm.is_empty(), "{case} in {kind:?} ({said}): {harm:?}");
            tried += 1;
        }
        if *expected != NotTried {
            let outside = Outside::new();
            let _forgotten = (*case == "inherited-descriptor").then(|| Forgotten::new(&outside));
            twin(&outside, case);
            let harm = outside.harmed();
            assert!(*expected == MayHarm || !harm.is_empty(), "{case} does no harm without a jail");
            if harm.is_empty() {
                eprintln!("{case}: this kernel does not allow it without a jail either");
            }
        }
    }
    assert_eq!(tried, CASES.len() * kinds.len());
}

#[test]
fn nothing_listens_where_others_connect() {
    for case in ["listen", "listen-udp", "listen-unix", "listen-abstract"] {
        for kind in kinds() {
            let outside = Outside::new();
            let connected = outside.listens(case);
            jailed(&outside, kind, case);
            assert!(!connected.join().expect("it ends"), "{case} in {kind:?}");
        }
        let outside = Outside::new();
        let connected = outside.listens(case);
        twin(&outside, case);
        assert!(connected.join().expect("it ends"), "{case}: without a jail it listens");
    }
}

#[test]
fn nothing_is_left_behind() {
    let wait = || std::thread::sleep(Duration::from_millis(400));
    for kind in kinds() {
        let outside = Outside::new();
        jailed(&outside, kind, "left-behind");
        wait();
        let harm = outside.harmed();
        assert!(harm.is_empty(), "{kind:?}: {harm:?}");
    }
    let outside = Outside::new();
    twin(&outside, "left-behind");
    wait();
    assert!(!outside.harmed().is_empty(), "without a jail it stays and does its harm");
}

/// Processes of this test's hostile program, but for its victims.
fn floating() -> usize {
    let processes = std::fs::read_dir("/proc").expect("processes").flatten();
    let running = |entry: &std::fs::DirEntry| {
        let words = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let name = hostile().0.as_os_str().as_encoded_bytes();
        words.starts_with(name) && words.windows(6).any(|word| word == b"flood-")
    };
    processes.filter(running).count()
}

/// These run in the jail alone: without bounds they would take the machine.
#[test]
fn floods_are_bounded() {
    for kind in kinds() {
        let run = |case: &str| {
            let outside = Outside::new();
            let ended = jailed(&outside, kind, case);
            assert_eq!(floating(), 0, "{case} in {kind:?} leaves nothing");
            let left: u64 = crate::outside::digest(outside.own.path()).len() as u64;
            let harm = outside.harmed();
            assert!(harm.is_empty(), "{case} in {kind:?}: {harm:?}");
            (ended, left)
        };
        let (ended, _) = run("flood-of-processes");
        assert!(
            matches!(ended.end, End::Processes | End::Memory | End::Exited(_) | End::Time),
            "{kind:?}: {:?}",
            ended.end
        );
        assert_eq!(run("flood-of-memory").0.end, End::Memory, "{kind:?}");
        assert_eq!(run("flood-of-children").0.end, End::Memory, "{kind:?}");
        let (ended, left) = run("flood-of-bytes");
        assert!(
            kind == Kind::NameSpaces && left == 1 || ended.end == End::Space,
            "{kind:?}: {:?} {left}",
            ended.end
        );
        let (ended, left) = run("flood-of-files");
        let is_bounded = matches!(ended.end, End::Space | End::Time);
        assert!(kind == Kind::NameSpaces && left == 1 || is_bounded, "{kind:?}: {:?} {left}", ended.end);
        let (ended, _) = run("flood-of-nameless-files");
        assert!(ended.hindered.contains("memfd_create"), "{kind:?}: {:?}", ended.hindered);
        for (case, call) in [("flood-of-shared-memory", "mmap"), ("flood-of-segments", "shmget")] {
            let (ended, _) = run(case);
            assert!(ended.hindered.contains(call), "{case} in {kind:?}: {ended:?}");
            assert_ne!(String::from_utf8_lossy(&ended.stdout).trim(), "done", "{case} in {kind:?}");
        }
        let (ended, _) = run("flood-of-text");
        assert!(ended.truncated && ended.stdout.len() == 1 << 16, "{kind:?}: {}", ended.stdout.len());
        // On a machine with much to do its time may end first.
        assert!(
            matches!(ended.end, End::Exited(0) | End::Time),
            "what is too much is forgotten, and the program goes on: {:?}",
            ended.end
        );
    }
}

#[test]
fn a_call_of_another_architecture_ends_the_program() {
    for kind in kinds() {
        let outside = Outside::new();
        let ended = jailed(&outside, kind, "other-convention");
        assert!(
            !cfg!(target_arch = "x86_64")
                || ended.end == End::Signal(libc::SIGSYS)
                || ended.end == End::Signal(libc::SIGSEGV),
            "{kind:?}: {:?}",
            ended.end
        );
    }
}

/// A library that is named in the environment does its harm in the jail, to what is its own.
#[test]
fn a_preloaded_library_is_held() {
    let (program, library) = hostile();
    let variables = |outside: &Outside| {
        let harm = outside.marked.path().join("a");
        vec![("LD_PRELOAD".into(), library.into()), ("HARM".into(), harm.into_os_string())]
    };
    for kind in kinds() {
        let outside = Outside::new();
        let mut command = Command::new(program);
        command.args(outside.arguments("no-harm"));
        command.environment = Some(variables(&outside));
        let jail = Jail { wanted: Wanted::Only(kind), ..Jail::default() };
        let ended = jail.run(&command).expect("it runs");
        assert!(ended.success(), "{ended:?}");
        let harm = outside.harmed();
        assert!(harm.is_empty(), "{kind:?}: {harm:?}");
    }
    let outside = Outside::new();
    let mut command = std::process::Command::new(program);
    command.args(outside.arguments("no-harm")).envs(variables(&outside));
    command.stdout(std::process::Stdio::null());
    assert!(command.status().expect("it runs").success());
    assert!(!outside.harmed().is_empty(), "without a jail it does its harm");
}

/// No program gets more privileges than it was started with, whoever owns it and however often others are started.
#[test]
fn capabilities_are_given_up_for_good() {
    // SAFETY: it only asks.
    let root = unsafe { libc::geteuid() } == 0;
    for kind in kinds() {
        // What root keeps for files: to read them, and in a view to change its copies.
        let kept: u64 = match (root, kind) {
            (false, _) => 0,
            (true, Kind::NameSpaces) => 0xdf,
            (true, Kind::Landlock) => 0x06,
        };
        let mut command = Command::new("sh");
        command.args(["-c", "sh -c 'cat /proc/self/status'; grep . /proc/self/status"]);
        let jail = Jail { wanted: Wanted::Only(kind), ..Jail::default() };
        let ended = jail.run(&command).expect("it runs");
        let said = String::from_utf8_lossy(&ended.stdout).into_owned();
        let values = |name: &str| -> Vec<u64> {
            let lines = said.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
            lines.map(|value| u64::from_str_radix(value.trim(), 16).expect("a number")).collect()
        };
        for name in ["CapPrm", "CapEff"] {
            assert_eq!(values(name), [kept; 2], "{name} in {kind:?}");
        }
        for name in ["CapInh", "CapAmb"] {
            assert_eq!(values(name), [0; 2], "{name} in {kind:?}");
        }
        assert_eq!(values("NoNewPrivs"), [1; 2], "{kind:?}");
    }
}

/// A program that runs as its owner outside does not in a jail.
#[test]
fn set_user_id_gives_nothing() {
    // SAFETY: it only asks.
    let user = unsafe { libc::geteuid() };
    if user != 0 {
        eprintln!("SKIPPED: only root can make such a program of another user");
        return;
    }
    let outside = Outside::new();
    std::fs::set_permissions(outside.own.path(), PermissionsExt::from_mode(0o755)).expect("a mode");
    let helper = outside.own.path().join("helper");
    std::fs::copy(hostile().0, &helper).expect("a copy");
    std::os::unix::fs::chown(&helper, Some(1), Some(1)).expect("an owner");
    std::fs::set_permissions(&helper, PermissionsExt::from_mode(0o4755)).expect("a mode");
    let arguments = outside.arguments("set-user-id");
    for kind in kinds() {
        let mut command = Command::new(&helper);
        command.args(&arguments);
        let jail = Jail { wanted: Wanted::Only(kind), ..Jail::default() };
        let ended = jail.run(&command).expect("it runs");
        assert_eq!(String::from_utf8_lossy(&ended.stdout), "user 0\ndone\n", "{kind:?}");
    }
    let output = std::process::Command::new(Path::new(&helper))
        .arg0("helper")
        .args(&arguments)
        .output()
        .expect("it runs");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "user 1\ndone\n", "without a jail it is the owner");
}
