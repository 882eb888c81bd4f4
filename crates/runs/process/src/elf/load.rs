//! Putting a program, and the dynamic linker it asks for, into memory.

use super::{Image, ImageError, Machine, Segment};
use crate::memory::{Backing, Mapping, Memory, PAGE, Permissions};
use crate::outside::{Exec, Opened};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Why a program could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// The error of the system.
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
    /// The number of program headers.
    pub header_count: u64,
    /// Bytes of each.
    pub header_size: u64,
    /// Where the heap may start.
    pub program_break: u64,
    /// Whether the stack must be executable.
    pub executable_stack: bool,
}

/// Puts an opened program, and its interpreter, into an empty memory of its machine.
pub fn load(exec: &Exec, byte_bound: u64, stack_limit: u64) -> Result<(Memory, Loaded), LoadError> {
    let path = &exec.program.path;
    let image = parse(&exec.program)?;
    let abi = image.machine.abi();
    let mut memory = Memory::new(abi.address_end, byte_bound);
    memory.set_stack_limit(stack_limit);
    let base = place(&mut memory, &image, &exec.program.map, abi.program, path)?;
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
    if let Some(opened) = &exec.interpreter {
        let interpreter = &opened.path;
        let second = parse(opened)?;
        if second.machine != image.machine || second.interpreter.is_some() {
            return Err(LoadError::Interpreter { path: path.clone(), interpreter: interpreter.clone() });
        }
        let base = place(&mut memory, &second, &opened.map, abi.interpreter, interpreter)?;
        loaded.start = second.entry.wrapping_add(base);
        loaded.interpreter_base = base;
    }
    Ok((memory, loaded))
}

fn parse(opened: &Opened) -> Result<Image, LoadError> {
    Image::parse(&opened.bytes).map_err(|error| LoadError::Image { path: opened.path.clone(), error })
}

/// Maps the segments; how far from their own addresses they ended up.
fn place(
    memory: &mut Memory,
    image: &Image,
    map: &Arc<dyn Mapping>,
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

fn map_segment(memory: &mut Memory, segment: &Segment, map: &Arc<dyn Mapping>, base: u64) -> Option<()> {
    let start = segment.first_page().wrapping_add(base);
    let lead = segment.address % PAGE;
    let file_end = lead + segment.file_size;
    let file_pages = if segment.file_size == 0 { 0 } else { file_end.next_multiple_of(PAGE) };
    let all_pages = segment.end_page() - segment.first_page();
    let backing = Backing::Copied { map: map.clone(), offset: segment.offset - lead, generation: 0 };
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
