//! Locks between threads (`futex`), and between processes that share memory.
//!
//! Threads of the emulated process wait in our own books. A lock in memory that other processes map as well is the host's
//! business, since it is the same memory there.

use super::{Arguments, Errno, Reply};
use crate::outside::live::Live;
use crate::process::Process;
use std::time::Duration;

/// Whether a lock lies in memory that only this process has.
pub(super) fn is_private(process: &mut Process, arguments: &Arguments) -> bool {
    arguments[1] & libc::FUTEX_PRIVATE_FLAG as u64 != 0 || !process.world.memory.is_shared(arguments[0])
}

pub(super) fn futex(process: &mut Process, arguments: &Arguments) -> Reply {
    const COMMAND: u64 = 0x7f;
    let [address, operation, value, timeout, second, third] = *arguments;
    if address % 4 != 0 {
        return Reply::Error(Errno(libc::EINVAL));
    }
    let command = (operation & COMMAND) as i32;
    let all = u64::from(u32::MAX);
    match command {
        libc::FUTEX_WAKE => Reply::Value(process.threads.wake(address, value & all, u32::MAX)),
        libc::FUTEX_WAKE_BITSET if third as u32 == 0 => Reply::Error(Errno(libc::EINVAL)),
        libc::FUTEX_WAKE_BITSET => Reply::Value(process.threads.wake(address, value & all, third as u32)),
        libc::FUTEX_REQUEUE | libc::FUTEX_CMP_REQUEUE => {
            match process.lock_value(address) {
                Err(fault) => return Reply::Error(fault.into()),
                Ok(found) if command == libc::FUTEX_CMP_REQUEUE && found != third as u32 => {
                    return Reply::Error(Errno(libc::EAGAIN));
                }
                Ok(_) => {}
            }
            let woken = process.threads.wake(address, value & all, u32::MAX);
            // The argument of a time is a number here.
            let moved = process.threads.requeue(address, second, timeout & all);
            Reply::Value(woken + if command == libc::FUTEX_CMP_REQUEUE { moved } else { 0 })
        }
        libc::FUTEX_WAIT | libc::FUTEX_WAIT_BITSET => {
            let kinds = if command == libc::FUTEX_WAIT { u32::MAX } else { third as u32 };
            match process.lock_value(address) {
                Err(fault) => return Reply::Error(fault.into()),
                Ok(found) if found != value as u32 => return Reply::Error(Errno(libc::EAGAIN)),
                Ok(_) if kinds == 0 => return Reply::Error(Errno(libc::EINVAL)),
                Ok(_) => {}
            }
            let deadline = match deadline(process, operation, timeout) {
                Ok(deadline) => deadline,
                Err(errno) => return Reply::Error(errno),
            };
            if process.threads.is_alone() && deadline.is_none() {
                let what = format!("waiting on a lock at {address:#x} that no other thread can release");
                return process.unsupported(what);
            }
            process.set_result(Ok(0));
            process.wait_for_lock(address, kinds, deadline);
            Reply::Done
        }
        FUTEX_LOCK_PI | FUTEX_TRYLOCK_PI | FUTEX_UNLOCK_PI | FUTEX_LOCK_PI2 => {
            own_lock(process, address, command, operation, timeout).unwrap_or_else(Reply::Error)
        }
        other => process.unsupported(format!("futex operation {other}")),
    }
}

const FUTEX_LOCK_PI: i32 = 6;
const FUTEX_UNLOCK_PI: i32 = 7;
const FUTEX_TRYLOCK_PI: i32 = 8;
const FUTEX_LOCK_PI2: i32 = 13;

/// Locks that hold the number of their owner, so that the kernel can lend it the priority of those who wait. Threads
/// here have no priorities; what is left is handing the lock over.
fn own_lock(
    process: &mut Process,
    address: u64,
    command: i32,
    operation: u64,
    timeout: u64,
) -> Result<Reply, Errno> {
    const WAITERS: u32 = 1 << 31;
    const OWNER: u32 = (1 << 30) - 1;
    let own = process.threads.number();
    let value = process.lock_value(address)?;
    let owner = value & OWNER;
    let mut set = |value: u32| -> Result<(), Errno> {
        let bytes = process.machine.abi().int_bytes(value);
        Ok(process.world.memory.write(address, &bytes)?)
    };
    if command == FUTEX_UNLOCK_PI {
        if owner != own {
            return Err(Errno(libc::EPERM));
        }
        let waiting = process.threads.waiting_for(address);
        let more = if waiting.len() > 1 { WAITERS } else { 0 };
        let bytes = process.machine.abi().int_bytes(waiting.first().map_or(0, |next| next | more));
        process.world.memory.write(address, &bytes)?;
        process.threads.wake(address, 1, u32::MAX);
        return Ok(Reply::Value(0));
    }
    if owner == 0 {
        set(own | value & WAITERS)?;
        return Ok(Reply::Value(0));
    }
    if owner == own {
        return Err(Errno(libc::EDEADLK));
    }
    if command == FUTEX_TRYLOCK_PI {
        return Err(Errno(libc::EAGAIN));
    }
    set(value | WAITERS)?;
    // The older of the two calls always means the clock of the day.
    let real = if command == FUTEX_LOCK_PI { libc::FUTEX_CLOCK_REALTIME as u64 } else { 0 };
    let deadline = deadline(process, operation | real, timeout)?;
    process.set_result(Ok(0));
    process.wait_for_lock(address, u32::MAX, deadline);
    Ok(Reply::Done)
}

/// When a call with a time gives up, by the clock of the door.
fn deadline(process: &mut Process, operation: u64, timeout: u64) -> Result<Option<u64>, Errno> {
    // The clock is asked only if there is a time to wait for.
    if timeout == 0 {
        return Ok(None);
    }
    let time = process.time();
    let clock = process.outside().clock(futex_clock(operation), time);
    let most = futex_time_left(process, operation, timeout, clock)?;
    let now = process.outside().now(time);
    Ok(most.map(|most| now.saturating_add(u64::try_from(most.as_nanos()).unwrap_or(u64::MAX))))
}

fn time_of(duration: Duration) -> libc::timespec {
    libc::timespec { tv_sec: duration.as_secs() as i64, tv_nsec: i64::from(duration.subsec_nanos()) }
}

/// The clock that a call with a time means.
pub(crate) fn futex_clock(operation: u64) -> i32 {
    let real = operation & libc::FUTEX_CLOCK_REALTIME as u64 != 0;
    if real { libc::CLOCK_REALTIME } else { libc::CLOCK_MONOTONIC }
}

/// How long a call with a time may wait, its clock being at `now`; for ever if there is none.
pub(crate) fn futex_time_left(
    process: &mut Process,
    operation: u64,
    timeout: u64,
    now: u64,
) -> Result<Option<Duration>, Errno> {
    if timeout == 0 {
        return Ok(None);
    }
    let word = process.machine.abi().word as u64;
    let seconds = process.take_word(timeout)? as i64;
    let nanoseconds = process.take_word(timeout + word)? as i64;
    if seconds < 0 || !(0..1_000_000_000).contains(&nanoseconds) {
        return Err(Errno(libc::EINVAL));
    }
    let given = Duration::new(seconds as u64, nanoseconds as u32);
    const COMMAND: u64 = 0x7f;
    if (operation & COMMAND) as i32 == libc::FUTEX_WAIT {
        return Ok(Some(given));
    }
    // This one names a moment.
    Ok(Some(given.saturating_sub(Duration::from_nanos(now))))
}

/// A lock in memory that is the host's own.
pub(crate) fn shared_futex(process: &mut Process, live: &Live, arguments: &Arguments) -> Reply {
    const COMMAND: u64 = 0x7f;
    let [address, operation, value, timeout, _, third] = *arguments;
    if address % 4 != 0 {
        return Reply::Error(Errno(libc::EINVAL));
    }
    let Some(place) = process.world.memory.shared_address(address) else {
        return Reply::Error(Errno(libc::EFAULT));
    };
    let place = place as usize;
    match (operation & COMMAND) as i32 {
        libc::FUTEX_WAKE | libc::FUTEX_WAKE_BITSET => {
            let call = [place, libc::FUTEX_WAKE as usize, value as usize, 0, 0, 0];
            live.host(libc::SYS_futex, call).into()
        }
        libc::FUTEX_WAIT | libc::FUTEX_WAIT_BITSET => {
            let now = live.system_clock(futex_clock(operation));
            let time = match futex_time_left(process, operation, timeout, now) {
                Ok(most) => most.map(time_of),
                Err(errno) => return Reply::Error(errno),
            };
            let time = time.as_ref().map_or(0, |time| std::ptr::from_ref(time) as usize);
            let call = [place, libc::FUTEX_WAIT as usize, value as u32 as usize, time, 0, third as usize];
            super::descriptors::slow(live.host(libc::SYS_futex, call))
        }
        other => process.unsupported(format!("futex operation {other} on memory of several processes")),
    }
}
