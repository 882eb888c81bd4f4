//! Ending the calling process the way a program ended.

use crate::process::Ending;

/// Ends the calling process the way the program ended, so that whoever waits for it sees no difference. What has no
/// counterpart there ends with `otherwise`.
pub fn enact(ending: &Ending, otherwise: i32) -> ! {
    let status = match ending {
        Ending::Exited(status) => i32::from(*status),
        Ending::Killed { signal, .. } => {
            // No core file of Parallax in place of the program's.
            let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
            // SAFETY: the call reads and writes only what it is handed, which lives long enough.
            unsafe {
                libc::setrlimit(libc::RLIMIT_CORE, &none);
                libc::signal(*signal, libc::SIG_DFL);
                let mut only: libc::sigset_t = std::mem::zeroed();
                libc::sigemptyset(&mut only);
                libc::sigaddset(&mut only, *signal);
                libc::sigprocmask(libc::SIG_UNBLOCK, &only, std::ptr::null_mut());
                libc::raise(*signal);
            }
            128 + signal
        }
        Ending::Unsupported { .. } | Ending::GaveUp { .. } | Ending::Closed { .. } => otherwise,
    };
    // SAFETY: nothing of ours is buffered, and a forked child must not run our caller's exit handlers.
    unsafe { libc::_exit(status) }
}
