//! Shared memory, semaphores and messages of System V, and the queues of POSIX: the host's own, but for the memory that
//! segments are attached to.

use super::descriptors::slow;
use super::space::{INVALID, LOWEST, NO_MEMORY};
use super::{Answer, Arguments, Reply};
use crate::memory::{Backing, PAGE, Permissions};
use crate::outside::live::Live;
use crate::process::Process;

pub(super) fn shmat(process: &mut Process, arguments: &Arguments) -> Reply {
    attach(process, arguments).into()
}

fn attach(process: &mut Process, arguments: &Arguments) -> Answer {
    let [number, wish, flags, ..] = *arguments;
    let flags = flags as i32;
    let mut start = wish;
    if wish != 0 && wish % PAGE != 0 {
        start = wish & !(PAGE - 1);
        if flags & libc::SHM_RND == 0 || start == 0 && flags & libc::SHM_REMAP != 0 {
            return Err(INVALID);
        }
    } else if wish == 0 && flags & libc::SHM_REMAP != 0 {
        return Err(INVALID);
    }
    let write = flags & libc::SHM_RDONLY == 0;
    let map = process.outside().attach(number as i32, write)?;
    let length = map.length().checked_next_multiple_of(PAGE).ok_or(NO_MEMORY)?;
    process.may_grow(length, false)?;
    let top = process.machine.abi().mapping_top;
    let memory = &mut process.world.memory;
    if start != 0 {
        let taken = flags & libc::SHM_REMAP == 0 && !memory.is_free(start, length);
        if taken || !memory.is_range(start, length) {
            return Err(INVALID);
        }
    } else {
        start = memory.find_free(length, LOWEST, top).ok_or(NO_MEMORY)?;
    }
    let permissions = Permissions { read: true, write, execute: flags & libc::SHM_EXEC != 0 };
    memory.map(start, length, permissions, Backing::Shared { map, offset: 0, generation: 0 });
    Ok(start)
}

/// Takes back the segment that was attached at an address, as far as it is still there.
pub(super) fn shmdt(process: &mut Process, arguments: &Arguments) -> Reply {
    let start = arguments[0];
    let memory = &mut process.world.memory;
    let segment =
        memory.region_at(start).filter(|_| start.is_multiple_of(PAGE)).and_then(|(at, region)| match &region
            .backing
        {
            Backing::Shared { map, offset, .. } if at == start && *offset == 0 && map.is_segment() => {
                Some(map.clone())
            }
            _ => None,
        });
    let Some(segment) = segment else { return Reply::Error(INVALID) };
    let end = start + segment.length().next_multiple_of(PAGE);
    let parts: Vec<(u64, u64)> = memory
        .regions_in(start, end)
        .filter(|(at, _, region)| match &region.backing {
            Backing::Shared { map, offset, .. } => {
                map.object() == segment.object() && map.is_segment() && at - start == *offset
            }
            _ => false,
        })
        .map(|(at, to, _)| (at, to))
        .collect();
    for (at, to) in parts {
        memory.unmap(at, to - at);
    }
    Reply::Value(0)
}

/// What a control request reads or writes behind its last argument.
enum Data {
    Nothing,
    Written(u64),
    Read(u64),
}

/// Makes a control request, whose pointer is the argument at `at`.
fn control(
    process: &mut Process,
    live: &Live,
    call: i64,
    arguments: &Arguments,
    at: usize,
    data: Data,
) -> Answer {
    let mut given = arguments.map(|argument| argument as usize);
    let size = match data {
        Data::Nothing => return live.host(call, given),
        Data::Written(size) => {
            process.world.memory.check_writable(arguments[at], size)?;
            size
        }
        Data::Read(size) => size,
    };
    let mut bytes = process.take(arguments[at], size)?;
    given[at] = bytes.as_mut_ptr() as usize;
    let result = live.host(call, given)?;
    if matches!(data, Data::Written(_)) {
        process.put(arguments[at], &bytes)?;
    }
    Ok(result)
}

const IPC_RMID: i32 = 0;
const IPC_SET: i32 = 1;
const IPC_STAT: i32 = 2;
const IPC_INFO: i32 = 3;

pub(super) fn shmctl(process: &mut Process, live: &Live, arguments: &Arguments) -> Reply {
    const STATUS: u64 = 112;
    let data = match arguments[1] as i32 {
        IPC_RMID | 11 | 12 => Data::Nothing,
        IPC_SET => Data::Read(STATUS),
        IPC_STAT | 13 | 15 => Data::Written(STATUS),
        IPC_INFO => Data::Written(72),
        14 => Data::Written(48),
        _ => return Reply::Error(INVALID),
    };
    control(process, live, libc::SYS_shmctl, arguments, 2, data).into()
}

pub(super) fn msgctl(process: &mut Process, live: &Live, arguments: &Arguments) -> Reply {
    const STATUS: u64 = 120;
    let data = match arguments[1] as i32 {
        IPC_RMID => Data::Nothing,
        IPC_SET => Data::Read(STATUS),
        IPC_STAT | 11 | 13 => Data::Written(STATUS),
        IPC_INFO | 12 => Data::Written(32),
        _ => return Reply::Error(INVALID),
    };
    control(process, live, libc::SYS_msgctl, arguments, 2, data).into()
}

pub(super) fn semctl(process: &mut Process, live: &Live, arguments: &Arguments) -> Reply {
    const STATUS: u64 = 104;
    let all = |process: &Process| {
        let _ = process;
        let mut status = [0u8; STATUS as usize];
        let given = [arguments[0] as usize, 0, IPC_STAT as usize, status.as_mut_ptr() as usize, 0, 0];
        live.host(libc::SYS_semctl, given)?;
        // So many semaphores, of two bytes each.
        Ok(2 * u64::from_le_bytes(status[80..88].try_into().expect("eight bytes")))
    };
    let data = match arguments[2] as i32 {
        IPC_RMID | 11 | 12 | 14..=16 => Ok(Data::Nothing),
        IPC_SET => Ok(Data::Read(STATUS)),
        IPC_STAT | 18 | 20 => Ok(Data::Written(STATUS)),
        IPC_INFO | 19 => Ok(Data::Written(40)),
        13 => all(process).map(Data::Written),
        17 => all(process).map(Data::Read),
        _ => Err(INVALID),
    };
    data.and_then(|data| control(process, live, libc::SYS_semctl, arguments, 3, data)).into()
}

/// A message: its kind, a word, and then its text.
pub(super) fn msgsnd(process: &mut Process, live: &Live, arguments: &Arguments) -> Reply {
    let [queue, message, length, flags, ..] = *arguments;
    let mut send = || -> Answer {
        let size = length.checked_add(8).filter(|_| length as i64 >= 0).ok_or(INVALID)?;
        let bytes = process.take(message, size)?;
        let given = [queue as usize, bytes.as_ptr() as usize, length as usize, flags as usize, 0, 0];
        live.host(libc::SYS_msgsnd, given)
    };
    // A semaphore or a message that was waited for is not waited for again.
    send().into()
}

pub(super) fn msgrcv(process: &mut Process, live: &Live, arguments: &Arguments) -> Reply {
    const LARGEST: u64 = 1 << 24;
    let [queue, message, length, kind, flags, _] = *arguments;
    let mut receive = || -> Answer {
        if (length as i64) < 0 {
            return Err(INVALID);
        }
        let room = length.min(LARGEST);
        process.world.memory.check_writable(message, 8)?;
        let mut bytes = vec![0u8; room as usize + 8];
        let given =
            [queue as usize, bytes.as_mut_ptr() as usize, room as usize, kind as usize, flags as usize, 0];
        let result = live.host(libc::SYS_msgrcv, given)?;
        process.put(message, &bytes[..8 + result as usize])?;
        Ok(result)
    };
    receive().into()
}

/// `mq_notify`. The C library has a thread told by way of a socket, with a message of its own.
pub(super) fn mq_notify(process: &mut Process, live: &Live, arguments: &Arguments) -> Reply {
    const EVENT: u64 = 64;
    const COOKIE: u64 = 32;
    let [queue, event, ..] = *arguments;
    let mut notify = || -> Answer {
        if event == 0 {
            return live.host(libc::SYS_mq_notify, [queue as usize, 0, 0, 0, 0, 0]);
        }
        let mut bytes = process.take(event, EVENT)?;
        let way = i32::from_le_bytes(bytes[12..16].try_into().expect("four bytes"));
        let place = u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes"));
        let cookie = if way == libc::SIGEV_THREAD { process.take(place, COOKIE)? } else { Vec::new() };
        if !cookie.is_empty() {
            bytes[..8].copy_from_slice(&(cookie.as_ptr() as u64).to_le_bytes());
        }
        live.host(libc::SYS_mq_notify, [queue as usize, bytes.as_ptr() as usize, 0, 0, 0, 0])
    };
    slow(notify())
}
