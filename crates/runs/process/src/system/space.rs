//! System calls that map, move, protect and unmap memory. Errors come in the order in which Linux looks.

use super::{Answer, Arguments, Errno, Reply};
use crate::memory::{Advice, Backing, Memory, PAGE, Permissions};
use crate::outside::Wanted;
use crate::process::Process;

pub(super) const INVALID: Errno = Errno(libc::EINVAL);
pub(super) const NO_MEMORY: Errno = Errno(libc::ENOMEM);
const FAULT: Errno = Errno(libc::EFAULT);

fn permissions(bits: u64) -> Permissions {
    let has = |bit: i32| bits & bit as u64 != 0;
    Permissions { read: has(libc::PROT_READ), write: has(libc::PROT_WRITE), execute: has(libc::PROT_EXEC) }
}

/// Nothing is put below this address unasked, so that a null pointer with an offset still faults.
pub(super) const LOWEST: u64 = 0x10000;

pub(super) fn mmap(process: &mut Process, arguments: &Arguments) -> Reply {
    let offset = arguments[5];
    if !offset.is_multiple_of(PAGE) { Reply::Error(INVALID) } else { map(process, arguments, offset).into() }
}

pub(super) fn mmap2(process: &mut Process, arguments: &Arguments) -> Reply {
    map(process, arguments, arguments[5] * PAGE).into()
}

/// The flags that go with `MAP_SHARED_VALIDATE`: all that are older than it.
const OLD_FLAGS: u64 = (libc::MAP_SHARED
    | libc::MAP_PRIVATE
    | libc::MAP_FIXED
    | libc::MAP_ANONYMOUS
    | libc::MAP_DENYWRITE
    | libc::MAP_EXECUTABLE
    | libc::MAP_GROWSDOWN
    | libc::MAP_LOCKED
    | libc::MAP_NORESERVE
    | libc::MAP_POPULATE
    | libc::MAP_NONBLOCK
    | libc::MAP_STACK
    | libc::MAP_HUGETLB
    | MAP_32BIT
    | MAP_ABOVE4G) as u64
    | (63 << 26);

const MAP_32BIT: i32 = 0x40;
const MAP_ABOVE4G: i32 = 0x80;

fn map(process: &mut Process, arguments: &Arguments, offset: u64) -> Answer {
    let [_, _, access, flags, descriptor, _] = *arguments;
    let flag = |bit: i32| flags & bit as u64 != 0;
    let descriptor = descriptor as i32;
    let anonymous = flag(libc::MAP_ANONYMOUS);
    let placed = place(process, arguments, offset).and_then(|placed| Ok((placed, is_shared(flags)?)));
    let ((start, length), shared) = match placed {
        Ok(placed) => placed,
        // A descriptor that is not open is found first.
        Err(errno) if !anonymous => {
            let wanted = Wanted { offset: 0, length: PAGE, shared: false, write: false, execute: false };
            let bad = Errno(libc::EBADF);
            let is_bad = process.outside().map(descriptor, &wanted).is_err_and(|errno| errno == bad);
            return Err(if is_bad { bad } else { errno });
        }
        Err(errno) => return Err(errno),
    };
    let grows_down = flag(libc::MAP_GROWSDOWN) && process.machine.abi().word == 8;
    let writes = access & libc::PROT_WRITE as u64 != 0;
    let reserves = flags & process.machine.abi().no_reserve == 0;
    if writes && !shared && reserves && length > process.facts.memory {
        // Linux, left to its own judgement, refuses what could never be had.
        return Err(NO_MEMORY);
    }
    let replaced = process.world.memory.mapped_bytes(start, start + length);
    process.may_grow(length.saturating_sub(replaced), writes && !shared)?;
    let backing = if anonymous {
        match shared {
            true => Backing::Shared { map: process.outside().share(length)?, offset: 0, generation: 0 },
            false => Backing::Zero,
        }
    } else {
        let execute = access & libc::PROT_EXEC as u64 != 0;
        let wanted = Wanted { offset, length, shared, write: writes, execute };
        let map = process.outside().map(descriptor, &wanted)?;
        if grows_down {
            return Err(INVALID);
        }
        match shared {
            true => Backing::Shared { map, offset, generation: 0 },
            false => Backing::Copied { map, offset, generation: 0 },
        }
    };
    let memory = &mut process.world.memory;
    memory.map(start, length, permissions(access), backing);
    if grows_down || flag(libc::MAP_LOCKED) {
        memory.advise(start, start + length, |advice| {
            advice.grows_down = grows_down;
            advice.locked = flag(libc::MAP_LOCKED);
        });
    }
    let accessible = permissions(access) != Permissions::default();
    if accessible && (flag(libc::MAP_LOCKED) || flag(libc::MAP_POPULATE) && !flag(libc::MAP_NONBLOCK)) {
        // As far as there are pages: the mapping is made in any case.
        let _ = super::advice::touch(process, start, start + length);
    }
    Ok(start)
}

/// Whether others see what is written; an error where flags do not go together.
fn is_shared(flags: u64) -> Result<bool, Errno> {
    let flag = |bit: i32| flags & bit as u64 != 0;
    let anonymous = flag(libc::MAP_ANONYMOUS);
    if flag(libc::MAP_HUGETLB) && anonymous {
        // As where the administrator has set none aside.
        return Err(NO_MEMORY);
    }
    let shared = match flags as i32 & libc::MAP_TYPE {
        libc::MAP_PRIVATE => false,
        libc::MAP_SHARED => true,
        libc::MAP_SHARED_VALIDATE if !anonymous && flags & !OLD_FLAGS & !3 != 0 => {
            return Err(Errno(libc::EOPNOTSUPP));
        }
        libc::MAP_SHARED_VALIDATE if !anonymous => true,
        _ => return Err(INVALID),
    };
    if flag(libc::MAP_GROWSDOWN) && shared && anonymous { Err(INVALID) } else { Ok(shared) }
}

/// Where a mapping goes, and its length in whole pages.
fn place(process: &mut Process, arguments: &Arguments, offset: u64) -> Result<(u64, u64), Errno> {
    let [wish, length, _, flags, ..] = *arguments;
    let flag = |bit: i32| flags & bit as u64 != 0;
    if length == 0 {
        return Err(INVALID);
    }
    let length = length.checked_next_multiple_of(PAGE).ok_or(NO_MEMORY)?;
    if offset.checked_add(length).is_none() {
        return Err(Errno(libc::EOVERFLOW));
    }
    let abi = process.machine.abi();
    let memory = &mut process.world.memory;
    if !memory.is_range(0, length) {
        return Err(NO_MEMORY);
    }
    if flag(libc::MAP_FIXED) || flag(libc::MAP_FIXED_NOREPLACE) {
        if !memory.is_range(wish, length) {
            return Err(NO_MEMORY);
        }
        if wish % PAGE != 0 {
            return Err(INVALID);
        }
        if wish < LOWEST && !process.facts.may_map_zero() {
            return Err(Errno(libc::EPERM));
        }
        if flag(libc::MAP_FIXED_NOREPLACE) && !memory.is_free(wish, length) {
            return Err(Errno(libc::EEXIST));
        }
        return Ok((wish, length));
    }
    let hint = wish & !(PAGE - 1);
    let hint = if wish > 0 && hint < LOWEST { LOWEST } else { hint };
    const LOW: std::ops::Range<u64> = 0x4000_0000..0x8000_0000;
    let low = flag(MAP_32BIT) && abi.word == 8;
    let in_reach = !low || hint.checked_add(length).is_some_and(|end| end <= LOW.end);
    let start =
        if hint > 0 && memory.is_range(hint, length) && memory.is_free_with_room(hint, length) && in_reach {
            Some(hint)
        } else if low {
            memory.find_free_upwards(length, LOW.start, LOW.end)
        } else {
            memory.find_free(length, LOWEST, abi.mapping_top)
        };
    Ok((start.ok_or(NO_MEMORY)?, length))
}

pub(super) fn mprotect(process: &mut Process, arguments: &Arguments) -> Reply {
    protect(process, arguments).into()
}

fn protect(process: &mut Process, arguments: &Arguments) -> Answer {
    let [mut start, length, access, ..] = *arguments;
    const SEMAPHORES: u64 = 8;
    const DOWN: u64 = 0x0100_0000;
    const UP: u64 = 0x0200_0000;
    let known = (libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC) as u64 | SEMAPHORES;
    if access & (DOWN | UP) == DOWN | UP || !start.is_multiple_of(PAGE) {
        return Err(INVALID);
    }
    if length == 0 {
        return Ok(0);
    }
    let length = length.checked_next_multiple_of(PAGE).ok_or(NO_MEMORY)?;
    let end = start.checked_add(length).ok_or(NO_MEMORY)?;
    if access & !(known | DOWN | UP) != 0 {
        return Err(INVALID);
    }
    let memory = &mut process.world.memory;
    if access & DOWN != 0 {
        let (first, region) = memory.region_at(start).ok_or(NO_MEMORY)?;
        if !region.advice.grows_down {
            return Err(INVALID);
        }
        start = first;
    }
    if access & UP != 0 && memory.region_at(start).is_some() {
        // No machine here has stacks that grow upwards.
        return Err(INVALID);
    }
    // What lies before the first that cannot be had is changed.
    let writes = access & libc::PROT_WRITE as u64 != 0;
    let refused = memory.regions_in(start, end).find_map(|(at, _, region)| match &region.backing {
        Backing::Shared { map, .. } if writes && !map.may_write() => Some(at),
        _ => None,
    });
    let until = refused.unwrap_or(end);
    let whole = until <= start || memory.protect(start, until - start, permissions(access));
    match refused {
        _ if !whole => Err(NO_MEMORY),
        Some(_) => Err(Errno(libc::EACCES)),
        None => Ok(0),
    }
}

pub(super) fn munmap(process: &mut Process, arguments: &Arguments) -> Reply {
    let [start, length, ..] = *arguments;
    let memory = &mut process.world.memory;
    if !start.is_multiple_of(PAGE) || length == 0 || !memory.is_range(start, length) {
        return Reply::Error(INVALID);
    }
    memory.unmap(start, length.next_multiple_of(PAGE));
    Reply::Value(0)
}

pub(super) fn mremap(process: &mut Process, arguments: &Arguments) -> Reply {
    remap(process, arguments).into()
}

const MREMAP_DONTUNMAP: u64 = 4;

fn remap(process: &mut Process, arguments: &Arguments) -> Answer {
    let [old, old_length, new_length, flags, wish, _] = *arguments;
    let may_move = flags & libc::MREMAP_MAYMOVE as u64 != 0;
    let fixed = flags & libc::MREMAP_FIXED as u64 != 0;
    let stays = flags & MREMAP_DONTUNMAP != 0;
    let old_length = old_length.checked_next_multiple_of(PAGE).unwrap_or(0);
    let new_length = new_length.checked_next_multiple_of(PAGE).unwrap_or(0);
    let memory = &mut process.world.memory;
    if flags > 7 || !old.is_multiple_of(PAGE) || new_length == 0 || !memory.is_range(0, new_length) {
        return Err(INVALID);
    }
    if (fixed || stays) && !may_move || stays && old_length != new_length {
        return Err(INVALID);
    }
    if fixed || stays {
        let overlaps = wish < old.saturating_add(old_length) && old < wish.saturating_add(new_length);
        if !wish.is_multiple_of(PAGE) || !memory.is_range(wish, new_length) || overlaps {
            return Err(INVALID);
        }
    }
    let Some((start, region)) = memory.region_at(old) else { return Err(FAULT) };
    let shared = matches!(region.backing, Backing::Shared { .. });
    let (access, advice, distance) = (region.permissions, region.advice, old - start);
    if !fixed && !stays && old_length >= new_length {
        let surplus = old_length - new_length;
        if !memory.is_range(old + new_length, surplus) {
            return Err(INVALID);
        }
        memory.unmap(old + new_length, surplus);
        return Ok(old);
    }
    if old_length == 0 && !shared {
        return Err(INVALID);
    }
    let backing = region.tail(distance).backing;
    if !memory.is_range(old, old_length) || old_length > 0 && !memory.is_uniform(old, old + old_length) {
        return Err(FAULT);
    }
    let growth = new_length.saturating_sub(old_length);
    let added = if stays { new_length } else { growth };
    process.may_grow(added, access.write && !shared)?;
    let memory = &mut process.world.memory;
    // A shared mapping is made longer with the rest of it.
    if let Backing::Shared { map, offset, .. } | Backing::Copied { map, offset, .. } = &backing {
        map.reach(offset.checked_add(new_length).ok_or(INVALID)?);
    }
    let behind = |distance: u64| {
        let mut tail = backing.clone();
        if let Backing::Copied { offset, .. } | Backing::Shared { offset, .. } = &mut tail {
            *offset += distance;
        }
        tail
    };
    let after = old + old_length;
    let in_place = !fixed && !stays && old_length > 0 && memory.is_range(after, growth);
    if in_place && memory.is_free(after, growth) {
        memory.map(after, growth, access, behind(old_length));
        memory.advise(after, after + growth, |now| *now = advice);
        return Ok(old);
    }
    if !may_move {
        return Err(NO_MEMORY);
    }
    let target = if fixed {
        memory.unmap(wish, new_length);
        wish
    } else {
        let top = process.machine.abi().mapping_top;
        let hint = stays && wish >= LOWEST && memory.is_free(wish, new_length);
        let free = if hint { Some(wish) } else { memory.find_free(new_length, LOWEST, top) };
        free.ok_or(NO_MEMORY)?
    };
    let kept = old_length.min(new_length);
    if old_length > 0 {
        memory.relocate(old, kept, target);
        memory.unmap(old, old_length);
    }
    memory.map(target + kept, new_length - kept, access, behind(kept));
    memory.advise(target + kept, target + new_length, |now| *now = advice);
    if stays {
        // What was there has moved; the place itself reads as when it was mapped.
        memory.map(old, old_length, access, backing.clone());
        memory.advise(old, old + old_length, |now| *now = Advice { locked: false, ..advice });
        memory.discard(old, old_length);
    }
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
        let beyond = wish - first > process.limits.data.soft;
        if beyond || process.may_grow(new - old, true).is_err() {
            return Reply::Value(current);
        }
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

impl Process {
    /// Whether so many bytes more may be mapped; `data` if they are to be written by this process alone.
    pub(crate) fn may_grow(&self, bytes: u64, data: bool) -> Result<(), Errno> {
        let limits = &self.limits;
        let memory: &Memory = &self.world.memory;
        let within = |limit: u64, counts: &dyn Fn(&crate::memory::Region) -> bool| {
            limit == libc::RLIM_INFINITY
                || memory
                    .regions()
                    .filter(|(_, region)| counts(region))
                    .map(|(start, region)| region.end - start)
                    .sum::<u64>()
                    .saturating_add(bytes)
                    <= limit
        };
        let is_data = |region: &crate::memory::Region| {
            let shared = matches!(region.backing, Backing::Shared { .. });
            region.permissions.write && !shared && !region.advice.grows_down
        };
        let fits = within(limits.address_space.soft, &|_| true);
        if fits && (!data || within(limits.data.soft, &is_data)) { Ok(()) } else { Err(NO_MEMORY) }
    }
}
