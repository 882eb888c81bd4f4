//! Other kernels and other users: this program runs its own tests once more, as an unprivileged user, and behind a filter that
//! answers as kernels without Landlock or without name spaces do.

use crate::hostile::kinds;
use parallax_jail::{Command, Jail, Kind, NotRun, Wanted, available};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;

/// What the tests are told to expect.
const EXPECTED: &str = "PARALLAX_JAIL_EXPECTED";

/// Answers some calls with an error from now on, in this process and what it starts.
fn refuse(calls: &[(libc::c_long, i32)]) -> std::io::Result<()> {
    let step = |code: u16, k: u32, yes: u8, no: u8| libc::sock_filter { code, jt: yes, jf: no, k };
    let mut steps = [step(0x06, 0x7fff_0000, 0, 0); 16];
    steps[0] = step(0x20, 0, 0, 0);
    for (index, (number, errno)) in calls.iter().enumerate() {
        steps[1 + 2 * index] = step(0x15, *number as u32, 0, 1);
        steps[2 + 2 * index] = step(0x06, 0x0005_0000 | *errno as u32, 0, 0);
    }
    let program = libc::sock_fprog { len: 16, filter: steps.as_mut_ptr() };
    // SAFETY: the kernel copies the program.
    let done = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program)
    };
    if done == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

/// A kernel without Landlock.
const NO_LANDLOCK: (libc::c_long, i32) = (libc::SYS_landlock_create_ruleset, libc::ENOSYS);
/// A container that makes no name spaces: there `mount` is what fails, since `clone` is needed for all else.
const NO_MOUNTS: (libc::c_long, i32) = (libc::SYS_mount, libc::EPERM);

/// Runs tests of this program again, under these conditions.
fn again(test: &str, expected: &str, unprivileged: bool, refused: &'static [(libc::c_long, i32)]) {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o777)).expect("a mode");
    let mut command = std::process::Command::new(std::env::current_exe().expect("a path"));
    command.args(["--exact", test, "--nocapture", "--include-ignored"]);
    command.env(EXPECTED, expected).env("TMPDIR", folder.path());
    if unprivileged {
        command.uid(65534).gid(65534);
    }
    // SAFETY: it makes system calls alone.
    unsafe { command.pre_exec(move || if refused.is_empty() { Ok(()) } else { refuse(refused) }) };
    let output = command.output().expect("it runs");
    let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(output.status.success() && said[0].contains("1 passed"), "{test}, {expected}: {said:?}");
}

/// What the tests below are run for again; alone it looks at this kernel as it is.
#[test]
fn walls_are_what_the_kernel_has() {
    let expected = std::env::var(EXPECTED).unwrap_or_default();
    let names = |kinds: &[Kind]| kinds.iter().map(|kind| format!("{kind:?}")).collect::<Vec<_>>().join(" ");
    if expected.is_empty() {
        eprintln!("here: {} {:?}", names(&kinds()), available());
        return;
    }
    assert_eq!(names(&kinds()), expected.replace("none", "").trim());
    let marked = tempfile::tempdir().expect("a folder");
    let file = marked.path().join("a");
    std::fs::write(&file, "").expect("a file");
    let mut command = Command::new("rm");
    command.arg(&file);
    match (Jail::default().run(&command), expected.as_str()) {
        (Err(NotRun::NoJail(why)), "none") => {
            assert!(why.to_string().starts_with("no jail here: name spaces: "), "{why}");
            assert!(why.to_string().contains("; Landlock: "), "{why}");
        }
        (Ok(_), "none") => panic!("it ran without walls"),
        (Ok(ended), _) => {
            assert!(ended.walls.is_some_and(|walls| expected.starts_with(&format!("{:?}", walls.kind))))
        }
        (Err(error), _) => panic!("{error}"),
    }
    assert!(file.exists(), "nothing outside is changed, and where there are no walls nothing is run");
    let by_word = Jail { wanted: Wanted::Unjailed, ..Jail::default() };
    let ended = by_word.run(&command).expect("it runs");
    assert!(ended.walls.is_none() && !file.exists(), "a person's word is kept");
}

#[test]
fn each_kernel_says_what_it_has_and_keeps_the_promise_or_runs_nothing() {
    let all: Vec<String> = kinds().iter().map(|kind| format!("{kind:?}")).collect();
    if all.len() < 2 {
        eprintln!("SKIPPED: this kernel has {all:?} alone");
        return;
    }
    // SAFETY: it only asks.
    let root = unsafe { libc::geteuid() } == 0;
    for unprivileged in [false, true] {
        if unprivileged && !root {
            continue;
        }
        let walls = |expected: &str, refused| {
            again("kernels::walls_are_what_the_kernel_has", expected, unprivileged, refused);
        };
        walls("NameSpaces Landlock", &[]);
        walls("NameSpaces", &[NO_LANDLOCK]);
        walls("Landlock", &[NO_MOUNTS]);
        walls("none", &[NO_LANDLOCK, NO_MOUNTS]);
    }
}

/// The hostile programs once more, for a user without privileges.
#[test]
fn hostile_programs_of_a_user_without_privileges_are_held() {
    // SAFETY: it only asks.
    if unsafe { libc::geteuid() } != 0 {
        eprintln!("SKIPPED: this is one already");
        return;
    }
    let _ = crate::outside::hostile();
    again("hostile::the_world_outside_is_as_before", "user", true, &[]);
}
