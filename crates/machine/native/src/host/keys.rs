//! Protection keys: while the program runs, the host's pages are closed to it, so that a stray pointer finds there what it finds
//! natively, a fault.

use std::sync::OnceLock;

/// A protection key.
#[derive(Clone, Copy, Debug)]
pub struct Key(pub u32);

impl Key {
    /// The key of all pages that were given none: closed while the program runs.
    pub const HOST: Key = Key(0);
}

/// The keys of this process of the host.
#[derive(Clone, Copy, Debug)]
pub struct Keys {
    /// Of pages that the program may access as they are mapped.
    open: u32,
    /// Of pages that translated code reads.
    tables: u32,
}

impl Keys {
    /// The key of the program's pages and of the cells; before Linux 6.12 also of the stack of signals.
    pub fn shown(self) -> Key {
        Key(self.open)
    }

    /// The key of what translated code only reads.
    pub fn tables(self) -> Key {
        Key(self.tables)
    }

    /// PKRU while the program runs.
    pub fn rights(self) -> u32 {
        const CLOSED: u32 = 0x5555_5555;
        const NO_WRITES: u32 = 2;
        CLOSED & !(3 << (2 * self.open)) & !(3 << (2 * self.tables)) | NO_WRITES << (2 * self.tables)
    }
}

/// The keys, or why there are none.
pub fn keys() -> Result<Keys, String> {
    static KEYS: OnceLock<Option<Keys>> = OnceLock::new();
    let keys = KEYS.get_or_init(|| {
        // SAFETY: new keys change no page.
        let new = || unsafe { libc::syscall(libc::SYS_pkey_alloc, 0, 0) };
        let (open, tables) = (new(), new());
        (open > 0 && tables > 0).then_some(Keys { open: open as u32, tables: tables as u32 })
    });
    keys.ok_or_else(|| String::from("this machine has no protection keys"))
}

/// Maps private memory with a key, at an address where nothing is or anywhere; its address.
pub fn map(at: u64, bytes: u64, protection: i32, key: Key) -> Option<u64> {
    let fixed = if at == 0 { 0 } else { libc::MAP_FIXED_NOREPLACE };
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | fixed;
    // SAFETY: a new mapping that covers no other.
    let place = unsafe { libc::mmap(at as *mut _, bytes as usize, libc::PROT_NONE, flags, -1, 0) };
    if place == libc::MAP_FAILED {
        return None;
    }
    let place = place as u64;
    if at != 0 && place != at || !protect(place, bytes, protection, key) {
        unmap(place, bytes);
        return None;
    }
    Some(place)
}

/// Changes rights and key of a mapping of ours; whether the host did.
pub fn protect(at: u64, bytes: u64, protection: i32, key: Key) -> bool {
    // SAFETY: the caller's own mapping.
    unsafe { libc::syscall(libc::SYS_pkey_mprotect, at, bytes, i64::from(protection), i64::from(key.0)) == 0 }
}

/// Takes a mapping of ours away.
pub fn unmap(at: u64, bytes: u64) {
    // SAFETY: the caller's own mapping, to which nothing refers any more.
    unsafe { libc::munmap(at as *mut _, bytes as usize) };
}
