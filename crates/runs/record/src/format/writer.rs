//! Writing a stream, and the files that it refers to.

use super::{Door, Header, Kind, Progress, Tail, Wish, chunk, name_of};
use crate::record::Record;
use parallax_process::outside::live::{with_spare, without_size_limit};
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

/// A tail of so many bytes becomes a chunk.
const FULL: usize = 256 << 10;
/// And one of that age.
const OLD: Duration = Duration::from_secs(1);

/// Opens and writes files where the program may have all its descriptors in use, or a limit on the size of its files.
fn with_room<T: Send>(work: impl Fn() -> std::io::Result<T> + Sync) -> std::io::Result<T> {
    const EMFILE: i32 = 24;
    without_size_limit(|| with_spare(work, |error| error.raw_os_error() == Some(EMFILE)))
}

/// Writes one stream.
pub struct Writer {
    door: Door,
    name: String,
    tail: Tail,
    raw: Vec<u8>,
    times: Option<(u64, u64)>,
    sequence: u64,
    since: Instant,
    sync: bool,
    /// How many forks there have been.
    forks: u32,
    /// Nothing is written: this process is not recorded.
    silent: bool,
    /// The first thing that went wrong. The program goes on, and the recording ends there.
    failed: Option<std::io::Error>,
}

impl Writer {
    /// Starts a stream in a folder, which must be named absolutely: the program may change its own.
    pub fn create(folder: &Path, name: &str, header: &Header, sync: bool) -> std::io::Result<Writer> {
        std::fs::create_dir_all(folder.join("files"))?;
        Writer::start(Door::Folder(folder.to_owned()), name, header, sync)
    }

    fn start(door: Door, name: &str, header: &Header, sync: bool) -> std::io::Result<Writer> {
        with_room(|| door.open(Wish::Start, &format!("{name}.stream"))?.write_all(&header.encode()))?;
        let tail = with_room(|| Tail::create(&door.open(Wish::Map, &format!("{name}.tail"))?))?;
        Ok(Writer {
            door,
            name: name.to_owned(),
            tail,
            raw: Vec::new(),
            times: None,
            sequence: 0,
            since: Instant::now(),
            sync,
            forks: 0,
            silent: false,
            failed: None,
        })
    }

    /// The name of the stream.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What went wrong, if something did.
    pub fn failed(&self) -> Option<&std::io::Error> {
        self.failed.as_ref()
    }

    /// Commits a record.
    pub fn append(&mut self, record: &Record) {
        if self.failed.is_some() || self.silent {
            return;
        }
        let start = self.raw.len();
        let raw = std::mem::take(&mut self.raw);
        // Extending a vector does not fail.
        self.raw = postcard::to_extend(record, raw).unwrap_or_default();
        let length = self.raw.len() - start;
        if let Some(time) = record.time() {
            self.times = Some((self.times.map_or(time, |(first, _)| first), time));
        }
        if self.tail.has_room(length) {
            self.tail.append(&self.raw[start..]);
        } else {
            // Too large for the tail: it goes out at once, with all before it.
            self.flush(Kind::Events);
            return;
        }
        if self.tail.used() >= FULL || self.since.elapsed() >= OLD {
            self.flush(Kind::Events);
        }
    }

    /// Notes how far the process has come, as long as all is written.
    pub fn note_progress(&mut self, progress: Progress) {
        if self.failed.is_none() && !self.silent {
            self.tail.note(progress);
        }
    }

    /// Makes a chunk of what has been committed.
    pub fn flush(&mut self, kind: Kind) {
        self.since = Instant::now();
        if self.failed.is_some() || self.raw.is_empty() {
            return;
        }
        let bytes = chunk::encode(kind, self.sequence, self.times.unwrap_or_default(), &self.raw);
        if let Err(error) = self.write(&bytes) {
            self.failed = Some(error);
            return;
        }
        self.sequence += 1;
        self.tail.reset(self.sequence);
        self.raw.clear();
        self.times = None;
    }

    fn write(&self, bytes: &[u8]) -> std::io::Result<()> {
        with_room(|| {
            let mut file = self.door.open(Wish::Append, &format!("{}.stream", self.name))?;
            file.write_all(bytes)?;
            if self.sync { file.sync_data() } else { Ok(()) }
        })
    }

    /// The program is about to give up rights, or its view of the files: what this one may open, it may open still.
    pub fn keep_rights(&mut self) {
        if !self.silent {
            self.door.entrust();
        }
    }

    /// The name of the stream of the next child.
    pub fn next_child(&mut self) -> String {
        self.forks += 1;
        format!("{}.{}", self.name, self.forks)
    }

    /// This process is a fork, and writes a stream of its own from now on.
    pub fn become_child(&mut self, name: &str, header: &Header) {
        match Writer::start(self.door.clone(), name, header, self.sync) {
            Ok(own) => *self = own,
            Err(error) => self.failed = Some(error),
        }
    }

    /// This process is a fork that is not recorded.
    pub fn fall_silent(&mut self) {
        self.silent = true;
    }

    /// Keeps contents under their checksum, which is their name; as they are, since the program waits meanwhile.
    pub fn keep(&mut self, contents: &[u8]) -> Option<String> {
        if self.silent {
            return None;
        }
        let name = name_of(contents);
        let path = format!("files/{name}");
        if with_room(|| self.door.open(Wish::Find, &path).map(drop)).is_err() {
            let store = || -> std::io::Result<()> {
                let partial = format!("{path}.{}", self.name.replace('.', "-"));
                self.door.open(Wish::Map, &partial)?.write_all(contents)?;
                self.door.open(Wish::Finish, &partial).map(drop)
            };
            if let Err(error) = with_room(store) {
                self.failed.get_or_insert(error);
                return None;
            }
        }
        Some(name)
    }
}
