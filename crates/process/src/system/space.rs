//! System calls on the address space.

use super::{Answer, Arguments, Errno, Reply};
use crate::memory::{Backing, PAGE, Permissions};
use crate::process::Process;

const INVALID: Errno = Errno(libc::EINVAL);
const NO_MEMORY: Errno = Errno(libc::ENOMEM);

fn permissions(bits: u64) -> Permissions {
    let has = |bit: i32| bits & bit as u64 != 0;
    Permissions { read: has(libc::PROT_READ), write: has(libc::PROT_WRITE), execute: has(libc::PROT_EXEC) }
}

/// The length of a request in whole pages.
fn pages(length: u64) -> Result<u64, Errno> {
    length.checked_next_multiple_of(PAGE).ok_or(NO_MEMORY)
}

pub(super) fn mmap(process: &mut Process, arguments: &Arguments) -> Reply {
    let offset = arguments[5];
    if !offset.is_multiple_of(PAGE) { Reply::Error(INVALID) } else { map(process, arguments, offset).into() }
}

pub(super) fn mmap2(process: &mut Process, arguments: &Arguments) -> Reply {
    map(process, arguments, arguments[5] * PAGE).into()
}

fn map(process: &mut Process, arguments: &Arguments, offset: u64) -> Answer {
    let [wish, length, access, flags, descriptor, _] = *arguments;
    let flag = |bit: i32| flags & bit as u64 != 0;
    let length = pages(length)?;
    if length == 0 || !matches!(flags as i32 & libc::MAP_TYPE, libc::MAP_PRIVATE | libc::MAP_SHARED | 3) {
        return Err(INVALID);
    }
    let fixed = flag(libc::MAP_FIXED) || flag(libc::MAP_FIXED_NOREPLACE);
    if fixed && wish % PAGE != 0 {
        return Err(INVALID);
    }
    let shared = flags as i32 & libc::MAP_TYPE != libc::MAP_PRIVATE;
    let abi = process.machine.abi();
    let reserves = flags & abi.no_reserve == 0;
    if access & libc::PROT_WRITE as u64 != 0 && !shared && reserves && length > process.facts.memory {
        // Linux, left to its own judgement, refuses what could never be had.
        return Err(NO_MEMORY);
    }
    let backing = if flag(libc::MAP_ANONYMOUS) {
        if shared {
            Backing::Shared { map: process.outside().share(length)?, offset: 0 }
        } else {
            Backing::Zero
        }
    } else {
        let descriptor = descriptor as i32;
        let writable = access & libc::PROT_WRITE as u64 != 0;
        let map = process.outside().map(descriptor, shared, writable)?;
        if shared { Backing::Shared { map, offset } } else { Backing::Copied { map, offset, generation: 0 } }
    };
    let memory = &mut process.world.memory;
    let start = if fixed {
        if !memory.is_range(wish, length) {
            return Err(NO_MEMORY);
        }
        if flag(libc::MAP_FIXED_NOREPLACE) && !memory.is_free(wish, length) {
            return Err(Errno(libc::EEXIST));
        }
        wish
    } else {
        let hint = wish & !(PAGE - 1);
        if hint >= LOWEST && memory.is_range(hint, length) && memory.is_free(hint, length) {
            hint
        } else {
            memory.find_free(length, LOWEST, abi.mapping_top).ok_or(NO_MEMORY)?
        }
    };
    process.world.memory.map(start, length, permissions(access), backing);
    Ok(start)
}

/// Nothing is put below this address unasked, so that a null pointer with an offset still faults.
const LOWEST: u64 = 0x10000;

/// Checks a page-aligned start and rounds the length.
fn range(process: &Process, start: u64, length: u64) -> Result<u64, Errno> {
    let length = pages(length)?;
    if !start.is_multiple_of(PAGE) {
        return Err(INVALID);
    }
    if !process.world.memory.is_range(start, length) {
        return Err(NO_MEMORY);
    }
    Ok(length)
}

pub(super) fn mprotect(process: &mut Process, arguments: &Arguments) -> Reply {
    let [start, length, access, ..] = *arguments;
    let answer = range(process, start, length).and_then(|length| {
        if process.world.memory.protect(start, length, permissions(access)) { Ok(0) } else { Err(NO_MEMORY) }
    });
    answer.into()
}

pub(super) fn munmap(process: &mut Process, arguments: &Arguments) -> Reply {
    let [start, length, ..] = *arguments;
    let answer = range(process, start, length).and_then(|length| {
        if length == 0 {
            return Err(INVALID);
        }
        process.world.memory.unmap(start, length);
        Ok(0)
    });
    answer.into()
}

pub(super) fn mremap(process: &mut Process, arguments: &Arguments) -> Reply {
    remap(process, arguments).into()
}

fn remap(process: &mut Process, arguments: &Arguments) -> Answer {
    let [old, old_length, new_length, flags, wish, _] = *arguments;
    let old_length = range(process, old, old_length)?;
    let new_length = pages(new_length)?;
    let may_move = flags & libc::MREMAP_MAYMOVE as u64 != 0;
    let fixed = flags & libc::MREMAP_FIXED as u64 != 0;
    if new_length == 0 || old_length == 0 || flags > 3 || (fixed && !may_move) {
        return Err(INVALID);
    }
    let machine = process.machine;
    let memory = &mut process.world.memory;
    let Some((_, region)) = memory.region_at(old) else { return Err(Errno(libc::EFAULT)) };
    if region.end < old + old_length {
        return Err(Errno(libc::EFAULT));
    }
    let access = region.permissions;
    if !fixed && new_length <= old_length {
        memory.unmap(old + new_length, old_length - new_length);
        return Ok(old);
    }
    let growth = new_length.saturating_sub(old_length);
    let tail = match memory.region_at(old).map(|(start, region)| (start, region.backing.clone())) {
        Some((start, Backing::Copied { map, offset, generation })) => {
            Backing::Copied { map, offset: offset + (old + old_length - start), generation }
        }
        Some((_, Backing::Shared { .. })) if growth > 0 => return Err(NO_MEMORY),
        _ => Backing::Zero,
    };
    if !fixed && memory.is_range(old + old_length, growth) && memory.is_free(old + old_length, growth) {
        memory.map(old + old_length, growth, access, tail);
        return Ok(old);
    }
    if !may_move {
        return Err(NO_MEMORY);
    }
    let target = if fixed {
        if wish % PAGE != 0 || !memory.is_range(wish, new_length) {
            return Err(INVALID);
        }
        if wish < old + old_length && old < wish + new_length {
            return Err(INVALID);
        }
        memory.unmap(wish, new_length);
        wish
    } else {
        memory.find_free(new_length, LOWEST, machine.abi().mapping_top).ok_or(NO_MEMORY)?
    };
    let kept = old_length.min(new_length);
    memory.relocate(old, kept, target);
    memory.unmap(old, old_length);
    memory.map(target + kept, new_length - kept, access, tail);
    Ok(target)
}

pub(super) fn brk(process: &mut Process, arguments: &Arguments) -> Reply {
    let wish = arguments[0];
    let (first, current) = (process.heap.start, process.heap.end);
    let room = process.machine.abi().mapping_top / 2 + process.machine.abi().mapping_top / 4;
    if wish < first || wish > first.max(room) || wish - first > process.facts.memory {
        return Reply::Value(current);
    }
    let (old, new) = (current.next_multiple_of(PAGE), wish.next_multiple_of(PAGE));
    if new > old {
        if !process.world.memory.is_range(old, new - old) || !process.world.memory.is_free(old, new - old) {
            return Reply::Value(current);
        }
        process.world.memory.map(old, new - old, Permissions::DATA, Backing::Zero);
    } else {
        process.world.memory.unmap(new, old - new);
    }
    process.heap.end = wish;
    Reply::Value(wish)
}

pub(super) fn madvise(process: &mut Process, arguments: &Arguments) -> Reply {
    let [start, length, advice, ..] = *arguments;
    let answer = range(process, start, length).map(|length| {
        let private = process
            .world
            .memory
            .region_at(start)
            .is_some_and(|(_, region)| !matches!(region.backing, Backing::Shared { .. }));
        if advice as i32 == libc::MADV_DONTNEED && private {
            process.world.memory.discard(start, length);
        }
        0
    });
    answer.into()
}
