//! A jailed program does what it does outside, as far as it can see: its view is the real world's, copied.

use crate::hostile::kinds;
use parallax_jail::{Command, End, Jail, Kind, Readable, Stdin, Wanted};
use std::os::unix::process::CommandExt;

fn jail(kind: Kind) -> Jail {
    Jail { wanted: Wanted::Only(kind), ..Jail::default() }
}

fn shell(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    command
}

#[test]
fn scripts_say_what_they_say_outside() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("given"), "some\ntext\n").expect("a file");
    let scripts = [
        "cat given; wc -c < given; cat nothing-there; exit 3",
        "seq 1 2000 | sort -r | head -n 3; false | true; echo $?",
        "kill -ABRT $$",
        "ulimit -c; test -e /dev/null && echo null > /dev/null",
        "for i in 1 2 3 4 5 6; do (echo $i) & done | sort; wait; echo all | tr a-z A-Z",
        "trap 'echo caught' USR1; kill -USR1 $$; echo after",
        "cat; echo at the end >&2",
        "umask; id -u; pwd; head -c 8 /dev/zero | od -c | head -n 1",
        "exec 3< given; read line <&3; echo \"$line\"; test -r /etc/passwd && echo readable",
    ];
    // What it changes it sees itself, also far away; only a view has room for it.
    let changes = [
        "echo new > given; cat given; mkdir made; mv given made/; ls -R .",
        "d=$(mktemp -d); echo x > $d/y; cat $d/y; chmod 600 $d/y; stat -c %a $d/y; touch -d @5 $d/y; stat -c %Y $d/y; rm -r $d; ls $d 2>&1 | wc -l",
        "ln given hard; ln -s given soft; mkfifo fifo; stat -c '%F %h' hard soft fifo",
        "rm given; ls; cat given; echo again > given; cat given",
    ];
    for kind in kinds() {
        let of_views = if kind == Kind::NameSpaces { &changes[..] } else { &[] };
        for script in scripts.iter().chain(of_views) {
            let copy = tempfile::tempdir().expect("a folder");
            std::fs::copy(folder.path().join("given"), copy.path().join("given")).expect("a copy");
            let mut outside = std::process::Command::new("sh");
            outside.args(["-c", script]).current_dir(copy.path()).stdin(std::process::Stdio::piped());
            // SAFETY: a session and a limit of its own, as in the jail.
            unsafe {
                outside.pre_exec(|| {
                    libc::setsid();
                    let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
                    libc::setrlimit(libc::RLIMIT_CORE, &raw const none);
                    Ok(())
                });
            }
            let given = std::fs::File::open(folder.path().join("given")).expect("a file");
            let expected = outside.stdin(given).output().expect("it runs");
            let mut command = shell(script);
            command.folder = Some(copy.path().to_path_buf());
            command.stdin = Stdin::Bytes(b"some\ntext\n".to_vec());
            std::fs::copy(folder.path().join("given"), copy.path().join("given")).expect("a copy");
            for name in ["made", "hard", "soft", "fifo"] {
                let path = copy.path().join(name);
                let _ = std::fs::remove_file(&path).or_else(|_| std::fs::remove_dir_all(&path));
            }
            let found = jail(kind).run(&command).expect("it runs");
            let text = |bytes: &[u8]| {
                String::from_utf8_lossy(bytes).replace(&*copy.path().to_string_lossy(), "HERE")
            };
            assert_eq!(
                text(&found.stdout),
                text(&expected.stdout),
                "{script} in {kind:?}: {}",
                text(&found.stderr)
            );
            assert_eq!(text(&found.stderr), text(&expected.stderr), "{script} in {kind:?}");
            let ended = match expected.status.code() {
                Some(code) => End::Exited(code),
                None => {
                    End::Signal(std::os::unix::process::ExitStatusExt::signal(&expected.status).unwrap_or(0))
                }
            };
            assert_eq!(found.end, ended, "{script} in {kind:?}");
        }
    }
}

#[test]
fn only_what_is_to_stay_stays() {
    for kind in kinds() {
        let (stays, own) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        let script = format!(
            "echo 1 > {0}/x && chmod 700 {0}/x && mkdir {0}/y && echo 2 > {1}/x && cat {0}/x {1}/x",
            stays.path().display(),
            own.path().display()
        );
        let jail = Jail { writable: vec![stays.path().into()], own: vec![own.path().into()], ..jail(kind) };
        let ended = jail.run(&shell(&script)).expect("it runs");
        assert_eq!(
            (ended.end, ended.stdout.as_slice()),
            (End::Exited(0), &b"1\n2\n"[..]),
            "{kind:?}: {ended:?}"
        );
        let mode = std::fs::metadata(stays.path().join("x"))
            .map(|known| std::os::unix::fs::MetadataExt::mode(&known));
        assert_eq!(mode.expect("it stays") & 0o777, 0o700, "{kind:?}");
        assert!(stays.path().join("y").is_dir());
        assert_eq!(own.path().join("x").exists(), kind == Kind::Landlock);
    }
}

/// A folder that is seen at the place of another one: what is written there stays in the first, and the other is as before.
#[test]
fn a_folder_is_seen_in_the_place_of_another() {
    for kind in kinds() {
        let (copy, place) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        std::fs::write(copy.path().join("x"), "copy\n").expect("a file");
        std::fs::write(place.path().join("x"), "place\n").expect("a file");
        let before = crate::outside::digest(place.path());
        let script = format!("cat {0}/x; echo new > {0}/y; rm -f {0}/x", place.path().display());
        let in_place = vec![(copy.path().into(), place.path().into())];
        let jail = Jail { writable: vec![copy.path().into()], in_place, ..jail(kind) };
        let ended = jail.run(&shell(&script)).expect("it runs");
        let is_shown = kind == Kind::NameSpaces;
        let said = String::from_utf8_lossy(&ended.stdout).into_owned();
        assert_eq!(said, if is_shown { "copy\n" } else { "place\n" }, "{kind:?}");
        assert_eq!(copy.path().join("y").exists(), is_shown, "{kind:?}");
        assert_eq!(copy.path().join("x").exists(), !is_shown, "{kind:?}");
        assert_eq!(crate::outside::digest(place.path()), before, "{kind:?}");
    }
}

#[test]
fn what_cannot_be_read_is_hidden() {
    for kind in kinds() {
        let (shown, hidden) =
            (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        std::fs::write(shown.path().join("x"), "shown").expect("a file");
        std::fs::write(hidden.path().join("x"), "hidden").expect("a file");
        let script =
            format!("cat {}/x; cat {}/x 2>/dev/null", shown.path().display(), hidden.path().display());
        let mut command = shell(&script);
        command.folder = Some(shown.path().into());
        let jail = Jail { readable: Readable::Only(vec![shown.path().into()]), ..jail(kind) };
        let ended = jail.run(&command).expect("it runs");
        assert_eq!(String::from_utf8_lossy(&ended.stdout), "shown", "{kind:?}: {ended:?}");
        assert_eq!(ended.end, End::Exited(1));
    }
}

#[test]
fn many_runs_at_a_time_do_not_disturb_each_other() {
    for kind in kinds() {
        std::thread::scope(|scope| {
            for worker in 0..4 {
                scope.spawn(move || {
                    for round in 0..8 {
                        let ended = jail(kind)
                            .run(&shell(&format!("echo {worker} {round}; exit {round}")))
                            .expect("it runs");
                        assert_eq!(ended.stdout, format!("{worker} {round}\n").into_bytes());
                        assert_eq!(ended.end, End::Exited(round));
                    }
                });
            }
        });
    }
}

#[test]
fn what_is_not_there_is_said() {
    for kind in kinds() {
        let error = jail(kind).run(&Command::new("/no/such/program")).expect_err("it is not there");
        assert!(error.to_string().starts_with("/no/such/program cannot be started: No such file"), "{error}");
        let error = jail(kind).run(&Command::new("no-such-program")).expect_err("it is not there");
        assert!(error.to_string().starts_with("no-such-program cannot be started"), "{error}");
        let mut command = Command::new("true");
        command.arg("a\0b");
        assert!(jail(kind).run(&command).is_err(), "a NUL byte is no argument");
    }
}
