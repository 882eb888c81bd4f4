//! What lies outside a jail, made by the test itself: a marked folder, a victim, listeners, a terminal, shared memory.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use tempfile::TempDir;

/// The program that does harm, and a library that does it when it is loaded.
pub fn hostile() -> (&'static Path, &'static Path) {
    static MADE: OnceLock<(PathBuf, PathBuf)> = OnceLock::new();
    let (program, library) = MADE.get_or_init(|| {
        // Another user may not write there, and has a folder that goes with the test.
        let places = [PathBuf::from(env!("CARGO_TARGET_TMPDIR")), std::env::temp_dir()];
        let name = format!("hostile-{}", std::process::id());
        let folder = places.into_iter().map(|place| place.join(&name));
        let folder =
            folder.into_iter().find(|folder| std::fs::create_dir_all(folder).is_ok()).expect("a folder");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/hostile.c");
        let build = |name: &str, flags: &[&str]| {
            let made = folder.join(name);
            let done = Command::new("clang-19")
                .args(["-w", "-O0"])
                .args(flags)
                .arg(&source)
                .arg("-o")
                .arg(&made)
                .status();
            assert!(done.is_ok_and(|status| status.success()), "{name} is built");
            made
        };
        (build("hostile", &[]), build("library.so", &["-shared", "-fPIC", "-DPRELOADED"]))
    });
    (program, library)
}

/// The world outside, and what it was like at first.
pub struct Outside {
    pub marked: TempDir,
    pub own: TempDir,
    before: BTreeMap<PathBuf, String>,
    victim: Child,
    answers: BufReader<ChildStdout>,
    mark: u64,
    first_words: String,
    tcp: TcpListener,
    udp: UdpSocket,
    stream: UnixListener,
    hidden: UnixListener,
    name: String,
    terminal: OwnedFd,
    terminal_path: PathBuf,
    /// The other end stays open, so that reading the terminal is not an error.
    _slave: std::fs::File,
    shared: i32,
    key: i32,
    shared_file: PathBuf,
}

impl Outside {
    pub fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("parallax-hostile-{}-{number}", std::process::id());
        let (marked, own) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        let at = |name: &str| marked.path().join(name);
        std::fs::write(at("a"), "as it was before").expect("a file");
        std::fs::create_dir_all(at("sub/folder")).expect("a folder");
        std::fs::create_dir(at("empty")).expect("a folder");
        std::fs::write(at("sub/folder/b"), [7; 5000]).expect("a file");
        std::os::unix::fs::symlink("a", at("link")).expect("a link");
        let mut victim = Command::new(hostile().0)
            .arg("victim")
            .current_dir(marked.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a victim");
        let mut answers = BufReader::new(victim.stdout.take().expect("asked for"));
        let mut line = String::new();
        answers.read_line(&mut line).expect("a line");
        let mark = line.trim().parse().expect("an address");
        // SAFETY: they ask about limits and processors of this process, which the victim has too.
        let (open, processors) = unsafe {
            let mut limit: libc::rlimit = std::mem::zeroed();
            libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit);
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &raw mut set);
            (limit.rlim_cur, libc::CPU_COUNT(&set))
        };
        // Others may give it another one meanwhile, so it is only asked whether it is what the hostile program sets.
        // SAFETY: it asks for the priority of this process.
        let priority = i32::from(unsafe { libc::getpriority(libc::PRIO_PROCESS, 0) } == 13);
        let first_words = format!("0 11111111 {priority} {open} {processors} 0 0 0");
        let (tcp, udp) = two_ports();
        tcp.set_nonblocking(true).expect("a flag");
        udp.set_nonblocking(true).expect("a flag");
        let stream = UnixListener::bind(at("socket")).expect("a socket");
        let address = SocketAddr::from_abstract_name(&name).expect("a name");
        let hidden = UnixListener::bind_addr(&address).expect("a socket");
        stream.set_nonblocking(true).expect("a flag");
        hidden.set_nonblocking(true).expect("a flag");
        let (terminal, terminal_path) = terminal();
        let slave = std::fs::File::options()
            .read(true)
            .write(true)
            .custom_flags(libc::O_NOCTTY)
            .open(&terminal_path)
            .expect("a terminal");
        let key = (std::process::id() as i32) << 8 | number as i32 & 0xff;
        // SAFETY: a new piece of shared memory, which holds zeros.
        let shared = unsafe { libc::shmget(key, 4096, libc::IPC_CREAT | libc::IPC_EXCL | 0o600) };
        let shared_file = Path::new("/dev/shm").join(&name);
        std::fs::write(&shared_file, "before").expect("a file");
        let before = digest(marked.path());
        Outside {
            marked,
            own,
            before,
            victim,
            answers,
            mark,
            first_words,
            tcp,
            udp,
            stream,
            hidden,
            name,
            terminal,
            terminal_path,
            _slave: slave,
            shared,
            key,
            shared_file,
        }
    }

    /// The arguments of the program for a case.
    pub fn arguments(&self, case: &str) -> Vec<String> {
        let port = self.tcp.local_addr().expect("an address").port();
        vec![
            case.to_owned(),
            self.marked.path().display().to_string(),
            self.victim.id().to_string(),
            port.to_string(),
            self.name.clone(),
            self.terminal_path.display().to_string(),
            self.key.to_string(),
            self.mark.to_string(),
        ]
    }

    /// Whether somebody listens where a case does, within the time that the program does.
    pub fn listens(&self, case: &str) -> std::thread::JoinHandle<bool> {
        let port = self.tcp.local_addr().expect("an address").port() + 1;
        let path = self.marked.path().join("listening");
        let hidden = SocketAddr::from_abstract_name(format!("{}-listening", self.name)).expect("a name");
        let case = case.to_owned();
        let reached = move || match case.as_str() {
            "listen" => TcpStream::connect(("127.0.0.1", port)).is_ok(),
            "listen-unix" => UnixStream::connect(&path).is_ok(),
            "listen-abstract" => UnixStream::connect_addr(&hidden).is_ok(),
            // Where nobody has the port, the second message hears of it.
            _ => UdpSocket::bind("127.0.0.1:0").is_ok_and(|socket| {
                let send = || socket.send(b"x").is_ok();
                let wait = || std::thread::sleep(std::time::Duration::from_millis(2));
                socket.connect(("127.0.0.1", port)).is_ok()
                    && send()
                    && {
                        wait();
                        send()
                    }
                    && {
                        wait();
                        send()
                    }
            }),
        };
        std::thread::spawn(move || {
            (0..40).any(|_| {
                std::thread::sleep(std::time::Duration::from_millis(8));
                reached()
            })
        })
    }

    /// What is not as it was.
    pub fn harmed(mut self) -> Vec<String> {
        let mut harm = Vec::new();
        let after = digest(self.marked.path());
        if after != self.before {
            harm.push(format!("the folder: {after:?}"));
        }
        let mut line = String::new();
        let asked = self.victim.stdin.as_mut().is_some_and(|stdin| stdin.write_all(b"\n").is_ok());
        if !asked || self.answers.read_line(&mut line).is_err() || line.trim() != self.first_words {
            harm.push(format!("the victim says `{}`, not `{}`", line.trim(), self.first_words));
        }
        let _ = self.victim.kill();
        let _ = self.victim.wait();
        if self.tcp.accept().is_ok() {
            harm.push("a TCP connection".into());
        }
        if self.udp.recv(&mut [0; 16]).is_ok() {
            harm.push("a UDP message".into());
        }
        if self.stream.accept().is_ok() {
            harm.push("a connection to a socket with a path".into());
        }
        if self.hidden.accept().is_ok() {
            harm.push("a connection to an abstract socket".into());
        }
        let mut terminal = std::fs::File::from(self.terminal.try_clone().expect("a descriptor"));
        if terminal.read(&mut [0; 64]).is_ok_and(|length| length > 0) {
            harm.push("the terminal shows something".into());
        }
        let mut typed = 0i32;
        // SAFETY: it asks how many bytes can be read at the terminal.
        unsafe { libc::ioctl(self._slave.as_raw_fd(), libc::FIONREAD, &raw mut typed) };
        if typed > 0 {
            harm.push("something was typed at the terminal".into());
        }
        // SAFETY: the piece is ours and stays while it is read.
        let text = unsafe {
            let at = libc::shmat(self.shared, std::ptr::null(), 0);
            let text = at.cast::<u32>().read_volatile();
            libc::shmdt(at);
            text
        };
        if text != 0 {
            harm.push("shared memory was written".into());
        }
        if std::fs::read(&self.shared_file).ok().as_deref() != Some(b"before") {
            harm.push("a file of shared memory was written".into());
        }
        harm
    }
}

impl Drop for Outside {
    fn drop(&mut self) {
        let _ = self.victim.kill();
        let _ = self.victim.wait();
        let _ = std::fs::remove_file(&self.shared_file);
        // SAFETY: it removes a piece of ours.
        unsafe { libc::shmctl(self.shared, libc::IPC_RMID, std::ptr::null_mut()) };
    }
}

use std::os::unix::fs::OpenOptionsExt;

/// A port of loopback for TCP and UDP, with a free one behind it.
fn two_ports() -> (TcpListener, UdpSocket) {
    for _ in 0..100 {
        let tcp = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = tcp.local_addr().expect("an address").port();
        let free = port < u16::MAX && TcpListener::bind(("127.0.0.1", port + 1)).is_ok();
        if let (true, Ok(udp)) = (free, UdpSocket::bind(("127.0.0.1", port))) {
            return (tcp, udp);
        }
    }
    panic!("no two free ports in a row");
}

/// A terminal: its other side, which does not block, and its path.
fn terminal() -> (OwnedFd, PathBuf) {
    // SAFETY: a new terminal; the name is copied into our buffer.
    unsafe {
        let terminal = libc::posix_openpt(libc::O_RDWR | libc::O_NOCTTY | libc::O_CLOEXEC | libc::O_NONBLOCK);
        assert!(terminal >= 0 && libc::grantpt(terminal) == 0 && libc::unlockpt(terminal) == 0, "a terminal");
        let mut name = [0 as libc::c_char; 128];
        assert_eq!(libc::ptsname_r(terminal, name.as_mut_ptr(), name.len()), 0, "a name");
        let name = std::ffi::CStr::from_ptr(name.as_ptr()).to_str().expect("a name");
        (OwnedFd::from_raw_fd(terminal), PathBuf::from(name))
    }
}

/// Everything that can be seen of a folder: names, modes, owners, times, contents, attributes, flags.
pub fn digest(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut all = BTreeMap::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(path) = open.pop() {
        let Ok(known) = std::fs::symlink_metadata(&path) else { continue };
        let mut words = format!(
            "{:o} {}:{} {} bytes, {}.{}, {} names",
            known.mode(),
            known.uid(),
            known.gid(),
            known.len(),
            known.mtime(),
            known.mtime_nsec(),
            known.nlink()
        );
        if known.is_file() {
            let bytes = std::fs::read(&path).unwrap_or_default();
            words += &format!(" {:?}", &bytes[..bytes.len().min(16)]);
            let file = std::fs::File::open(&path).expect("a file");
            let mut flags = 0u64;
            let mut names = [0u8; 256];
            let c_path = std::ffi::CString::new(path.as_os_str().as_bytes()).expect("a path");
            // SAFETY: both only ask, and have room for the answer.
            let length = unsafe {
                libc::ioctl(file.as_raw_fd(), 0x8008_6601, &raw mut flags);
                libc::listxattr(c_path.as_ptr(), names.as_mut_ptr().cast(), names.len())
            };
            words += &format!(" {flags:x} {:?}", String::from_utf8_lossy(&names[..length.max(0) as usize]));
        }
        if known.is_dir() {
            open.extend(std::fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
        }
        all.insert(path, words);
    }
    all
}
