//! Timers that tell one thread (`SIGEV_THREAD_ID`). The host does not know our threads, so these are kept here.

use super::{Information, Live, kernel};
use crate::outside::{Call, Tid};
use crate::process::Process;
use crate::system::{Errno, Reply};

/// Numbers from here on are those of timers of ours: the kernel counts from zero.
const FIRST: i32 = 1 << 24;

/// A timer that tells one thread.
pub(super) struct ThreadTimer {
    number: i32,
    clock: i32,
    thread: Tid,
    signal: i32,
    value: [u8; 8],
    /// When it goes off, and after how long again, in nanoseconds of the clock of deadlines.
    armed: Option<(u64, u64)>,
    /// How often it went off unseen.
    overrun: u64,
}

/// Timers of threads, and the next number.
#[derive(Default)]
pub(super) struct ThreadTimers {
    all: Vec<ThreadTimer>,
    made: i32,
}

impl ThreadTimers {
    /// When the next goes off.
    pub fn deadline(&self) -> Option<u64> {
        self.all.iter().filter_map(|timer| timer.armed).map(|(deadline, _)| deadline).min()
    }

    /// One that has gone off: the thread, the signal and what is said about it.
    pub fn expired(&mut self, now: u64) -> Option<(Tid, i32, Information)> {
        let timer =
            self.all.iter_mut().find(|timer| timer.armed.is_some_and(|(deadline, _)| deadline <= now))?;
        let (deadline, interval) = timer.armed?;
        let missed = (now - deadline).checked_div(interval).unwrap_or(0);
        timer.overrun = missed;
        timer.armed = (interval > 0).then(|| (deadline + (missed + 1) * interval, interval));
        const BY_A_TIMER: i32 = -2;
        let mut information = [0u8; 128];
        let mut set = |at: usize, bytes: &[u8]| information[at..at + bytes.len()].copy_from_slice(bytes);
        set(0, &timer.signal.to_le_bytes());
        set(8, &BY_A_TIMER.to_le_bytes());
        set(16, &timer.number.to_le_bytes());
        set(20, &(missed.min(i32::MAX as u64) as i32).to_le_bytes());
        set(24, &timer.value);
        Some((timer.thread, timer.signal, information))
    }
}

impl Live {
    /// A call about a timer that is kept here; none if it is the host's.
    pub(super) fn thread_timer(&mut self, process: &mut Process, name: &str, call: &Call) -> Option<Reply> {
        let number = call.arguments[0] as i32;
        match name {
            "timer_create" => self.make_timer(process, call),
            "timer_settime" | "timer_gettime" | "timer_getoverrun" | "timer_delete" if number >= FIRST => {
                Some(self.ask_timer(process, name, call).map_or_else(Reply::Error, Reply::Value))
            }
            _ => None,
        }
    }

    fn make_timer(&mut self, process: &mut Process, call: &Call) -> Option<Reply> {
        const FOR_A_THREAD: i32 = 4;
        let [clock, event, place, ..] = call.arguments;
        let bytes = if event == 0 { return None } else { process.take(event, 64).ok()? };
        let number = |at: usize| i32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let (signal, way, thread) = (number(8), number(12), number(16) as Tid);
        if way != FOR_A_THREAD || process.threads.is_alone() {
            return None;
        }
        if !process.threads().contains(&thread) || !(1..=64).contains(&signal) {
            return Some(Reply::Error(Errno(libc::EINVAL)));
        }
        let clock = clock as i32;
        if !matches!(clock, libc::CLOCK_REALTIME | libc::CLOCK_MONOTONIC | libc::CLOCK_BOOTTIME) {
            let known = kernel(libc::SYS_clock_getres, [clock as usize, 0, 0, 0, 0, 0]);
            return Some(match known {
                Ok(_) => process.unsupported(format!("a timer of clock {clock} for one thread")),
                Err(errno) => Reply::Error(errno),
            });
        }
        self.timers.made += 1;
        let number = FIRST + self.timers.made;
        let mut value = [0; 8];
        value.copy_from_slice(&bytes[..8]);
        let timer = ThreadTimer { number, clock, thread, signal, value, armed: None, overrun: 0 };
        self.timers.all.push(timer);
        Some(process.put(place, &number.to_le_bytes()).map(|()| 0).into())
    }

    fn ask_timer(&mut self, process: &mut Process, name: &str, call: &Call) -> Result<u64, Errno> {
        let [number, flags, new, old, ..] = call.arguments;
        let now = self.clock.now(process.time());
        let index = self.timers.all.iter().position(|timer| timer.number == number as i32);
        let index = index.ok_or(Errno(libc::EINVAL))?;
        let told = |armed: Option<(u64, u64)>| {
            let (deadline, interval) = armed.unwrap_or((now, 0));
            let left = deadline.saturating_sub(now).max(u64::from(armed.is_some()));
            let parts = [interval, left].map(|part| [part / 1_000_000_000, part % 1_000_000_000]);
            parts.as_flattened().iter().flat_map(|part| part.to_le_bytes()).collect::<Vec<u8>>()
        };
        let current = self.timers.all[index].armed;
        match name {
            "timer_delete" => drop(self.timers.all.remove(index)),
            "timer_getoverrun" => return Ok(self.timers.all[index].overrun),
            "timer_gettime" => process.put(flags, &told(current))?,
            _ => {
                let bytes = process.take(new, 32)?;
                let word = |at: usize| i64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
                let time = |at: usize| match (word(at), word(at + 8)) {
                    (seconds @ 0.., nanoseconds @ 0..1_000_000_000) => {
                        Ok((seconds as u64).saturating_mul(1_000_000_000).saturating_add(nanoseconds as u64))
                    }
                    _ => Err(Errno(libc::EINVAL)),
                };
                let (interval, first) = (time(0)?, time(16)?);
                let absolute = flags & libc::TIMER_ABSTIME as u64 != 0;
                let left = match absolute {
                    true => {
                        let clock = self.timers.all[index].clock;
                        first.saturating_sub(self.clock.of_system(clock, process.time()))
                    }
                    false => first,
                };
                if old != 0 {
                    process.put(old, &told(current))?;
                }
                let timer = &mut self.timers.all[index];
                timer.armed = (first > 0).then(|| (now.saturating_add(left), interval));
                timer.overrun = 0;
                self.interrupt.want();
            }
        }
        Ok(0)
    }
}
