//! Putting a program, and the dynamic linker it asks for, into memory.

use super::{Image, ImageError, Machine, Segment};
use crate::memory::{Backing, HostMap, Memory, PAGE, Permissions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Larger files are not read: nothing that large is a program someone runs.
const LARGEST_FILE: u64 = 1 << 31;

/// Why a program could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The file is not a program that can be run.
    #[error("cannot run {}: {error}", path.display())]
    Image {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        error: ImageError,
    },
    /// The interpreter is for another machine, or asks for an interpreter in turn.
    #[error("cannot run {}: its interpreter {} does not fit it", path.display(), interpreter.display())]
    Interpreter {
        /// The program.
        path: PathBuf,
        /// What it asks for.
        interpreter: PathBuf,
    },
    /// There is no room.
    #[error("cannot run {}: no room for {size:#x} bytes in the address space", path.display())]
    NoRoom {
        /// The program.
        path: PathBuf,
        /// How much it needs.
        size: u64,
    },
}

/// A program in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loaded {
    /// The machine it is for.
    pub machine: Machine,
    /// Where execution starts: in the dynamic linker, if there is one.
    pub start: u64,
    /// The program's own entry point.
    pub entry: u64,
    /// Where the dynamic linker was put.
    pub interpreter_base: u64,
    /// Where the program headers are.
    pub headers: u64,
    /// How many.
    pub header_count: u64,
    /// Bytes of each.
    pub header_size: u64,
    /// Where the heap may start.
    pub program_break: u64,
    /// Whether the stack must be executable.
    pub executable_stack: bool,
}

/// Where things go when the program leaves the choice: always the same places, so that runs can be repeated.
struct Places {
    program: u64,
    interpreter: u64,
}

fn places(machine: Machine) -> Places {
    match machine {
        Machine::X86_64 => Places { program: 0x5555_5555_4000, interpreter: 0x7fff_f7fc_0000 },
        Machine::PowerPc => Places { program: 0x0040_0000, interpreter: 0xb7f0_0000 },
    }
}

/// Loads the program at `path`, and its interpreter, into an empty memory of its machine.
pub fn load(path: &Path, byte_bound: u64) -> Result<(Memory, Loaded), LoadError> {
    let (image, map) = open(path)?;
    let mut memory = Memory::new(image.machine.address_end(), byte_bound);
    let places = places(image.machine);
    let base = place(&mut memory, &image, &map, places.program, path)?;
    let (_, end) = image.span();
    let mut loaded = Loaded {
        machine: image.machine,
        start: image.entry.wrapping_add(base),
        entry: image.entry.wrapping_add(base),
        interpreter_base: 0,
        headers: image.headers.map_or(0, |at| at.wrapping_add(base)),
        header_count: image.header_count,
        header_size: image.header_size,
        program_break: end.wrapping_add(base),
        executable_stack: image.executable_stack,
    };
    if let Some(name) = &image.interpreter {
        let interpreter = PathBuf::from(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(name));
        let (second, map) = open(&interpreter)?;
        if second.machine != image.machine || second.interpreter.is_some() {
            return Err(LoadError::Interpreter { path: path.to_owned(), interpreter });
        }
        let base = place(&mut memory, &second, &map, places.interpreter, &interpreter)?;
        loaded.start = second.entry.wrapping_add(base);
        loaded.interpreter_base = base;
    }
    Ok((memory, loaded))
}

fn open(path: &Path) -> Result<(Image, Arc<HostMap>), LoadError> {
    let unreadable = |error| LoadError::Unreadable { path: path.to_owned(), error };
    // A pipe without a writer must not keep us waiting.
    let file = std::fs::OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(path)
        .map_err(unreadable)?;
    let status = file.metadata().map_err(unreadable)?;
    if !status.is_file() {
        return Err(unreadable(io::Error::from_raw_os_error(libc::EACCES)));
    }
    if status.len() > LARGEST_FILE {
        return Err(unreadable(io::Error::from_raw_os_error(libc::EFBIG)));
    }
    let mut bytes = Vec::new();
    io::Read::read_to_end(&mut io::Read::take(&file, LARGEST_FILE), &mut bytes).map_err(unreadable)?;
    let image = Image::parse(&bytes).map_err(|error| LoadError::Image { path: path.to_owned(), error })?;
    let name = path.display().to_string();
    let map = HostMap::file(file.as_raw_fd(), false, false, name).map_err(unreadable)?;
    Ok((image, Arc::new(map)))
}

/// Maps the segments; how far from their own addresses they ended up.
fn place(
    memory: &mut Memory,
    image: &Image,
    map: &Arc<HostMap>,
    wish: u64,
    path: &Path,
) -> Result<u64, LoadError> {
    let (first, end) = image.span();
    let size = end - first;
    let no_room = || LoadError::NoRoom { path: path.to_owned(), size };
    let start = if !image.movable {
        first
    } else if memory.is_range(wish, size) && memory.is_free(wish, size) {
        wish
    } else {
        memory.find_free(size, PAGE, memory.end()).ok_or_else(no_room)?
    };
    if !memory.is_range(start, size) || !memory.is_free(start, size) {
        return Err(no_room());
    }
    let base = start.wrapping_sub(first);
    for segment in &image.segments {
        map_segment(memory, segment, map, base).ok_or_else(no_room)?;
    }
    Ok(base)
}

fn map_segment(memory: &mut Memory, segment: &Segment, map: &Arc<HostMap>, base: u64) -> Option<()> {
    let start = segment.first_page().wrapping_add(base);
    let lead = segment.address % PAGE;
    let file_end = lead + segment.file_size;
    let file_pages = if segment.file_size == 0 { 0 } else { file_end.next_multiple_of(PAGE) };
    let all_pages = segment.end_page() - segment.first_page();
    let backing = Backing::Copied { map: map.clone(), offset: segment.offset - lead };
    memory.map(start, file_pages, segment.permissions, backing);
    memory.map(start + file_pages, all_pages - file_pages, segment.permissions, Backing::Zero);
    if segment.permissions.write && file_pages > file_end {
        // What follows the file's bytes in the last page is part of another section of the file: clear it.
        memory.poke(start + file_end, &vec![0; (file_pages - file_end) as usize]).ok()?;
    }
    Some(())
}

/// Permissions of the stack.
pub(crate) fn stack_permissions(executable: bool) -> Permissions {
    Permissions { execute: executable, ..Permissions::DATA }
}
