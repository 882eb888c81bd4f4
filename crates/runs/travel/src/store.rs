//! What is known of a recording, kept in a file for those who open it later: what was seen in each interval, and some of
//! the keyframes.
//!
//! The file lies beside the recording, or, where nothing can be written there, in the user's cache. It belongs to one recording,
//! told by its identity, and every part has a checksum. A file that is damaged, or belongs to anything else, is not used,
//! and that is said. Keyframes hold only the pages that the one before did not have; they are read when they are needed.

use crate::seen::Seen;
use parallax_process::memory::{Mapping, PAGE, Page};
use parallax_process::{SavedSnapshot, Snapshot};
use parallax_record::Log;
use parallax_record::format::{compress, decompress};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const MAGIC: &[u8; 8] = b"PLXINDEX";
/// To be raised whenever what is kept changes: a snapshot of the process, or what is seen of an interval.
const VERSION: u32 = 1;
/// Magic, version, and the length and the checksum of the head.
const BEFORE: usize = 8 + 4 + 4 + 4;
/// Bytes of pages in the keyframes of a file, before they are compressed: a longer recording has them further apart.
const BUDGET: u64 = 64 << 20;
/// No part of ours is larger; a damaged one must not cost memory.
const LARGEST: u64 = 1 << 31;

/// Who a file belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Owner {
    /// The recording.
    pub identity: [u8; 32],
    /// Steps of an interval.
    pub interval: u64,
}

#[derive(Serialize, Deserialize)]
struct Head {
    owner: Owner,
    /// How many steps have been looked at.
    frontier: u64,
    /// What was seen, and then the keyframes.
    parts: Vec<Part>,
}

/// A part of the file; they lie one behind the other.
#[derive(Serialize, Deserialize)]
struct Part {
    /// The time of a keyframe.
    time: u64,
    length: u64,
    checksum: u32,
}

#[derive(Serialize, Deserialize)]
struct SavedKeyframe {
    snapshot: SavedSnapshot,
    /// Pages of the one before that are not there any more.
    gone: Vec<u64>,
    /// Pages that are not those of the one before, and whether the program has written them.
    changed: Vec<(u64, bool)>,
    /// Their bytes.
    contents: serde_bytes::ByteBuf,
}

/// What is known, in memory.
pub(crate) struct Contents {
    pub frontier: u64,
    pub seen: Vec<Arc<Seen>>,
    /// In the order of their times.
    pub keyframes: Vec<Arc<Snapshot>>,
}

impl Contents {
    /// Leaves out keyframes until their pages fit into the budget; the first stays.
    fn thin(&mut self, last: u64) {
        let bytes = |all: &[Arc<Snapshot>]| -> u64 {
            let first = all.first().map_or(0, |first| first.touched_pages());
            let pairs = all.windows(2).map(|pair| pair[1].pages_changed_since(&pair[0]).len());
            (first + pairs.sum::<usize>()) as u64 * PAGE
        };
        while self.keyframes.len() > 1 && bytes(&self.keyframes) > BUDGET {
            let end = self.keyframes.len() - 1;
            let mut index = 0;
            self.keyframes.retain(|one| {
                // Who goes on looking goes on from the last one.
                let stays =
                    index % 2 == 0 || index == end && self.frontier < last && one.time() == self.frontier;
                index += 1;
                stays
            });
            if self.keyframes.len() == 2 && self.frontier < last {
                break;
            }
        }
    }

    /// The bytes of a file; none if a snapshot cannot be written down, or if the file would not help.
    pub fn encode(mut self, owner: Owner, last: u64) -> Option<Vec<u8>> {
        self.thin(last);
        let ends = self.keyframes.last().map(|one| one.time());
        if self.keyframes.first()?.time() != 0 || self.frontier < last && ends != Some(self.frontier) {
            return None;
        }
        let seen: Vec<&Seen> = self.seen.iter().map(|seen| &**seen).collect();
        let mut bodies = vec![(0, compress(&postcard::to_stdvec(&seen).ok()?))];
        let mut before: FxHashMap<u64, Page> = FxHashMap::default();
        for snapshot in &self.keyframes {
            let pages: FxHashMap<u64, Page> = snapshot.pages().collect();
            let gone = before.keys().filter(|number| !pages.contains_key(number)).copied().collect();
            let differs = |number: &u64, page: &Page| before.get(number).is_none_or(|old| !old.is(page));
            let mut changed: Vec<(&u64, &Page)> =
                pages.iter().filter(|(number, page)| differs(number, page)).collect();
            changed.sort_unstable_by_key(|(number, _)| **number);
            let contents: Vec<u8> = changed.iter().flat_map(|(_, page)| *page.bytes()).collect();
            let changed = changed.iter().map(|(number, page)| (**number, page.is_written())).collect();
            let saved =
                SavedKeyframe { snapshot: snapshot.save()?, gone, changed, contents: contents.into() };
            bodies.push((snapshot.time(), compress(&postcard::to_stdvec(&saved).ok()?)));
            before = pages;
        }
        let parts = bodies.iter().map(|(time, body)| {
            let checksum = crc32fast::hash(body);
            Part { time: *time, length: body.len() as u64, checksum }
        });
        let head = Head { owner, frontier: self.frontier, parts: parts.collect() };
        let head = postcard::to_stdvec(&head).ok()?;
        let mut bytes = MAGIC.to_vec();
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend((head.len() as u32).to_le_bytes());
        bytes.extend(crc32fast::hash(&head).to_le_bytes());
        bytes.extend(head);
        bodies.iter().for_each(|(_, body)| bytes.extend(body));
        Some(bytes)
    }
}

/// A file that was opened: keyframes are taken out of it one by one.
pub(crate) struct Stored {
    pub frontier: u64,
    pub seen: Vec<Arc<Seen>>,
    bytes: Vec<u8>,
    /// Those keyframes that were not taken yet: their times and where they lie, the next one last.
    rest: Vec<(u64, std::ops::Range<usize>)>,
    /// The pages of the one that was taken last.
    pages: FxHashMap<u64, Page>,
    mappings: FxHashMap<u32, Arc<dyn Mapping>>,
}

impl Stored {
    /// What bytes hold, if they are a file of that owner and whole; else what is wrong with them.
    pub fn decode(bytes: Vec<u8>, owner: &Owner, log: &Arc<Log>) -> Result<Stored, &'static str> {
        const DAMAGED: &str = "damaged";
        if !bytes.starts_with(MAGIC) || bytes.len() < BEFORE {
            return Err("no index");
        }
        let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        if number(8) != VERSION {
            return Err("of another version");
        }
        let end = BEFORE.saturating_add(number(12) as usize);
        let head =
            bytes.get(BEFORE..end).filter(|head| crc32fast::hash(head) == number(16)).ok_or(DAMAGED)?;
        let head: Head = postcard::from_bytes(head).map_err(|_| DAMAGED)?;
        if head.owner.identity != owner.identity {
            return Err("that of another recording");
        }
        if head.owner != *owner {
            return Err("of other intervals");
        }
        let mut at = end;
        let mut parts = Vec::with_capacity(head.parts.len());
        for part in &head.parts {
            let range = at..usize::try_from(part.length)
                .ok()
                .and_then(|length| at.checked_add(length))
                .ok_or(DAMAGED)?;
            let body = bytes.get(range.clone()).ok_or("cut off")?;
            if crc32fast::hash(body) != part.checksum {
                return Err(DAMAGED);
            }
            at = range.end;
            parts.push((part.time, range));
        }
        let (_, seen) = parts.first().cloned().ok_or(DAMAGED)?;
        let seen = decompress(&bytes[seen], LARGEST).ok_or(DAMAGED)?;
        let seen: Vec<Seen> = postcard::from_bytes(&seen).map_err(|_| DAMAGED)?;
        let last = log.last();
        let reached = (seen.len() as u64).saturating_mul(owner.interval).min(last);
        let ends = parts.last().map(|(time, _)| *time);
        let rises = parts[1..].windows(2).all(|pair| pair[0].0 < pair[1].0);
        if reached != head.frontier || !rises || head.frontier < last && ends != Some(head.frontier) {
            return Err(DAMAGED);
        }
        parts.reverse();
        parts.pop();
        let stored = Stored {
            frontier: head.frontier,
            seen: seen.into_iter().map(Arc::new).collect(),
            bytes,
            rest: parts,
            pages: FxHashMap::default(),
            mappings: log.mappings(),
        };
        Ok(stored)
    }

    /// The time of the next keyframe.
    pub fn next_time(&self) -> Option<u64> {
        self.rest.last().map(|(time, _)| *time)
    }

    /// The next keyframe, and the pages that the one before it does not have; none at the end.
    pub fn next(&mut self) -> Option<(Snapshot, Vec<u64>)> {
        let (time, range) = self.rest.pop()?;
        let found = self.read(range).filter(|(snapshot, _)| snapshot.time() == time);
        if found.is_none() {
            // What follows would build on it.
            self.rest.clear();
        }
        found
    }

    fn read(&mut self, range: std::ops::Range<usize>) -> Option<(Snapshot, Vec<u64>)> {
        let raw = decompress(&self.bytes[range], LARGEST)?;
        let SavedKeyframe { snapshot, gone, changed, contents } = postcard::from_bytes(&raw).ok()?;
        if contents.len() as u64 != changed.len() as u64 * PAGE {
            return None;
        }
        gone.iter().for_each(|number| {
            self.pages.remove(number);
        });
        for ((number, written), bytes) in changed.iter().zip(contents.chunks_exact(PAGE as usize)) {
            self.pages.insert(*number, Page::new(bytes.try_into().ok()?, *written));
        }
        let pages = self.pages.iter().map(|(number, page)| (*number, page.clone()));
        let snapshot = Snapshot::restore(snapshot, pages, &|number| self.mappings.get(&number).cloned())?;
        Some((snapshot, changed.into_iter().map(|(number, _)| number).collect()))
    }
}

/// Where the file of a recording may lie, the better place first.
pub(crate) struct Shelf {
    owner: Owner,
    places: Vec<PathBuf>,
}

impl Shelf {
    /// The places for a stream of a recording.
    pub fn new(recording: &Path, stream: &str, owner: Owner) -> Shelf {
        let beside = if recording.is_dir() {
            recording.join(format!("{stream}.index"))
        } else {
            let mut name = recording.as_os_str().to_owned();
            name.push(format!(".{stream}.index"));
            PathBuf::from(name)
        };
        let mut places = vec![beside];
        places.extend(cache().map(|cache| {
            let name: String = owner.identity[..16].iter().map(|byte| format!("{byte:02x}")).collect();
            cache.join(format!("{name}.index"))
        }));
        Shelf { owner, places }
    }

    /// The file, if there is one that can be used, and a word about those that cannot.
    pub fn take(&self, log: &Arc<Log>) -> (Option<Stored>, Option<String>) {
        let mut word = None;
        for place in &self.places {
            let Ok(bytes) = std::fs::read(place) else { continue };
            match Stored::decode(bytes, &self.owner, log) {
                Ok(stored) => return (Some(stored), word),
                Err(what) => {
                    let shown = place.display();
                    word = Some(format!("{shown} is {what}: it is not used, and is made anew"));
                }
            }
        }
        (None, word)
    }

    /// Keeps what is known, if there is a place for it: nobody needs the file.
    pub fn put(&self, contents: Contents, last: u64) {
        let Some(bytes) = contents.encode(self.owner.clone(), last) else { return };
        let store = |place: &PathBuf| -> std::io::Result<()> {
            if let Some(folder) = place.parent().filter(|_| *place != self.places[0]) {
                std::fs::create_dir_all(folder)?;
                make_room(folder);
            }
            let mut partial = place.as_os_str().to_owned();
            partial.push(format!(".{}", std::process::id()));
            let partial = PathBuf::from(partial);
            let written = std::fs::write(&partial, &bytes).and_then(|()| std::fs::rename(&partial, place));
            if written.is_err() {
                // It may not even be there.
                let _ = std::fs::remove_file(&partial);
            }
            written
        };
        let _ = self.places.iter().any(|place| store(place).is_ok());
    }
}

/// The user's folder for what can be made again.
fn cache() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")))?;
    Some(folder.join("parallax/index"))
}

/// The cache does not grow without end: the file that was not written for longest goes.
fn make_room(folder: &Path) {
    const MOST: usize = 32;
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<(std::time::SystemTime, PathBuf)> =
        entries.filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path()))).collect();
    files.sort();
    let many = (files.len() + 1).saturating_sub(MOST);
    for (_, path) in &files[..many] {
        // Somebody else may have been faster.
        let _ = std::fs::remove_file(path);
    }
}
