//! The dynamic linker's list of modules, as it lies in the program's memory: by which name a program opened which file.
//!
//! GDB asks for libraries by these names. They may be links (`libstdc++.so.6`), and a recording knows files.

use parallax_travel::{Mapped, State};

/// In a record of the list: the name, the dynamic section, the next record.
const NAME: u64 = 8;
const DYNAMIC: u64 = 16;
const NEXT: u64 = 24;
/// A list that is longer is damaged.
const MOST: usize = 4096;
/// A name that is longer is none.
const LONGEST: usize = 4096;

/// The file that the module of a name was mapped from.
pub(crate) fn file_of<'s>(state: &'s State, name: &str) -> Option<&'s str> {
    let mut at = first(state)?;
    for _ in 0..MOST {
        if at == 0 {
            return None;
        }
        if holds(state, word(state, at.wrapping_add(NAME))?, name.as_bytes()) {
            let dynamic = word(state, at.wrapping_add(DYNAMIC))?;
            return state.mapped().iter().find(|mapped| mapped.range.contains(&dynamic))?.file.as_deref();
        }
        at = word(state, at.wrapping_add(NEXT))?;
    }
    None
}

/// The first record of the list, which the program's dynamic section leads to (DT_DEBUG).
fn first(state: &State) -> Option<u64> {
    const DYNAMIC_SEGMENT: u64 = 2;
    const DEBUG: u64 = 21;
    const FIRST: u64 = 8;
    let (start, headers) = program(state)?;
    let bias = headers.iter().find(|header| header.kind == 1)?;
    let bias = start.wrapping_sub(bias.address.wrapping_sub(bias.offset));
    let dynamic = headers.iter().find(|header| header.kind == DYNAMIC_SEGMENT)?;
    let table = bias.wrapping_add(dynamic.address);
    for index in 0..MOST as u64 {
        let entry = table.wrapping_add(16 * index);
        match word(state, entry)? {
            0 => return None,
            DEBUG => return word(state, word(state, entry + 8)?.wrapping_add(FIRST)),
            _ => {}
        }
    }
    None
}

/// A segment of a program.
struct Segment {
    kind: u64,
    offset: u64,
    address: u64,
}

/// Where the program's file starts in memory, and its segments. The program is the first file of the mappings: what it loads
/// lies above it, as does the dynamic linker.
fn program(state: &State) -> Option<(u64, Vec<Segment>)> {
    let is_start = |mapped: &&Mapped| mapped.file.is_some() && mapped.offset == 0;
    let start = state.mapped().iter().find(is_start)?.range.start;
    let table = start.wrapping_add(word(state, start + 0x20)?);
    let sizes = word(state, start + 0x36)?;
    let (size, count) = (sizes & 0xffff, sizes >> 16 & 0xffff);
    let segments = (0..count).map(|index| {
        let at = table.wrapping_add(index * size);
        Some(Segment {
            kind: word(state, at)? & 0xffff_ffff,
            offset: word(state, at.wrapping_add(8))?,
            address: word(state, at.wrapping_add(16))?,
        })
    });
    Some((start, segments.collect::<Option<_>>()?))
}

/// Whether a text that ends in a zero lies at an address.
fn holds(state: &State, address: u64, text: &[u8]) -> bool {
    let found = state.read_some(address, text.len() + 1);
    text.len() <= LONGEST && found.len() == text.len() + 1 && found.starts_with(text) && found.ends_with(&[0])
}

fn word(state: &State, address: u64) -> Option<u64> {
    let mut bytes = [0; 8];
    state.read(address, &mut bytes).ok().map(|()| u64::from_le_bytes(bytes))
}
