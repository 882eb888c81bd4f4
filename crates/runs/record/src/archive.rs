//! A recording that can be read: a folder, or one packed file.

use crate::format::{
    Header, Kind, OpenError, Progress, REVISION, compress, decompress, name_of, read_chunks, read_tail,
};
use crate::log::Log;
use crate::record::{Record, SavedEnding};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const PACKED: &[u8; 8] = b"PLXPACK1";

/// A recording.
pub struct Archive {
    place: Place,
    shown: String,
}

enum Place {
    Folder(PathBuf),
    /// The file, and where each part lies in it.
    Packed(Vec<u8>, BTreeMap<String, Part>),
}

/// A part of a packed recording.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Part {
    offset: u64,
    length: u64,
    checksum: u32,
}

/// A stream that was read.
struct Stream {
    header: Header,
    records: Vec<Record>,
    /// Whether its process has ended.
    ended: bool,
    /// How far it had come by its own account, where it has not.
    progress: Progress,
    /// Bytes of its file.
    bytes: u64,
    /// A checksum of what was read.
    identity: [u8; 32],
}

/// What there is to say about a stream without replaying it.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Its name.
    pub name: String,
    /// What the process was started with.
    pub header: Header,
    /// The machine of its first program, as `--lang` names it; empty if it forked and runs its parent's.
    pub machine: String,
    /// The last time that is known.
    pub last: u64,
    /// How the process ended; none if the recording was cut.
    pub ending: Option<crate::SavedEnding>,
    /// The numbers of its threads.
    pub threads: Vec<u32>,
    /// The files it mapped, with their lengths.
    pub modules: Vec<(String, u64)>,
    /// How often each system call was made outside, by number.
    pub calls: BTreeMap<u64, u64>,
    /// How many signals came.
    pub signals: u64,
    /// How many of its steps the processor itself made, of how many, if it was recorded natively; of none if it was killed.
    pub native: Option<(u64, u64)>,
    /// Bytes of the stream.
    pub bytes: u64,
    /// The streams of its children.
    pub children: Vec<String>,
}

impl Archive {
    /// Opens a recording.
    pub fn open(path: &Path) -> Result<Archive, OpenError> {
        let shown = path.display().to_string();
        let unreadable = |error| OpenError::Unreadable { name: shown.clone(), error };
        if std::fs::metadata(path).map_err(unreadable)?.is_dir() {
            let archive = Archive { place: Place::Folder(path.to_owned()), shown: shown.clone() };
            if archive.streams().is_empty() {
                return Err(OpenError::NotARecording { name: shown, why: "the folder holds no stream" });
            }
            return Ok(archive);
        }
        let bytes = std::fs::read(path).map_err(unreadable)?;
        let wrong = |why| OpenError::NotARecording { name: shown.clone(), why };
        if !bytes.starts_with(PACKED) {
            return Err(wrong("it is neither a folder nor a packed recording"));
        }
        let end = bytes.len().checked_sub(12).filter(|end| *end >= 8).ok_or(wrong("the file breaks off"))?;
        let length = u64::from_le_bytes(bytes[end..end + 8].try_into().expect("eight bytes"));
        let checksum = u32::from_le_bytes(bytes[end + 8..].try_into().expect("four bytes"));
        let start = (end as u64).checked_sub(length).filter(|start| *start >= 8);
        let index = &bytes[start.ok_or(wrong("the file breaks off"))? as usize..end];
        if crc32fast::hash(index) != checksum {
            return Err(wrong("the checksum of its list of parts is wrong"));
        }
        let parts: BTreeMap<String, Part> =
            postcard::from_bytes(index).map_err(|_| wrong("its list of parts cannot be read"))?;
        Ok(Archive { place: Place::Packed(bytes, parts), shown })
    }

    fn read(&self, name: &str) -> Result<Vec<u8>, OpenError> {
        let shown = format!("{}/{name}", self.shown);
        match &self.place {
            Place::Folder(folder) => {
                std::fs::read(folder.join(name)).map_err(|error| OpenError::Unreadable { name: shown, error })
            }
            Place::Packed(bytes, parts) => {
                let part =
                    parts.get(name).ok_or(OpenError::BadFile { name: shown.clone(), what: "missing" })?;
                let end = part.offset.checked_add(part.length);
                let found = end.and_then(|end| bytes.get(part.offset as usize..end as usize));
                match found {
                    Some(found) if crc32fast::hash(found) == part.checksum => Ok(found.to_vec()),
                    _ => Err(OpenError::BadFile { name: shown, what: "damaged" }),
                }
            }
        }
    }

    fn names(&self) -> Vec<String> {
        let mut names = match &self.place {
            Place::Packed(_, parts) => parts.keys().cloned().collect(),
            Place::Folder(folder) => {
                let listed = |folder: &Path, before: &str| -> Vec<String> {
                    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
                    let files = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
                    files
                        .filter_map(|entry| Some(format!("{before}{}", entry.file_name().to_str()?)))
                        .collect()
                };
                [listed(folder, ""), listed(&folder.join("files"), "files/")].concat()
            }
        };
        names.sort();
        names
    }

    /// The names of the streams: that of the first process first, parents before children.
    pub fn streams(&self) -> Vec<String> {
        let names = self.names();
        let mut streams: Vec<String> =
            names.iter().filter_map(|name| Some(name.strip_suffix(".stream")?.to_owned())).collect();
        streams.sort_by_cached_key(|name| stream_order(name));
        streams
    }

    /// The contents kept under a name.
    pub fn contents(&self, name: &str) -> Result<Vec<u8>, OpenError> {
        const LARGEST: u64 = 1 << 31;
        let path = format!("files/{name}");
        let bytes = self.read(&path)?;
        let bad = |what| OpenError::BadFile { name: format!("{}/{path}", self.shown), what };
        let contents = match self.place {
            Place::Folder(_) => bytes,
            Place::Packed(..) => decompress(&bytes, LARGEST).ok_or(bad("damaged"))?,
        };
        if name_of(&contents) != name {
            return Err(bad("not what its name says"));
        }
        Ok(contents)
    }

    /// One stream alone.
    fn stream(&self, name: &str) -> Result<Stream, OpenError> {
        let streams = self.streams();
        if !streams.iter().any(|known| known == name) {
            return Err(OpenError::NoStream { name: name.to_owned(), known: streams.join(", ") });
        }
        let path = format!("{name}.stream");
        let bytes = self.read(&path)?;
        let (header, length) = Header::decode(&format!("{}/{path}", self.shown), &bytes)?;
        let (chunks, bad) = read_chunks(&bytes[length..]);
        let next = chunks.last().map_or(0, |chunk| chunk.sequence + 1);
        let mut identity = blake3::Hasher::new();
        identity.update(format!("{name} of revision {REVISION}").as_bytes());
        let whole = length + chunks.iter().map(|chunk| chunk.size).sum::<usize>();
        identity.update(&bytes[..whole]);
        let ended = chunks.last().is_some_and(|chunk| chunk.kind == Kind::End as u8);
        let mut records: Vec<Record> = chunks.into_iter().flat_map(|chunk| chunk.records).collect();
        let mut progress = Progress::default();
        if !bad
            && !ended
            && let Ok(tail) = self.read(&format!("{name}.tail"))
            && let Some(kept) = read_tail(&tail)
            && kept.sequence == next
        {
            identity.update(&postcard::to_stdvec(&kept.records).unwrap_or_default());
            identity.update(&kept.progress.steps.to_le_bytes());
            records.extend(kept.records);
            progress = kept.progress;
        }
        let ended = matches!(records.last(), Some(Record::End { .. }));
        let identity = identity.finalize().into();
        Ok(Stream { header, records, ended, progress, bytes: bytes.len() as u64, identity })
    }

    /// Everything that a replay of a stream needs: what its parents recorded up to the fork, and its own.
    pub fn log(&self, name: &str) -> Result<Arc<Log>, OpenError> {
        let Stream { mut header, mut records, ended, progress, mut identity, .. } = self.stream(name)?;
        let mut child = name.to_owned();
        let mut parent = header.parent.clone();
        let since = parent.as_ref().map_or(0, |(_, time)| *time);
        // A chain of forks is as long as the name has parts; a damaged one must not go in circles.
        for _ in 0..name.len() {
            let Some((of, _)) = parent else { break };
            let Stream { header: first, records: before, identity: older, .. } = self.stream(&of)?;
            identity = blake3::hash(&[older, identity].concat()).into();
            let is_fork = |record: &Record| matches!(record, Record::Fork { child: Ok((_, name, _)), .. } if *name == child);
            // The parent may have been killed between the fork and its record of it.
            let end = before.iter().position(is_fork).unwrap_or(before.len());
            let mut whole = before;
            whole.truncate(end);
            whole.append(&mut records);
            records = whole;
            parent = first.parent.clone();
            header = first;
            child = of;
        }
        let mut files = FxHashMap::default();
        for record in &records {
            for map in saved_maps(record) {
                if let Some(file) = &map.file
                    && !files.contains_key(file)
                {
                    files.insert(file.clone(), Arc::<[u8]>::from(self.contents(file)?));
                }
            }
        }
        let mut log = Log::new(header, records, ended, files, identity, since, progress);
        log.told = if ended { None } else { self.told_death(name) };
        Ok(Arc::new(log))
    }

    /// How a process ended that could not say so itself, by what its parent was told.
    fn told_death(&self, name: &str) -> Option<SavedEnding> {
        let (parent, _) = name.rsplit_once('.')?;
        crate::death::of_child(&self.stream(parent).ok()?.records, name)
    }

    /// What there is to say about each stream.
    pub fn summaries(&self) -> Result<Vec<Summary>, OpenError> {
        self.streams().iter().map(|name| self.summary(name)).collect()
    }

    fn summary(&self, name: &str) -> Result<Summary, OpenError> {
        let Stream { header, records, ended, progress, bytes, .. } = self.stream(name)?;
        let mut summary = Summary {
            name: name.to_owned(),
            last: header.parent.as_ref().map_or(0, |(_, time)| *time),
            header,
            machine: String::new(),
            ending: None,
            threads: Vec::new(),
            modules: Vec::new(),
            calls: BTreeMap::new(),
            signals: 0,
            native: None,
            bytes,
            children: Vec::new(),
        };
        summary.last = summary.last.max(progress.steps);
        for record in &records {
            summary.last = summary.last.max(record.made().unwrap_or(0));
            for map in saved_maps(record) {
                let module = (map.name.clone(), map.length);
                if !summary.modules.contains(&module) {
                    summary.modules.push(module);
                }
            }
            match record {
                Record::Exec(Ok(exec)) if summary.machine.is_empty() => {
                    summary.machine.clone_from(&exec.machine)
                }
                Record::Answer { thread, number, .. } | Record::Parked { thread, number, .. } => {
                    *summary.calls.entry(*number).or_default() += 1;
                    if !summary.threads.contains(thread) {
                        summary.threads.push(*thread);
                    }
                }
                Record::Thread { thread, .. } if !summary.threads.contains(thread) => {
                    summary.threads.push(*thread)
                }
                Record::Signal { .. } => summary.signals += 1,
                Record::Native { steps, of } => summary.native = Some((*steps, *of)),
                Record::Fork { child: Ok((_, stream, _)), .. } => summary.children.push(stream.clone()),
                Record::End { ending, .. } if ended => summary.ending = Some(ending.clone()),
                _ => {}
            }
        }
        if !ended {
            summary.ending = self.told_death(name);
        }
        Ok(summary)
    }

    /// Writes all of it into one file.
    pub fn pack(&self, target: &Path) -> Result<u64, OpenError> {
        let mut bytes = PACKED.to_vec();
        let mut parts = BTreeMap::new();
        for name in self.names() {
            let wanted = name.ends_with(".stream") || name.ends_with(".tail") || name.starts_with("files/");
            if !wanted {
                continue;
            }
            let mut contents = self.read(&name)?;
            // Tails are mostly room.
            let used = contents.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
            if name.ends_with(".tail") {
                contents.truncate((used + 8).min(contents.len()));
            }
            if name.starts_with("files/") && matches!(self.place, Place::Folder(_)) {
                contents = compress(&contents);
            }
            let part = Part {
                offset: bytes.len() as u64,
                length: contents.len() as u64,
                checksum: crc32fast::hash(&contents),
            };
            parts.insert(name, part);
            bytes.extend(contents);
        }
        let index = postcard::to_stdvec(&parts).expect("it can be written");
        bytes.extend(&index);
        bytes.extend((index.len() as u64).to_le_bytes());
        bytes.extend(crc32fast::hash(&index).to_le_bytes());
        let name = target.display().to_string();
        std::fs::write(target, &bytes).map_err(|error| OpenError::Unreadable { name, error })?;
        Ok(bytes.len() as u64)
    }
}

/// The numbers in the name of a stream: in their order parents come before children, and the second child before the tenth.
pub fn stream_order(name: &str) -> Vec<u64> {
    name.split('.').map(|part| part.parse().unwrap_or(u64::MAX)).collect()
}

/// The mappings that a record speaks of.
pub(crate) fn saved_maps(record: &Record) -> Vec<&crate::record::SavedMap> {
    match record {
        Record::Map(Ok(map)) => vec![map],
        Record::Exec(Ok(exec)) => {
            let interpreter = exec.interpreter.iter().map(|(_, map)| map);
            std::iter::once(&exec.program.1).chain(interpreter).collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Writer;
    use crate::record::SavedFacts;

    fn header() -> Header {
        let program = parallax_process::Program {
            path: PathBuf::from("/bin/true"),
            arguments: Vec::new(),
            environment: Vec::new(),
            byte_bound: 1 << 20,
            instruction_bound: 1 << 20,
            schedule: None,
        };
        Header::new(&program, SavedFacts::default())
    }

    /// A recorder may be killed when its tail has become a chunk and is not empty yet: the tail's records are in the chunk.
    #[test]
    fn a_tail_that_has_become_a_chunk_is_not_read() {
        let folder = std::env::temp_dir().join(format!("parallax-tail-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        let mut writer = Writer::create(&folder, "0", &header(), false).expect("a temporary folder");
        writer.append(&Record::Child(SavedFacts::default()));
        let count = || Archive::open(&folder).and_then(|all| all.stream("0")).map(|one| one.records.len());
        assert_eq!(count().expect("a stream"), 1, "in the tail");
        let tail = folder.join("0.tail");
        let full = std::fs::read(&tail).expect("it is there");
        writer.flush(Kind::Events);
        drop(writer);
        std::fs::write(&tail, full).expect("it can be written");
        assert_eq!(count().expect("a stream"), 1, "in the chunk");
        std::fs::remove_dir_all(&folder).expect("it was there");
    }
}
