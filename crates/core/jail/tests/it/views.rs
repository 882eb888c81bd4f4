//! Views that processes of the caller's own enter.

use crate::outside::digest;
use parallax_jail::{Jail, Kind, SharedView};

/// What `work` comes to in a process of its own, which has entered the view.
fn inside(view: &SharedView, work: impl FnOnce() -> bool) -> bool {
    // SAFETY: the child touches nothing that other threads of this process hold, but for memory that it allocates; this test
    // runs alone in its process when that matters.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let done = view.enter().is_ok() && work();
        // SAFETY: it does not come back.
        unsafe { libc::_exit(i32::from(!done)) }
    }
    let mut status = 0;
    // SAFETY: a child of ours.
    unsafe { libc::waitpid(child, &raw mut status, 0) };
    status == 0
}

#[test]
fn what_is_written_is_seen_there_and_not_outside() {
    if !crate::hostile::kinds().contains(&Kind::NameSpaces) {
        eprintln!("SKIPPED: no name spaces here");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("a"), "before").expect("a file");
    let before = digest(folder.path());
    let view = SharedView::new(&Jail::default(), false).expect("a view");
    let socket = || {
        std::net::TcpListener::bind("127.0.0.1:0")
            .is_ok_and(|there| there.local_addr().and_then(std::net::TcpStream::connect).is_ok())
    };
    assert!(inside(&view, || std::fs::read(at("a")).is_ok_and(|text| text == b"before") && socket()));
    assert!(view.is_fresh(), "reading leaves no trace");
    // SAFETY: they make objects of the name space that the process is in; the names end with NULs.
    let queue =
        || unsafe { libc::mq_open(c"/parallax".as_ptr(), libc::O_CREAT | libc::O_RDWR, 0o600, 0) >= 0 };
    let changes: [(&str, &dyn Fn() -> bool); 11] = [
        // SAFETY: as above.
        ("shared memory of System V", &|| unsafe { libc::shmget(7, 4096, libc::IPC_CREAT | 0o600) >= 0 }),
        // SAFETY: as above.
        ("semaphores of System V", &|| unsafe { libc::semget(7, 1, libc::IPC_CREAT | 0o600) >= 0 }),
        // SAFETY: as above.
        ("a queue of System V", &|| unsafe { libc::msgget(7, libc::IPC_CREAT | 0o600) >= 0 }),
        ("a message queue", &queue),
        ("a new file", &|| std::fs::write(at("b"), "new").is_ok()),
        ("a change", &|| std::fs::write(at("a"), "other").is_ok()),
        ("a removal", &|| std::fs::remove_file(at("a")).is_ok()),
        ("a mode", &|| {
            std::fs::set_permissions(at("a"), std::os::unix::fs::PermissionsExt::from_mode(0o600)).is_ok()
        }),
        ("a file of shared memory", &|| std::fs::write("/dev/shm/x", "").is_ok()),
        ("a mode of a folder that is shown", &|| {
            std::fs::set_permissions("/usr", std::os::unix::fs::PermissionsExt::from_mode(0o700)).is_ok()
        }),
        ("a folder at the root", &|| std::fs::create_dir("/parallax-test").is_ok()),
    ];
    // SAFETY: it only asks.
    let root = unsafe { libc::geteuid() } == 0;
    for (name, change) in changes {
        let view = SharedView::new(&Jail::default(), false).expect("a view");
        let done = inside(&view, change);
        assert!(done || !root && (name.contains("root") || name.contains("shown")), "{name} can be made");
        assert_eq!(view.is_fresh(), !done, "{name} is seen");
        assert_eq!(digest(folder.path()), before, "{name} stays inside");
    }
    assert!(inside(&view, || std::fs::write(at("b"), "one").is_ok()));
    assert!(
        inside(&view, || std::fs::read(at("b")).is_ok_and(|text| text == b"one")),
        "the next process sees it"
    );
}

/// A process that looks at its own calls says when it makes the first one that may leave a trace; where it says nothing, nothing is looked
/// at, and what other processes did is looked at always.
#[test]
fn who_says_that_there_is_no_trace_is_believed() {
    if !crate::hostile::kinds().contains(&Kind::NameSpaces) {
        eprintln!("SKIPPED: no name spaces here");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("a");
    let there = |view: &SharedView| inside(view, || file.exists());
    let mut view = SharedView::new(&Jail::default(), false).expect("a view");
    for says in [true, false] {
        let traces = |view: &SharedView| {
            let traces = view.traces();
            if says {
                traces.begin();
            }
        };
        assert!(inside(&view, || {
            traces(&view);
            std::fs::write(&file, "").is_ok()
        }));
        view = view.renewed().expect("it can be had again");
        assert_eq!(there(&view), !says);
        view = view.renewed().expect("it can be had again");
        assert!(!there(&view), "the process that looked said nothing, so it was looked after");
    }
}

/// Names, modes, times and contents, as far as a view shows them as they are outside.
fn shown(folder: &std::path::Path) -> Vec<(std::path::PathBuf, u32, i64, Vec<u8>)> {
    use std::os::unix::fs::MetadataExt;
    let mut all = Vec::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(path) = open.pop() {
        let Ok(known) = std::fs::symlink_metadata(&path) else { continue };
        if known.is_dir() {
            open.extend(std::fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
        }
        let bytes = std::fs::read(&path).unwrap_or_default();
        all.push((path, known.mode(), known.mtime(), bytes));
    }
    all.sort();
    all
}

/// A view that was used is as a new one, or is given up. What processes leave in the kernel's memory and cannot be asked for (the next
/// number of an object that is gone) is not looked at here.
#[test]
fn what_was_written_is_gone_from_a_renewed_view() {
    if !crate::hostile::kinds().contains(&Kind::NameSpaces) {
        eprintln!("SKIPPED: no name spaces here");
        return;
    }
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};
    let (folder, other) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let folder = folder.path().canonicalize().expect("it is there");
    let at = |name: &str| folder.join(name);
    fs::create_dir_all(at("old/deep")).expect("a folder");
    for name in ["a", "old/deep/b"] {
        fs::write(at(name), "before").expect("a file");
    }
    let (before, first) = (digest(&folder), shown(&folder));
    let deep = || {
        // Deeper than a path can be long.
        let name = "d".repeat(200);
        std::env::set_current_dir(&folder).is_ok()
            && (0..40).all(|_| fs::create_dir(&name).is_ok() && std::env::set_current_dir(&name).is_ok())
            && fs::write("file", "deep").is_ok()
    };
    let many = || (0..1200).all(|number| fs::write(at(&format!("n{number}")), "x").is_ok());
    let full = || {
        ["x", "y/x", "y/z/x"].iter().all(|name| {
            let path = at("tree").join(name);
            fs::create_dir_all(path.parent().expect("a folder")).is_ok() && fs::write(path, "x").is_ok()
        })
    };
    let changes: [(&str, &dyn Fn() -> bool); 12] = [
        ("nothing", &|| true),
        ("a folder of shared memory", &|| {
            fs::create_dir("/dev/shm/x").is_ok() && fs::write("/dev/shm/x/y", "").is_ok()
        }),
        ("a mode of shared memory", &|| {
            fs::set_permissions("/dev/shm", PermissionsExt::from_mode(0o700)).is_ok()
        }),
        ("a new file", &|| fs::write(at("new"), "new").is_ok()),
        ("a change and a removal", &|| {
            fs::write(at("a"), "other").is_ok() && fs::remove_dir_all(at("old")).is_ok()
        }),
        ("a folder in the place of another one", &|| {
            fs::remove_dir_all(at("old")).is_ok()
                && fs::create_dir(at("old")).is_ok()
                && fs::write(at("old/c"), "").is_ok()
        }),
        ("folders that cannot be read", &|| {
            full() && fs::set_permissions(at("tree/y"), PermissionsExt::from_mode(0o000)).is_ok()
        }),
        ("links out and in a circle", &|| {
            symlink("/etc", at("etc")).is_ok()
                && symlink("circle", at("circle")).is_ok()
                && symlink(other.path(), at("other")).is_ok()
        }),
        ("a socket and two folders", &|| {
            std::os::unix::net::UnixListener::bind(at("socket")).is_ok()
                && fs::write(other.path().join("x"), "x").is_ok()
        }),
        ("folders without end", &deep),
        ("many files", &many),
        ("what came and went", &|| fs::write(at("x"), "").is_ok() && fs::remove_file(at("x")).is_ok()),
    ];
    let mut view = SharedView::new(&Jail::default(), false).expect("a view");
    for (name, change) in changes {
        assert!(inside(&view, change), "{name} can be made");
        view = view.renewed().unwrap_or_else(|| panic!("{name} can be removed"));
        let same = inside(&view, || {
            let shared = std::path::Path::new("/dev/shm");
            let mode = fs::metadata(shared).map(|known| known.permissions().mode() & 0o7777);
            shown(shared).len() == 1
                && mode.is_ok_and(|mode| mode == 0o1777)
                && shown(&folder) == first
                && fs::read_dir(other.path()).is_ok_and(|all| all.count() == 0)
        });
        assert!(same, "after {name} it is as at first");
        assert!(view.is_fresh(), "after {name}");
        assert_eq!(digest(&folder), before, "{name} stays inside");
    }
    let given_up: [(&str, &dyn Fn() -> bool); 3] = [
        // SAFETY: it makes an object of the name space that the process is in; the name ends with a NUL.
        ("a message queue", &|| unsafe {
            libc::mq_open(c"/parallax".as_ptr(), libc::O_CREAT | libc::O_RDWR, 0o600, 0) >= 0
        }),
        // SAFETY: it makes an object of the name space that the process is in.
        ("an object of System V", &|| unsafe { libc::semget(7, 1, libc::IPC_CREAT | 0o600) >= 0 }),
        ("a port that stays taken", &closes_first),
    ];
    for (name, change) in given_up {
        let view = SharedView::new(&Jail::default(), false).expect("a view");
        assert!(inside(&view, change), "{name} can be made");
        assert!(view.renewed().is_none(), "{name} stays");
    }
}

/// The end that closes a connection first keeps its port for a minute.
fn closes_first() -> bool {
    let Ok(listener) = std::net::TcpListener::bind("127.0.0.1:0") else { return false };
    let both = listener.local_addr().and_then(|address| {
        let near = std::net::TcpStream::connect(address)?;
        let (far, _) = listener.accept()?;
        Ok((near, far))
    });
    both.is_ok_and(|(near, far)| {
        drop(far);
        drop(near);
        true
    })
}

/// Folders that have mounts below them are made anew in a view, and small files in them are copies: a change of these is seen too.
#[test]
fn changes_beside_mounts_are_seen() {
    if !crate::hostile::kinds().contains(&Kind::NameSpaces) {
        eprintln!("SKIPPED: no name spaces here");
        return;
    }
    // SAFETY: it only asks.
    if unsafe { libc::geteuid() } != 0 {
        eprintln!("SKIPPED: only root mounts for a test");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir_all(folder.path().join("beside/mount")).expect("a folder");
    std::fs::write(folder.path().join("beside/file"), "before").expect("a file");
    let mut command = std::process::Command::new(std::env::current_exe().expect("a path"));
    command.args(["--exact", "views::beside_a_mount", "--nocapture", "--include-ignored"]);
    command.env("PARALLAX_JAIL_FOLDER", folder.path());
    let on = std::ffi::CString::new(folder.path().join("beside/mount").into_os_string().into_encoded_bytes());
    let on = on.expect("a path");
    // SAFETY: it makes system calls alone, on a name space of its own.
    unsafe {
        std::os::unix::process::CommandExt::pre_exec(&mut command, move || {
            let none = c"none".as_ptr();
            let done = libc::unshare(libc::CLONE_NEWNS) == 0
                && libc::mount(none, c"/".as_ptr(), none, libc::MS_REC | libc::MS_PRIVATE, std::ptr::null())
                    == 0
                && libc::mount(none, on.as_ptr(), c"tmpfs".as_ptr(), 0, std::ptr::null()) == 0;
            if done { Ok(()) } else { Err(std::io::Error::last_os_error()) }
        });
    }
    let output = command.output().expect("it runs");
    let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(output.status.success() && said[0].contains("1 passed"), "{said:?}");
}

/// What the test above runs again, where there is such a mount; alone it has nothing to look at.
#[test]
fn beside_a_mount() {
    let Some(folder) = std::env::var_os("PARALLAX_JAIL_FOLDER") else { return };
    let folder = std::path::PathBuf::from(folder).join("beside");
    let at = |name: &str| folder.join(name);
    let mode = |path: std::path::PathBuf, mode| {
        std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode)).is_ok()
    };
    std::fs::write(at("mount/there"), "").expect("a file");
    let changes: [(&str, &dyn Fn() -> bool); 4] = [
        ("a file of the same size", &|| std::fs::write(at("file"), "after!").is_ok()),
        ("the mode of a file", &|| mode(at("file"), 0o600)),
        ("the mode of a folder", &|| mode(folder.clone(), 0o700)),
        ("a file in what is mounted", &|| std::fs::write(at("mount/x"), "").is_ok()),
    ];
    for (name, change) in changes {
        let view = SharedView::new(&Jail::default(), false).expect("a view");
        assert!(inside(&view, || std::fs::read(at("file")).is_ok_and(|text| text == b"before")));
        assert!(view.is_fresh());
        assert!(inside(&view, change), "{name} can be made");
        assert!(!view.is_fresh(), "{name} is seen");
        let again = view.renewed();
        assert_eq!(again.is_some(), name.ends_with("mounted"), "{name}");
    }
    assert_eq!(std::fs::read(at("file")).expect("a file"), b"before");
}

#[test]
fn what_was_changed_is_kept() {
    if !crate::hostile::kinds().contains(&Kind::NameSpaces) {
        eprintln!("SKIPPED: no name spaces here");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path().canonicalize().expect("it is there");
    let at = |name: &str| folder.join(name);
    std::fs::create_dir(at("old")).expect("a folder");
    for name in ["a", "b", "same", "old/x"] {
        std::fs::write(at(name), "before").expect("a file");
    }
    let before = digest(&folder);
    let view = SharedView::new(&Jail::default(), false).expect("a view");
    let done = inside(&view, || {
        use std::fs;
        fs::write(at("a"), "changed").is_ok()
            && fs::remove_file(at("b")).is_ok()
            && fs::create_dir_all(at("new/deep")).is_ok()
            && fs::write(at("new/deep/file"), "made").is_ok()
            && std::os::unix::fs::symlink("/etc", at("link")).is_ok()
            && fs::remove_file(at("old/x")).is_ok()
            && fs::remove_dir(at("old")).is_ok()
            && fs::create_dir(at("old")).is_ok()
            && fs::write(at("old/y"), "made").is_ok()
            && fs::write(at("large"), [7; 5000]).is_ok()
            && fs::write("/dev/shm/parallax-kept", "shared").is_ok()
            && std::os::unix::net::UnixListener::bind(at("socket")).is_ok()
    });
    assert!(done);
    let out = tempfile::tempdir().expect("a folder");
    let kept = view.keep(out.path(), 4096).expect("it is kept");
    let text = |path: &std::path::Path| {
        std::fs::read_to_string(out.path().join(path.strip_prefix("/").expect("absolute")))
    };
    assert_eq!(text(&at("a")).expect("a file"), "changed");
    assert_eq!(text(&at("new/deep/file")).expect("a file"), "made");
    assert_eq!(text(&at("old/y")).expect("a file"), "made");
    assert_eq!(text(std::path::Path::new("/dev/shm/parallax-kept")).expect("a file"), "shared");
    let link = out.path().join(at("link").strip_prefix("/").expect("absolute"));
    assert_eq!(std::fs::read_link(link).expect("a link"), std::path::Path::new("/etc"));
    let mut removed = kept.removed.clone();
    removed.sort();
    assert_eq!(removed, [at("b"), at("old")]);
    let left: Vec<_> = kept.left_out.keys().cloned().collect();
    assert_eq!(left, [at("large"), at("socket")], "{:?}", kept.left_out);
    let mut written = kept.written.clone();
    written.sort();
    let expected = ["a", "link", "new", "new/deep", "new/deep/file", "old", "old/y"].map(at);
    let all: Vec<_> = std::iter::once("/dev/shm/parallax-kept".into()).chain(expected).collect();
    assert_eq!(written, all);
    assert_eq!(digest(&folder), before);
}

/// A link in the place of a folder that had parts of the view in it: nothing is written through it.
#[test]
fn a_link_that_was_kept_is_not_gone_through() {
    if !crate::hostile::kinds().contains(&Kind::NameSpaces) {
        eprintln!("SKIPPED: no name spaces here");
        return;
    }
    let (marked, own) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let marked = marked.path().canonicalize().expect("it is there");
    let own = own.path().canonicalize().expect("it is there");
    std::fs::create_dir_all(own.join("above")).expect("a folder");
    let view = SharedView::new(&Jail::default(), false).expect("a view");
    assert!(inside(&view, || std::fs::write(own.join("above/file"), "made").is_ok()));
    let out = tempfile::tempdir().expect("a folder");
    // As if an earlier part had left the link where the next one has a folder.
    let above = out.path().join(own.strip_prefix("/").expect("absolute"));
    std::fs::create_dir_all(&above).expect("a folder");
    std::os::unix::fs::symlink(&marked, above.join("above")).expect("a link");
    let kept = view.keep(out.path(), 4096).expect("it is kept");
    assert!(kept.left_out[&own.join("above/file")].contains("is no folder"), "{kept:?}");
    assert_eq!(std::fs::read_dir(&marked).expect("a folder").count(), 0, "{kept:?}");
}
