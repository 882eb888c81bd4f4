//! Memory that a child made by `vfork` borrows from its parent until it runs another program or ends.
//!
//! The child is a copy here, so what it wrote is given back through memory that both share, while the parent waits. No
//! descriptor is involved: such a child often closes all it finds.

use super::kernel;
use crate::memory::{Memory, PAGE};
use crate::system::Errno;
use std::sync::atomic::{AtomicU32, Ordering};

/// So many pages can be given back; room that is not used costs nothing.
const LARGEST: usize = 1 << 16;
const RECORD: usize = 8 + PAGE as usize;
const SIZE: usize = PAGE as usize + LARGEST * RECORD;

/// The child still borrows.
const LENT: u32 = 0;
/// What it wrote is there.
const RETURNED: u32 = 1;
/// It wrote more than there is room for.
const TOO_MUCH: u32 = 2;

/// The shared memory: a head, then records of a page number and the page's bytes.
pub struct Loan {
    start: *mut u8,
}

#[repr(C)]
struct Head {
    state: AtomicU32,
    count: AtomicU32,
}

/// What the child holds.
pub struct Borrowed {
    /// Memory as it was.
    pub original: Memory,
    /// Where to give back.
    pub loan: Loan,
}

impl Loan {
    pub fn new() -> Result<Loan, Errno> {
        let access = (libc::PROT_READ | libc::PROT_WRITE) as usize;
        let flags = (libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE) as usize;
        let start = kernel(libc::SYS_mmap, [0, SIZE, access, flags, usize::MAX, 0])?;
        Ok(Loan { start: start as *mut u8 })
    }

    fn head(&self) -> &Head {
        // SAFETY: the mapping is page-aligned, zeroed and at least that large; both fields are atomic.
        unsafe { &*self.start.cast::<Head>() }
    }

    fn record(&self, index: usize) -> *mut u8 {
        assert!(index < LARGEST);
        self.start.wrapping_add(PAGE as usize + index * RECORD)
    }

    /// Gives back the pages of `memory` that are not as in `original`: the child's last act on it.
    pub fn give_back(&self, memory: &mut Memory, original: &Memory) {
        let mut count = 0;
        let mut state = RETURNED;
        for number in memory.pages_changed_since(original) {
            let mut record = [0; RECORD];
            record[..8].copy_from_slice(&number.to_le_bytes());
            if memory.read(number * PAGE, &mut record[8..]).is_err() {
                continue;
            }
            if count == LARGEST {
                state = TOO_MUCH;
                break;
            }
            // SAFETY: the parent does not read before the state says so.
            unsafe { std::ptr::copy_nonoverlapping(record.as_ptr(), self.record(count), RECORD) };
            count += 1;
        }
        self.head().count.store(count as u32, Ordering::Relaxed);
        self.head().state.store(state, Ordering::Release);
        let word = std::ptr::from_ref(&self.head().state) as usize;
        let _ = kernel(libc::SYS_futex, [word, libc::FUTEX_WAKE as usize, 1, 0, 0, 0]);
    }

    /// Waits until `child` has given back, or is dead: the pages that it wrote, by number. Fails if they were too many.
    pub fn take_back(&self, child: i32) -> Result<Vec<(u64, Vec<u8>)>, Errno> {
        let tick = libc::timespec { tv_sec: 0, tv_nsec: 20_000_000 };
        let word = std::ptr::from_ref(&self.head().state) as usize;
        while self.head().state.load(Ordering::Acquire) == LENT {
            let wait = [word, libc::FUTEX_WAIT as usize, LENT as usize, &raw const tick as usize, 0, 0];
            if kernel(libc::SYS_futex, wait) == Err(Errno(libc::ETIMEDOUT)) && has_ended(child) {
                break;
            }
        }
        match self.head().state.load(Ordering::Acquire) {
            TOO_MUCH => return Err(Errno(libc::ENOMEM)),
            RETURNED => {}
            _ => return Ok(Vec::new()),
        }
        let count = (self.head().count.load(Ordering::Relaxed) as usize).min(LARGEST);
        let pages = (0..count).map(|index| {
            // SAFETY: the child has let go of it.
            let record = unsafe { std::slice::from_raw_parts(self.record(index), RECORD) };
            let number = u64::from_le_bytes(record[..8].try_into().expect("eight bytes"));
            (number, record[8..].to_vec())
        });
        Ok(pages.collect())
    }
}

impl Drop for Loan {
    fn drop(&mut self) {
        let _ = kernel(libc::SYS_munmap, [self.start as usize, SIZE, 0, 0, 0, 0]);
    }
}

/// Whether a child has ended, which stays to be waited for.
fn has_ended(child: i32) -> bool {
    // SAFETY: the structure is made of numbers and pointers, for which zero is a value.
    let mut information: libc::siginfo_t = unsafe { std::mem::zeroed() };
    let options = (libc::WEXITED | libc::WNOHANG | libc::WNOWAIT) as usize;
    let target = &raw mut information as usize;
    let asked = kernel(libc::SYS_waitid, [libc::P_PID as usize, child as usize, target, options, 0, 0]);
    // SAFETY: without an ended child the record stays as it was; where nobody waits for children, they are simply gone.
    asked.is_err() || unsafe { information.si_pid() } == child
}
