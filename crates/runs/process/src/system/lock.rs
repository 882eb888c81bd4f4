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
            process.set_result(Ok(0));
            process.wait_for_lock(address, kinds, deadline, arguments);
            Reply::Done
        }
        libc::FUTEX_WAKE_OP => match change(process, second, third as u32) {
            Ok(true) => {
                let first = process.threads.wake(address, value & all, u32::MAX);
                Reply::Value(first + process.threads.wake(second, timeout & all, u32::MAX))
            }
            Ok(false) => Reply::Value(process.threads.wake(address, value & all, u32::MAX)),
            Err(errno) => Reply::Error(errno),
        },
        FUTEX_LOCK_PI | FUTEX_TRYLOCK_PI | FUTEX_UNLOCK_PI | FUTEX_LOCK_PI2 => {
            own_lock(process, arguments).unwrap_or_else(Reply::Error)
        }
        FUTEX_WAIT_REQUEUE_PI | FUTEX_CMP_REQUEUE_PI => {
            process.unsupported(format!("futex operation {command} (moving waiters to a lock with an owner)"))
        }
        _ => Reply::Error(Errno(libc::ENOSYS)),
    }
}

/// `FUTEX_WAKE_OP`: changes a number; whether what it was passes the comparison.
fn change(process: &mut Process, address: u64, code: u32) -> Result<bool, Errno> {
    let signed = |shift: u32| ((code << shift) as i32) >> 20;
    let (operation, comparison) = (code >> 28 & 7, code >> 24 & 15);
    let (operand, compared) = (signed(8), signed(20));
    let operand = if code >> 31 != 0 { 1i32.wrapping_shl(operand as u32 & 31) } else { operand };
    let old = process.lock_value(address)? as i32;
    let new = match operation {
        0 => operand,
        1 => old.wrapping_add(operand),
        2 => old | operand,
        3 => old & !operand,
        4 => old ^ operand,
        _ => return Err(Errno(libc::ENOSYS)),
    };
    let passes = match comparison {
        0 => old == compared,
        1 => old != compared,
        2 => old < compared,
        3 => old <= compared,
        4 => old > compared,
        5 => old >= compared,
        _ => return Err(Errno(libc::ENOSYS)),
    };
    let bytes = process.machine.abi().int_bytes(new as u32);
    process.world.memory.write(address, &bytes)?;
    Ok(passes)
}

const FUTEX_LOCK_PI: i32 = 6;
const FUTEX_UNLOCK_PI: i32 = 7;
const FUTEX_TRYLOCK_PI: i32 = 8;
const FUTEX_WAIT_REQUEUE_PI: i32 = 11;
const FUTEX_CMP_REQUEUE_PI: i32 = 12;
const FUTEX_LOCK_PI2: i32 = 13;

const COMMAND: u64 = 0x7f;
const WAITERS: u32 = 1 << 31;
const OWNER_DIED: u32 = 1 << 30;
const OWNER: u32 = (1 << 30) - 1;

/// Whether a call waits for a lock that holds the number of its owner: no signal ends that.
pub(crate) fn has_owner(arguments: &Arguments) -> bool {
    matches!((arguments[1] & COMMAND) as i32, FUTEX_LOCK_PI | FUTEX_LOCK_PI2)
}

/// Locks that hold the number of their owner, so that the kernel can lend it the priority of those who wait. Threads
/// here have no priorities; what is left is handing the lock over.
fn own_lock(process: &mut Process, arguments: &Arguments) -> Result<Reply, Errno> {
    let [address, operation, _, timeout, ..] = *arguments;
    let command = (operation & COMMAND) as i32;
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
        set(own | value & (WAITERS | OWNER_DIED))?;
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
    process.wait_for_lock(address, u32::MAX, deadline, arguments);
    Ok(Reply::Done)
}

/// The same in memory that other processes map as well: [`Reply::Wait`] while the lock has another owner. It is tried again and
/// again, since the kernel does not know the numbers of our threads.
pub(crate) fn try_owned(process: &mut Process, arguments: &Arguments) -> Reply {
    let [address, operation, ..] = *arguments;
    let own = process.threads.number();
    let Some(place) = process.world.memory.shared_address(address) else {
        return Reply::Error(Errno(libc::EFAULT));
    };
    let value = match process.lock_value(address) {
        Ok(value) => value,
        Err(fault) => return Reply::Error(fault.into()),
    };
    let order = |value: u32| if process.machine.abi().big_endian { value.swap_bytes() } else { value };
    let exchange = |new: u32| crate::memory::guarded::exchange_word(place, order(value), order(new));
    let done = |exchanged: Option<bool>| match exchanged {
        Some(true) => Reply::Value(0),
        Some(false) => Reply::Wait,
        None => Reply::Error(Errno(libc::EFAULT)),
    };
    match (operation & COMMAND) as i32 {
        FUTEX_UNLOCK_PI if value & OWNER != own => Reply::Error(Errno(libc::EPERM)),
        FUTEX_UNLOCK_PI => done(exchange(0)),
        _ if value & OWNER == own => Reply::Error(Errno(libc::EDEADLK)),
        _ if value & OWNER == 0 => done(exchange(own | value & OWNER_DIED)),
        FUTEX_TRYLOCK_PI => Reply::Error(Errno(libc::EAGAIN)),
        // Its owner is to ask for help when it lets go, as it would with others that wait.
        _ if value & WAITERS == 0 => match exchange(value | WAITERS) {
            None => Reply::Error(Errno(libc::EFAULT)),
            Some(_) => Reply::Wait,
        },
        _ => Reply::Wait,
    }
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
    if (operation & COMMAND) as i32 == libc::FUTEX_WAIT {
        return Ok(Some(given));
    }
    // This one names a moment.
    Ok(Some(given.saturating_sub(Duration::from_nanos(now))))
}

/// A lock in memory that is the host's own.
pub(crate) fn shared_futex(process: &mut Process, live: &Live, arguments: &Arguments) -> Reply {
    let [address, operation, value, timeout, second, third] = *arguments;
    if address % 4 != 0 {
        return Reply::Error(Errno(libc::EINVAL));
    }
    let memory = &process.world.memory;
    let (Some(place), other) = (memory.shared_address(address), memory.shared_address(second)) else {
        return Reply::Error(Errno(libc::EFAULT));
    };
    let place = place as usize;
    let own = operation as usize;
    match (operation & COMMAND) as i32 {
        libc::FUTEX_WAKE | libc::FUTEX_WAKE_BITSET => {
            live.host(libc::SYS_futex, [place, own, value as usize, 0, 0, third as usize]).into()
        }
        libc::FUTEX_WAIT | libc::FUTEX_WAIT_BITSET => {
            let time = if timeout == 0 { Ok(Vec::new()) } else { process.take(timeout, 16) };
            let time = match time {
                Ok(time) => time,
                Err(errno) => return Reply::Error(errno),
            };
            let until = if time.is_empty() { 0 } else { time.as_ptr() as usize };
            let call = [place, own, value as u32 as usize, until, 0, third as usize];
            match live.host(libc::SYS_futex, call) {
                // One that waits for a time is not made again.
                Err(Errno(libc::EINTR)) if timeout != 0 => Reply::Error(Errno(libc::EINTR)),
                answer => super::descriptors::slow(answer),
            }
        }
        libc::FUTEX_REQUEUE | libc::FUTEX_CMP_REQUEUE | libc::FUTEX_WAKE_OP => match other {
            Some(other) => {
                let call = [place, own, value as usize, timeout as usize, other as usize, third as usize];
                live.host(libc::SYS_futex, call).into()
            }
            None => process.unsupported(String::from("waking two locks of which one is this process' own")),
        },
        FUTEX_LOCK_PI | FUTEX_LOCK_PI2 | FUTEX_TRYLOCK_PI | FUTEX_UNLOCK_PI => try_owned(process, arguments),
        other => process.unsupported(format!("futex operation {other} on memory of several processes")),
    }
}
