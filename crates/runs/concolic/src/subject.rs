//! The program that is explored, stopped where runs begin: before the first instruction that touches unknown input.
//!
//! Every run is a fork of the process that holds the subject. So a run may do to its descriptors, its memory and itself
//! whatever it likes, and the next one begins where this one began.

use crate::block::{Blocks, Shelved};
use crate::constraint::Constraint;
use crate::descriptors::identity;
use crate::door::{Door, Shared, Unknown};
use crate::effects::{World, opens_to_change};
use crate::frame::Layout;
use crate::input::{Kind, Sources};
use crate::lockstep::Lockstep;
use crate::moment::Return;
use crate::summary::{FUNCTIONS, Summary};
use crate::worker::apart;
use object::read::elf::{FileHeader, Sym};
use object::{LittleEndian, elf};
use parallax_names::Meant;
use parallax_path::Oracle;
use parallax_process::elf::Machine;
use parallax_process::memory::{Backing, Memory};
use parallax_process::{Process, Program, Snapshot, StartError};
use parallax_term::Store;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// What to explore.
#[derive(Clone, Debug)]
pub struct Command {
    /// The file of the program.
    pub path: PathBuf,
    /// Its arguments, the first of which names it.
    pub arguments: Vec<Vec<u8>>,
    /// Its environment, `NAME=value` each.
    pub environment: Vec<Vec<u8>>,
    /// Whether it may change the world outside on the way to where runs begin, by a person's word.
    pub unjailed: bool,
}

impl Command {
    /// The command that a list of words is, in our own environment.
    pub fn here(words: &[OsString]) -> Self {
        let variable =
            |(name, value): (OsString, OsString)| [name.as_bytes(), b"=", value.as_bytes()].concat();
        Command {
            path: words.first().map(|word| found(word)).unwrap_or_default(),
            arguments: words.iter().map(|argument| argument.as_bytes().to_vec()).collect(),
            environment: std::env::vars_os().map(variable).collect(),
            unjailed: false,
        }
    }
}

/// The file of a program: as it is given if it is a path, else where `PATH` has it.
fn found(program: &OsStr) -> PathBuf {
    let path = Path::new(program);
    if program.as_bytes().contains(&b'/') {
        return path.to_owned();
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&folders).map(|folder| folder.join(path)).find(|file| file.is_file());
    found.unwrap_or_else(|| path.to_owned())
}

/// Why a program cannot be explored.
#[derive(Debug, thiserror::Error)]
pub enum SubjectError {
    /// It cannot be started.
    #[error(transparent)]
    Start(#[from] StartError),
    /// It is a program of another processor.
    #[error("{} is a program for {machine}: only programs for x86-64 are explored", path.display())]
    Machine {
        /// The file.
        path: PathBuf,
        /// Its processor.
        machine: &'static str,
    },
    /// An argument that is unknown is not there.
    #[error("there is no argument {0}: the program has {1}")]
    NoArgument(usize, usize),
    /// What is to be unknown at a moment is neither a register nor memory.
    #[error("`{0}` is no register, and no memory: write RDI, [RDI+8]:16, [NAME]:4 or [0x404010]:4")]
    Unknown(String),
    /// Memory that is to be unknown at a moment is not there.
    #[error("`{0}`: there is no memory at that address")]
    Unmapped(String),
    /// The function that chooses the one of a name does not come to an end.
    #[error("which function `{0}` stands for on this processor could not be found out")]
    NotChosen(String),
    /// A moment is not a function and a number.
    #[error("`{0}` is no moment: write FUNCTION, or FUNCTION#2 for the second time it is called")]
    Moment(String),
    /// The run does not come to a moment.
    #[error("the run does not come to {name}{}: {why}", if *count == 1 { String::new() } else { format!(" for the {count}. time") })]
    NotReached {
        /// The function.
        name: String,
        /// Which call of it.
        count: u64,
        /// What the run came to instead.
        why: String,
    },
    /// A place to reach or avoid is neither an address nor a function.
    #[error("`{0}` is no address, and no function of the program or of the libraries it loads has that name")]
    NoPlace(String),
    /// A place to reach or avoid is the name of several functions.
    #[error("`{0}` is the name of several functions: {1}")]
    SeveralPlaces(String, String),
    /// A place to reach or avoid is a line, and no code was compiled from it.
    #[error("`{0}`: no code was compiled from this line, as far as debug information tells")]
    NoLine(String),
    /// A place to reach or avoid is not in code.
    #[error("`{0}`: there is no code at {1:#x}")]
    NoCode(String, u64),
    /// A place to reach or avoid lies within an instruction.
    #[error("`{place}`: no instruction begins at {address:#x}; it is in the middle of `{text}` at {at:#x}")]
    Inside {
        /// The place as it was named.
        place: String,
        /// Its address.
        address: u64,
        /// The instruction.
        text: String,
        /// Where that begins.
        at: u64,
    },
}

/// Where the first descriptor of an unknown file goes: high, so that the program's own get the numbers they always get.
const FIRST_DESCRIPTOR: i32 = 900;

/// Where a source is that is there from the start.
#[derive(Clone, Debug)]
pub(crate) enum Placed {
    Memory(u64),
    Register(String),
}

/// A program at the point where its runs begin.
pub struct Subject {
    pub(crate) process: Process,
    pub(crate) shared: Rc<RefCell<Shared>>,
    /// Where the registers are.
    pub(crate) layout: Rc<Layout>,
    blocks: Blocks,
    /// The blocks that the program entered on the way to where runs begin.
    pub(crate) before: FxHashSet<u64>,
    /// What of its input is unknown.
    pub sources: Sources,
    /// Sources that are in memory from the start, with their addresses.
    pub(crate) placed: Vec<(usize, Placed)>,
    /// Descriptors that the program has opened on the way here.
    opened: FxHashSet<u64>,
    /// The last point at which none was open.
    safe: Option<Snapshot>,
    path: PathBuf,
    /// How much higher the program lies than its file says.
    bias: u64,
    /// The address of its first instruction.
    pub(crate) entry: u64,
    own: std::ops::Range<u64>,
    /// Where runs end, if they are those of one function.
    pub(crate) until: Option<Return>,
    /// Descriptors that were open when runs begin, with the place in their files.
    positions: Vec<(i32, i64)>,
    /// How many random bytes the program had been given by then.
    random: u64,
    /// The addresses that the functions return to which are under way where runs begin, outermost first.
    pub(crate) callers: Vec<u64>,
    /// Functions that are taken by what they do, by address.
    summaries: FxHashMap<u64, Summary>,
}

impl Subject {
    /// Loads a program and runs it to where its input begins to count. `memory` is the bound on the bytes it may touch.
    pub fn new(command: &Command, sources: &Sources, memory: u64) -> Result<Subject, SubjectError> {
        let mut subject = Subject::loaded(command, sources, memory)?;
        subject.advance();
        subject.find_callers();
        Ok(subject)
    }

    /// Loads a program; it is before its first instruction.
    pub(crate) fn loaded(command: &Command, sources: &Sources, memory: u64) -> Result<Subject, SubjectError> {
        let mut arguments = command.arguments.clone();
        let mut environment = command.environment.clone();
        for source in &sources.0 {
            // Room for the unknown bytes; each run puts its own there.
            let room = vec![b'A'; source.bytes];
            match &source.kind {
                Kind::Argument(number) => match arguments.get_mut(*number) {
                    Some(argument) => *argument = room,
                    None => return Err(SubjectError::NoArgument(*number, arguments.len() - 1)),
                },
                Kind::Environment(name) => {
                    let prefix = [name.as_bytes(), b"="].concat();
                    environment.retain(|variable| !variable.starts_with(&prefix));
                    environment.push([prefix, room].concat());
                }
                _ => {}
            }
        }
        let world = if command.unjailed { World::Real } else { World::Outside };
        let shared = Rc::new(RefCell::new(Shared { world, ..Shared::default() }));
        let program = Program {
            path: command.path.clone(),
            arguments,
            environment,
            byte_bound: memory,
            instruction_bound: u64::MAX,
            schedule: None,
        };
        let mut process = Process::start(program, Box::new(Door::new(shared.clone())))?;
        if process.machine() != Machine::X86_64 {
            let machine = process.machine().name();
            return Err(SubjectError::Machine { path: command.path.clone(), machine });
        }
        let layout = Rc::new(Layout::new(&process.world().registers));
        let mut subject = Subject {
            layout,
            process,
            shared,
            blocks: Blocks::default(),
            before: FxHashSet::default(),
            sources: sources.clone(),
            placed: Vec::new(),
            opened: FxHashSet::default(),
            safe: None,
            path: command.path.clone(),
            bias: 0,
            entry: 0,
            own: 0..0,
            until: None,
            positions: Vec::new(),
            random: 0,
            callers: Vec::new(),
            summaries: FxHashMap::default(),
        };
        subject.process.engine().set_exact_flags(true);
        subject.look_around();
        subject.own = subject.find_own();
        Ok(subject)
    }

    /// Finds out where the program and the strings of its stack are.
    fn look_around(&mut self) {
        let world = self.process.world();
        let top = world.registers.get("RSP");
        let memory = &mut world.memory;
        let word = |memory: &mut Memory, at: u64| memory.load::<8>(at).map_or(0, u64::from_le_bytes);
        let count = word(memory, top);
        let arguments = top + 8;
        let environment = arguments + 8 * (count + 1);
        let mut at = environment;
        while word(memory, at) != 0 {
            at += 8;
        }
        let auxiliary = at + 8;
        let mut entry = 0;
        for index in 0..64 {
            const AT_ENTRY: u64 = 9;
            match word(memory, auxiliary + 16 * index) {
                0 => break,
                AT_ENTRY => entry = word(memory, auxiliary + 16 * index + 8),
                _ => {}
            }
        }
        let mut placed = Vec::new();
        for (index, source) in self.sources.0.iter().enumerate() {
            match &source.kind {
                Kind::Argument(number) => {
                    let at = word(memory, arguments + 8 * *number as u64);
                    placed.push((index, Placed::Memory(at)));
                }
                Kind::Environment(name) => {
                    let prefix = [name.as_bytes(), b"="].concat();
                    let mut at = environment;
                    while word(memory, at) != 0 {
                        let text = word(memory, at);
                        let mut start = vec![0; prefix.len()];
                        if memory.read(text, &mut start).is_ok() && start == prefix {
                            placed.push((index, Placed::Memory(text + prefix.len() as u64)));
                        }
                        at += 8;
                    }
                }
                _ => {}
            }
        }
        self.placed = placed;
        let header = std::fs::read(&self.path).ok();
        let start = header.as_deref().and_then(|bytes| {
            let header = elf::FileHeader64::<LittleEndian>::parse(bytes).ok()?;
            Some(header.e_entry(LittleEndian))
        });
        self.bias = start.map_or(0, |start| entry.wrapping_sub(start));
        self.entry = entry;
    }

    /// Runs to where the input begins to count: what comes before is the same on every run.
    fn advance(&mut self) {
        const LONGEST: u64 = 20_000_000;
        let input = vec![b'A'; self.sources.bytes()];
        {
            let store = Store::new();
            let terms = self.sources.terms(&store);
            let oracle = Oracle::new(parallax_smt::solver(&store));
            let constraint = Constraint::new(oracle, &input, &terms);
            let mut run = Lockstep::new(self, constraint, terms, false, true);
            run.run(LONGEST, &[]);
            run.unmark();
        }
        if !self.opened.is_empty()
            && let Some(safe) = self.safe.take()
        {
            // A file that is open has one position, which all runs would share.
            self.process.go_back(&safe);
            for descriptor in self.opened.drain() {
                // SAFETY: the descriptor was opened for the program, which has not opened it yet now.
                unsafe { libc::close(descriptor as i32) };
            }
        }
        self.safe = None;
        self.random = self.shared.borrow().random;
        self.blocks.forget();
    }

    /// Whether a call on the way to where runs begin leaves nothing behind that a run could trip over. Takes note of
    /// what it opens and closes.
    pub(crate) fn is_harmless(&mut self, name: &str, values: &[u64; 7]) -> bool {
        let [_, first, second, ..] = *values;
        match name {
            "brk" | "mmap" | "munmap" | "mprotect" | "arch_prctl" | "set_tid_address" | "set_robust_list"
            | "rseq" | "prlimit64" | "getrandom" | "uname" | "getpid" | "gettid" | "getuid" | "geteuid"
            | "getgid" | "getegid" | "rt_sigaction" | "rt_sigprocmask" | "sigaltstack" | "readlink"
            | "sysinfo" => true,
            "read" | "pread64" | "fstat" | "close" => {
                if name == "close" {
                    self.opened.remove(&first);
                }
                first > 2
            }
            "newfstatat" => (first as i32) < 0 || first > 2,
            "open" | "openat" | "access" | "stat" => {
                let at = if name == "openat" { second } else { first };
                let path =
                    self.process.world().memory.read_string(at, 4095).ok().flatten().unwrap_or_default();
                let unknown = |source: &crate::input::Source| matches!(&source.kind, Kind::File(file) if file.as_os_str().as_bytes() == path);
                let flags = if name == "openat" { values[3] } else { second };
                if self.sources.0.iter().any(unknown) || name.starts_with("open") && opens_to_change(flags) {
                    return false;
                }
                if name.starts_with("open") && self.opened.is_empty() {
                    self.safe = Some(self.process.snapshot());
                }
                true
            }
            _ => false,
        }
    }

    /// What is mapped has changed.
    pub(crate) fn remapped(&mut self, name: &str, values: &[u64; 7]) {
        let result = self.process.world().registers.get("RAX");
        match name {
            "open" | "openat" if (result as i64) >= 0 => {
                self.opened.insert(result);
            }
            "munmap" | "mremap" | "mprotect" => {
                self.blocks.forget_pages(values[1] / 4096, values[1].saturating_add(values[2]) / 4096);
            }
            "mmap" => self.blocks.forget_pages(result / 4096, result.saturating_add(values[2]) / 4096),
            _ => {}
        }
    }

    /// From now on functions of the C library are taken by what they do, where that is known.
    pub fn summarise(&mut self, steps: u64) {
        // Libraries may not be loaded yet, and a run to where they are leaves traces: it is another process that looks.
        let found = apart(1 << 30, || {
            let named = |subject: &mut Subject| -> Vec<(u64, usize)> {
                let names = FUNCTIONS.iter().enumerate();
                // A function of C++ with such a name is another one.
                let mut address = |name| {
                    subject.exactly(name)?;
                    subject.function(name, steps).ok()
                };
                names.filter_map(|(number, (name, _))| Some((address(name)?, number))).collect()
            };
            let mut found = named(self);
            if found.is_empty() && self.go_to(self.entry, 1, steps, "its entry").is_ok() {
                found = named(self);
            }
            found
        });
        if let Ok(Some(found)) = found {
            self.summaries = found.into_iter().map(|(at, number)| (at, FUNCTIONS[number].1)).collect();
        }
    }

    /// What is known of the function that begins at an address.
    pub(crate) fn summary(&self, address: u64) -> Option<Summary> {
        self.summaries.get(&address).copied()
    }

    /// Where the function that was just entered comes back to.
    pub(crate) fn way_back(&mut self) -> Return {
        let stack = self.process.world().registers.get("RSP");
        let address = self.process.world().memory.load::<8>(stack).map_or(0, u64::from_le_bytes);
        Return { address, stack: stack.wrapping_add(8) }
    }

    /// Whether a function has come back.
    pub(crate) fn is_back(&mut self, until: Return) -> bool {
        self.process.pc() == until.address && self.process.world().registers.get("RSP") >= until.stack
    }

    /// The block at an address.
    pub(crate) fn block(&mut self, address: u64) -> Option<Shelved> {
        self.blocks.at(&mut self.process, address)
    }

    /// From now on these places begin blocks.
    pub(crate) fn end_blocks_before(&mut self, addresses: impl IntoIterator<Item = u64>) {
        self.blocks.end_before(addresses);
    }

    /// Lifts the blocks that a run has seen, so that the next does not have to.
    pub fn prepare(&mut self, blocks: &[u64]) {
        for &address in blocks {
            let _ = self.block(address);
        }
        self.process.translate_ahead(blocks);
    }

    /// Puts the parts of an input where they are that are there from the start. Files that are open are where they were when
    /// runs begin: forks share the place.
    pub(crate) fn give_again(&mut self, input: &[u8]) {
        for (source, placed) in self.placed.clone() {
            let bytes = &input[self.sources.range(source)];
            match placed {
                Placed::Memory(address) => drop(self.process.world().memory.poke(address, bytes)),
                Placed::Register(name) => self.process.world().registers.set_bytes(&name, bytes),
            }
        }
        self.shared.borrow_mut().random = self.random;
        for &(descriptor, position) in &self.positions {
            reopen(descriptor, position);
        }
    }

    /// Takes note of what a run changes outside memory and registers: where the program is in the files that it has open,
    /// and how many random bytes it was given.
    pub(crate) fn keep_outside(&mut self) {
        self.random = self.shared.borrow().random;
        let open = self.opened.iter().map(|descriptor| *descriptor as i32).chain([0]);
        self.positions = open
            .filter_map(|descriptor| {
                // SAFETY: the call takes numbers only.
                let position = unsafe { libc::lseek(descriptor, 0, libc::SEEK_CUR) };
                (position >= 0).then_some((descriptor, position))
            })
            .collect();
    }

    /// Gives this process the input of a run: it is about to be that run, and nothing else any more.
    pub fn give(&mut self, input: &[u8]) -> std::io::Result<()> {
        self.give_again(input);
        let nothing = open_null()?;
        let mut unknown = Vec::new();
        let mut stdin = nothing;
        for (index, source) in self.sources.0.iter().enumerate() {
            let path = match &source.kind {
                Kind::Stdin => None,
                Kind::File(path) => Some(path.as_os_str().as_bytes().to_vec()),
                _ => continue,
            };
            let descriptor = unnamed_file(&input[self.sources.range(index)])?;
            if path.is_none() {
                stdin = descriptor;
            }
            let identity = identity(descriptor).ok_or_else(std::io::Error::last_os_error)?;
            unknown.push(Unknown { source: index, path, descriptor, identity });
        }
        for (from, to) in [(stdin, 0), (nothing, 1), (nothing, 2)] {
            // SAFETY: the calls take numbers only.
            if unsafe { libc::dup2(from, to) } < 0 {
                return Err(std::io::Error::last_os_error());
            }
        }
        self.shared.borrow_mut().unknown = unknown;
        Ok(())
    }

    /// The address that the user names: a number counts as one of the program's file, a name is a symbol's.
    pub fn place(&mut self, name: &str) -> Result<u64, SubjectError> {
        self.named(name).map(|(address, _)| address)
    }

    /// The same, and whether what lies there is a function that chooses the one of that name (an IFUNC).
    pub(crate) fn named(&mut self, name: &str) -> Result<(u64, bool), SubjectError> {
        let number = name.strip_prefix("0x").and_then(|digits| u64::from_str_radix(digits, 16).ok());
        if let Some(address) = number {
            return Ok((address.wrapping_add(self.bias), false));
        }
        if let Some(found) = self.exactly(name) {
            return Ok(found);
        }
        for (start, file) in self.mapped() {
            match parallax_names::meant(symbols(&file).iter().map(Symbol::place), name) {
                Meant::One((address, chooses)) => return Ok((address.wrapping_add(start), chooses)),
                Meant::Several(all) => {
                    return Err(SubjectError::SeveralPlaces(name.to_owned(), all.join(", ")));
                }
                Meant::Nothing => {}
            }
        }
        Err(SubjectError::NoPlace(name.to_owned()))
    }

    /// The same for a name as symbol tables have it.
    pub(crate) fn exactly(&mut self, name: &str) -> Option<(u64, bool)> {
        self.mapped().into_iter().find_map(|(start, file)| {
            let symbols = symbols(&file);
            let mut all = symbols.iter().filter(|symbol| symbol.name == name);
            let first = all.clone().next();
            let (_, (address, chooses)) = all.find(|symbol| !symbol.is_former).or(first)?.place();
            Some((address.wrapping_add(start), chooses))
        })
    }

    /// The program and its libraries, each with the address that its symbols count from.
    fn mapped(&mut self) -> Vec<(u64, PathBuf)> {
        let mut files = vec![(self.bias, self.path.clone())];
        files.extend(self.files().into_iter().map(|(start, file)| (start, PathBuf::from(file))));
        files
    }

    /// Whether the program is linked with everything it uses.
    pub(crate) fn is_static(&mut self) -> bool {
        self.files().len() <= 1
    }

    /// The files that are mapped, with the address at which each begins.
    pub(crate) fn files(&mut self) -> Vec<(u64, String)> {
        let memory = &self.process.world().memory;
        let mut files: Vec<(u64, String)> = Vec::new();
        for (start, region) in memory.regions() {
            if let Backing::Copied { map, offset: 0, .. } = &region.backing
                && !files.iter().any(|(_, known)| known == map.name())
            {
                files.push((start, map.name().to_owned()));
            }
        }
        files
    }

    /// The addresses of the program itself.
    pub fn own(&self) -> std::ops::Range<u64> {
        self.own.clone()
    }

    /// Finds out which addresses are the program's own.
    fn find_own(&mut self) -> std::ops::Range<u64> {
        let path = std::fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        let memory = &self.process.world().memory;
        let own = memory.regions().filter(|(_, region)| match &region.backing {
            Backing::Copied { map, .. } | Backing::Shared { map, .. } => {
                let name = Path::new(map.name());
                name == self.path || std::fs::canonicalize(name).is_ok_and(|name| name == path)
            }
            Backing::Zero => false,
        });
        let ends: Vec<(u64, u64)> = own.map(|(start, region)| (start, region.end)).collect();
        let start = ends.iter().map(|(start, _)| *start).min().unwrap_or(0);
        start..ends.iter().map(|(_, end)| *end).max().unwrap_or(0)
    }

    /// The file of the program.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How much higher the program lies than its file says.
    pub fn bias(&self) -> u64 {
        self.bias
    }

    /// The address of the next instruction, and the bytes there.
    pub fn here(&mut self) -> (u64, Vec<u8>) {
        let pc = self.process.pc();
        (pc, self.process.peek(pc, 16))
    }

    /// Where runs begin.
    pub fn start(&mut self) -> String {
        let pc = self.process.pc();
        self.process.describe(pc)
    }

    /// An address with the symbol it belongs to.
    pub fn describe(&mut self, address: u64) -> String {
        self.process.describe(address)
    }
}

/// A symbol of a file.
struct Symbol {
    name: String,
    value: u64,
    /// It is a function that chooses the one of that name (an IFUNC).
    chooses: bool,
    /// Only programs that were linked long ago get it.
    is_former: bool,
}

impl Symbol {
    fn place(&self) -> (&str, (u64, bool)) {
        (&self.name, (self.value, self.chooses))
    }
}

/// The symbols of both tables of a file; none if it cannot be read.
fn symbols(path: &Path) -> Vec<Symbol> {
    std::fs::read(path).ok().and_then(|bytes| tables(&bytes).ok()).unwrap_or_default()
}

fn tables(bytes: &[u8]) -> object::read::Result<Vec<Symbol>> {
    let header = elf::FileHeader64::<LittleEndian>::parse(bytes)?;
    let sections = header.sections(LittleEndian, bytes)?;
    let versions = sections.versions(LittleEndian, bytes).ok().flatten();
    let mut all = Vec::new();
    for kind in [elf::SHT_SYMTAB, elf::SHT_DYNSYM] {
        let Ok(table) = sections.symbols(LittleEndian, bytes, kind) else { continue };
        for (index, symbol) in table.enumerate() {
            let chooses = symbol.st_type() == elf::STT_GNU_IFUNC;
            let known =
                chooses || matches!(symbol.st_type(), elf::STT_FUNC | elf::STT_NOTYPE | elf::STT_OBJECT);
            if !known || symbol.st_shndx(LittleEndian) == elf::SHN_UNDEF {
                continue;
            }
            let Ok(name) = symbol.name(LittleEndian, table.strings()) else { continue };
            let is_former = kind == elf::SHT_DYNSYM
                && versions.as_ref().is_some_and(|all| all.version_index(LittleEndian, index).is_hidden());
            let name = String::from_utf8_lossy(name).into_owned();
            all.push(Symbol { name, value: symbol.st_value(LittleEndian), chooses, is_former });
        }
    }
    Ok(all)
}

/// Makes a descriptor of a file one of its own, at this place: a fork has it in common with others.
fn reopen(descriptor: i32, position: i64) {
    let name = format!("/proc/self/fd/{descriptor}\0");
    // SAFETY: the name ends with a zero; the other calls take numbers only.
    unsafe {
        let flags = libc::fcntl(descriptor, libc::F_GETFL);
        let own = libc::open(name.as_ptr().cast(), flags & !(libc::O_CREAT | libc::O_EXCL | libc::O_TRUNC));
        if own >= 0 {
            libc::lseek(own, position, libc::SEEK_SET);
            libc::dup2(own, descriptor);
            libc::close(own);
        }
    }
}

fn open_null() -> std::io::Result<i32> {
    // SAFETY: the path ends with a zero.
    let descriptor = unsafe { libc::open(c"/dev/null".as_ptr(), libc::O_RDWR) };
    if descriptor < 0 { Err(std::io::Error::last_os_error()) } else { high(descriptor) }
}

/// A file without a name that holds these bytes, at its beginning.
fn unnamed_file(bytes: &[u8]) -> std::io::Result<i32> {
    // SAFETY: the name ends with a zero.
    let descriptor = unsafe { libc::memfd_create(c"input".as_ptr(), 0) };
    if descriptor < 0 {
        return Err(std::io::Error::last_os_error());
    }
    let mut done = 0;
    while done < bytes.len() {
        let rest = &bytes[done..];
        // SAFETY: the buffer is as long as is said.
        let written = unsafe { libc::pwrite(descriptor, rest.as_ptr().cast(), rest.len(), done as i64) };
        if written <= 0 {
            return Err(std::io::Error::last_os_error());
        }
        done += written as usize;
    }
    high(descriptor)
}

/// The same file behind a descriptor that no program comes upon.
fn high(descriptor: i32) -> std::io::Result<i32> {
    // SAFETY: the calls take numbers only.
    let moved = unsafe { libc::fcntl(descriptor, libc::F_DUPFD, FIRST_DESCRIPTOR) };
    if moved < 0 {
        return Err(std::io::Error::last_os_error());
    }
    // SAFETY: as above.
    unsafe { libc::close(descriptor) };
    Ok(moved)
}
