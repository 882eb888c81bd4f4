//! Executable files: what a loader needs of them, read with suspicion.
//!
//! [`Image::parse`] is a pure function of the bytes, so that it can be fuzzed; everything it returns has been checked
//! against the address space it is meant for. [`load`] puts an image and its interpreter into a [`Memory`](crate::memory::Memory).

mod load;
mod stack;
mod symbols;

pub use load::{LoadError, Loaded, load};
pub use stack::{STACK_SIZE, Vectors, build as build_stack};
pub use symbols::Symbols;

use crate::memory::{PAGE, Permissions};
use object::elf;
use object::read::elf::{FileHeader, ProgramHeader};
use object::{BigEndian, LittleEndian};

/// The machines whose programs can be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Machine {
    /// x86 in 64-bit mode.
    X86_64,
    /// PowerPC, 32 bits, big-endian.
    PowerPc,
}

impl Machine {
    /// As `--lang` names it.
    pub fn name(self) -> &'static str {
        self.abi().name
    }
}

/// What is wrong with an executable file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImageError {
    /// It does not start like an ELF file.
    #[error("not an ELF file")]
    NotElf,
    /// It breaks off.
    #[error("the file ends inside its {0}")]
    Truncated(&'static str),
    /// A program for some other machine.
    #[error("a program for {0}; x86-64 and 32-bit big-endian PowerPC can be run")]
    OtherMachine(String),
    /// An object file, a core, or the like.
    #[error("an ELF file, but not a program (its type is {0})")]
    NotProgram(&'static str),
    /// Nothing would be loaded.
    #[error("the file has no loadable segment")]
    NothingToLoad,
    /// A segment that cannot be.
    #[error("segment {index} (at address {address:#x}): {problem}")]
    BadSegment {
        /// Which program header.
        index: usize,
        /// Where it wants to be.
        address: u64,
        /// What is wrong.
        problem: &'static str,
    },
    /// The name of the dynamic linker is unusable.
    #[error("the interpreter's name is not a path of at most 4096 bytes")]
    BadInterpreter,
}

/// A piece of the file to be mapped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// First address, before any displacement.
    pub address: u64,
    /// Bytes it takes in memory.
    pub memory_size: u64,
    /// Where its bytes are in the file.
    pub offset: u64,
    /// How many of them come from the file; the rest is zero.
    pub file_size: u64,
    /// What may be done with it.
    pub permissions: Permissions,
}

impl Segment {
    /// The first address of its first page.
    pub fn first_page(&self) -> u64 {
        self.address & !(PAGE - 1)
    }

    /// One past its last page.
    pub fn end_page(&self) -> u64 {
        (self.address + self.memory_size).next_multiple_of(PAGE)
    }
}

/// An executable file, checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// The machine it is for.
    pub machine: Machine,
    /// Whether it may be put anywhere.
    pub movable: bool,
    /// Where it starts, before any displacement.
    pub entry: u64,
    /// What to map, in order of addresses.
    pub segments: Vec<Segment>,
    /// The dynamic linker it asks for.
    pub interpreter: Option<Vec<u8>>,
    /// Where the program headers will be in memory, if they are loaded at all.
    pub headers: Option<u64>,
    /// How many program headers there are.
    pub header_count: u64,
    /// Bytes of each.
    pub header_size: u64,
    /// Whether the stack must be executable, as old programs ask.
    pub executable_stack: bool,
}

impl Image {
    /// Reads and checks an executable file.
    pub fn parse(bytes: &[u8]) -> Result<Image, ImageError> {
        let ident = bytes.get(..16).ok_or(ImageError::NotElf)?;
        if ident[..4] != elf::ELFMAG {
            return Err(ImageError::NotElf);
        }
        match (ident[4], ident[5]) {
            (elf::ELFCLASS64, elf::ELFDATA2LSB) => {
                parse::<elf::FileHeader64<LittleEndian>>(bytes, LittleEndian, Machine::X86_64)
            }
            (elf::ELFCLASS32, elf::ELFDATA2MSB) => {
                parse::<elf::FileHeader32<BigEndian>>(bytes, BigEndian, Machine::PowerPc)
            }
            (elf::ELFCLASS32, elf::ELFDATA2LSB) => {
                Err(ImageError::OtherMachine(String::from("a 32-bit little-endian machine")))
            }
            (elf::ELFCLASS64, elf::ELFDATA2MSB) => {
                Err(ImageError::OtherMachine(String::from("a 64-bit big-endian machine")))
            }
            _ => Err(ImageError::OtherMachine(String::from("no known class of machine"))),
        }
    }

    /// The lowest page and the end of the highest.
    pub fn span(&self) -> (u64, u64) {
        let first = self.segments.iter().map(Segment::first_page).min().unwrap_or(0);
        let end = self.segments.iter().map(Segment::end_page).max().unwrap_or(0);
        (first, end)
    }
}

fn parse<H: FileHeader>(bytes: &[u8], order: H::Endian, machine: Machine) -> Result<Image, ImageError>
where
    H::Word: Into<u64>,
{
    // `object` checks the version too, which Linux does not: read the header without that.
    let header: &H = object::pod::from_bytes(bytes).map_err(|()| ImageError::Truncated("ELF header"))?.0;
    let expected = if machine == Machine::X86_64 { elf::EM_X86_64 } else { elf::EM_PPC };
    let found = header.e_machine(order);
    if found != expected {
        return Err(ImageError::OtherMachine(machine_name(found)));
    }
    let movable = match header.e_type(order) {
        elf::ET_EXEC => false,
        elf::ET_DYN => true,
        elf::ET_REL => return Err(ImageError::NotProgram("relocatable object")),
        elf::ET_CORE => return Err(ImageError::NotProgram("core dump")),
        _ => return Err(ImageError::NotProgram("unknown")),
    };
    let headers =
        header.program_headers(order, bytes).map_err(|_| ImageError::Truncated("program headers"))?;
    let table: u64 = header.e_phoff(order).into();
    let mut image = Image {
        machine,
        movable,
        entry: header.e_entry(order).into(),
        segments: Vec::new(),
        interpreter: None,
        headers: None,
        header_count: headers.len() as u64,
        header_size: u64::from(header.e_phentsize(order)),
        executable_stack: false,
    };
    for (index, entry) in headers.iter().enumerate() {
        match entry.p_type(order) {
            elf::PT_LOAD => {
                if let Some(segment) = segment::<H>(bytes, order, machine, index, entry)? {
                    if segment.offset <= table && table < segment.offset + segment.file_size {
                        image.headers = image.headers.or(Some(table - segment.offset + segment.address));
                    }
                    image.segments.push(segment);
                }
            }
            elf::PT_INTERP if image.interpreter.is_none() => {
                image.interpreter = Some(interpreter::<H>(bytes, order, entry)?);
            }
            elf::PT_GNU_STACK => image.executable_stack = entry.p_flags(order) & elf::PF_X != 0,
            _ => {}
        }
    }
    if image.segments.is_empty() {
        return Err(ImageError::NothingToLoad);
    }
    image.segments.sort_by_key(|segment| segment.address);
    Ok(image)
}

fn segment<H: FileHeader>(
    bytes: &[u8],
    order: H::Endian,
    machine: Machine,
    index: usize,
    entry: &H::ProgramHeader,
) -> Result<Option<Segment>, ImageError>
where
    H::Word: Into<u64>,
{
    let address: u64 = entry.p_vaddr(order).into();
    let bad = |problem| ImageError::BadSegment { index, address, problem };
    let (offset, file_size): (u64, u64) = (entry.p_offset(order).into(), entry.p_filesz(order).into());
    let memory_size: u64 = entry.p_memsz(order).into();
    if memory_size == 0 {
        return Ok(None);
    }
    if file_size > memory_size {
        return Err(bad("it takes more bytes from the file than it has in memory"));
    }
    // Linux maps whole pages, and what is missing of the last one reads as zero.
    let end = (bytes.len() as u64).next_multiple_of(PAGE);
    if offset.checked_add(file_size).is_none_or(|last| last > end) {
        return Err(bad("its bytes lie beyond the end of the file"));
    }
    if address.checked_add(memory_size).is_none_or(|end| end > machine.abi().address_end) {
        return Err(bad("it does not fit into the address space"));
    }
    if address % PAGE != offset % PAGE {
        return Err(bad("its place in the file and in memory differ within a page"));
    }
    let flags = entry.p_flags(order);
    let permissions = Permissions {
        read: flags & elf::PF_R != 0,
        write: flags & elf::PF_W != 0,
        execute: flags & elf::PF_X != 0,
    };
    Ok(Some(Segment { address, memory_size, offset, file_size, permissions }))
}

fn interpreter<H: FileHeader>(
    bytes: &[u8],
    order: H::Endian,
    entry: &H::ProgramHeader,
) -> Result<Vec<u8>, ImageError> {
    let data = entry.data(order, bytes).map_err(|()| ImageError::Truncated("interpreter's name"))?;
    match data.split_last() {
        Some((0, path)) if !path.is_empty() && path.len() <= 4096 && !path.contains(&0) => Ok(path.to_vec()),
        _ => Err(ImageError::BadInterpreter),
    }
}

fn machine_name(number: u16) -> String {
    let known = match number {
        elf::EM_386 => "32-bit x86",
        elf::EM_X86_64 => "x86-64 with 32-bit addresses",
        elf::EM_PPC64 => "64-bit PowerPC",
        elf::EM_ARM => "ARM",
        elf::EM_AARCH64 => "AArch64",
        elf::EM_RISCV => "RISC-V",
        elf::EM_MIPS => "MIPS",
        elf::EM_SPARC | elf::EM_SPARCV9 => "SPARC",
        elf::EM_S390 => "S/390",
        _ => return format!("machine number {number}"),
    };
    String::from(known)
}

#[cfg(test)]
mod tests;
