//! A process that has given everything up: it has its own memory, the descriptors it was left to write to, and nothing else of
//! the system. No file, socket or process can be made or opened any more, whatever code it runs.
//!
//! It is a fork, so what it needs is read before. Its result comes back through a pipe.

use libc::{c_int, c_long, sock_filter};
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// Why there is no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unsealed {
    /// The process could not give everything up: nothing was done.
    Unavailable(String),
    /// It ended without a result: how.
    Ended(String),
}

/// The first byte that the process writes: what follows is why it cannot be sealed, or its result.
const REFUSED: u8 = 0;
const DONE: u8 = 1;

/// Does some work in a process of its own, which is sealed between preparing and working. It keeps standard output and errors if
/// it `shows`. The caller has no other thread that matters to the work.
pub fn work(
    shows: bool,
    prepare: impl FnOnce() -> Result<(), String>,
    work: impl FnOnce() -> Vec<u8>,
) -> Result<Vec<u8>, Unsealed> {
    let unavailable = |error: std::io::Error| Unsealed::Unavailable(error.to_string());
    let mut ends = [0; 2];
    // SAFETY: the call fills two numbers.
    if unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) } != 0 {
        return Err(unavailable(std::io::Error::last_os_error()));
    }
    // SAFETY: just made, and owned by nobody else.
    let [from, to] = ends.map(|end| unsafe { OwnedFd::from_raw_fd(end) });
    // SAFETY: the caller vouches for its threads.
    let child = unsafe { libc::fork() };
    match child {
        -1 => return Err(unavailable(std::io::Error::last_os_error())),
        0 => {
            let to = to.as_raw_fd();
            let result = prepare().and_then(|()| seal(to, shows));
            // What the caller would do after a panic is not this process's.
            let done = || std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).ok();
            let answer = match result {
                Ok(()) => done().map(|bytes| (DONE, bytes)),
                Err(why) => Some((REFUSED, why.into_bytes())),
            };
            let whole = answer.is_some_and(|(kind, bytes)| write_all(to, &[kind]) && write_all(to, &bytes));
            // SAFETY: the process ends at once: what else the caller holds is the caller's.
            unsafe { libc::_exit(i32::from(!whole)) }
        }
        _ => drop(to),
    }
    let mut bytes = Vec::new();
    let read = File::from(from).read_to_end(&mut bytes);
    let mut status = 0;
    // SAFETY: our own child, and room for its status.
    while unsafe { libc::waitpid(child, &mut status, 0) } < 0 {
        if std::io::Error::last_os_error().kind() != std::io::ErrorKind::Interrupted {
            break;
        }
    }
    let ended = if libc::WIFSIGNALED(status) {
        format!("signal {}", libc::WTERMSIG(status))
    } else {
        format!("status {}", libc::WEXITSTATUS(status))
    };
    match bytes.split_first() {
        Some((&REFUSED, why)) => Err(Unsealed::Unavailable(String::from_utf8_lossy(why).into_owned())),
        Some((&DONE, result)) if read.is_ok() && status == 0 => Ok(result.to_vec()),
        _ => Err(Unsealed::Ended(ended)),
    }
}

fn write_all(descriptor: c_int, mut bytes: &[u8]) -> bool {
    while !bytes.is_empty() {
        // SAFETY: the bytes are there.
        let count = unsafe { libc::write(descriptor, bytes.as_ptr().cast(), bytes.len()) };
        match usize::try_from(count) {
            Ok(count) => bytes = &bytes[count..],
            Err(_) if std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return false,
        }
    }
    true
}

/// Gives up everything but memory, and writing to the result and, if it `shows`, to standard output and errors.
fn seal(result: c_int, shows: bool) -> Result<(), String> {
    let failed = |what: &str| format!("{what}: {}", std::io::Error::last_os_error());
    let call = |number: c_long, arguments: [u64; 4]| {
        let [a, b, c, d] = arguments;
        // SAFETY: each call made here changes this process alone, and reads only what lives longer.
        unsafe { libc::syscall(number, a, b, c, d, 0) }
    };
    let first = if shows { 3 } else { 0 };
    let (result, last) = (result as u64, u64::from(u32::MAX));
    let gaps = [(first, result.saturating_sub(1)), (result + 1, last)];
    for (from, to) in gaps.into_iter().filter(|(from, to)| from <= to && *from != result) {
        if call(libc::SYS_close_range, [from, to, 0, 0]) != 0 {
            return Err(failed("closing what is open"));
        }
    }
    // Whoever waits for the result may be killed.
    call(libc::SYS_prctl, [libc::PR_SET_PDEATHSIG as u64, libc::SIGKILL as u64, 0, 0]);
    if call(libc::SYS_prctl, [libc::PR_SET_NO_NEW_PRIVS as u64, 1, 0, 0]) != 0 {
        return Err(failed("giving up new privileges"));
    }
    let steps = filter(result as u32, shows);
    let program = libc::sock_fprog { len: steps.len() as u16, filter: steps.as_ptr().cast_mut() };
    const SET_FILTER: u64 = 1;
    if call(libc::SYS_seccomp, [SET_FILTER, 0, &raw const program as u64, 0]) != 0 {
        return Err(failed("a filter of system calls"));
    }
    Ok(())
}

/// Calls that pass whatever their arguments: they change memory, wait, or end the process.
const PASS: [c_long; 18] = [
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_mprotect,
    libc::SYS_pkey_mprotect,
    libc::SYS_madvise,
    libc::SYS_brk,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigreturn,
    libc::SYS_rt_sigprocmask,
    libc::SYS_sigaltstack,
    libc::SYS_futex,
    libc::SYS_sched_yield,
    libc::SYS_clock_gettime,
    libc::SYS_getrandom,
    libc::SYS_getpid,
    libc::SYS_gettid,
    libc::SYS_exit,
    libc::SYS_exit_group,
];

const LOAD: u16 = 0x20;
const JUMP_EQUAL: u16 = 0x15;
const JUMP_BITS: u16 = 0x45;
const RETURN: u16 = 0x06;

const ALLOW: u32 = 0x7fff_0000;
const KILL: u32 = 0x8000_0000;
const REFUSE: u32 = 0x0005_0000 | libc::EPERM as u32;

/// The filter: everything that is not named fails.
fn filter(result: u32, shows: bool) -> Vec<sock_filter> {
    const NUMBER: u32 = 0;
    const ARCHITECTURE: u32 = 4;
    #[cfg(target_arch = "x86_64")]
    const OURS: u32 = 0xc000_003e;
    #[cfg(target_arch = "aarch64")]
    const OURS: u32 = 0xc000_00b7;
    /// The low half of an argument.
    const ARGUMENTS: u32 = 16;
    let step = |code: u16, k: u32, yes: u8, no: u8| sock_filter { code, jt: yes, jf: no, k };
    let mut steps = vec![
        step(LOAD, ARCHITECTURE, 0, 0),
        step(JUMP_EQUAL, OURS, 1, 0),
        step(RETURN, KILL, 0, 0),
        step(LOAD, NUMBER, 0, 0),
    ];
    for number in PASS {
        steps.extend([step(JUMP_EQUAL, number as u32, 0, 1), step(RETURN, ALLOW, 0, 0)]);
    }
    let mut writes = vec![step(LOAD, ARGUMENTS, 0, 0)];
    for descriptor in [Some(result), shows.then_some(1), shows.then_some(2)].into_iter().flatten() {
        writes.extend([step(JUMP_EQUAL, descriptor, 0, 1), step(RETURN, ALLOW, 0, 0)]);
    }
    writes.push(step(RETURN, REFUSE, 0, 0));
    // Memory of no file.
    let maps = [
        step(LOAD, ARGUMENTS + 3 * 8, 0, 0),
        step(JUMP_BITS, libc::MAP_ANONYMOUS as u32, 0, 1),
        step(RETURN, ALLOW, 0, 0),
        step(RETURN, REFUSE, 0, 0),
    ];
    for (number, body) in [(libc::SYS_write, &writes[..]), (libc::SYS_mmap, &maps[..])] {
        steps.push(step(JUMP_EQUAL, number as u32, 0, body.len() as u8));
        steps.extend_from_slice(body);
    }
    steps.push(step(RETURN, REFUSE, 0, 0));
    steps
}

#[cfg(test)]
mod tests {
    use super::{Unsealed, work};

    #[test]
    fn a_sealed_process_has_its_memory_and_nothing_else() {
        let directory = std::env::temp_dir();
        let kinds = work(
            false,
            || Ok(()),
            || {
                let mut bytes = vec![7; 1 << 20];
                bytes[9] = 1;
                let opened = std::fs::File::open("/dev/null").is_err();
                let made = std::fs::File::create(directory.join("escaped")).is_err();
                let connected = std::net::TcpListener::bind("127.0.0.1:0").is_err();
                let spawned = std::process::Command::new("/bin/true").spawn().is_err();
                // SAFETY: calls that are refused.
                let (forked, read, killed) = unsafe {
                    (libc::fork() < 0, libc::read(0, bytes.as_mut_ptr().cast(), 1) < 0, libc::kill(1, 0) < 0)
                };
                // SAFETY: as above; descriptor 1 is closed.
                let written = unsafe { libc::write(1, c"x".as_ptr().cast(), 1) < 0 };
                [opened, made, connected, spawned, forked, read, killed, written].map(u8::from).to_vec()
            },
        );
        assert_eq!(kinds, Ok(vec![1; 8]));
    }

    #[test]
    fn who_cannot_be_prepared_does_nothing() {
        let refused = work(false, || Err(String::from("no")), || unreachable!());
        assert_eq!(refused, Err(Unsealed::Unavailable(String::from("no"))));
    }

    #[test]
    fn an_end_by_a_signal_is_told() {
        // SAFETY: ends this process as a fault does.
        let ended = work(false, || Ok(()), || unsafe { std::ptr::null::<Vec<u8>>().read_volatile() });
        assert!(
            matches!(&ended, Err(Unsealed::Ended(how)) if how == "signal 11" || how == "signal 6"),
            "{ended:?}"
        );
    }
}
