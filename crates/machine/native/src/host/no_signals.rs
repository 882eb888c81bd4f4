//! Other processors than x86-64 have no native engine, so their handlers stay as they are.

/// A handler of signals.
pub type Handler = extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void);

/// Says that there is no native engine.
pub fn install(_: Handler, _: usize) -> Result<(), String> {
    Err(String::from("it is for x86-64"))
}

/// Whether handlers go through code of ours.
pub fn is_installed() -> bool {
    false
}

/// The signals of faults that are never blocked.
pub fn of_faults() -> u64 {
    0
}

/// What to install in place of a handler, with flags.
pub fn handler(plain: usize) -> (usize, i32) {
    (plain, libc::SA_SIGINFO)
}
