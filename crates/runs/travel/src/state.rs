//! A process at one time of its recording.

use parallax_process::elf::Machine;
use parallax_process::memory::{Backing, Fault, Memory, PAGE, Permissions};
use parallax_process::outside::Tid;
use parallax_process::{Process, Snapshot};
use parallax_trace::Time;
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Where registers lie in the bytes of a thread.
pub(crate) struct Places {
    by_name: BTreeMap<String, Range<usize>>,
    /// Those of a list of names, told by where the list stands: the first that was asked for.
    listed: OnceLock<(List, Vec<Option<Range<usize>>>)>,
}

/// Names of registers.
pub(crate) type List = &'static [&'static str];

impl Places {
    /// The places of a process' registers.
    pub fn of(process: &mut Process) -> Places {
        let registers = &process.world().registers;
        let all = &registers.processor().registers;
        let places = all.iter().filter_map(|register| {
            let start = registers.offset(register.place)?;
            Some((register.name.clone(), start..start + usize::from(register.place.bytes)))
        });
        Places { by_name: places.collect(), listed: OnceLock::new() }
    }

    /// The place of a register.
    pub fn get(&self, name: &str) -> Option<Range<usize>> {
        self.by_name.get(name).cloned()
    }

    /// The place of a register of a list: quick if it is always the same list.
    pub fn listed(&self, list: List, index: usize) -> Option<Range<usize>> {
        let (known, places) =
            self.listed.get_or_init(|| (list, list.iter().map(|name| self.get(name)).collect()));
        if known.as_ptr() == list.as_ptr() { places.get(index)?.clone() } else { self.get(list.get(index)?) }
    }
}

/// A process at one time: its threads and their registers, its memory and what is mapped where.
///
/// It is a copy that can be kept, sent to other threads, and outlive the recording.
pub struct State {
    time: Time,
    thread: Tid,
    machine: Machine,
    program: PathBuf,
    process: Tid,
    threads: Vec<(Tid, Box<[u8]>, u64)>,
    places: Arc<Places>,
    memory: Mutex<Memory>,
    mapped: OnceLock<Vec<Mapped>>,
}

/// A run of addresses with one use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapped {
    /// The addresses.
    pub range: Range<u64>,
    /// What may be done there.
    pub permissions: Permissions,
    /// The file it maps, if it does, as it was named when it was recorded.
    pub file: Option<String>,
    /// Where in the file it starts.
    pub offset: u64,
    /// Whether other processes see what is written there.
    pub shared: bool,
    /// The number of the mapping in the recording: a file of one name may have other contents when it is mapped again.
    pub mapping: Option<u32>,
}

impl State {
    pub(crate) fn of(snapshot: Snapshot, time: Time, thread: Tid, places: Arc<Places>) -> State {
        let machine = snapshot.machine();
        let abi = machine.abi();
        let threads = snapshot.threads().into_iter().filter_map(|number| {
            let (mut registers, pc) = snapshot.thread(number)?;
            // What a call came to while others ran is seen by its thread, and by those who look at it.
            if let (Some(answer), Some(place)) = (snapshot.result_of(number), places.get(abi.call_number))
                && abi.result_is_number
            {
                let value = answer.unwrap_or_else(|errno| (-i64::from(errno.0)) as u64);
                let size = place.len();
                registers[place].copy_from_slice(&value.to_le_bytes()[..size]);
            }
            if let Some(place) = abi.program_counter.and_then(|name| places.get(name)) {
                let size = place.len();
                registers[place].copy_from_slice(&pc.to_le_bytes()[..size]);
            }
            Some((number, registers, pc))
        });
        let threads = threads.collect();
        State {
            time,
            thread,
            machine,
            program: snapshot.program().to_owned(),
            process: snapshot.process(),
            threads,
            places,
            memory: Mutex::new(snapshot.into_memory()),
            mapped: OnceLock::new(),
        }
    }

    /// Its time: the step that comes next.
    pub fn time(&self) -> Time {
        self.time
    }

    /// The thread that makes the next step.
    pub fn thread(&self) -> Tid {
        self.thread
    }

    /// All threads, in the order of their turns.
    pub fn threads(&self) -> impl Iterator<Item = Tid> {
        self.threads.iter().map(|(number, _, _)| *number)
    }

    /// The machine whose instructions it runs.
    pub fn machine(&self) -> Machine {
        self.machine
    }

    /// The file of the program it runs.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// The number of the process.
    pub fn process(&self) -> Tid {
        self.process
    }

    /// Where the thread that makes the next step is.
    pub fn pc(&self) -> u64 {
        self.pc_of(self.thread).unwrap_or(0)
    }

    /// Where a thread is. One that waits in a system call is behind its instruction.
    pub fn pc_of(&self, thread: Tid) -> Option<u64> {
        self.threads.iter().find(|(number, _, _)| *number == thread).map(|(_, _, pc)| *pc)
    }

    /// A register of up to eight bytes of the thread that makes the next step, as SLEIGH names it: `RAX`, `EAX`, `AL`,
    /// `FS_OFFSET`, `ZF`.
    pub fn register(&self, name: &str) -> Option<u64> {
        let bytes = self.register_of(self.thread, name)?;
        let mut number = [0; 8];
        number.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(u64::from_le_bytes(number))
    }

    /// The bytes of a register of a thread, lowest first.
    pub fn register_of(&self, thread: Tid, name: &str) -> Option<&[u8]> {
        let (_, registers, _) = self.threads.iter().find(|(number, _, _)| *number == thread)?;
        registers.get(self.places.get(name)?)
    }

    /// The bytes of a register of a list, of a thread: quick if it is always the same list.
    pub fn listed_register_of(
        &self,
        thread: Tid,
        list: &'static [&'static str],
        index: usize,
    ) -> Option<&[u8]> {
        let (_, registers, _) = self.threads.iter().find(|(number, _, _)| *number == thread)?;
        registers.get(self.places.listed(list, index)?)
    }

    /// The names of all registers.
    pub fn registers(&self) -> impl Iterator<Item = &str> {
        self.places.by_name.keys().map(String::as_str)
    }

    /// Reads memory.
    pub fn read(&self, address: u64, into: &mut [u8]) -> Result<(), Fault> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner).read(address, into)
    }

    /// Reads as many of `length` bytes as are mapped without a gap.
    pub fn read_some(&self, address: u64, length: usize) -> Vec<u8> {
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        let mut bytes = Vec::new();
        while bytes.len() < length {
            let at = address.wrapping_add(bytes.len() as u64);
            let run = ((PAGE - at % PAGE) as usize).min(length - bytes.len());
            let mut page = vec![0; run];
            if memory.read(at, &mut page).is_err() {
                break;
            }
            bytes.extend(page);
        }
        bytes
    }

    /// A number that is the same for states in which the same files are mapped at the same places: cheaper than looking.
    pub fn layout(&self) -> u64 {
        layout(&self.program, &self.memory.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// What is mapped, in the order of addresses.
    pub fn mapped(&self) -> &[Mapped] {
        let look = || mapped(&self.memory.lock().unwrap_or_else(PoisonError::into_inner));
        self.mapped.get_or_init(look)
    }
}

/// The files that are mapped by a program, and where, as one number.
pub(crate) fn layout(program: &Path, memory: &Memory) -> u64 {
    let mut hasher = rustc_hash::FxHasher::default();
    program.hash(&mut hasher);
    for (start, region) in memory.regions() {
        match &region.backing {
            Backing::Zero => {}
            Backing::Copied { map, offset, .. } | Backing::Shared { map, offset, .. } => {
                (start, region.end, *offset, map.name(), map.number()).hash(&mut hasher);
            }
        }
    }
    hasher.finish()
}

/// What is mapped, in the order of addresses.
pub(crate) fn mapped(memory: &Memory) -> Vec<Mapped> {
    let mapped = memory.regions().map(|(start, region)| {
        let (map, offset, shared) = match &region.backing {
            Backing::Zero => (None, 0, false),
            Backing::Copied { map, offset, .. } => (Some(map), *offset, false),
            Backing::Shared { map, offset, .. } => (Some(map), *offset, true),
        };
        Mapped {
            range: start..region.end,
            permissions: region.permissions,
            file: map.map(|map| map.name().to_owned()),
            offset,
            shared,
            mapping: map.and_then(|map| map.number()),
        }
    });
    mapped.collect()
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "State {{ time: {}, thread: {}, pc: {:#x} }}", self.time, self.thread, self.pc())
    }
}
