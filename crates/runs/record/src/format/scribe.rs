//! A process that opens the files of a recording for processes that no longer may.
//!
//! A server gives up its rights, or its view of the file system, and its recorder with it: then it can open no file of the
//! recording any more, and neither can its children. So a scribe is split off just before, which keeps both. It is
//! reached by a socket in the abstract name space, which needs neither a descriptor that stays open nor a path, answers who knows its
//! secret, and hands over open files. It ends soon after the last process that asked it.

use super::door::{WISHES, Wish};
use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::path::Path;
use std::time::Duration;

const SECRET: usize = 16;
/// The longest name of a file that is opened.
const NAME: usize = 512;
/// How often a scribe looks for those that it works for. One that was just forked has that long to say so.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long an answer may take.
const LONGEST: Duration = Duration::from_secs(10);

/// How to reach a scribe.
#[derive(Clone, Debug)]
pub(crate) struct Scribe {
    secret: [u8; SECRET],
    address: SocketAddr,
}

impl Scribe {
    /// Splits off a scribe for a folder.
    pub fn start(folder: &Path) -> io::Result<Scribe> {
        let mut random = [0; 2 * SECRET];
        rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty())?;
        let (name, secret) = random.split_at(SECRET);
        let address = SocketAddr::from_abstract_name(name)?;
        let listener = UnixListener::bind_addr(&address)?;
        let secret = secret.try_into().map_err(io::Error::other)?;
        split_off(listener.as_raw_fd(), || serve(&listener, folder, &secret))?;
        let scribe = Scribe { secret, address };
        // It works for those that have asked it. The file may be any.
        scribe.ask(Wish::Find, "0.stream")?;
        Ok(scribe)
    }

    /// Has a file opened.
    pub fn ask(&self, wish: Wish, name: &str) -> io::Result<File> {
        let mut stream = self.connected()?;
        stream.set_read_timeout(Some(LONGEST))?;
        stream.set_write_timeout(Some(LONGEST))?;
        let mut question = Vec::with_capacity(SECRET + 1 + name.len());
        question.extend(self.secret);
        question.extend(WISHES.iter().position(|known| *known == wish).map(|at| at as u8));
        question.extend(name.as_bytes());
        stream.write_all(&question)?;
        stream.shutdown(std::net::Shutdown::Write)?;
        let (error, file) = receive(&stream)?;
        file.ok_or_else(|| io::Error::from_raw_os_error(error))
    }
}

impl Scribe {
    /// Signals of the program interrupt this one too.
    fn connected(&self) -> io::Result<UnixStream> {
        loop {
            match UnixStream::connect_addr(&self.address) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                connected => return connected,
            }
        }
    }
}

/// An answer: a file, or the number of an error.
fn receive(stream: &UnixStream) -> io::Result<(i32, Option<File>)> {
    use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
    let mut error = [0; 4];
    let mut room = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut beside = RecvAncillaryBuffer::new(&mut room);
    // To ask again would be to wish again: only waiting is repeated.
    let received = rustix::io::retry_on_intr(|| {
        recvmsg(stream, &mut [IoSliceMut::new(&mut error)], &mut beside, RecvFlags::CMSG_CLOEXEC)
    })?;
    if received.bytes != error.len() {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let mut files = beside.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(files) => Some(files),
        _ => None,
    });
    let file = files.next().and_then(|mut files| files.next());
    Ok((i32::from_le_bytes(error), file.map(|file: OwnedFd| File::from(file))))
}

fn send(stream: &UnixStream, answer: &io::Result<File>) -> io::Result<()> {
    use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
    let mut room = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut beside = SendAncillaryBuffer::new(&mut room);
    let (error, files) = match answer {
        Ok(file) => (0, Some([file.as_fd()])),
        Err(error) => (error.raw_os_error().unwrap_or(rustix::io::Errno::IO.raw_os_error()), None),
    };
    if let Some(files) = &files {
        beside.push(SendAncillaryMessage::ScmRights(files));
    }
    sendmsg(stream, &[IoSlice::new(&error.to_le_bytes())], &mut beside, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// Answers until nobody is left who could ask.
fn serve(listener: &UnixListener, folder: &Path, secret: &[u8; SECRET]) {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let mut masters: Vec<u32> = Vec::new();
    let patience = Timespec { tv_sec: PATIENCE.as_secs() as i64, tv_nsec: 0 };
    let mut alone = 0;
    while alone < 2 {
        let asked = poll(&mut [PollFd::new(listener, PollFlags::IN)], Some(&patience));
        if matches!(asked, Ok(ready) if ready > 0)
            && let Ok((stream, _)) = listener.accept()
        {
            masters.extend(answer(&stream, folder, secret).ok().flatten());
            continue;
        }
        masters.sort_unstable();
        masters.dedup();
        masters.retain(|master| is_alive(*master));
        alone = if masters.is_empty() { alone + 1 } else { 0 };
    }
}

/// Answers one question, and gives the process that asked it.
fn answer(stream: &UnixStream, folder: &Path, secret: &[u8; SECRET]) -> io::Result<Option<u32>> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut question = Vec::new();
    stream.take((SECRET + 1 + NAME) as u64).read_to_end(&mut question)?;
    let Some((_, question)) = question.split_first_chunk().filter(|(known, _)| *known == secret) else {
        return Ok(None);
    };
    let Some((wish, name)) = question.split_first() else { return Ok(None) };
    let wish = WISHES.get(usize::from(*wish));
    let name = std::str::from_utf8(name).ok().filter(|name| is_inside(name));
    let opened = match wish.zip(name) {
        Some((wish, name)) => wish.fulfil(folder, name),
        None => Err(io::ErrorKind::InvalidInput.into()),
    };
    send(stream, &opened)?;
    // The kernel knows who it is, in whichever name space that one lives.
    let master = rustix::net::sockopt::socket_peercred(stream)?.pid;
    Ok(u32::try_from(master.as_raw_nonzero().get()).ok())
}

/// Whether a name is that of a file of a recording, and of nothing else.
fn is_inside(name: &str) -> bool {
    let plain = name.strip_prefix("files/").unwrap_or(name);
    let known = |byte: u8| byte.is_ascii_alphanumeric() || b".-".contains(&byte);
    !plain.starts_with('.') && plain.bytes().all(known) && !plain.is_empty()
}

/// Whether a process still runs. One that nobody has waited for does not.
fn is_alive(process: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    state.is_some_and(|state| !"ZX".contains(state))
}

/// Runs something in a process of its own, which nobody waits for and no signal reaches. It keeps one descriptor.
fn split_off(kept: RawFd, work: impl FnOnce()) -> io::Result<()> {
    // No signal when it ends, and a wait for children does not see it: it is none of the program's.
    const CLONED: libc::c_int = libc::__WCLONE;
    // SAFETY: as by `fork`; the threads that may be there hold no lock that is needed here.
    let clone = || unsafe { libc::syscall(libc::SYS_clone, 0_i64, 0_i64, 0_i64, 0_i64, 0_i64) };
    match clone() {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            if clone() == 0 {
                become_quiet(kept);
                // What is broken here must not unwind into the program.
                let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
            }
            // SAFETY: ends this copy of the process, and nothing else.
            unsafe { libc::_exit(0) }
        }
        child => {
            // SAFETY: waits for the child that was just made.
            while unsafe { libc::waitpid(child as libc::pid_t, std::ptr::null_mut(), CLONED) } < 0 {
                if io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
                    break;
                }
            }
            Ok(())
        }
    }
}

/// Lets go of what is the program's, and hears nothing of what is sent to it.
fn become_quiet(kept: RawFd) {
    let kept = kept as u64;
    // SAFETY: these change nothing but this process: its descriptors, of which only one is used from here on, its session, its
    // name, and what it does about signals.
    unsafe {
        if kept > 0 {
            libc::syscall(libc::SYS_close_range, 0_u64, kept - 1, 0_u64);
        }
        libc::syscall(libc::SYS_close_range, kept + 1, u64::from(u32::MAX), 0_u64);
        libc::setsid();
        libc::prctl(libc::PR_SET_NAME, c"plx-scribe".as_ptr());
        for signal in 1..65 {
            libc::signal(signal, libc::SIG_IGN);
        }
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &none, std::ptr::null_mut());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

    static HEARD: AtomicU32 = AtomicU32::new(0);

    extern "C" fn hear(_: libc::c_int) {
        HEARD.fetch_add(1, Ordering::Relaxed);
    }

    /// A program's signals come at any time, also while its recorder waits for an answer.
    #[test]
    fn signals_do_not_lose_an_answer() {
        let folder = std::env::temp_dir().join(format!("parallax-scribe-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(folder.join("files")).expect("a temporary folder");
        let scribe = {
            std::fs::write(folder.join("0.stream"), "").expect("it can be written");
            Scribe::start(&folder).expect("a scribe")
        };
        // SAFETY: the handler adds to a number, and no more; without SA_RESTART calls are interrupted.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = hear as *const () as usize;
            libc::sigaction(libc::SIGUSR2, &action, std::ptr::null_mut());
        }
        // SAFETY: asks who this is.
        let this = unsafe { libc::pthread_self() };
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    // SAFETY: that thread waits for this one.
                    unsafe { libc::pthread_kill(this, libc::SIGUSR2) };
                    std::thread::sleep(Duration::from_micros(20));
                }
            });
            let asked = || -> io::Result<()> {
                let mut number = 0;
                // On a busy machine signals come seldom.
                while number < 500 || HEARD.load(Ordering::Relaxed) < 200 {
                    let name = format!("files/{number}");
                    scribe.ask(Wish::Start, &name)?.write_all(name.as_bytes())?;
                    scribe.ask(Wish::Append, &name)?.write_all(b"!")?;
                    number += 1;
                }
                Ok(())
            };
            let answered = asked();
            done.store(true, Ordering::Relaxed);
            answered.expect("every question is answered");
        });
        let read = std::fs::read(folder.join("files/499")).expect("it was written");
        assert_eq!(read, b"files/499!");
        for outside in ["../x", "files/../x", "/etc/passwd", "files/", ".x", ""] {
            let refused = scribe.ask(Wish::Map, outside).expect_err("it is not inside");
            assert_eq!(refused.raw_os_error(), Some(libc::EIO), "{outside}");
        }
        std::fs::remove_dir_all(&folder).expect("it was there");
    }
}
