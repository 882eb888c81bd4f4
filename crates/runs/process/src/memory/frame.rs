//! The bytes of one page, on the heap or in a pool.

use super::PAGE;
use parallax_native::host::Pool;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The contents of a page.
pub(super) type Bytes = [u8; PAGE as usize];

/// The bytes of one page, written through caches that hold its address.
pub(super) struct Frame {
    bytes: *mut Bytes,
    /// Where the bytes lie; on the heap without it.
    pool: Option<Arc<Pool>>,
    /// Whether the program, or a call, has written it: pages that were only read do not count as state.
    written: AtomicBool,
}

// SAFETY: a frame is written only by the one `Memory` that holds its only reference (see `Frame::own`).
unsafe impl Send for Frame {}
// SAFETY: as above.
unsafe impl Sync for Frame {}

impl Frame {
    /// A frame on the heap.
    pub fn new(bytes: Bytes) -> Arc<Self> {
        let bytes = Box::into_raw(Box::new(bytes));
        Arc::new(Frame { bytes, pool: None, written: AtomicBool::new(false) })
    }

    /// A frame in a pool, if there is one with room: the page of that number.
    pub fn for_page(number: u64, bytes: &Bytes, pool: Option<&Arc<Pool>>) -> Arc<Self> {
        let Some((pool, place)) = pool.and_then(|pool| Some((pool, pool.take(number)?))) else {
            return Frame::new(*bytes);
        };
        let place = place.cast::<Bytes>();
        // SAFETY: the pool gave a page that nothing else refers to.
        unsafe { *place = *bytes };
        Arc::new(Frame { bytes: place, pool: Some(pool.clone()), written: AtomicBool::new(false) })
    }

    /// A copy, as the page of that number.
    ///
    /// # Safety
    /// Nothing writes the frame meanwhile.
    pub unsafe fn copy(&self, number: u64, pool: Option<&Arc<Pool>>) -> Arc<Self> {
        // SAFETY: as the caller vouches.
        let copy = Frame::for_page(number, unsafe { self.contents() }, pool);
        copy.set_written(self.is_written());
        copy
    }

    /// Makes a frame that others may hold one that is held here alone; whether it is another one now.
    ///
    /// # Safety
    /// Nothing writes the frame meanwhile.
    pub unsafe fn own(frame: &mut Arc<Frame>, number: u64, pool: Option<&Arc<Pool>>) -> bool {
        // Other threads may hold it, and let go of it: only this way of asking is in step with them.
        if Arc::get_mut(frame).is_some() {
            return false;
        }
        // SAFETY: as the caller vouches.
        *frame = unsafe { frame.copy(number, pool) };
        true
    }

    pub fn address(&self) -> *mut u8 {
        self.bytes.cast()
    }

    /// # Safety
    /// Nothing writes the frame while the bytes are looked at.
    pub unsafe fn contents(&self) -> &Bytes {
        // SAFETY: the bytes live as long as the frame; else as the caller vouches.
        unsafe { &*self.bytes }
    }

    pub fn is_written(&self) -> bool {
        self.written.load(Ordering::Relaxed)
    }

    pub fn set_written(&self, written: bool) {
        self.written.store(written, Ordering::Relaxed);
    }
}

impl Drop for Frame {
    fn drop(&mut self) {
        match &self.pool {
            Some(pool) => pool.give(self.address()),
            // SAFETY: it came from a box, and nothing refers to it any more.
            None => drop(unsafe { Box::from_raw(self.bytes) }),
        }
    }
}
