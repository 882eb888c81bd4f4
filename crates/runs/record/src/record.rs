//! What is written down: one record per thing that passed the door.

use parallax_process::Ending;
use parallax_process::outside::{Facts, Limits};
use parallax_process::system::{Errno, Reply};
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;

/// What a call wrote into memory: addresses and bytes.
pub type Puts = Vec<(u64, ByteBuf)>;

/// When something happened: how many steps had been made, and how many turns the threads had had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct When {
    /// Steps.
    pub time: u64,
    /// Turns.
    pub turn: u64,
}

/// One record of a stream.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Record {
    /// A call was made and came to this.
    Answer {
        /// When.
        when: When,
        /// The thread that made it.
        thread: u32,
        /// Its number.
        number: u64,
        /// A checksum of its arguments.
        arguments: u32,
        /// What it came to.
        reply: SavedReply,
        /// What it wrote.
        puts: Puts,
        /// The files that it changed and of which pages are mapped, each with its length where it was cut.
        changed: Vec<(SavedObject, Option<u64>)>,
    },
    /// A call was made and had to wait.
    Parked {
        /// When.
        when: When,
        /// The thread that made it.
        thread: u32,
        /// Its number.
        number: u64,
        /// A checksum of its arguments.
        arguments: u32,
    },
    /// A call that had to wait is done.
    Woken {
        /// When.
        when: When,
        /// The thread that made it.
        thread: u32,
        /// What it came to.
        reply: SavedReply,
        /// What it wrote.
        puts: Puts,
        /// The files that it changed, as above.
        changed: Vec<(SavedObject, Option<u64>)>,
    },
    /// A call that a signal interrupted had been done after all, or left something behind.
    Stands {
        /// When.
        when: When,
        /// The thread that made it.
        thread: u32,
        /// What it came to.
        reply: SavedReply,
        /// What it wrote.
        puts: Puts,
    },
    /// A signal arrived.
    Signal {
        /// When.
        when: When,
        /// The thread that it is for, if it is not for the whole process.
        thread: Option<u32>,
        /// Its number.
        signal: i32,
        /// What the kernel says about it.
        information: ByteBuf,
    },
    /// A thread had waited long enough for a lock.
    Timeout {
        /// When.
        when: When,
        /// The thread.
        thread: u32,
    },
    /// The process got a thread more.
    Thread {
        /// When.
        time: u64,
        /// Its number.
        thread: u32,
    },
    /// A handler's frame showed these flags.
    Delivery {
        /// The time before it.
        time: u64,
        /// Four bits each.
        flags: u64,
    },
    /// A file was mapped.
    Map(Result<SavedMap, i32>),
    /// Memory was made that processes share.
    Share(Result<SavedMap, i32>),
    /// A page of a mapping was touched for the first time, or again after the program had dropped it.
    Fill {
        /// The number of the mapping.
        map: u32,
        /// The offset of the page.
        offset: u64,
        /// How often it had been dropped.
        generation: u32,
        /// The page, or none if the file had become too short.
        bytes: Option<ByteBuf>,
    },
    /// Before its access of that number, shared memory had been changed by others.
    Foreign {
        /// The number of the mapping.
        map: u32,
        /// How many accesses of shared memory came before.
        access: u64,
        /// Where.
        offset: u64,
        /// What was there now; none where the file had been cut.
        bytes: Option<ByteBuf>,
    },
    /// A second process was made, or not.
    Fork {
        /// When.
        time: u64,
        /// Its number, the name of its stream, and the descriptor of it that was asked for, or why not.
        child: Result<(u32, String, Option<i32>), i32>,
        /// Pages that a borrowing child wrote.
        loan: Puts,
    },
    /// This process is the second one: the first record of its stream.
    Child(SavedFacts),
    /// A program was opened, to be run.
    Exec(Result<Box<SavedExec>, i32>),
    /// A checksum of all registers but flags, and of all memory that was written.
    Digest {
        /// When.
        when: When,
        /// The checksum.
        hash: u64,
    },
    /// The process ended.
    End {
        /// Steps made.
        time: u64,
        /// How.
        ending: SavedEnding,
    },
    /// The processor itself has made so many of the steps so far. A replay does not ask.
    Native {
        /// Made by the processor.
        steps: u64,
        /// All; none if that is not known yet.
        of: u64,
    },
}

impl Record {
    /// When it happened, for those that come without being asked for.
    pub fn unasked(&self) -> Option<When> {
        match self {
            Record::Woken { when, .. }
            | Record::Signal { when, .. }
            | Record::Timeout { when, .. }
            | Record::Digest { when, .. } => Some(*when),
            _ => None,
        }
    }

    /// How many steps had been made for certain when it was written down.
    pub fn made(&self) -> Option<u64> {
        match self {
            // A call that has to wait, or is to be made again, is no step yet.
            Record::Parked { when, .. }
            | Record::Answer { when, reply: SavedReply::Interrupted | SavedReply::Done, .. } => {
                Some(when.time.saturating_sub(1))
            }
            other => other.time(),
        }
    }

    /// The time it carries, if it carries one.
    pub fn time(&self) -> Option<u64> {
        match self {
            Record::Answer { when, .. } | Record::Parked { when, .. } | Record::Stands { when, .. } => {
                Some(when.time)
            }
            Record::Delivery { time, .. }
            | Record::Thread { time, .. }
            | Record::Fork { time, .. }
            | Record::End { time, .. } => Some(*time),
            other => other.unasked().map(|when| when.time),
        }
    }
}

/// What a call came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum SavedReply {
    /// A result.
    Value(u64),
    /// A failure.
    Error(i32),
    /// A signal interrupted it.
    Interrupted,
    /// Registers were set already.
    Done,
    /// The process ended.
    End(SavedEnding),
}

impl SavedReply {
    /// Saves a reply.
    pub fn new(reply: &Reply) -> SavedReply {
        match reply {
            Reply::Value(value) => SavedReply::Value(*value),
            Reply::Error(Errno(number)) => SavedReply::Error(*number),
            Reply::Interrupted => SavedReply::Interrupted,
            Reply::Done | Reply::Wait => SavedReply::Done,
            Reply::End(ending) => SavedReply::End(SavedEnding::new(ending)),
        }
    }

    /// The reply.
    pub fn restore(&self) -> Reply {
        match self {
            SavedReply::Value(value) => Reply::Value(*value),
            SavedReply::Error(number) => Reply::Error(Errno(*number)),
            SavedReply::Interrupted => Reply::Interrupted,
            SavedReply::Done => Reply::Done,
            SavedReply::End(ending) => Reply::End(ending.restore()),
        }
    }
}

/// How a process ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SavedEnding {
    /// By its own will.
    Exited(u8),
    /// By a signal.
    Killed(i32, Option<String>, Option<String>),
    /// It asked for something that Parallax does not have.
    Unsupported(String, String),
    /// It needed more than it was given.
    GaveUp(String, String),
    /// The door was closed.
    Closed(String),
}

impl SavedEnding {
    /// Saves an ending.
    pub fn new(ending: &Ending) -> SavedEnding {
        match ending.clone() {
            Ending::Exited(status) => SavedEnding::Exited(status),
            Ending::Killed { signal, why, at } => SavedEnding::Killed(signal, why, at),
            Ending::Unsupported { what, at } => SavedEnding::Unsupported(what, at),
            Ending::GaveUp { what, at } => SavedEnding::GaveUp(what, at),
            Ending::Closed { why } => SavedEnding::Closed(why),
        }
    }

    /// The ending.
    pub fn restore(&self) -> Ending {
        match self.clone() {
            SavedEnding::Exited(status) => Ending::Exited(status),
            SavedEnding::Killed(signal, why, at) => Ending::Killed { signal, why, at },
            SavedEnding::Unsupported(what, at) => Ending::Unsupported { what, at },
            SavedEnding::GaveUp(what, at) => Ending::GaveUp { what, at },
            SavedEnding::Closed(why) => Ending::Closed { why },
        }
    }
}

/// A mapping.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedMap {
    /// Its number in this stream and those of its forks.
    pub number: u32,
    /// What the user calls it.
    pub name: String,
    /// How many bytes there are.
    pub length: u64,
    /// All of it, by content, if it was kept.
    pub file: Option<String>,
    /// Whether others see what the process writes.
    pub shared: bool,
    /// Which file it is.
    pub object: Option<SavedObject>,
    /// Whether it may be made writable.
    pub may_write: bool,
    /// Whether it is a segment of System V.
    pub segment: bool,
}

/// The device and the number of a file.
pub type SavedObject = (u64, u64);

/// A program that was opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedExec {
    /// The machine, as `--lang` names it.
    pub machine: String,
    /// The program: its path, and what is mapped.
    pub program: (ByteBuf, SavedMap),
    /// Its dynamic linker.
    pub interpreter: Option<(ByteBuf, SavedMap)>,
    /// Its path without links.
    pub canonical: ByteBuf,
    /// Its arguments.
    pub arguments: Vec<ByteBuf>,
    /// Sixteen random bytes.
    pub random: [u8; 16],
    /// Users and groups.
    pub identity: [u64; 4],
}

/// Facts about a process and its host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedFacts {
    /// The number of the process.
    pub process: u32,
    /// Its user.
    pub user: u32,
    /// Bytes of memory of the host.
    pub memory: u64,
    /// Signals ignored from the start.
    pub ignored: u64,
    /// Its limits on memory.
    pub limits: Limits,
    /// What it may do beyond others.
    pub capabilities: u64,
}

impl SavedFacts {
    /// Saves facts.
    pub fn new(facts: &Facts) -> SavedFacts {
        let Facts { process, user, memory, ignored, limits, capabilities } = *facts;
        SavedFacts { process, user, memory, ignored, limits, capabilities }
    }

    /// The facts.
    pub fn restore(&self) -> Facts {
        let SavedFacts { process, user, memory, ignored, limits, capabilities } = *self;
        Facts { process, user, memory, ignored, limits, capabilities }
    }
}
