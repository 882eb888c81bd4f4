//! System calls that say something about memory: what will be used, what is to be kept, written back or given up.

use super::space::{INVALID, NO_MEMORY};
use super::{Answer, Arguments, Errno, Reply};
use crate::memory::{Backing, Cause, PAGE, Region};
use crate::outside::FileChange;
use crate::outside::live::Live;
use crate::process::Process;

const MADV_COLD: i32 = 20;
const MADV_PAGEOUT: i32 = 21;
const MADV_POPULATE_READ: i32 = 22;
const MADV_POPULATE_WRITE: i32 = 23;
const MADV_DONTNEED_LOCKED: i32 = 24;

/// Whether an advice concerns this process alone.
pub(super) fn is_inside(_: &mut Process, arguments: &Arguments) -> bool {
    arguments[2] as i32 != libc::MADV_REMOVE
}

pub(super) fn madvise(process: &mut Process, arguments: &Arguments) -> Reply {
    advise(process, arguments).into()
}

/// The start and the end of a range in whole pages.
fn range(start: u64, length: u64) -> Result<(u64, u64), Errno> {
    if !start.is_multiple_of(PAGE) {
        return Err(INVALID);
    }
    let length = length.checked_next_multiple_of(PAGE).ok_or(INVALID)?;
    Ok((start, start.checked_add(length).ok_or(INVALID)?))
}

fn advise(process: &mut Process, arguments: &Arguments) -> Answer {
    let [start, length, advice, ..] = *arguments;
    let advice = advice as i32;
    match advice {
        libc::MADV_NORMAL..=libc::MADV_DONTNEED
        | libc::MADV_FREE
        | libc::MADV_DONTFORK..=libc::MADV_KEEPONFORK
        | MADV_COLD..=MADV_DONTNEED_LOCKED => {}
        _ => return Err(INVALID),
    }
    let (start, end) = range(start, length)?;
    if start == end {
        return Ok(0);
    }
    if matches!(advice, MADV_POPULATE_READ | MADV_POPULATE_WRITE) {
        return populate(process, start, end, advice == MADV_POPULATE_WRITE);
    }
    let memory = &mut process.world.memory;
    let parts: Vec<(u64, u64)> = memory.regions_in(start, end).map(|(at, to, _)| (at, to)).collect();
    let whole = memory.mapped_until(start, end) == end;
    for (at, to) in parts {
        let Some((_, region)) = memory.region_at(at) else { continue };
        if !takes(region, advice) {
            return Err(INVALID);
        }
        match advice {
            libc::MADV_DONTNEED | MADV_DONTNEED_LOCKED => memory.discard(at, to - at),
            libc::MADV_DONTFORK => memory.advise(at, to, |now| now.kept_from_children = true),
            libc::MADV_DOFORK => memory.advise(at, to, |now| now.kept_from_children = false),
            libc::MADV_WIPEONFORK => memory.advise(at, to, |now| now.wiped_in_children = true),
            libc::MADV_KEEPONFORK => memory.advise(at, to, |now| now.wiped_in_children = false),
            // The others are about speed, room and dumps: memory that may be freed may also be kept.
            _ => {}
        }
    }
    // Holes are left out, and told.
    if whole { Ok(0) } else { Err(NO_MEMORY) }
}

/// Whether an advice can be taken for a region.
fn takes(region: &Region, advice: i32) -> bool {
    match advice {
        libc::MADV_DONTNEED | MADV_COLD | MADV_PAGEOUT => !region.advice.locked,
        libc::MADV_FREE => !region.advice.locked && matches!(region.backing, Backing::Zero),
        libc::MADV_WIPEONFORK => matches!(region.backing, Backing::Zero),
        _ => true,
    }
}

/// Touches pages, so that later accesses cannot fail.
fn populate(process: &mut Process, start: u64, end: u64, writes: bool) -> Answer {
    let mut at = start;
    while at < end {
        let Some((_, region)) = process.world.memory.region_at(at) else { return Err(NO_MEMORY) };
        // What may be read because it may be written does not count.
        let is_allowed = if writes { region.permissions.write } else { region.permissions.read };
        if !is_allowed {
            return Err(INVALID);
        }
        let next = region.end.min(end);
        touch(process, at, next)?;
        at = next;
    }
    Ok(0)
}

/// Touches the pages of one region that come from a file: they may be behind its end. Those that are the process' own, if it may
/// write them, are from then on: they show the file no longer.
pub(super) fn touch(process: &mut Process, start: u64, end: u64) -> Result<(), Errno> {
    let Some((_, region)) = process.world.memory.region_at(start) else { return Ok(()) };
    let becomes_own = match &region.backing {
        Backing::Zero => return Ok(()),
        Backing::Copied { .. } => region.permissions.write,
        Backing::Shared { .. } => false,
    };
    let memory = &mut process.world.memory;
    for page in (start..end).step_by(PAGE as usize) {
        let touched = memory.load::<1>(page).and_then(|byte| match becomes_own {
            true => memory.store(page, byte),
            false => Ok(()),
        });
        match touched {
            Err(fault) if fault.cause == Cause::OutOfMemory => return Err(NO_MEMORY),
            touched => touched?,
        }
    }
    Ok(())
}

/// `MADV_REMOVE`: makes a hole in what is shared.
pub(super) fn remove(process: &mut Process, live: &Live, arguments: &Arguments) -> Reply {
    let [start, length, advice, ..] = *arguments;
    let mut make = || -> Answer {
        let (start, end) = range(start, length)?;
        if start == end {
            return Ok(0);
        }
        let memory = &mut process.world.memory;
        let whole = memory.mapped_until(start, end) == end;
        let parts: Vec<(u64, u64)> = memory.regions_in(start, end).map(|(at, to, _)| (at, to)).collect();
        for (at, to) in parts {
            let Some((from, region)) = process.world.memory.region_at(at) else { continue };
            let (map, offset) = match &region.backing {
                _ if region.advice.locked => return Err(INVALID),
                Backing::Zero => return Err(INVALID),
                Backing::Shared { map, offset, .. } if map.may_write() => (map.clone(), offset + (at - from)),
                Backing::Shared { .. } | Backing::Copied { .. } => return Err(Errno(libc::EACCES)),
            };
            let place = map.shared_page(offset).ok_or(INVALID)?;
            live.host(libc::SYS_madvise, [place as usize, (to - at) as usize, advice as usize, 0, 0, 0])?;
            if let Some(object) = map.object() {
                process.file_changed(FileChange { object, cut: None });
            }
        }
        if whole { Ok(0) } else { Err(NO_MEMORY) }
    };
    make().into()
}

/// Whether writing back what was written changes nothing but this process' knowledge: nobody waits for a disk.
pub(super) fn needs_no_disk(process: &mut Process, arguments: &Arguments) -> bool {
    let [start, length, flags, ..] = *arguments;
    let waits = flags as i32 & libc::MS_SYNC != 0;
    let Ok((start, end)) = range(start, length) else { return true };
    let shared = |region: &Region| matches!(region.backing, Backing::Shared { .. });
    !waits || !process.world.memory.regions_in(start, end).any(|(_, _, region)| shared(region))
}

pub(super) fn msync(process: &mut Process, arguments: &Arguments) -> Reply {
    written_back(process, arguments, |_, _| Ok(())).into()
}

pub(super) fn msync_outside(process: &mut Process, live: &Live, arguments: &Arguments) -> Reply {
    let write = |place: *mut u8, length: u64| {
        live.host(libc::SYS_msync, [place as usize, length as usize, libc::MS_SYNC as usize, 0, 0, 0])
            .map(drop)
    };
    written_back(process, arguments, write).into()
}

fn written_back(
    process: &mut Process,
    arguments: &Arguments,
    write: impl Fn(*mut u8, u64) -> Result<(), Errno>,
) -> Answer {
    let [start, length, flags, ..] = *arguments;
    let flags = flags as i32;
    let both = libc::MS_SYNC | libc::MS_ASYNC;
    if flags & !(both | libc::MS_INVALIDATE) != 0 || !start.is_multiple_of(PAGE) || flags & both == both {
        return Err(INVALID);
    }
    let length = length.checked_next_multiple_of(PAGE).ok_or(NO_MEMORY)?;
    let end = start.checked_add(length).ok_or(NO_MEMORY)?;
    let mut at = start;
    for (from, to, region) in process.world.memory.regions_in(start, end) {
        if from > at && flags == libc::MS_ASYNC {
            return Err(NO_MEMORY);
        }
        if flags & libc::MS_INVALIDATE != 0 && region.advice.locked {
            return Err(Errno(libc::EBUSY));
        }
        if let Backing::Shared { map, offset, .. } = &region.backing {
            let begin = process.world.memory.region_at(from).map_or(from, |(begin, _)| begin);
            if let Some(place) = map.shared_page(offset + (from - begin)) {
                write(place, to - from)?;
            }
        }
        at = to;
    }
    if process.world.memory.mapped_until(start, end) == end { Ok(0) } else { Err(NO_MEMORY) }
}

pub(super) fn mlock(process: &mut Process, arguments: &Arguments) -> Reply {
    lock(process, arguments[0], arguments[1], true).into()
}

pub(super) fn mlock2(process: &mut Process, arguments: &Arguments) -> Reply {
    let [start, length, flags, ..] = *arguments;
    const ON_FAULT: u64 = 1;
    if flags & !ON_FAULT != 0 {
        return Reply::Error(INVALID);
    }
    lock(process, start, length, flags & ON_FAULT == 0).into()
}

pub(super) fn munlock(process: &mut Process, arguments: &Arguments) -> Reply {
    let [start, length, ..] = *arguments;
    lockable(start, length).and_then(|(start, end)| set_locked(process, start, end, false)).into()
}

/// A range that need not start at a page.
fn lockable(start: u64, length: u64) -> Result<(u64, u64), Errno> {
    let first = start & !(PAGE - 1);
    let length = length.checked_add(start - first).and_then(|length| length.checked_next_multiple_of(PAGE));
    let end = length.and_then(|length| first.checked_add(length)).ok_or(INVALID)?;
    Ok((first, end))
}

fn set_locked(process: &mut Process, start: u64, end: u64, locked: bool) -> Answer {
    let memory = &mut process.world.memory;
    let until = memory.mapped_until(start, end);
    if until > start {
        memory.advise(start, until, |advice| advice.locked = locked);
    }
    if until == end { Ok(0) } else { Err(NO_MEMORY) }
}

fn lock(process: &mut Process, start: u64, length: u64, touches: bool) -> Answer {
    let (start, end) = lockable(start, length)?;
    if !process.facts.may_lock() {
        let limit = process.limits.locked.soft;
        if limit == 0 {
            return Err(Errno(libc::EPERM));
        }
        let locked = |(at, region): (u64, &Region)| if region.advice.locked { region.end - at } else { 0 };
        let all: u64 = process.world.memory.regions().map(locked).sum();
        if all.saturating_add(end - start) > limit {
            return Err(NO_MEMORY);
        }
    }
    set_locked(process, start, end, true)?;
    let mut at = start;
    while touches && at < end {
        let Some((_, region)) = process.world.memory.region_at(at) else { break };
        let permissions = region.permissions;
        let next = region.end.min(end);
        let accessible = permissions.read || permissions.write || permissions.execute;
        // Nothing can be locked that cannot be touched.
        if !accessible || touch(process, at, next).is_err() {
            return Err(NO_MEMORY);
        }
        at = next;
    }
    Ok(0)
}

pub(super) fn mlockall(process: &mut Process, arguments: &Arguments) -> Reply {
    let flags = arguments[0] as i32;
    if flags == 0 || flags & !7 != 0 || flags == libc::MCL_ONFAULT {
        return Reply::Error(INVALID);
    }
    if !process.facts.may_lock() && process.limits.locked.soft == 0 {
        return Reply::Error(Errno(libc::EPERM));
    }
    let end = process.world.memory.end();
    if flags & libc::MCL_CURRENT != 0 {
        process.world.memory.advise(0, end, |advice| advice.locked = true);
    }
    Reply::Value(0)
}

pub(super) fn munlockall(process: &mut Process, _: &Arguments) -> Reply {
    let end = process.world.memory.end();
    process.world.memory.advise(0, end, |advice| advice.locked = false);
    Reply::Value(0)
}
