//! Locks that others get when a thread ends without releasing them (robust mutexes).
//!
//! A thread lists the locks that it holds, and tells the kernel where the list begins. When it ends, each of them that still has
//! its number is marked, and one who waits is woken.

use super::{Arguments, Errno, Reply};
use crate::outside::Tid;
use crate::process::Process;

const WAITERS: u32 = 1 << 31;
const OWNER_DIED: u32 = 1 << 30;
const OWNER: u32 = (1 << 30) - 1;

/// So many locks are released; a list may go in circles.
const MOST: usize = 2048;

/// Words of the head of the list: the first entry, the distance from an entry to its lock, and the entry that is being added or
/// removed.
const HEAD: u64 = 3;

pub(super) fn set(process: &mut Process, arguments: &Arguments) -> Reply {
    let [head, length, ..] = *arguments;
    if length != HEAD * process.machine.abi().word as u64 {
        return Reply::Error(Errno(libc::EINVAL));
    }
    process.threads.set_robust(head);
    Reply::Value(0)
}

pub(super) fn get(process: &mut Process, arguments: &Arguments) -> Reply {
    let [thread, head, length, ..] = *arguments;
    let thread = if thread == 0 { process.threads.number().into() } else { thread };
    let Some(list) = process.threads.robust_of(thread) else { return Reply::Error(Errno(libc::ESRCH)) };
    let abi = process.machine.abi();
    let put = process
        .put(length, &abi.word_bytes(HEAD * abi.word as u64))
        .and_then(|()| process.put(head, &abi.word_bytes(list)));
    put.map(|()| 0).into()
}

impl Process {
    /// Releases the locks that a thread has listed.
    pub(crate) fn leave_locks(&mut self, thread: Tid, head: u64) {
        if head != 0 {
            // A list that cannot be read ends there.
            let _ = self.walk(thread, head);
        }
    }

    /// The same for all threads: the process ends, or runs another program.
    pub(crate) fn leave_all_locks(&mut self) {
        for thread in self.threads.numbers() {
            let head = self.threads.robust_of(thread.into()).unwrap_or(0);
            self.leave_locks(thread, head);
        }
    }

    fn walk(&mut self, thread: Tid, head: u64) -> Result<(), Errno> {
        let word = self.machine.abi().word as u64;
        let mut entry = self.take_word(head)?;
        let distance = self.take_word(head + word)?;
        let pending = self.take_word(head + 2 * word)?;
        let lock = |entry: u64| (entry & !1).wrapping_add(distance);
        for _ in 0..MOST {
            if entry & !1 == head {
                break;
            }
            // The entry may be another's as soon as its lock is released.
            let next = self.take_word(entry & !1);
            if entry & !1 != pending & !1 {
                self.release(thread, lock(entry), entry & 1 != 0, false)?;
            }
            entry = next?;
        }
        if pending & !1 != 0 {
            self.release(thread, lock(pending), pending & 1 != 0, true)?;
        }
        Ok(())
    }

    fn release(&mut self, thread: Tid, address: u64, has_owner: bool, pending: bool) -> Result<(), Errno> {
        let value = self.lock_value(address)?;
        if pending && !has_owner && value == 0 {
            // It was released already, and perhaps nobody was woken.
            self.wake_one(address);
            return Ok(());
        }
        if value & OWNER != thread {
            return Ok(());
        }
        let heir = if has_owner { self.threads.waiting_for(address) } else { Vec::new() };
        let owner = heir.iter().find(|heir| **heir != thread);
        let value = match owner {
            // Those who wait for a lock with an owner get it in turn.
            Some(owner) => owner | if heir.len() > 1 { WAITERS } else { 0 } | OWNER_DIED,
            None => value & WAITERS | OWNER_DIED,
        };
        let bytes = self.machine.abi().int_bytes(value);
        self.world.memory.write(address, &bytes)?;
        if owner.is_some() || value & WAITERS != 0 {
            self.wake_one(address);
        }
        Ok(())
    }

    fn wake_one(&mut self, address: u64) {
        if self.threads.wake(address, 1, u32::MAX) == 0 && self.world.memory.is_shared(address) {
            self.with_outside(|outside, process| outside.wake(&process.world.memory, address));
        }
    }
}
