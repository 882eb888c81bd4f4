//! All programs and shared objects of a recording, wherever they lay and whenever they were mapped.

use crate::{Modules, Placed};
use parallax_process::memory::PAGE;
use parallax_symbols::Symbols;
use parallax_trace::{Direction, Target, Time, Watch};
use parallax_travel::{Filter, Look, Mapped, Numbers, Side, Travel, TravelError};
use std::ops::Range;
use std::sync::Arc;

/// Files that were mapped in the course of a recording, in groups of which each has one file at an address.
pub(crate) struct OverTime {
    pub groups: Vec<Group>,
}

/// Files that could have been mapped together, and their symbols.
pub(crate) struct Group {
    pub symbols: Arc<Symbols>,
    /// In the order of the modules.
    pub files: Vec<File>,
}

/// A file that was mapped at a place.
pub(crate) struct File {
    pub placed: Placed,
    pub contents: Arc<[u8]>,
    /// Whether nothing else was ever mapped there, up to the end of the recording.
    pub is_lasting: bool,
}

impl Modules {
    /// All of them. What is known of a recording does not change, so it is looked for once.
    pub(crate) fn over_time(&self, travel: &Travel, watch: &dyn Watch) -> Result<Arc<OverTime>, TravelError> {
        if let Some(known) = self.over_time.get() {
            return Ok(known.clone());
        }
        let last = travel.state(travel.span().end)?;
        let mut lasting = self.placed(last.mapped());
        let program = last.program().to_string_lossy().into_owned();
        lasting.sort_by_key(|placed| (placed.file != program, placed.start));
        let mut all = lasting.clone();
        for mapped in self.layouts(travel, watch)? {
            let mut placed = self.placed(&mapped);
            placed.retain(|one| !all.contains(one));
            placed.sort();
            all.extend(placed);
        }
        let read = all.into_iter().filter_map(|placed| {
            let contents = self.contents(&placed)?;
            let module = self.module(&placed)?;
            Some((placed, contents, module))
        });
        let read: Vec<_> = read.collect();
        let extents: Vec<Range<u64>> = read.iter().map(|(_, _, module)| pages(&module.extent())).collect();
        let meets = |one: &Range<u64>, other: &Range<u64>| one.start < other.end && other.start < one.end;
        let is_alone = |at: usize| {
            let others = extents.iter().enumerate().filter(|(other, _)| *other != at);
            others.clone().all(|(_, other)| !meets(&extents[at], other))
        };
        let alone: Vec<bool> = (0..read.len()).map(is_alone).collect();
        /// Modules that were mapped at one time, their files, and where they lay.
        type Together = (Vec<parallax_symbols::Module>, Vec<File>, Vec<Range<u64>>);
        let mut groups: Vec<Together> = Vec::new();
        for (at, (placed, contents, module)) in read.into_iter().enumerate() {
            let extent = extents[at].clone();
            let has_room = |taken: &[Range<u64>]| taken.iter().all(|other| !meets(&extent, other));
            let group = match groups.iter_mut().find(|(_, _, taken)| has_room(taken)) {
                Some(group) => group,
                None => {
                    groups.push(Default::default());
                    let last = groups.len() - 1;
                    &mut groups[last]
                }
            };
            group.0.push(module);
            let is_lasting = alone[at] && lasting.contains(&placed);
            group.1.push(File { placed, contents, is_lasting });
            group.2.push(extent);
        }
        let groups = groups.into_iter();
        let groups =
            groups.map(|(modules, files, _)| Group { symbols: Arc::new(Symbols::new(modules)), files });
        let found = Arc::new(OverTime { groups: groups.collect() });
        Ok(self.over_time.get_or_init(|| found).clone())
    }

    /// What was mapped at the start, and after each call that mapped a file with code.
    fn layouts(&self, travel: &Travel, watch: &dyn Watch) -> Result<Vec<Vec<Mapped>>, TravelError> {
        let span = travel.span();
        let mut calls = Vec::new();
        for name in ["mmap", "mmap2", "mremap", "execve", "execveat"] {
            calls.extend(travel.system_call(name)?);
        }
        let calls = Filter::SystemCall(Numbers::Of(calls.into_iter().collect()));
        let found = travel.search(&[calls], span.clone(), Direction::Forward, usize::MAX >> 1, watch)?;
        if found.decided != span {
            return Err(TravelError::Stopped);
        }
        // A call is one step more than had been made before it.
        let loads = self.log.loads();
        let is_load = |time: &Time| loads.iter().any(|load| load.start < *time && *time <= load.end + 1);
        let times = found.hits.iter().map(|hit| hit.time).filter(is_load);
        let mut times: Vec<(Time, Side)> = times.map(|time| (time, Side::After)).collect();
        times.insert(0, (span.start, Side::Before));
        let looks = travel.looks(&times, None, |passing| Some(passing.mapped()), watch)?;
        let mapped = looks.into_iter().map(|look| match look {
            Look::InPlace(mapped) => mapped,
            Look::Copied(state) => state.mapped().to_vec(),
        });
        Ok(mapped.collect())
    }
}

/// Whole pages.
fn pages(extent: &Range<u64>) -> Range<u64> {
    extent.start / PAGE * PAGE..extent.end.div_ceil(PAGE).saturating_mul(PAGE)
}

impl OverTime {
    /// The groups, with their symbols.
    pub fn symbols(&self) -> impl Iterator<Item = &Symbols> {
        self.groups.iter().map(|group| &*group.symbols)
    }
}

impl Group {
    /// The file that the code at an address is of.
    pub fn file_at(&self, address: u64) -> Option<&File> {
        self.files.get(self.symbols.module_at(address)?)
    }

    /// The bytes of code.
    pub fn code(&self, range: &Range<u64>) -> Option<&[u8]> {
        let index = self.symbols.module_at(range.start)?;
        let offset = self.symbols.modules()[index].file_offset(range.start)?;
        let from = usize::try_from(offset).ok()?;
        let length = usize::try_from(range.end.checked_sub(range.start)?).ok()?;
        self.files[index].contents.get(from..from.checked_add(length)?)
    }
}
