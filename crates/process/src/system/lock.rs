//! Locks between threads (`futex`), and between processes that share memory.
//!
//! Threads of the emulated process wait in our own books. A lock in memory that other processes map as well is the host's
//! business, since it is the same memory there.

use super::{Arguments, Errno, Reply, host};
use crate::elf::Machine;
use crate::process::Process;
use std::time::Duration;

pub(super) fn futex(process: &mut Process, arguments: &Arguments) -> Reply {
    const COMMAND: u64 = 0x7f;
    let [address, operation, value, timeout, second, third] = *arguments;
    if address % 4 != 0 {
        return Reply::Error(Errno(libc::EINVAL));
    }
    let command = (operation & COMMAND) as i32;
    if operation & libc::FUTEX_PRIVATE_FLAG as u64 == 0
        && let Some(place) = process.world.memory.shared_address(address)
    {
        return between_processes(process, place as usize, arguments, command);
    }
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
            let most = match time_left(process, operation, timeout) {
                Ok(most) => most,
                Err(errno) => return Reply::Error(errno),
            };
            if process.threads.is_alone() {
                return match most {
                    // Nobody can wake it but time.
                    Some(most) => {
                        let time = time_of(most);
                        match host(libc::SYS_nanosleep, [&raw const time as usize, 0, 0, 0, 0, 0]) {
                            Err(Errno(libc::EINTR)) => Reply::Interrupted,
                            _ => Reply::Error(Errno(libc::ETIMEDOUT)),
                        }
                    }
                    None => process.unsupported(format!(
                        "waiting on a lock at {address:#x} that no other thread can release"
                    )),
                };
            }
            let deadline = process.threads.deadline(most);
            process.set_result(Ok(0));
            process.wait_for_lock(address, kinds, deadline);
            Reply::Done
        }
        other => process.unsupported(format!("futex operation {other}")),
    }
}

fn time_of(duration: Duration) -> libc::timespec {
    libc::timespec { tv_sec: duration.as_secs() as i64, tv_nsec: i64::from(duration.subsec_nanos()) }
}

/// How long a call with a time may wait; for ever if there is none.
fn time_left(process: &mut Process, operation: u64, timeout: u64) -> Result<Option<Duration>, Errno> {
    if timeout == 0 {
        return Ok(None);
    }
    let word = if process.machine == Machine::X86_64 { 8 } else { 4 };
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
    // This one names a moment, on one of two clocks.
    let real = operation & libc::FUTEX_CLOCK_REALTIME as u64 != 0;
    let now = super::waiting::now(if real { libc::CLOCK_REALTIME } else { libc::CLOCK_MONOTONIC });
    Ok(Some(given.saturating_sub(now)))
}

/// A lock in memory that is the host's own.
fn between_processes(process: &mut Process, place: usize, arguments: &Arguments, command: i32) -> Reply {
    let [address, operation, value, timeout, _, third] = *arguments;
    match command {
        libc::FUTEX_WAKE | libc::FUTEX_WAKE_BITSET => {
            let woken = process.threads.wake(address, value, u32::MAX);
            let call = [place, libc::FUTEX_WAKE as usize, value.saturating_sub(woken) as usize, 0, 0, 0];
            host(libc::SYS_futex, call).map(|others| others + woken).into()
        }
        libc::FUTEX_WAIT | libc::FUTEX_WAIT_BITSET => {
            let most = match time_left(process, operation, timeout) {
                Ok(most) => most,
                Err(errno) => return Reply::Error(errno),
            };
            if !process.threads.is_alone() {
                // Somebody may change it, here or elsewhere: look again at the next turn.
                match process.lock_value(address) {
                    Err(fault) => return Reply::Error(fault.into()),
                    Ok(found) if found != value as u32 => return Reply::Error(Errno(libc::EAGAIN)),
                    Ok(_) => {}
                }
                let deadline = process.threads.deadline(most);
                let late = deadline.is_some_and(|deadline| std::time::Instant::now() >= deadline);
                return if late { Reply::Error(Errno(libc::ETIMEDOUT)) } else { Reply::Wait };
            }
            let time = most.map(time_of);
            let time = time.as_ref().map_or(0, |time| std::ptr::from_ref(time) as usize);
            let call = [place, libc::FUTEX_WAIT as usize, value as u32 as usize, time, 0, third as usize];
            super::descriptors::slow(host(libc::SYS_futex, call))
        }
        other => process.unsupported(format!("futex operation {other} on memory of several processes")),
    }
}
