//! The door that answers from a log, and cannot reach the host.

use crate::log::Log;
use crate::map::ReplayedMap;
use crate::record::{Record, SavedMap, SavedObject, When};
use crate::recording::checksum;
use crate::shown::Shown;
use parallax_process::elf::LoadError;
use parallax_process::memory::{Mapping, Memory, Object};
use parallax_process::outside::{
    Birth, Call, Disposition, Event, Exec, Facts, FileChange, NOWHERE, Opened, Outcome, Outside, Side, Tid,
    Wanted,
};
use parallax_process::system::{Errno, Reply, call_name};
use parallax_process::{Ending, Interrupt, Process, StartError, prepare_alone};
use serde_bytes::ByteBuf;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::sync::Arc;

/// The door.
pub struct Replaying {
    log: Arc<Log>,
    /// The next record.
    at: usize,
    /// Where it ends behind the last record, if the recording was cut.
    stop: Option<u64>,
    interrupt: Interrupt,
    /// Whether checksums of the state are compared.
    verifies: bool,
    /// Where the program's output goes, if it is wanted.
    output: Option<Shown>,
    /// The replay has left the recording.
    lost: Option<String>,
}

/// A process that does again what a log says.
pub fn replay(log: &Arc<Log>, verifies: bool, shows_output: bool) -> Result<Process, StartError> {
    replay_to(log, verifies, shows_output.then(Shown::new))
}

/// The same, with its output where that says.
pub(crate) fn replay_to(
    log: &Arc<Log>,
    verifies: bool,
    output: Option<Shown>,
) -> Result<Process, StartError> {
    let door = Replaying::new(log.clone(), verifies, output);
    let program = log.header.program();
    Process::start(program, Box::new(door))
}

impl Replaying {
    /// Answers from the start of a log on.
    fn new(log: Arc<Log>, verifies: bool, output: Option<Shown>) -> Replaying {
        let stop = log.stop();
        Replaying { log, at: 0, stop, interrupt: Interrupt::default(), verifies, output, lost: None }
    }

    fn head(&self) -> Option<&Record> {
        self.log.records.get(self.at)
    }

    /// The replay cannot go on: it asks for what the recording does not say.
    fn lose(&mut self, time: u64, asked: &str) -> Ending {
        let why = match self.head() {
            Some(record) => {
                let recorded = describe(record);
                let then = record.time().map_or(String::new(), |then| format!(" at {then}"));
                format!("the replay left the recording at {time}: recorded {recorded}{then}, asked {asked}")
            }
            None => {
                format!("the recording ends here, at {time}: it was cut while the program asked for {asked}")
            }
        };
        self.close(why)
    }

    /// The replay stops: all that is recorded was done again, and the process had no end then.
    fn cut(&mut self, time: u64) -> Ending {
        self.close(format!(
            "the recording ends here, at {time}: it was cut while the program computed or waited"
        ))
    }

    fn close(&mut self, why: String) -> Ending {
        self.lost.get_or_insert_with(|| why.clone());
        self.interrupt.want();
        Ending::Closed { why }
    }

    /// The record of something unasked, if it is its time.
    fn is_now(&self, process: &Process) -> bool {
        let now = When { time: process.time(), turn: process.turns() };
        self.head().and_then(Record::unasked).is_some_and(|when| when <= now)
    }

    /// Takes the next unasked record.
    fn take(&mut self, process: &mut Process) -> Option<Event> {
        let log = self.log.clone();
        let record = log.records.get(self.at)?;
        self.at += 1;
        Some(match record {
            Record::Signal { signal, thread, information, .. } => {
                let mut bytes = [0; 128];
                let length = information.len().min(128);
                bytes[..length].copy_from_slice(&information[..length]);
                Event::Signal { signal: *signal, thread: *thread, information: Box::new(bytes) }
            }
            Record::Woken { thread, reply, puts, changed, .. } => {
                if !apply(process, puts) {
                    self.at -= 1;
                    return Some(Event::Closed(self.lose(process.time(), "memory that is not there")));
                }
                note_changed(process, changed);
                Event::Answer { thread: *thread, reply: reply.restore() }
            }
            Record::Timeout { thread, .. } => Event::Timeout { thread: *thread },
            Record::Digest { when, hash } => {
                if self.verifies && process.digest() != *hash {
                    let before = log.records[..self.at - 1].iter().rev();
                    let last = before
                        .filter(|record| matches!(record, Record::Digest { .. }))
                        .find_map(Record::time);
                    let why = format!(
                        "the state is not the recorded one: the replay left the recording between {} and {}",
                        last.unwrap_or(0),
                        when.time
                    );
                    return Some(Event::Closed(Ending::Closed { why }));
                }
                return None;
            }
            _ => unreachable!("only unasked records are taken"),
        })
    }

    fn map_of(&self, saved: &SavedMap) -> Arc<dyn Mapping> {
        Arc::new(ReplayedMap { saved: saved.clone(), log: self.log.clone() })
    }

    /// Writes what the program wrote, where it was meant for our own output or errors.
    fn show(&mut self, process: &mut Process, call: &Call, reply: &Reply) {
        let Some(output) = &self.output else { return };
        let Reply::Value(result) = *reply else { return };
        let name = call_name(process.machine(), call.number).unwrap_or("");
        let [first, second, third, ..] = call.arguments;
        match name {
            "dup" => output.copy(first, result),
            "dup2" | "dup3" => output.copy(first, second),
            "fcntl" if matches!(second, 0 | 1030) => output.copy(first, result),
            "close" => output.close(first),
            "open" | "openat" | "creat" | "socket" | "accept" | "accept4" => output.close(result),
            // What its parents wrote is theirs.
            "write" | "writev" if process.time() <= self.log.since && self.log.since > 0 => {}
            "write" | "writev" if output.shows(first) => {
                let bytes = match name {
                    "write" => process.peek(second, result),
                    _ => process.peek_parts(second, third, result),
                };
                output.write(first, &bytes);
            }
            _ => {}
        }
    }
}

fn apply(process: &mut Process, puts: &[(u64, ByteBuf)]) -> bool {
    puts.iter().all(|(address, bytes)| *address == NOWHERE || process.put_answer(*address, bytes))
}

fn note_changed(process: &mut Process, changed: &[(SavedObject, Option<u64>)]) {
    for ((device, inode), cut) in changed {
        let object = Object { device: *device, inode: *inode };
        process.file_changed(FileChange { object, cut: *cut });
    }
}

/// A record in a few words.
fn describe(record: &Record) -> String {
    match record {
        Record::Answer { number, .. } | Record::Parked { number, .. } => format!("call {number}"),
        Record::Woken { thread, .. } => format!("the answer to a call of thread {thread}"),
        Record::Stands { thread, .. } => format!("the end of a call of thread {thread}"),
        Record::Signal { signal, .. } => format!("signal {signal}"),
        Record::Timeout { thread, .. } => format!("a timeout of thread {thread}"),
        Record::Delivery { .. } => String::from("a signal handler"),
        Record::Thread { .. } => String::from("a new thread"),
        Record::Map(_) | Record::Share(_) => String::from("a mapping"),
        Record::Fork { .. } | Record::Child(_) => String::from("a fork"),
        Record::Exec(_) => String::from("a new program"),
        Record::Digest { .. } => String::from("a checksum"),
        Record::Fill { .. } | Record::Foreign { .. } => String::from("a page"),
        Record::End { .. } => String::from("the end"),
        Record::Native { .. } => String::from("a count of steps"),
    }
}

impl Outside for Replaying {
    fn facts(&mut self) -> Facts {
        self.log.header.facts.restore()
    }

    fn interrupt(&self) -> Interrupt {
        self.interrupt.clone()
    }

    fn call(&mut self, process: &mut Process, call: &Call) -> Outcome {
        let log = self.log.clone();
        let now = When { time: process.time(), turn: process.turns() };
        let asked = || {
            let name = call_name(process.machine(), call.number).unwrap_or("a call");
            format!("{name}({:#x}, {:#x}, {:#x})", call.arguments[0], call.arguments[1], call.arguments[2])
        };
        let same = |when: &When, thread: u32, number: u64, arguments: u32| {
            *when == now && thread == call.thread && number == call.number && arguments == checksum(call)
        };
        match log.records.get(self.at) {
            Some(Record::Answer { when, thread, number, arguments, reply, puts, changed })
                if same(when, *thread, *number, *arguments) =>
            {
                self.at += 1;
                let reply = reply.restore();
                self.show(process, call, &reply);
                if !apply(process, puts) {
                    self.at -= 1;
                    let ending = self.lose(now.time, "memory that is not there");
                    return Outcome::Done(Reply::End(ending));
                }
                note_changed(process, changed);
                Outcome::Done(reply)
            }
            Some(Record::Parked { when, thread, number, arguments })
                if same(when, *thread, *number, *arguments) =>
            {
                self.at += 1;
                Outcome::NotYet
            }
            _ => {
                let asked = asked();
                Outcome::Done(Reply::End(self.lose(now.time, &asked)))
            }
        }
    }

    fn waits_for_signal(&mut self, process: &Process, call: &Call) {
        let now = When { time: process.time(), turn: process.turns() };
        // Recordings have not always said so; without it, only a signal that was blocked before comes in time.
        if let Some(Record::Parked { when, thread, number, arguments }) = self.head()
            && (*when, *thread, *number, *arguments) == (now, call.thread, call.number, checksum(call))
        {
            self.at += 1;
        }
    }

    fn abandon(&mut self, process: &mut Process, thread: Tid) -> Option<Reply> {
        let log = self.log.clone();
        match log.records.get(self.at) {
            Some(Record::Stands { thread: recorded, reply, puts, .. }) if *recorded == thread => {
                self.at += 1;
                if !apply(process, puts) {
                    self.at -= 1;
                    return Some(Reply::End(self.lose(process.time(), "memory that is not there")));
                }
                Some(reply.restore())
            }
            _ => None,
        }
    }

    fn unrecorded(&mut self, time: u64, asked: &str) -> Ending {
        self.lose(time, asked)
    }

    fn horizon(&self) -> u64 {
        match self.head() {
            Some(record) => record.unasked().map_or(u64::MAX, |when| when.time),
            None => self.stop.unwrap_or(u64::MAX),
        }
    }

    fn due(&mut self, process: &mut Process) -> Option<Event> {
        if let Some(why) = &self.lost {
            return Some(Event::Closed(Ending::Closed { why: why.clone() }));
        }
        while self.is_now(process) {
            if let Some(event) = self.take(process) {
                return Some(event);
            }
        }
        if self.head().is_none() && self.stop.is_some_and(|stop| process.time() >= stop) {
            return Some(Event::Closed(self.cut(process.time())));
        }
        None
    }

    fn idle(&mut self, process: &mut Process) -> Event {
        match self.due(process) {
            Some(event) => event,
            None => Event::Closed(self.lose(process.time(), "something to happen")),
        }
    }

    fn now(&mut self, _: u64) -> u64 {
        0
    }

    fn clock(&mut self, _: i32, _: u64) -> u64 {
        0
    }

    fn load(&mut self, path: PathBuf, _: Vec<Vec<u8>>) -> Result<Exec, LoadError> {
        let log = self.log.clone();
        let failed = |path: PathBuf, number: i32| LoadError::Unreadable {
            path,
            error: std::io::Error::from_raw_os_error(number),
        };
        let Some(Record::Exec(result)) = log.records.get(self.at) else {
            self.lose(0, "a new program");
            return Err(failed(path, 5));
        };
        self.at += 1;
        let saved = match result {
            Ok(saved) => saved,
            Err(number) => return Err(failed(path, *number)),
        };
        let path = |bytes: &ByteBuf| PathBuf::from(OsString::from_vec(bytes.to_vec()));
        let open = |(name, map): &(ByteBuf, SavedMap)| -> Result<Opened, LoadError> {
            let bytes = match map.file.as_ref().and_then(|file| log.files.get(file)) {
                Some(bytes) => bytes.clone(),
                // A lean recording has only the name.
                None => std::fs::read(path(name))
                    .map_err(|error| LoadError::Unreadable { path: path(name), error })?
                    .into(),
            };
            Ok(Opened { path: path(name), bytes, map: self.map_of(map) })
        };
        Ok(Exec {
            program: open(&saved.program)?,
            interpreter: saved.interpreter.as_ref().map(open).transpose()?,
            canonical: path(&saved.canonical),
            arguments: saved.arguments.iter().map(|text| text.to_vec()).collect(),
            random: saved.random,
            identity: saved.identity,
        })
    }

    fn replaced(&mut self, _: &[u8], _: bool) {}

    fn map(&mut self, _: i32, _: &Wanted) -> Result<Arc<dyn Mapping>, Errno> {
        let log = self.log.clone();
        match log.records.get(self.at) {
            Some(Record::Map(result)) => {
                self.at += 1;
                result.as_ref().map(|saved| self.map_of(saved)).map_err(|number| Errno(*number))
            }
            _ => {
                self.lose(0, "a mapping of a file");
                Err(Errno(5))
            }
        }
    }

    fn share(&mut self, _: u64) -> Result<Arc<dyn Mapping>, Errno> {
        let log = self.log.clone();
        match log.records.get(self.at) {
            Some(Record::Share(result)) => {
                self.at += 1;
                result.as_ref().map(|saved| self.map_of(saved)).map_err(|number| Errno(*number))
            }
            _ => {
                self.lose(0, "shared memory");
                Err(Errno(5))
            }
        }
    }

    fn attach(&mut self, _: i32, _: bool) -> Result<Arc<dyn Mapping>, Errno> {
        self.share(0)
    }

    fn split(&mut self, time: u64, _: &mut Memory, _: Birth) -> Result<Side, Errno> {
        let log = self.log.clone();
        match log.records.get(self.at) {
            Some(Record::Fork { child, loan, .. }) => {
                self.at += 1;
                let loan = loan.iter().map(|(page, bytes)| (*page, bytes.to_vec())).collect();
                child
                    .as_ref()
                    .map(|(child, _, descriptor)| Side::Parent {
                        child: *child,
                        descriptor: *descriptor,
                        loan,
                    })
                    .map_err(|number| Errno(*number))
            }
            Some(Record::Child(facts)) => {
                self.at += 1;
                Ok(Side::Child(facts.restore()))
            }
            _ => {
                self.lose(time, "a fork");
                Err(Errno(5))
            }
        }
    }

    fn thread_made(&mut self, time: u64, thread: Tid) {
        match self.head() {
            Some(Record::Thread { time: recorded, thread: number })
                if (*recorded, *number) == (time, thread) =>
            {
                self.at += 1;
            }
            _ => drop(self.lose(time, "a new thread")),
        }
    }

    fn give_back(&mut self, _: &mut Memory) {}

    fn dispose(&mut self, _: i32, _: Disposition) -> bool {
        true
    }

    fn block(&mut self, _: u64) {}

    fn prepare_native(&mut self) -> Result<(), String> {
        prepare_alone()
    }

    fn delivery(&mut self, time: u64, flags: u64) -> u64 {
        match self.head() {
            Some(Record::Delivery { time: recorded, flags: shown }) if *recorded == time => {
                let shown = *shown;
                self.at += 1;
                shown
            }
            _ => {
                self.lose(time, "a signal handler");
                flags
            }
        }
    }

    fn position(&self) -> u64 {
        self.at as u64
    }

    fn seek(&mut self, position: u64) {
        self.at = position as usize;
        self.lost = None;
    }
}
