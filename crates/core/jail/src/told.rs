//! What a process in a view says of itself: whether it may have left a trace there.
//!
//! To look whether a view was changed costs more than most runs. A process whose calls are looked at one by one, as those of an emulated
//! program are, knows it. It says so in memory that its maker sees, before the call is made, so that what it said holds however
//! it ends.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Memory that processes have in common.
#[derive(Debug)]
struct Page(*mut libc::c_void);

// SAFETY: the mapping stays where it is for as long as this lives, and is only seen as an atomic value.
unsafe impl Send for Page {}
// SAFETY: likewise.
unsafe impl Sync for Page {}

const LENGTH: usize = 4096;

/// Whether a process may have left a trace in the view that it has entered.
#[derive(Clone, Debug)]
pub struct Traces(Arc<Page>);

impl Traces {
    pub(crate) fn new() -> io::Result<Traces> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS;
        // SAFETY: a fresh mapping at a place of the kernel's choice.
        let page = unsafe { libc::mmap(std::ptr::null_mut(), LENGTH, access, flags, -1, 0) };
        if page == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Traces(Arc::new(Page(page))))
    }

    fn flag(&self) -> &AtomicBool {
        // SAFETY: the page is aligned and zeroed, and longer than the flag.
        unsafe { &*self.0.0.cast::<AtomicBool>() }
    }

    /// Before the first call that may leave a trace: from now on there may be one.
    pub fn begin(&self) {
        self.flag().store(true, Ordering::Release);
    }

    pub(crate) fn none_so_far(&self) {
        self.flag().store(false, Ordering::Release);
    }

    pub(crate) fn are_possible(&self) -> bool {
        self.flag().load(Ordering::Acquire)
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and nothing points into it any more.
        unsafe { libc::munmap(self.0, LENGTH) };
    }
}
