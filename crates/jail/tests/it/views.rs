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
    let changes: [(&str, &dyn Fn() -> bool); 7] = [
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
