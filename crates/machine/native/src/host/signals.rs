//! The host's signals while a program runs natively: each handler has a stack of its own, and is reached through code that makes
//! the thread the host's again.

use super::keys::{self, Key};
use crate::handler as through;
use crate::handler::Handler;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// What a processor raises by an instruction.
const FAULTS: [i32; 5] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP];

static INSTALLED: AtomicBool = AtomicBool::new(false);

/// Whether handlers go through code of ours in this process of the host.
pub fn is_installed() -> bool {
    INSTALLED.load(Ordering::Relaxed)
}

/// The signals of faults, one bit each, which are never blocked and always handled while programs run natively.
pub fn of_faults() -> u64 {
    FAULTS.iter().fold(0, |all, signal| all | 1 << (signal - 1))
}

/// Gives a signal its default action back: a fault comes again when its handler returns, and ends the process.
pub fn give_back(signal: i32) {
    // SAFETY: a plain call, allowed in handlers.
    unsafe { libc::signal(signal, libc::SIG_DFL) };
}

/// What to install in place of a handler, with flags.
pub fn handler(plain: usize) -> (usize, i32) {
    if is_installed() {
        (through::address(), libc::SA_SIGINFO | libc::SA_ONSTACK)
    } else {
        (plain, libc::SA_SIGINFO)
    }
}

/// Prepares this thread, and changes the handlers of faults, and those that are `plain`: from now on `forwarded` hears of all
/// signals but the faults of the program. Both stay so.
pub fn install(forwarded: Handler, plain: usize) -> Result<(), String> {
    static DONE: OnceLock<Result<(), String>> = OnceLock::new();
    DONE.get_or_init(|| {
        const STACK: u64 = 128 << 10;
        leave_rseq()?;
        let data = libc::PROT_READ | libc::PROT_WRITE;
        let keys = keys::keys()?;
        let key = if writes_frames_itself() { Key::HOST } else { keys.shown() };
        let stack = keys::map(0, STACK, data, key).ok_or("no room for a stack")?;
        let described = libc::stack_t { ss_sp: stack as *mut _, ss_flags: 0, ss_size: STACK as usize };
        // SAFETY: the stack stays mapped.
        if unsafe { libc::sigaltstack(&described, std::ptr::null_mut()) } != 0 {
            return Err(String::from("the host refuses a stack for signals"));
        }
        through::forward(forwarded);
        INSTALLED.store(true, Ordering::SeqCst);
        (1..=64).for_each(|signal| redirect(signal, plain));
        let faults = of_faults();
        // SAFETY: the call reads a mask of eight bytes.
        unsafe {
            let (how, null) = (i64::from(libc::SIG_UNBLOCK), std::ptr::null_mut::<u64>());
            libc::syscall(libc::SYS_rt_sigprocmask, how, &raw const faults, null, 8_i64);
        }
        Ok(())
    })
    .clone()
}

/// Whether the kernel writes frames of signals with its own rights, not with those of the program that is interrupted.
fn writes_frames_itself() -> bool {
    const SINCE: (u32, u32) = (6, 12);
    // SAFETY: the structure is made of bytes, for which zero is a value, and the call fills it.
    let release = unsafe {
        let mut names: libc::utsname = std::mem::zeroed();
        if libc::uname(&mut names) != 0 {
            return false;
        }
        names.release.map(|byte| byte as u8)
    };
    let text: String = release.iter().take_while(|byte| **byte != 0).map(|byte| char::from(*byte)).collect();
    let mut numbers =
        text.split(|letter: char| !letter.is_ascii_digit()).map(|part| part.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) >= SINCE
}

/// Changes a handler that is `plain`, and the handlers of faults.
fn redirect(signal: i32, plain: usize) {
    // SAFETY: the structure is made of numbers and pointers, for which zero is a value.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: the calls read and write only what they are handed.
    unsafe {
        if libc::sigaction(signal, std::ptr::null(), &mut action) != 0 {
            return;
        }
        if FAULTS.contains(&signal) || action.sa_sigaction == plain {
            let kept = action.sa_flags & (libc::SA_NOCLDSTOP | libc::SA_NOCLDWAIT);
            let (address, flags) = handler(0);
            action.sa_sigaction = address;
            action.sa_flags = flags | kept;
            libc::sigfillset(&mut action.sa_mask);
            libc::sigaction(signal, &action, std::ptr::null_mut());
        }
    }
}

/// Ends the restartable sequences of this thread: the kernel would write their area while the host's pages are closed, and
/// kill the process. The C library goes on without.
fn leave_rseq() -> Result<(), String> {
    const UNREGISTER: i64 = 1;
    const SIGNATURE: i64 = 0x5305_3053;
    // SAFETY: names that end in zero.
    let (offset, size) = unsafe {
        let find = |name: &std::ffi::CStr| libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr());
        (find(c"__rseq_offset").cast::<isize>(), find(c"__rseq_size").cast::<u32>())
    };
    if offset.is_null() || size.is_null() {
        // A C library that knows of none.
        return Ok(());
    }
    // SAFETY: variables of the C library of these types.
    let (offset, size) = unsafe { (*offset, i64::from(*size)) };
    if size == 0 {
        return Ok(());
    }
    let pointer: u64;
    // SAFETY: the first word of a thread's storage is its address.
    unsafe { std::arch::asm!("mov {}, fs:0", out(reg) pointer, options(nostack, readonly)) };
    let area = pointer.wrapping_add_signed(offset as i64);
    // The area was registered with at least 32 bytes, whatever of it is in use.
    let lengths = [32, size, (size + 31) & !31, 64];
    let left = lengths.iter().any(|length| {
        // SAFETY: the call touches the area of this thread.
        unsafe { libc::syscall(libc::SYS_rseq, area, *length, UNREGISTER, SIGNATURE) == 0 }
    });
    if left { Ok(()) } else { Err(String::from("the restartable sequences of the C library cannot be left")) }
}
