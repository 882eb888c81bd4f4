//! Work of ours that the program's limits do not concern.
//!
//! Work that opens files when the program has all its descriptors in use: they are the program's, and none is set aside.
//!
//! A thread of the host can have a table of descriptors of its own. It closes what it does not need there, which the program does not
//! notice, and what it maps is mapped for all.

use super::kernel;

/// Does work that writes files which are not the program's, without its limit on their size: the highest limit stays ours (see
/// `system::limits`).
pub fn without_size_limit<T>(work: impl FnOnce() -> T) -> T {
    let mut old = [0u64; 2];
    let limit = |new: Option<&[u64; 2]>, old: Option<&mut [u64; 2]>| {
        let new = new.map_or(0, |new| new.as_ptr() as usize);
        let old = old.map_or(0, |old| old.as_mut_ptr() as usize);
        kernel(libc::SYS_prlimit64, [0, libc::RLIMIT_FSIZE as usize, new, old, 0, 0]).is_ok()
    };
    let is_lifted = limit(None, Some(&mut old)) && old[0] < old[1] && limit(Some(&[old[1], old[1]]), None);
    let done = work();
    if is_lifted {
        limit(Some(&old), None);
    }
    done
}

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
