//! The clocks a program sees: the host's, or one that counts its instructions.

use super::{Live, kernel};
use crate::outside::Call;
use crate::process::Process;
use crate::system::{Errno, Reply};

/// What a program's clocks show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// The host's time.
    Real,
    /// A nanosecond per instruction, from a moment on; when no thread can run, sleeping passes at once.
    Virtual {
        /// Nanoseconds since 1970 at time zero.
        origin: u64,
        /// Nanoseconds that were slept through.
        skipped: u64,
    },
}

impl Clock {
    /// A clock that counts instructions from this many nanoseconds after 1970 on.
    pub fn counting_from(origin: u64) -> Clock {
        Clock::Virtual { origin, skipped: 0 }
    }

    /// Whether it has nothing to do with the host's.
    pub(super) fn is_virtual(self) -> bool {
        matches!(self, Clock::Virtual { .. })
    }

    /// What a clock of the system shows at an instruction.
    pub(super) fn of_system(self, clock: i32, time: u64) -> u64 {
        match self {
            Clock::Real => host_clock(clock),
            Clock::Virtual { origin, skipped } => {
                let since_1970 = clock == libc::CLOCK_REALTIME || clock == libc::CLOCK_REALTIME_COARSE;
                time + skipped + if since_1970 { origin } else { 0 }
            }
        }
    }

    /// What deadlines are kept by.
    pub(super) fn now(self, time: u64) -> u64 {
        self.of_system(libc::CLOCK_MONOTONIC, time)
    }

    /// Sleeps through to a moment at once; false if it takes real time.
    pub(super) fn skip_to(&mut self, moment: u64, time: u64) -> bool {
        let now = self.now(time);
        match self {
            Clock::Real => false,
            Clock::Virtual { skipped, .. } => {
                *skipped += moment.saturating_sub(now);
                true
            }
        }
    }
}

fn host_clock(clock: i32) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    let _ = kernel(libc::SYS_clock_gettime, [clock as usize, &raw mut time as usize, 0, 0, 0, 0]);
    (time.tv_sec.max(0) as u64).saturating_mul(1_000_000_000).saturating_add(time.tv_nsec as u64)
}

/// The interval timer of a process that cannot use the host's.
#[derive(Default)]
pub(super) struct Timer {
    /// When it goes off, and after how long again.
    armed: Option<(u64, u64)>,
}

impl Timer {
    pub(super) fn is_armed(&self) -> bool {
        self.armed.is_some()
    }

    pub(super) fn deadline(&self) -> Option<u64> {
        self.armed.map(|(deadline, _)| deadline)
    }

    /// Whether it has gone off since the last call.
    pub(super) fn expired(&mut self, now: u64) -> bool {
        match self.armed {
            Some((deadline, interval)) if deadline <= now => {
                self.armed = (interval > 0).then(|| (now + interval, interval));
                true
            }
            _ => false,
        }
    }

    /// At which instruction to look.
    pub(super) fn horizon(&self, clock: &Clock) -> u64 {
        match (self.armed, clock) {
            (Some((deadline, _)), Clock::Virtual { skipped, .. }) => deadline.saturating_sub(*skipped),
            _ => u64::MAX,
        }
    }
}

impl Live {
    /// Calls about time that this process does not leave to the host: those of a clock of its own, and the timer of one
    /// whose host's signals are not its own.
    pub(super) fn timed(&mut self, process: &mut Process, name: &str, call: &Call) -> Option<Reply> {
        let arguments = call.arguments;
        let time = process.time();
        let own_timer = self.claim.is_none() || self.clock.is_virtual();
        let pair = |process: &mut Process, at: u64, values: [u64; 2]| -> Result<(), Errno> {
            if at == 0 {
                return Ok(());
            }
            let abi = process.machine.abi();
            let bytes = values.map(|value| abi.word_bytes(value)).concat();
            process.put(at, &bytes)
        };
        let answer = match name {
            "alarm" if own_timer => {
                let seconds = arguments[0] as u32;
                let left = self.set_timer(u64::from(seconds) * 1_000_000_000, 0, time);
                Ok(left.0.div_ceil(1_000_000_000))
            }
            "setitimer" if own_timer && arguments[0] == 0 => (|| {
                let mut new = [0; 4];
                let word = process.machine.abi().word as u64;
                if arguments[1] != 0 {
                    for (index, part) in new.iter_mut().enumerate() {
                        *part = process.take_word(arguments[1] + index as u64 * word)?;
                    }
                }
                let [again_s, again_u, first_s, first_u] = new;
                let nanoseconds = |s: u64, u: u64| s.saturating_mul(1_000_000_000).saturating_add(u * 1000);
                let (left, interval) =
                    self.set_timer(nanoseconds(first_s, first_u), nanoseconds(again_s, again_u), time);
                let parts = |n: u64| [n / 1_000_000_000, n % 1_000_000_000 / 1000];
                pair(process, arguments[2], parts(interval))?;
                if arguments[2] != 0 {
                    pair(process, arguments[2] + 2 * word, parts(left))?;
                }
                Ok(0)
            })(),
            _ if !self.clock.is_virtual() => return None,
            "clock_gettime" => {
                let now = self.clock.of_system(arguments[0] as i32, time);
                pair(process, arguments[1], [now / 1_000_000_000, now % 1_000_000_000]).map(|()| 0)
            }
            "gettimeofday" => {
                let now = self.clock.of_system(libc::CLOCK_REALTIME, time) / 1000;
                pair(process, arguments[0], [now / 1_000_000, now % 1_000_000]).map(|()| 0)
            }
            "time" => {
                let now = self.clock.of_system(libc::CLOCK_REALTIME, time) / 1_000_000_000;
                let written = if arguments[0] == 0 {
                    Ok(())
                } else {
                    let bytes = process.machine.abi().word_bytes(now);
                    process.put(arguments[0], &bytes)
                };
                written.map(|()| now)
            }
            _ => return None,
        };
        Some(answer.into())
    }

    /// Sets the timer; what was left of it, and its interval, in nanoseconds.
    fn set_timer(&mut self, first: u64, interval: u64, time: u64) -> (u64, u64) {
        let now = self.clock.now(time);
        let old =
            self.timer.armed.map_or((0, 0), |(deadline, interval)| (deadline.saturating_sub(now), interval));
        self.timer.armed = (first > 0).then(|| (now + first, interval));
        self.interrupt.want();
        old
    }
}
