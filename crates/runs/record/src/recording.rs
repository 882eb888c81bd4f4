//! The door that forwards to another, and writes down what passes.

use crate::format::{Header, Kind, Progress, Writer};
use crate::map::RecordedMap;
use crate::record::{
    Puts, Record, SavedEnding, SavedExec, SavedFacts, SavedMap, SavedObject, SavedReply, When,
};
use parallax_process::elf::{Image, LoadError};
use parallax_process::memory::{Identity, Mapping, Memory};
use parallax_process::outside::{
    Birth, Call, Disposition, Event, Exec, Facts, Opened, Outcome, Outside, Side, Tid, Wanted,
};
use parallax_process::system::{Errno, Reply};
use parallax_process::{Ending, Interrupt, Process, Program};
use rustc_hash::FxHashMap;
use serde_bytes::ByteBuf;
use std::borrow::Cow;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Steps between two checksums of the state.
const BETWEEN_DIGESTS: u64 = 50_000_000;

/// How to record.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Wait for the disk after each chunk: then a power failure loses the last second at most for certain.
    pub sync: bool,
    /// Keep no contents of programs: the recording can then only be replayed where they are.
    pub lean: bool,
    /// Record the first process alone: its children run, and nobody writes them down.
    pub alone: bool,
    /// Steps between two checksums of the state; a default if zero.
    pub between_digests: u64,
}

/// Why a recording cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The folder cannot be made, or holds a recording already.
    #[error("cannot record into {}: {error}", folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// Why.
        error: std::io::Error,
    },
}

/// The door.
pub struct Recording {
    inner: Box<dyn Outside>,
    writer: Arc<Mutex<Writer>>,
    header: Header,
    settings: Settings,
    is_native: bool,
    next_map: u32,
    next_digest: u64,
    /// Contents that were kept, by the name of their file: a program is often run again.
    kept: FxHashMap<String, Kept>,
    /// The same by file: a loader maps each library several times, and reading it once is enough.
    known: FxHashMap<Identity, Kept>,
}

/// Contents, and the name under which they are kept.
#[derive(Clone)]
struct Kept {
    file: String,
    contents: Arc<Vec<u8>>,
}

impl Recording {
    /// Records what passes `inner` while `program` runs, into a folder of its own.
    pub fn create(
        folder: &Path,
        program: &Program,
        mut inner: Box<dyn Outside>,
        settings: Settings,
    ) -> Result<Recording, RecordError> {
        let failed = |error| RecordError::Folder { folder: folder.to_owned(), error };
        std::fs::create_dir_all(folder).map_err(failed)?;
        let absolute = std::fs::canonicalize(folder).map_err(failed)?;
        let header = Header::new(program, SavedFacts::new(&inner.facts()));
        let writer = Writer::create(&absolute, "0", &header, settings.sync).map_err(failed)?;
        let between = settings.between_digests();
        Ok(Recording {
            inner,
            writer: Arc::new(Mutex::new(writer)),
            header,
            settings,
            is_native: false,
            next_map: 0,
            next_digest: between,
            kept: FxHashMap::default(),
            known: FxHashMap::default(),
        })
    }

    /// A way to ask later whether all could be written.
    pub fn health(&self) -> Health {
        Health(self.writer.clone())
    }

    fn writer(&self) -> MutexGuard<'_, Writer> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, record: &Record) {
        self.writer().append(record);
    }

    /// Notes that the processor itself runs the process: should it be killed, nothing more is said about it.
    fn note_native(&self) {
        if self.is_native {
            self.note(&Record::Native { steps: 0, of: 0 });
        }
    }

    /// Notes how far the process has come; in a call, its step is not made yet.
    fn note_progress(&self, process: &Process, in_call: bool) {
        let steps = process.time().saturating_sub(in_call.into());
        self.writer().note_progress(Progress { steps, in_call });
    }

    /// A mapping that notes what is touched, and what to write about it.
    fn wrap(
        &mut self,
        inner: Arc<dyn Mapping>,
        shared: bool,
        bytes: Option<&[u8]>,
    ) -> (Arc<dyn Mapping>, SavedMap) {
        let number = self.next_map;
        self.next_map += 1;
        // Programs and libraries are kept whole, of other files only what is touched.
        let kept = match bytes {
            _ if self.settings.lean => None,
            Some(bytes) => self.keep(inner.name(), Cow::Borrowed(bytes)),
            None if !shared && is_program(&*inner) => self.keep_library(&*inner),
            None => None,
        };
        let saved = SavedMap {
            number,
            name: inner.name().to_owned(),
            length: inner.length(),
            file: kept.as_ref().map(|kept| kept.file.clone()),
            shared,
            object: inner.object().map(|object| (object.device, object.inode)),
            may_write: inner.may_write(),
            segment: inner.is_segment(),
        };
        let kept = kept.map(|kept| kept.contents);
        let map = RecordedMap { inner, number, kept, shared, writer: self.writer.clone() };
        (Arc::new(map), saved)
    }

    /// Keeps the contents of a file, unless the same are kept already.
    fn keep(&mut self, name: &str, contents: Cow<[u8]>) -> Option<Kept> {
        if let Some(kept) = self.kept.get(name).filter(|kept| **kept.contents == *contents) {
            return Some(kept.clone());
        }
        let kept = Kept { file: self.writer().keep(&contents)?, contents: Arc::new(contents.into_owned()) };
        self.kept.insert(name.to_owned(), kept.clone());
        Some(kept)
    }

    /// Keeps what a mapping holds. Should it be another than the file was before after all, its pages tell: each that differs
    /// from what is kept is written down.
    fn keep_library(&mut self, map: &dyn Mapping) -> Option<Kept> {
        let identity = map.identity();
        if let Some(kept) = identity.and_then(|identity| self.known.get(&identity)) {
            return Some(kept.clone());
        }
        let kept = self.keep(map.name(), Cow::Owned(map.contents()?))?;
        self.known.extend(identity.map(|identity| (identity, kept.clone())));
        Some(kept)
    }

    fn open(&mut self, opened: Opened) -> (Opened, (ByteBuf, SavedMap)) {
        let (map, saved) = self.wrap(opened.map, false, Some(&opened.bytes));
        let path = ByteBuf::from(opened.path.as_os_str().as_bytes().to_vec());
        (Opened { path: opened.path, bytes: opened.bytes, map }, (path, saved))
    }
}

/// Whether a recording is being written still, for the one who started it.
pub struct Health(Arc<Mutex<Writer>>);

impl Health {
    /// Whether something could not be written: the recording ends before the program did.
    pub fn is_lost(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).failed().is_some()
    }
}

impl Settings {
    fn between_digests(&self) -> u64 {
        if self.between_digests == 0 { BETWEEN_DIGESTS } else { self.between_digests }
    }
}

fn is_program(map: &dyn Mapping) -> bool {
    map.page(0, 0).is_some_and(|page| page.starts_with(b"\x7fELF"))
}

fn when(process: &Process) -> When {
    When { time: process.time(), turn: process.turns() }
}

fn puts(process: &mut Process) -> Puts {
    process.take_journal().into_iter().map(|(address, bytes)| (address, ByteBuf::from(bytes))).collect()
}

/// The files that a call changed, as they are written down.
type Changed = Vec<(SavedObject, Option<u64>)>;

fn changed(process: &mut Process) -> Changed {
    let changes = process.take_changes().into_iter();
    changes.map(|change| ((change.object.device, change.object.inode), change.cut)).collect()
}

/// A checksum of a call's arguments.
pub(crate) fn checksum(call: &Call) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    call.arguments.iter().for_each(|argument| hasher.update(&argument.to_le_bytes()));
    hasher.finalize()
}

/// The calls after which a process may not be able to open what it could before, by the numbers of x86-64: those that change whose
/// rights it has (`setuid`, `setgid`, `setreuid`, `setregid`, `setgroups`, `setresuid`, `setresgid`, `setfsuid`, `setfsgid`,
/// `capset`) and those that change what it sees (`pivot_root`, `chroot`, `unshare`, `setns`). Where they mean other calls, somebody is
/// asked to keep rights that nobody gives up.
const GIVES_UP_RIGHTS: [u64; 14] = [105, 106, 113, 114, 116, 117, 119, 122, 123, 126, 155, 161, 272, 308];

impl Outside for Recording {
    fn facts(&mut self) -> Facts {
        self.header.facts.restore()
    }

    fn interrupt(&self) -> Interrupt {
        self.inner.interrupt()
    }

    fn call(&mut self, process: &mut Process, call: &Call) -> Outcome {
        let when = when(process);
        if GIVES_UP_RIGHTS.contains(&call.number) {
            self.writer().keep_rights();
        }
        self.note_progress(process, true);
        process.start_journal();
        let outcome = self.inner.call(process, call);
        let (puts, changed) = (puts(process), changed(process));
        let (thread, number, arguments) = (call.thread, call.number, checksum(call));
        self.note(&match &outcome {
            Outcome::Done(reply) => {
                let reply = SavedReply::new(reply);
                Record::Answer { when, thread, number, arguments, reply, puts, changed }
            }
            Outcome::NotYet => Record::Parked { when, thread, number, arguments },
        });
        outcome
    }

    fn waits_for_signal(&mut self, process: &Process, call: &Call) {
        self.inner.waits_for_signal(process, call);
        let (thread, number, arguments) = (call.thread, call.number, checksum(call));
        self.note(&Record::Parked { when: when(process), thread, number, arguments });
    }

    fn abandon(&mut self, process: &mut Process, thread: Tid) -> Option<Reply> {
        process.start_journal();
        let stands = self.inner.abandon(process, thread);
        let puts = puts(process);
        if let Some(reply) = &stands {
            self.note(&Record::Stands { when: when(process), thread, reply: SavedReply::new(reply), puts });
        }
        stands
    }

    fn horizon(&self) -> u64 {
        self.inner.horizon().min(self.next_digest)
    }

    fn due(&mut self, process: &mut Process) -> Option<Event> {
        self.note_progress(process, false);
        if process.time() >= self.next_digest {
            self.next_digest = process.time() + self.settings.between_digests();
            self.note(&Record::Digest { when: when(process), hash: process.digest() });
        }
        let when = when(process);
        process.start_journal();
        let event = self.inner.due(process);
        let brought = (puts(process), changed(process));
        if let Some(event) = &event {
            self.note_event(when, event, brought);
        }
        event
    }

    fn idle(&mut self, process: &mut Process) -> Event {
        self.note_progress(process, false);
        let when = when(process);
        process.start_journal();
        let event = self.inner.idle(process);
        let brought = (puts(process), changed(process));
        self.note_event(when, &event, brought);
        event
    }

    fn now(&mut self, time: u64) -> u64 {
        self.inner.now(time)
    }

    fn clock(&mut self, clock: i32, time: u64) -> u64 {
        self.inner.clock(clock, time)
    }

    fn load(&mut self, path: PathBuf, arguments: Vec<Vec<u8>>) -> Result<Exec, LoadError> {
        let exec = match self.inner.load(path, arguments) {
            Ok(exec) => exec,
            Err(error) => {
                self.note(&Record::Exec(Err(match &error {
                    LoadError::Unreadable { error, .. } => error.raw_os_error().unwrap_or(EACCES),
                    _ => ENOEXEC,
                })));
                return Err(error);
            }
        };
        let (program, saved_program) = self.open(exec.program);
        let (interpreter, saved_interpreter) = exec.interpreter.map(|opened| self.open(opened)).unzip();
        let bytes = |texts: &[Vec<u8>]| texts.iter().map(|text| ByteBuf::from(text.clone())).collect();
        let machine = Image::parse(&program.bytes).map_or("", |image| image.machine.name());
        self.note(&Record::Exec(Ok(Box::new(SavedExec {
            machine: machine.to_owned(),
            program: saved_program,
            interpreter: saved_interpreter,
            canonical: ByteBuf::from(exec.canonical.as_os_str().as_bytes().to_vec()),
            arguments: bytes(&exec.arguments),
            random: exec.random,
            identity: exec.identity,
        }))));
        self.writer().flush(Kind::Events);
        Ok(Exec { program, interpreter, ..exec })
    }

    fn replaced(&mut self, name: &[u8], first: bool) {
        self.inner.replaced(name, first);
    }

    fn map(&mut self, descriptor: i32, wanted: &Wanted) -> Result<Arc<dyn Mapping>, Errno> {
        match self.inner.map(descriptor, wanted) {
            Ok(inner) => {
                let (map, saved) = self.wrap(inner, wanted.shared, None);
                self.note(&Record::Map(Ok(saved)));
                Ok(map)
            }
            Err(Errno(number)) => {
                self.note(&Record::Map(Err(number)));
                Err(Errno(number))
            }
        }
    }

    fn share(&mut self, length: u64) -> Result<Arc<dyn Mapping>, Errno> {
        let shared = self.inner.share(length);
        self.note_shared(shared)
    }

    fn attach(&mut self, number: i32, writable: bool) -> Result<Arc<dyn Mapping>, Errno> {
        let attached = self.inner.attach(number, writable);
        self.note_shared(attached)
    }

    fn thread_made(&mut self, time: u64, thread: Tid) {
        self.inner.thread_made(time, thread);
        self.note(&Record::Thread { time, thread });
    }

    fn rename(&mut self, name: &[u8; 16]) {
        self.inner.rename(name);
    }

    fn wake(&mut self, memory: &Memory, address: u64) {
        self.inner.wake(memory, address);
    }

    fn split(&mut self, time: u64, memory: &mut Memory, birth: Birth) -> Result<Side, Errno> {
        let child = self.writer().next_child();
        // What was committed so far belongs to the parent, and must be a chunk before there are two of us.
        self.writer().flush(Kind::Events);
        let side = self.inner.split(time, memory, birth);
        match &side {
            Ok(Side::Parent { child: number, descriptor, loan }) => {
                let loan = loan.iter().map(|(page, bytes)| (*page, ByteBuf::from(bytes.clone()))).collect();
                self.note(&Record::Fork { time, child: Ok((*number, child, *descriptor)), loan });
                self.writer().flush(Kind::Events);
            }
            Ok(Side::Child(facts)) if self.settings.alone => {
                self.header.facts = SavedFacts::new(facts);
                self.writer().fall_silent();
            }
            Ok(Side::Child(facts)) => {
                let parent = self.writer().name().to_owned();
                self.header.parent = Some((parent, time));
                self.header.facts = SavedFacts::new(facts);
                let header = self.header.clone();
                self.writer().become_child(&child, &header);
                self.note(&Record::Child(SavedFacts::new(facts)));
                self.note_native();
            }
            Err(Errno(number)) => {
                self.note(&Record::Fork { time, child: Err(*number), loan: Puts::new() });
            }
        }
        side
    }

    fn give_back(&mut self, memory: &mut Memory) {
        self.inner.give_back(memory);
    }

    fn dispose(&mut self, signal: i32, disposition: Disposition) -> bool {
        self.inner.dispose(signal, disposition)
    }

    fn block(&mut self, mask: u64) {
        self.inner.block(mask);
    }

    fn prepare_native(&mut self) -> Result<(), String> {
        self.inner.prepare_native()
    }

    fn ran_natively(&mut self, steps: u64, of: u64) {
        self.is_native = true;
        self.note(&Record::Native { steps, of });
    }

    fn delivery(&mut self, time: u64, flags: u64) -> u64 {
        let flags = self.inner.delivery(time, flags);
        self.note(&Record::Delivery { time, flags });
        flags
    }

    fn ended(&mut self, time: u64, ending: &Ending) {
        self.inner.ended(time, ending);
        self.note(&Record::End { time, ending: SavedEnding::new(ending) });
        let mut writer = self.writer();
        writer.flush(Kind::End);
        if let Some(error) = writer.failed() {
            eprintln!("parallax: the recording ends before the program did: {error}");
        }
    }
}

const EACCES: i32 = 13;
const ENOEXEC: i32 = 8;

impl Recording {
    /// Writes down what came of making or attaching shared memory.
    fn note_shared(&mut self, made: Result<Arc<dyn Mapping>, Errno>) -> Result<Arc<dyn Mapping>, Errno> {
        match made {
            Ok(inner) => {
                let (map, saved) = self.wrap(inner, true, None);
                self.note(&Record::Share(Ok(saved)));
                Ok(map)
            }
            Err(Errno(number)) => {
                self.note(&Record::Share(Err(number)));
                Err(Errno(number))
            }
        }
    }

    fn note_event(&self, when: When, event: &Event, (puts, changed): (Puts, Changed)) {
        self.note(&match event {
            Event::Signal { signal, thread, information } => {
                let information = ByteBuf::from(information.to_vec());
                Record::Signal { when, thread: *thread, signal: *signal, information }
            }
            Event::Answer { thread, reply } => {
                Record::Woken { when, thread: *thread, reply: SavedReply::new(reply), puts, changed }
            }
            Event::Timeout { thread } => Record::Timeout { when, thread: *thread },
            Event::Closed(_) => return,
        });
    }
}
