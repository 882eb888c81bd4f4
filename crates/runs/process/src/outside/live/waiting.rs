//! System calls that may wait, where other threads want to run meanwhile, or the host must not be kept waiting: each is
//! tried without waiting, or made by a [`Hand`], and tried again until it is done.

use super::{Hand, Live};
use crate::outside::Call;
use crate::process::Process;
use crate::system::{Answer, Arguments, Errno, How, Reply, Row};
use std::time::Duration;

impl Live {
    /// Whether a descriptor is ready, or would not make its caller wait.
    fn is_ready(&self, descriptor: u64, events: i16) -> bool {
        let flags = self.host(libc::SYS_fcntl, [descriptor as usize, libc::F_GETFL as usize, 0, 0, 0, 0]);
        if flags.is_err() || flags.is_ok_and(|flags| flags & libc::O_NONBLOCK as u64 != 0) {
            return true;
        }
        let mut one = libc::pollfd { fd: descriptor as i32, events, revents: 0 };
        self.host(libc::SYS_poll, [&raw mut one as usize, 1, 0, 0, 0, 0]) != Ok(0)
    }

    /// Whether writing so many bytes cannot wait: a file, or so few that a ready pipe has room for them.
    fn takes_at_once(&self, descriptor: u64, length: u64) -> bool {
        const ROOM_OF_A_READY_PIPE: u64 = 4096;
        // SAFETY: the structure is made of numbers and pointers, for which zero is a value.
        let mut status: libc::stat = unsafe { std::mem::zeroed() };
        let known = self.host(libc::SYS_fstat, [descriptor as usize, &raw mut status as usize, 0, 0, 0, 0]);
        if known.is_err() || matches!(status.st_mode & libc::S_IFMT, libc::S_IFREG | libc::S_IFCHR) {
            return true;
        }
        let flags = self.host(libc::SYS_fcntl, [descriptor as usize, libc::F_GETFL as usize, 0, 0, 0, 0]);
        flags.is_ok_and(|flags| flags & libc::O_NONBLOCK as u64 != 0)
            || (length <= ROOM_OF_A_READY_PIPE && self.is_ready(descriptor, libc::POLLOUT))
    }

    /// Makes a system call without keeping other threads from running.
    pub(super) fn try_without_waiting(&mut self, process: &mut Process, row: &Row, call: &Call) -> Reply {
        let arguments = &call.arguments;
        let name = row.name;
        match name {
            "read" | "readv" | "recvfrom" | "recvmsg" | "recvmmsg" | "accept" | "accept4"
                if !self.is_ready(arguments[0], libc::POLLIN) && !is_impatient(name, arguments) =>
            {
                self.wait_on_socket(process, call, libc::SO_RCVTIMEO)
            }
            "sendmsg" | "sendmmsg"
                if !self.is_ready(arguments[0], libc::POLLOUT) && !is_impatient(name, arguments) =>
            {
                self.wait_on_socket(process, call, libc::SO_SNDTIMEO)
            }
            "mq_timedsend" | "mq_timedreceive" => self.try_queue(process, row, call),
            // What a hand has begun it ends, also where there is room by now: it may have written already.
            "write" | "sendto" if self.hands.contains_key(&call.thread) => self.by_hand(process, row, call),
            "write" if !self.takes_at_once(arguments[0], arguments[2]) => self.by_hand(process, row, call),
            "sendto" if !is_impatient(name, arguments) && !self.takes_at_once(arguments[0], arguments[2]) => {
                self.by_hand(process, row, call)
            }
            "writev" => self.write_parts(process, row, call),
            "flock" | "connect" | "sendfile" | "splice" | "tee" | "copy_file_range" | "fsync"
            | "fdatasync" | "sync" | "syncfs" | "semop" | "semtimedop" => self.by_hand(process, row, call),
            "msgsnd" | "msgrcv" => self.try_message(process, row, call),
            "fcntl" if matches!(arguments[1] as i32, libc::F_SETLKW | libc::F_OFD_SETLKW) => {
                self.lock_file(process, row, call)
            }
            "open" | "openat" => self.open_fifo(process, row, call),
            "poll" => self.try_until(process, row, call, milliseconds(arguments[2]), &with(arguments, 2, 0)),
            "epoll_wait" | "epoll_pwait" => {
                self.try_until(process, row, call, milliseconds(arguments[3]), &with(arguments, 3, 0))
            }
            "epoll_pwait2" => match time_at(process, arguments[3], 1) {
                Ok(most) => {
                    let plain = crate::system::table::find(process.machine, libc::SYS_epoll_wait as u64);
                    let plain = plain.expect("x86-64 has epoll_wait");
                    self.try_until(process, plain, call, most, &with(arguments, 3, 0))
                }
                Err(errno) => Reply::Error(errno),
            },
            "ppoll" => match time_at(process, arguments[2], 1) {
                Ok(most) => {
                    let poll = crate::system::table::find(process.machine, libc::SYS_poll as u64);
                    let poll = poll.expect("x86-64 has poll");
                    self.try_until(process, poll, call, most, &with(arguments, 2, 0))
                }
                Err(errno) => Reply::Error(errno),
            },
            "select" => self.try_select(process, call, 1000),
            "pselect6" => self.try_select(process, call, 1),
            "nanosleep" => self.sleep(process, call, arguments[0], None),
            "clock_nanosleep" if arguments[1] & libc::TIMER_ABSTIME as u64 != 0 => {
                self.sleep(process, call, arguments[2], Some(arguments[0] as i32))
            }
            "clock_nanosleep" => self.sleep(process, call, arguments[2], None),
            "wait4" => {
                let options = arguments[2] | libc::WNOHANG as u64;
                let reply = self.make(process, row, &with(arguments, 2, options));
                let waits = arguments[2] & libc::WNOHANG as u64 == 0;
                if waits && reply == Reply::Value(0) { Reply::Wait } else { reply }
            }
            "waitid" => self.try_waitid(process, row, arguments),
            "rt_sigtimedwait" => self.try_signal(process, call),
            "futex" => self.try_shared_lock(process, call),
            "sched_getaffinity" | "sched_setaffinity" if self.is_of_thread(process, arguments[0]) => {
                self.affinity(process, row, arguments)
            }
            // The threads here have no priorities: what a thread is by default it may be, and no more.
            "sched_setscheduler" if self.is_of_thread(process, arguments[0]) => {
                let usual = arguments[1] as i32 == libc::SCHED_OTHER;
                if usual { Reply::Value(0) } else { Reply::Error(Errno(libc::EPERM)) }
            }
            "sched_getaffinity" | "sched_setaffinity" | "sched_getscheduler" | "sched_setscheduler"
            | "sched_getparam" => {
                // The number of a thread that only we know stands for the whole process.
                let known = if process.threads.has(arguments[0]) { 0 } else { arguments[0] };
                self.make(process, row, &with(arguments, 0, known))
            }
            _ => self.make(process, row, arguments),
        }
    }

    /// A socket has a time of its own after which it gives up; none means for ever.
    fn patience(&self, descriptor: u64, option: i32) -> Option<Duration> {
        let mut time = libc::timeval { tv_sec: 0, tv_usec: 0 };
        let mut size = size_of::<libc::timeval>() as u32;
        let place = &raw mut time as usize;
        let asked = [
            descriptor as usize,
            libc::SOL_SOCKET as usize,
            option as usize,
            place,
            &raw mut size as usize,
            0,
        ];
        self.host(libc::SYS_getsockopt, asked).ok()?;
        let most = Duration::new(time.tv_sec.max(0) as u64, time.tv_usec.clamp(0, 999_999) as u32 * 1000);
        (!most.is_zero()).then_some(most)
    }

    /// Whether a call on a socket has a time after which it gives up. One that has is not made again after a signal.
    pub(super) fn gives_up(&self, name: &str, arguments: &Arguments) -> bool {
        let option = match name {
            "read" | "readv" | "recvfrom" | "recvmsg" | "recvmmsg" | "accept" | "accept4" => {
                libc::SO_RCVTIMEO
            }
            "write" | "writev" | "sendto" | "sendmsg" | "sendmmsg" | "connect" => libc::SO_SNDTIMEO,
            _ => return false,
        };
        self.patience(arguments[0], option).is_some()
    }

    fn wait_on_socket(&mut self, process: &mut Process, call: &Call, option: i32) -> Reply {
        let most = self.patience(call.arguments[0], option);
        if self.is_over(process, call, most) { Reply::Error(Errno(libc::EAGAIN)) } else { Reply::Wait }
    }

    /// A message of System V: tried without waiting.
    fn try_message(&mut self, process: &mut Process, row: &Row, call: &Call) -> Reply {
        let at = if row.name == "msgrcv" { 4 } else { 3 };
        let flags = call.arguments[at];
        let reply = self.make(process, row, &with(&call.arguments, at, flags | libc::IPC_NOWAIT as u64));
        let waits = flags & libc::IPC_NOWAIT as u64 == 0;
        match reply {
            Reply::Error(Errno(libc::EAGAIN | libc::ENOMSG)) if waits => Reply::Wait,
            reply => reply,
        }
    }

    /// A message of POSIX: its time names a moment.
    fn try_queue(&mut self, process: &mut Process, row: &Row, call: &Call) -> Reply {
        let [descriptor, _, _, _, time, _] = call.arguments;
        let events = if row.name == "mq_timedreceive" { libc::POLLIN } else { libc::POLLOUT };
        if self.is_ready(descriptor, events) {
            return self.make(process, row, &call.arguments);
        }
        match time_at(process, time, 1) {
            Ok(moment) => {
                let now = self.clock.of_system(libc::CLOCK_REALTIME, process.time());
                let most = moment.map(|moment| moment.saturating_sub(Duration::from_nanos(now)));
                if self.is_over(process, call, most) {
                    Reply::Error(Errno(libc::ETIMEDOUT))
                } else {
                    Reply::Wait
                }
            }
            Err(errno) => Reply::Error(errno),
        }
    }

    /// What a call that a signal ends leaves of its time, where it tells.
    pub(super) fn tell_time_left(&mut self, process: &mut Process, call: &Call, deadline: u64) -> bool {
        let Some(row) = crate::system::table::find(process.machine, call.number) else { return false };
        let arguments = &call.arguments;
        let (place, unit) = match row.name {
            "nanosleep" => (arguments[1], 1),
            "clock_nanosleep" if arguments[1] & libc::TIMER_ABSTIME as u64 == 0 => (arguments[3], 1),
            "select" => (arguments[4], 1000),
            "pselect6" => (arguments[4], 1),
            "ppoll" => (arguments[2], 1),
            _ => return false,
        };
        let left = deadline.saturating_sub(self.clock.now(process.time()));
        let abi = process.machine.abi();
        let bytes =
            [left / 1_000_000_000, left % 1_000_000_000 / unit].map(|part| abi.word_bytes(part)).concat();
        place != 0 && process.put(place, &bytes).is_ok()
    }

    /// Whether a number is that of a thread of the program that the host does not know, which zero may mean too.
    fn is_of_thread(&self, process: &Process, number: u64) -> bool {
        process.threads.has(number) || number == 0 && !process.threads.is_first()
    }

    /// On which processors a thread may run. It makes no difference here, but the thread may ask for it.
    fn affinity(&mut self, process: &mut Process, row: &Row, arguments: &Arguments) -> Reply {
        let [number, size, mask, ..] = *arguments;
        let thread = if number == 0 { process.threads.number() } else { number as u32 };
        let mut allowed = [0u8; 128];
        let asked = [0, allowed.len(), allowed.as_mut_ptr() as usize, 0, 0, 0];
        let known = match self.host(libc::SYS_sched_getaffinity, asked) {
            Ok(known) => known as usize,
            Err(errno) => return Reply::Error(errno),
        };
        let answer = if row.name == "sched_setaffinity" {
            process.take(mask, size.min(allowed.len() as u64)).and_then(|mut wanted| {
                wanted.resize(allowed.len(), 0);
                wanted.iter_mut().zip(allowed).for_each(|(wanted, allowed)| *wanted &= allowed);
                if wanted.iter().all(|byte| *byte == 0) {
                    return Err(Errno(libc::EINVAL));
                }
                self.affinities.insert(thread, wanted);
                Ok(0)
            })
        } else if size < known as u64 || size % 8 != 0 {
            Err(Errno(libc::EINVAL))
        } else {
            let found = self.affinities.get(&thread).map_or(&allowed[..], |mask| &mask[..]);
            process.put(mask, &found[..known]).map(|()| known as u64)
        };
        answer.into()
    }

    /// A call whose row describes it, made by a hand.
    fn by_hand(&mut self, process: &mut Process, row: &Row, call: &Call) -> Reply {
        let How::Pass(shape) = row.how else { return self.make(process, row, &call.arguments) };
        if let Some(hand) = self.hands.get(&call.thread) {
            let Some((answer, mut buffers)) = hand.answer() else { return Reply::Wait };
            self.hands.remove(&call.thread);
            return restartable(
                answer.and_then(|result| process.finish(shape, &call.arguments, &mut buffers, result)),
            );
        }
        match process.prepare(shape, &call.arguments) {
            Ok((values, buffers)) => self.hand_out(call, row.host, values, buffers),
            Err(errno) => Reply::Error(errno),
        }
    }

    fn hand_out(
        &mut self,
        call: &Call,
        number: i64,
        values: [usize; 6],
        buffers: Vec<Option<Vec<u8>>>,
    ) -> Reply {
        match Hand::new(number, values, buffers) {
            Some(hand) => {
                self.hands.insert(call.thread, hand);
                Reply::Wait
            }
            None => Reply::Error(Errno(libc::EAGAIN)),
        }
    }

    /// The answer of a hand to a call that brings nothing back into memory.
    fn handed(&mut self, call: &Call) -> Option<Reply> {
        let hand = self.hands.get(&call.thread)?;
        let Some((answer, _)) = hand.answer() else { return Some(Reply::Wait) };
        self.hands.remove(&call.thread);
        Some(restartable(answer))
    }

    fn write_parts(&mut self, process: &mut Process, row: &Row, call: &Call) -> Reply {
        if let Some(reply) = self.handed(call) {
            return reply;
        }
        let [descriptor, list, count, ..] = call.arguments;
        match crate::system::gathered(process, list, count) {
            Ok(bytes) if self.takes_at_once(descriptor, bytes.len() as u64) => {
                self.make(process, row, &call.arguments)
            }
            Ok(bytes) => {
                let values = [descriptor as usize, bytes.as_ptr() as usize, bytes.len(), 0, 0, 0];
                self.hand_out(call, libc::SYS_write, values, vec![Some(bytes)])
            }
            Err(errno) => Reply::Error(errno),
        }
    }

    /// Waits for a lock on a part of a file.
    fn lock_file(&mut self, process: &mut Process, row: &Row, call: &Call) -> Reply {
        const LOCK: u64 = 32;
        if let Some(reply) = self.handed(call) {
            return reply;
        }
        let [descriptor, command, at, ..] = call.arguments;
        let _ = row;
        match process.take(at, LOCK) {
            Ok(bytes) => {
                let values = [descriptor as usize, command as usize, bytes.as_ptr() as usize, 0, 0, 0];
                self.hand_out(call, libc::SYS_fcntl, values, vec![Some(bytes)])
            }
            Err(errno) => Reply::Error(errno),
        }
    }

    /// Opening a pipe by its name waits for the other end.
    fn open_fifo(&mut self, process: &mut Process, row: &Row, call: &Call) -> Reply {
        if let Some(reply) = self.handed(call) {
            return reply;
        }
        let [first, second, third, fourth, ..] = call.arguments;
        let (directory, path, flags, mode) = match row.name {
            "open" => (libc::AT_FDCWD as u64, first, second, third),
            _ => (first, second, third, fourth),
        };
        let Ok(path) = process.take_path(path) else { return self.make(process, row, &call.arguments) };
        // SAFETY: the structure is made of numbers and pointers, for which zero is a value.
        let mut status: libc::stat = unsafe { std::mem::zeroed() };
        let directory = i64::from(directory as i32) as usize;
        let asked = [directory, path.as_ptr() as usize, &raw mut status as usize, 0, 0, 0];
        let is_fifo = self.host(libc::SYS_newfstatat, asked).is_ok()
            && status.st_mode & libc::S_IFMT == libc::S_IFIFO
            && flags & libc::O_NONBLOCK as u64 == 0;
        if !is_fifo {
            return self.make(process, row, &call.arguments);
        }
        let values = [directory, path.as_ptr() as usize, flags as usize, mode as usize, 0, 0];
        self.hand_out(call, libc::SYS_openat, values, vec![Some(path)])
    }

    /// When the call of a thread gives up; `most` counts from the first time that it is asked.
    fn deadline(&mut self, process: &Process, call: &Call, most: Option<Duration>) -> Option<u64> {
        if let Some(known) = self.deadlines.get(&call.thread) {
            return Some(known.0);
        }
        let now = self.clock.now(process.time());
        let deadline = now.checked_add(u64::try_from(most?.as_nanos()).ok()?)?;
        self.deadlines.insert(call.thread, (deadline, *call));
        Some(deadline)
    }

    fn is_over(&mut self, process: &Process, call: &Call, most: Option<Duration>) -> bool {
        let deadline = self.deadline(process, call, most);
        deadline.is_some_and(|deadline| self.clock.now(process.time()) >= deadline)
    }

    /// Makes a call that waits for events, and gives up after a time; zero means that there were none.
    fn try_until(
        &mut self,
        process: &mut Process,
        row: &Row,
        call: &Call,
        most: Option<Duration>,
        arguments: &Arguments,
    ) -> Reply {
        // What it would write is written only when it is done.
        let reply = process.unless_nothing(|process| self.make(process, row, arguments));
        if reply != Reply::Value(0) {
            return reply;
        }
        if self.is_over(process, call, most) {
            return self.make(process, row, arguments);
        }
        Reply::Wait
    }

    /// `select`, with its time in seconds and units of so many nanoseconds.
    fn try_select(&mut self, process: &mut Process, call: &Call, unit: u64) -> Reply {
        let arguments = &call.arguments;
        let most = match time_at(process, arguments[4], unit) {
            Ok(most) => most,
            Err(errno) => return Reply::Error(errno),
        };
        let once = |process: &mut Process, live: &Live| -> Reply {
            let mut none = libc::timeval { tv_sec: 0, tv_usec: 0 };
            let time = [&raw mut none as usize, 0];
            crate::system::select_sets(process, live, arguments, libc::SYS_select, time).into()
        };
        let reply = process.unless_nothing(|process| once(process, self));
        if reply != Reply::Value(0) {
            return reply;
        }
        if self.is_over(process, call, most) { once(process, self) } else { Reply::Wait }
    }

    /// Sleeps for a time, or until a moment of a clock.
    fn sleep(&mut self, process: &mut Process, call: &Call, address: u64, clock: Option<i32>) -> Reply {
        match time_at(process, address, 1) {
            Ok(Some(given)) => {
                let time = process.time();
                let most = clock.map_or(given, |clock| {
                    given.saturating_sub(Duration::from_nanos(self.clock.of_system(clock, time)))
                });
                if self.is_over(process, call, Some(most)) { Reply::Value(0) } else { Reply::Wait }
            }
            Ok(None) => Reply::Error(Errno(libc::EFAULT)),
            Err(errno) => Reply::Error(errno),
        }
    }

    fn try_waitid(&mut self, process: &mut Process, row: &Row, arguments: &Arguments) -> Reply {
        let waits = arguments[3] & libc::WNOHANG as u64 == 0;
        if waits {
            // SAFETY: without an ended child the record stays as it was.
            let mut information: libc::siginfo_t = unsafe { std::mem::zeroed() };
            let options = arguments[3] | (libc::WNOHANG | libc::WNOWAIT) as u64;
            let target = &raw mut information as usize;
            let asked = [arguments[0] as usize, arguments[1] as usize, target, options as usize, 0, 0];
            // SAFETY: `waitid` filled it in, or it is zero, for which the field is zero too.
            if self.host(libc::SYS_waitid, asked).is_ok() && unsafe { information.si_pid() } == 0 {
                return Reply::Wait;
            }
        }
        self.make(process, row, &with(arguments, 3, arguments[3] | libc::WNOHANG as u64))
    }

    /// Takes a blocked signal that has arrived for the process.
    fn try_signal(&mut self, process: &mut Process, call: &Call) -> Reply {
        let [set, information, timeout, ..] = call.arguments;
        let mut try_once = || -> Answer {
            let set = process.take(set, 8)?;
            let none = libc::timespec { tv_sec: 0, tv_nsec: 0 };
            let mut found = [0u8; 128];
            let call =
                [set.as_ptr() as usize, found.as_mut_ptr() as usize, &raw const none as usize, 8, 0, 0];
            let signal = self.host(libc::SYS_rt_sigtimedwait, call)?;
            if information != 0 {
                process.put(information, &found)?;
            }
            Ok(signal)
        };
        match try_once() {
            Err(Errno(libc::EAGAIN)) => match time_at(process, timeout, 1) {
                Ok(most) if self.is_over(process, call, most) => Reply::Error(Errno(libc::EAGAIN)),
                Ok(_) => Reply::Wait,
                Err(errno) => Reply::Error(errno),
            },
            answer => answer.into(),
        }
    }

    /// Waits for a lock in memory that other processes map as well: some thread or process may change it.
    fn try_shared_lock(&mut self, process: &mut Process, call: &Call) -> Reply {
        let [address, operation, value, timeout, ..] = call.arguments;
        const COMMAND: u64 = 0x7f;
        let owned = crate::system::has_owner(&call.arguments);
        if !owned && !matches!((operation & COMMAND) as i32, libc::FUTEX_WAIT | libc::FUTEX_WAIT_BITSET) {
            return crate::system::shared_futex(process, self, &call.arguments);
        }
        // The older of the calls that wait for an owner always means the clock of the day.
        const FUTEX_LOCK_PI: u64 = 6;
        let real = if operation & COMMAND == FUTEX_LOCK_PI { libc::FUTEX_CLOCK_REALTIME as u64 } else { 0 };
        let operation = operation | real;
        let now = self.clock.of_system(crate::system::futex_clock(operation), process.time());
        let most = match crate::system::futex_time_left(process, operation, timeout, now) {
            Ok(most) => most,
            Err(errno) => return Reply::Error(errno),
        };
        if owned {
            return match crate::system::try_owned(process, &call.arguments) {
                Reply::Wait if self.is_over(process, call, most) => Reply::Error(Errno(libc::ETIMEDOUT)),
                reply => reply,
            };
        }
        let waited = self.deadlines.contains_key(&call.thread);
        match process.lock_value(address) {
            Err(fault) => Reply::Error(fault.into()),
            // A wake is known by what it left: the value.
            Ok(found) if found != value as u32 && waited => Reply::Value(0),
            Ok(found) if found != value as u32 => Reply::Error(Errno(libc::EAGAIN)),
            Ok(_) if self.is_over(process, call, most) => Reply::Error(Errno(libc::ETIMEDOUT)),
            Ok(_) => Reply::Wait,
        }
    }
}

/// A time in memory, of seconds and units of so many nanoseconds; none means for ever.
fn time_at(process: &mut Process, address: u64, unit: u64) -> Result<Option<Duration>, Errno> {
    if address == 0 {
        return Ok(None);
    }
    let (seconds, rest) =
        (process.take_word(address)?, process.take_word(address + process.machine.abi().word as u64)?);
    let nanoseconds = rest.checked_mul(unit).filter(|nanoseconds| *nanoseconds < 1_000_000_000);
    match (i64::try_from(seconds), nanoseconds) {
        (Ok(seconds), Some(nanoseconds)) => Ok(Some(Duration::new(seconds as u64, nanoseconds as u32))),
        _ => Err(Errno(libc::EINVAL)),
    }
}

/// A reply that says whether the call may be made again after a signal.
fn restartable(answer: Answer) -> Reply {
    match answer {
        Err(Errno(libc::EINTR)) => Reply::Interrupted,
        answer => answer.into(),
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
