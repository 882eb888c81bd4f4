//! System calls that may wait, where other threads want to run meanwhile: each is tried without waiting, and made again
//! at the thread's next turn if it would have had to.

use super::{Answer, Arguments, Errno, Reply, host, table};
use crate::process::Process;
use std::time::{Duration, Instant};

/// What a clock of the host says.
pub(super) fn now(clock: i32) -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    let _ = host(libc::SYS_clock_gettime, [clock as usize, &raw mut time as usize, 0, 0, 0, 0]);
    Duration::new(time.tv_sec.max(0) as u64, time.tv_nsec as u32)
}

/// Whether a descriptor is ready, or would not make its caller wait.
fn is_ready(descriptor: u64, events: i16) -> bool {
    let flags = host(libc::SYS_fcntl, [descriptor as usize, libc::F_GETFL as usize, 0, 0, 0, 0]);
    if flags.is_err() || flags.is_ok_and(|flags| flags & libc::O_NONBLOCK as u64 != 0) {
        return true;
    }
    let mut one = libc::pollfd { fd: descriptor as i32, events, revents: 0 };
    host(libc::SYS_poll, [&raw mut one as usize, 1, 0, 0, 0, 0]) != Ok(0)
}

impl Process {
    /// Makes a system call without keeping other threads from running.
    pub(super) fn dispatch_among_threads(&mut self, number: u64, arguments: &Arguments) -> Reply {
        let name = table::find(self.machine, number).map_or("", |row| row.name);
        let reply = match name {
            "read" | "readv" | "recvfrom" | "recvmsg" | "recvmmsg" | "accept" | "accept4"
                if !is_ready(arguments[0], libc::POLLIN) && !is_impatient(name, arguments) =>
            {
                Reply::Wait
            }
            "write" | "writev" | "sendto" | "sendmsg" | "sendmmsg"
                if !is_ready(arguments[0], libc::POLLOUT) && !is_impatient(name, arguments) =>
            {
                Reply::Wait
            }
            "poll" => self.try_until(milliseconds(arguments[2]), number, &with(arguments, 2, 0)),
            "epoll_wait" | "epoll_pwait" => {
                self.try_until(milliseconds(arguments[3]), number, &with(arguments, 3, 0))
            }
            "ppoll" => match self.time_at(arguments[2], 1) {
                Ok(most) => self.try_until(most, libc::SYS_poll as u64, &with(arguments, 2, 0)),
                Err(errno) => Reply::Error(errno),
            },
            "select" => self.try_select(arguments, 1000),
            "pselect6" => self.try_select(arguments, 1),
            "nanosleep" => self.sleep(arguments[0], None),
            "clock_nanosleep" if arguments[1] & libc::TIMER_ABSTIME as u64 != 0 => {
                self.sleep(arguments[2], Some(arguments[0] as i32))
            }
            "clock_nanosleep" => self.sleep(arguments[2], None),
            "wait4" => {
                let options = arguments[2] | libc::WNOHANG as u64;
                let reply = self.dispatch(number, &with(arguments, 2, options));
                let waits = arguments[2] & libc::WNOHANG as u64 == 0;
                if waits && reply == Reply::Value(0) { Reply::Wait } else { reply }
            }
            "waitid" => self.try_waitid(number, arguments),
            "rt_sigtimedwait" => self.try_signal(arguments),
            "pause" => Reply::Wait,
            "sched_getaffinity" | "sched_setaffinity" | "sched_getscheduler" | "sched_setscheduler"
            | "sched_getparam" => {
                let known = super::itself::known_to_host(self, arguments[0]);
                self.dispatch(number, &with(arguments, 0, known))
            }
            "tgkill" => self.signal_thread(number, arguments, arguments[1], arguments[2]),
            "tkill" => self.signal_thread(number, arguments, arguments[0], arguments[1]),
            _ => self.dispatch(number, arguments),
        };
        if !matches!(reply, Reply::Wait | Reply::Done) {
            self.threads.goes_on();
        }
        reply
    }

    /// Makes a call that waits for events, and gives up after a time; zero means that there were none.
    fn try_until(&mut self, most: Option<Duration>, number: u64, arguments: &Arguments) -> Reply {
        let reply = self.dispatch(number, arguments);
        if reply != Reply::Value(0) {
            return reply;
        }
        let deadline = self.threads.deadline(most);
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) { reply } else { Reply::Wait }
    }

    /// `select`, with its time in seconds and units of so many nanoseconds.
    fn try_select(&mut self, arguments: &Arguments, unit: u64) -> Reply {
        let mut try_once = || {
            let most = self.time_at(arguments[4], unit)?;
            // Sets are cleared when there is nothing, but the next time they must be as they were.
            let bytes = arguments[0].min(1 << 20).div_ceil(64) * 8;
            let mut before = Vec::new();
            for address in arguments[1..4].iter().filter(|address| **address != 0) {
                before.push((*address, self.take(*address, bytes)?));
            }
            let mut none = libc::timeval { tv_sec: 0, tv_usec: 0 };
            let time = [&raw mut none as usize, 0];
            let found = super::select::sets(self, arguments, libc::SYS_select, time)?;
            let deadline = self.threads.deadline(most);
            if found > 0 || deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Ok(Some(found));
            }
            for (address, set) in before {
                self.put(address, &set)?;
            }
            Ok(None)
        };
        match try_once() {
            Ok(Some(found)) => Reply::Value(found),
            Ok(None) => Reply::Wait,
            Err(errno) => Reply::Error(errno),
        }
    }

    /// A time in memory, of seconds and units of so many nanoseconds; none means for ever.
    fn time_at(&mut self, address: u64, unit: u64) -> Result<Option<Duration>, Errno> {
        if address == 0 {
            return Ok(None);
        }
        let (seconds, rest) = (self.take_word(address)?, self.take_word(address + 8)?);
        let nanoseconds = rest.checked_mul(unit).filter(|nanoseconds| *nanoseconds < 1_000_000_000);
        match (i64::try_from(seconds), nanoseconds) {
            (Ok(seconds), Some(nanoseconds)) => Ok(Some(Duration::new(seconds as u64, nanoseconds as u32))),
            _ => Err(Errno(libc::EINVAL)),
        }
    }

    /// Sleeps for a time, or until a moment of a clock.
    fn sleep(&mut self, address: u64, clock: Option<i32>) -> Reply {
        match self.time_at(address, 1) {
            Ok(Some(given)) => {
                let most = clock.map_or(given, |clock| given.saturating_sub(now(clock)));
                let deadline = self.threads.deadline(Some(most));
                let over = deadline.is_none_or(|deadline| Instant::now() >= deadline);
                if over { Reply::Value(0) } else { Reply::Wait }
            }
            Ok(None) => Reply::Error(Errno(libc::EFAULT)),
            Err(errno) => Reply::Error(errno),
        }
    }

    fn try_waitid(&mut self, number: u64, arguments: &Arguments) -> Reply {
        const PROCESS_NUMBER: u64 = 12;
        let waits = arguments[3] & libc::WNOHANG as u64 == 0;
        let reply = self.dispatch(number, &with(arguments, 3, arguments[3] | libc::WNOHANG as u64));
        if !waits || reply != Reply::Value(0) || arguments[2] == 0 {
            return reply;
        }
        match self.lock_value(arguments[2] + PROCESS_NUMBER) {
            Ok(0) => Reply::Wait,
            _ => reply,
        }
    }

    /// Takes a blocked signal that has arrived for the process.
    fn try_signal(&mut self, arguments: &Arguments) -> Reply {
        let [set, information, timeout, ..] = *arguments;
        let mut try_once = || -> Answer {
            let set = self.take(set, 8)?;
            let none = libc::timespec { tv_sec: 0, tv_nsec: 0 };
            let mut found = [0u8; 128];
            let call =
                [set.as_ptr() as usize, found.as_mut_ptr() as usize, &raw const none as usize, 8, 0, 0];
            let signal = host(libc::SYS_rt_sigtimedwait, call)?;
            if information != 0 {
                self.put(information, &found)?;
            }
            Ok(signal)
        };
        match try_once() {
            Err(Errno(libc::EAGAIN)) => match self.time_at(timeout, 1) {
                Ok(most) => {
                    let deadline = self.threads.deadline(most);
                    let over = deadline.is_some_and(|deadline| Instant::now() >= deadline);
                    if over { Reply::Error(Errno(libc::EAGAIN)) } else { Reply::Wait }
                }
                Err(errno) => Reply::Error(errno),
            },
            answer => answer.into(),
        }
    }

    /// Sends a signal to a thread: to the running one by way of the host, to another through its own list.
    fn signal_thread(&mut self, number: u64, arguments: &Arguments, thread: u64, signal: u64) -> Reply {
        let process = u64::from(std::process::id());
        let own = self.threads.number().unwrap_or(process);
        if thread != process && !self.threads.has(thread) {
            return self.dispatch(number, arguments);
        }
        if signal == 0 {
            return Reply::Value(0);
        }
        if !(1..=64).contains(&signal) {
            return Reply::Error(Errno(libc::EINVAL));
        }
        if !self.signals.handles(signal as i32) {
            // What happens without a handler happens to the whole process.
            return host(libc::SYS_tgkill, [process as usize, process as usize, signal as usize, 0, 0, 0])
                .into();
        }
        const SENT_TO_A_THREAD: i32 = -6;
        let mut information = [0u8; 128];
        information[..4].copy_from_slice(&(signal as i32).to_le_bytes());
        information[8..12].copy_from_slice(&SENT_TO_A_THREAD.to_le_bytes());
        information[16..20].copy_from_slice(&(process as u32).to_le_bytes());
        information[20..24].copy_from_slice(&unsafe { libc::getuid() }.to_le_bytes());
        if thread == own {
            self.signals.give(signal as i32, information);
        } else {
            self.threads.send(thread, signal as i32, information);
        }
        Reply::Value(0)
    }
}

/// Whether a call on a socket says that it does not want to wait.
fn is_impatient(name: &str, arguments: &Arguments) -> bool {
    let flags = match name {
        "recvfrom" | "sendto" | "recvmmsg" | "sendmmsg" => arguments[3],
        "recvmsg" | "sendmsg" => arguments[2],
        _ => 0,
    };
    flags & libc::MSG_DONTWAIT as u64 != 0
}

/// A time in milliseconds; negative means for ever.
fn milliseconds(value: u64) -> Option<Duration> {
    u64::try_from(value as i32).ok().map(Duration::from_millis)
}

fn with(arguments: &Arguments, position: usize, value: u64) -> Arguments {
    let mut changed = *arguments;
    changed[position] = value;
    changed
}
