//! The records of a stream, in the order in which a replay wants them.

use crate::format::{Header, Progress};
use crate::map::ReplayedMap;
use crate::record::{Record, SavedEnding, SavedMap};
use parallax_process::memory::Mapping;
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::Arc;

/// Pages, by mapping, offset and generation; none where the file had become too short.
type Fills = FxHashMap<(u32, u64, u32), Option<Box<[u8]>>>;

/// Offsets and bytes, none where the file had been cut, by mapping and number of access.
type Changes = FxHashMap<(u32, u64), Vec<(u64, Option<Box<[u8]>>)>>;

/// Everything that a replay needs. Replays share it.
pub struct Log {
    /// What the first process was started with.
    pub header: Header,
    /// What passed the door, in order, but for pages.
    pub records: Vec<Record>,
    /// Pages of mappings, by mapping, offset and generation: a replay may touch them in another order.
    pub(crate) fills: Fills,
    /// Changes of shared memory by others, by the number of the access before which they are seen.
    pub(crate) foreign: Changes,
    /// Contents of files, by name.
    pub(crate) files: FxHashMap<String, Arc<[u8]>>,
    /// A checksum of all that it is made from: another recording, or more of the same, has another.
    pub identity: [u8; 32],
    /// When the process began: what came before was its parent.
    pub since: u64,
    /// Whether the process had ended when the recording did.
    pub complete: bool,
    /// How far it had come by its own account, where it had not.
    progress: Progress,
    /// How its parent was told that it ended, where it could not say so itself.
    pub told: Option<SavedEnding>,
}

impl Log {
    pub(crate) fn new(
        header: Header,
        all: Vec<Record>,
        complete: bool,
        files: FxHashMap<String, Arc<[u8]>>,
        identity: [u8; 32],
        since: u64,
        progress: Progress,
    ) -> Log {
        let mut records = Vec::with_capacity(all.len());
        let mut fills = Fills::default();
        let mut foreign = Changes::default();
        for record in all {
            match record {
                Record::Fill { map, offset, generation, bytes } => {
                    let bytes = bytes.map(|bytes| bytes.into_vec().into_boxed_slice());
                    // The first one counts: a page stays once it is there.
                    let known = fills.entry((map, offset, generation)).or_default();
                    if known.is_none() {
                        *known = bytes;
                    }
                }
                Record::Foreign { map, access, offset, bytes } => {
                    let bytes = bytes.map(|bytes| bytes.into_vec().into_boxed_slice());
                    foreign.entry((map, access)).or_default().push((offset, bytes));
                }
                Record::Native { .. } => {}
                other => records.push(other),
            }
        }
        Log { header, records, fills, foreign, files, identity, since, complete, progress, told: None }
    }

    /// How the process ended, if the recording says so.
    pub fn ending(&self) -> Option<SavedEnding> {
        match self.records.last() {
            Some(Record::End { ending, .. }) => Some(ending.clone()),
            _ => None,
        }
    }

    /// The contents of a file that was mapped or run, if they were kept. A program that was run by a link is known by its own
    /// path too. Systems have two names for one folder, `/lib` and `/usr/lib`, and a program may use either; without a file of
    /// that path, one of that name will do.
    pub fn file(&self, path: &str) -> Option<Arc<[u8]>> {
        let maps: Vec<_> = self.records.iter().flat_map(crate::archive::saved_maps).collect();
        let short = |path: &str| path.strip_prefix("/usr").unwrap_or(path).to_owned();
        let name = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
        let kept = |same: &dyn Fn(&str) -> bool| {
            let found = maps.iter().find(|map| map.file.is_some() && same(&map.name))?;
            self.files.get(found.file.as_ref()?).cloned()
        };
        let run = self.records.iter().find_map(|record| match record {
            Record::Exec(Ok(exec)) if exec.canonical[..] == *path.as_bytes() => Some(&exec.program.1),
            _ => None,
        });
        let run = || self.files.get(run?.file.as_ref()?).cloned();
        kept(&|known| known == path)
            .or_else(run)
            .or_else(|| kept(&|known| short(known) == short(path)))
            .or_else(|| kept(&|known| name(known) == name(path)))
    }

    /// The name under which the contents of a mapping were kept: equal for equal contents.
    pub fn kept_of(&self, mapping: u32) -> Option<&str> {
        let mut maps = self.records.iter().flat_map(crate::archive::saved_maps);
        maps.find(|map| map.number == mapping)?.file.as_deref()
    }

    /// Contents by the name under which they were kept.
    pub fn kept(&self, name: &str) -> Option<Arc<[u8]>> {
        self.files.get(name).cloned()
    }

    /// Between which times files were mapped of which a program can execute code: before the first there were so many steps
    /// at least, before the second at most.
    pub fn loads(&self) -> Vec<Range<u64>> {
        const ELF: &[u8] = b"\x7fELF";
        let is_program = |map: &SavedMap| {
            let kept = map.file.as_ref().and_then(|name| self.files.get(name));
            kept.is_none_or(|kept| kept.starts_with(ELF))
        };
        let (mut found, mut before, mut open) = (Vec::<Range<u64>>::new(), self.since, 0);
        for record in &self.records {
            if let Some(made) = record.made() {
                found[open..].iter_mut().for_each(|window| window.end = made);
                (before, open) = (made, found.len());
            }
            if crate::archive::saved_maps(record).into_iter().any(is_program) {
                found.push(before..self.last());
            }
        }
        found.dedup();
        found
    }

    /// All that is mapped in the course of it, by number.
    pub fn mappings(self: &Arc<Log>) -> FxHashMap<u32, Arc<dyn Mapping>> {
        let maps = self.records.iter().flat_map(|record| match record {
            Record::Share(Ok(map)) => vec![map],
            other => crate::archive::saved_maps(other),
        });
        let mapping = |saved: &SavedMap| -> Arc<dyn Mapping> {
            Arc::new(ReplayedMap { saved: saved.clone(), log: self.clone() })
        };
        maps.map(|saved| (saved.number, mapping(saved))).collect()
    }

    /// The last time that is known.
    pub fn last(&self) -> u64 {
        let recorded = self.records.iter().rev().find_map(Record::made).unwrap_or(0);
        if self.complete { recorded } else { recorded.max(self.since).max(self.progress.steps) }
    }

    /// Where a replay that has used up the records must stop, since it is not known what the process did next: where a recording
    /// was cut, unless that was in a call. The next step is that call then.
    pub(crate) fn stop(&self) -> Option<u64> {
        let is_last = |record: &Record| record.time().is_none_or(|time| time <= self.progress.steps);
        let in_call = self.progress.in_call && self.records.iter().rev().take(1).all(is_last);
        (!self.complete && !in_call).then(|| self.last())
    }
}
