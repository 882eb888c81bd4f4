//! Work that opens files when the program has all its descriptors in use: they are the program's, and none is set aside.
//!
//! A thread of the host can have a table of descriptors of its own. It closes what it does not need there, which the program does not
//! notice, and what it maps is mapped for all.

use super::kernel;

/// Does some work again in a thread with descriptors to spare, if it fails for want of them. No descriptor may be part of the result.
pub fn with_spare<T: Send, E: Send>(
    work: impl Fn() -> Result<T, E> + Sync,
    is_full: impl Fn(&E) -> bool,
) -> Result<T, E> {
    let first = work();
    let Err(error) = &first else { return first };
    if !is_full(error) {
        return first;
    }
    // The new thread must not take signals that are meant for the program.
    let all = u64::MAX;
    let mut old = 0u64;
    let mask = |new: &u64, old: &mut u64| {
        let how = libc::SIG_SETMASK as usize;
        let (new, old) = (std::ptr::from_ref(new) as usize, std::ptr::from_mut(old) as usize);
        let _ = kernel(libc::SYS_rt_sigprocmask, [how, new, old, 8, 0, 0]);
    };
    mask(&all, &mut old);
    let second = std::thread::scope(|scope| {
        let work = &work;
        let thread = scope.spawn(move || {
            let own = kernel(libc::SYS_unshare, [libc::CLONE_FILES as usize, 0, 0, 0, 0, 0]);
            // Without a table of its own it would close the program's.
            own.is_ok().then(|| {
                let _ = kernel(libc::SYS_close_range, [3, u32::MAX as usize, 0, 0, 0, 0]);
                work()
            })
        });
        thread.join().ok().flatten()
    });
    mask(&old, &mut 0);
    second.unwrap_or(first)
}
