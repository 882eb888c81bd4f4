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
