//! Accesses of the host's mappings of files, which may be gone: the file may have been cut since.
//!
//! The kernel says so by SIGBUS. Each access here first announces where its thread goes on then; whoever handles SIGBUS
//! asks [`recovery`], and changes the program counter of the interrupted code. On hosts of other processors than x86-64
//! the accesses are plain.

use std::cell::Cell;

thread_local! {
    /// Where the access that is under way continues if it fails, or zero.
    static RECOVERY: Cell<usize> = const { Cell::new(0) };
}

/// Where the thread that was interrupted by SIGBUS continues; none if it was not in one of the accesses here. Safe in a
/// signal handler.
pub(crate) fn recovery() -> Option<usize> {
    RECOVERY.try_with(Cell::get).ok().filter(|place| *place != 0)
}

/// Copies `length` bytes; false if some of them are gone. Bytes before those may have been copied.
///
/// # Safety
/// Both places are mapped for so many bytes and for these accesses, or are pages of a file that was cut.
#[cfg(target_arch = "x86_64")]
pub(crate) unsafe fn copy(from: *const u8, to: *mut u8, length: usize) -> bool {
    let slot = RECOVERY.with(Cell::as_ptr);
    let whole: usize;
    // SAFETY: copies what the caller vouches for. A fault inside continues at `3`, where no register but the counters of the copy
    // has changed; the direction flag is clear, as the calling convention has it.
    unsafe {
        std::arch::asm!(
            "lea {place}, [rip + 3f]",
            "mov [{slot}], {place}",
            "rep movsb",
            "mov {whole}, 1",
            "jmp 4f",
            "3:",
            "mov {whole}, 0",
            "4:",
            "mov qword ptr [{slot}], 0",
            slot = in(reg) slot,
            place = out(reg) _,
            whole = out(reg) whole,
            inout("rsi") from => _,
            inout("rdi") to => _,
            inout("rcx") length => _,
            options(nostack),
        );
    }
    whole == 1
}

/// Copies `length` bytes.
///
/// # Safety
/// Both places are mapped for so many bytes and for these accesses.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) unsafe fn copy(from: *const u8, to: *mut u8, length: usize) -> bool {
    // SAFETY: as the caller vouches.
    unsafe { std::ptr::copy_nonoverlapping(from, to, length) };
    true
}

/// What an exchange came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exchanged {
    /// The new bytes are there.
    Done,
    /// Something else was there than the old ones.
    Changed,
    /// The place is gone.
    Gone,
}

#[cfg(target_arch = "x86_64")]
macro_rules! exchange {
    ($name:ident, $word:ty, $register:ident, $form:literal) => {
        unsafe fn $name(place: *mut u8, old: $word, new: $word) -> Exchanged {
            let slot = RECOVERY.with(Cell::as_ptr);
            let result: usize;
            // SAFETY: one access that the caller vouches for; a fault continues at `3`.
            unsafe {
                std::arch::asm!(
                    "lea {result}, [rip + 3f]",
                    "mov [{slot}], {result}",
                    concat!("lock cmpxchg [{place}], {new", $form, "}"),
                    "mov {result}, 0",
                    "je 4f",
                    "mov {result}, 1",
                    "jmp 4f",
                    "3:",
                    "mov {result}, 2",
                    "4:",
                    "mov qword ptr [{slot}], 0",
                    slot = in(reg) slot,
                    place = in(reg) place,
                    new = in($register) new,
                    result = out(reg) result,
                    inout("rax") u64::from(old) => _,
                    options(nostack),
                );
            }
            [Exchanged::Done, Exchanged::Changed, Exchanged::Gone][result]
        }
    };
}

#[cfg(target_arch = "x86_64")]
exchange!(exchange_1, u8, reg_byte, "");
#[cfg(target_arch = "x86_64")]
exchange!(exchange_2, u16, reg, ":x");
#[cfg(target_arch = "x86_64")]
exchange!(exchange_4, u32, reg, ":e");
#[cfg(target_arch = "x86_64")]
exchange!(exchange_8, u64, reg, "");

#[cfg(not(target_arch = "x86_64"))]
macro_rules! exchange {
    ($name:ident, $word:ty, $atomic:ty) => {
        unsafe fn $name(place: *mut u8, old: $word, new: $word) -> Exchanged {
            use std::sync::atomic::Ordering;
            // SAFETY: the place is mapped and aligned, and all who share it use atomic accesses.
            let cell = unsafe { &*place.cast::<$atomic>() };
            match cell.compare_exchange(old, new, Ordering::SeqCst, Ordering::SeqCst) {
                Ok(_) => Exchanged::Done,
                Err(_) => Exchanged::Changed,
            }
        }
    };
}

#[cfg(not(target_arch = "x86_64"))]
exchange!(exchange_1, u8, std::sync::atomic::AtomicU8);
#[cfg(not(target_arch = "x86_64"))]
exchange!(exchange_2, u16, std::sync::atomic::AtomicU16);
#[cfg(not(target_arch = "x86_64"))]
exchange!(exchange_4, u32, std::sync::atomic::AtomicU32);
#[cfg(not(target_arch = "x86_64"))]
exchange!(exchange_8, u64, std::sync::atomic::AtomicU64);

/// Stores `new` as one access for all processors if `old` is there; none if so many bytes are not one access.
///
/// # Safety
/// The place is mapped for writing and aligned to the number of bytes, or is in a page of a file that was cut.
pub(super) unsafe fn exchange(place: *mut u8, old: &[u8], new: &[u8]) -> Option<Exchanged> {
    // SAFETY: as the caller vouches.
    unsafe {
        Some(match (old, new) {
            ([old], [new]) => exchange_1(place, *old, *new),
            (old, new) if new.len() == 2 => exchange_2(place, word(old)? as u16, word(new)? as u16),
            (old, new) if new.len() == 4 => exchange_4(place, word(old)? as u32, word(new)? as u32),
            (old, new) if new.len() == 8 => exchange_8(place, word(old)?, word(new)?),
            _ => return None,
        })
    }
}

/// The same for a word of shared memory that somebody else has found; none if it is gone.
pub(crate) fn exchange_word(place: *mut u8, old: u32, new: u32) -> Option<bool> {
    // SAFETY: the place is that of a word in memory of the host that is shared, as far as its file reaches.
    match unsafe { exchange_4(place, old, new) } {
        Exchanged::Done => Some(true),
        Exchanged::Changed => Some(false),
        Exchanged::Gone => None,
    }
}

/// Up to eight bytes as the host's number.
fn word(bytes: &[u8]) -> Option<u64> {
    let mut all = [0; 8];
    all.get_mut(..bytes.len())?.copy_from_slice(bytes);
    Some(u64::from_le_bytes(all))
}
