//! Where a thread keeps the variables of its own: what the C library's books say.
//!
//! Modules with such variables are numbered in the order in which they were loaded, which is that of the list of link maps;
//! each thread has a table of blocks by that number.

use parallax_travel::State;

/// In a link map: where the dynamic section lies, and the link map before it.
const DYNAMIC: u64 = 16;

const PREVIOUS: u64 = 32;
/// In a thread's control block: its table.
const TABLE: u64 = 8;
/// Bytes of an entry of the table.
const ENTRY: u64 = 16;
/// A list that is longer is damaged.
const MOST: usize = 4096;

/// The block of a thread's variables of a module, which is told by its link map; a program without one is the only module.
pub(crate) fn variable_block(state: &State, thread: u32, link_map: u64) -> Option<u64> {
    let number = if link_map == 0 { 1 } else { module_number(state, link_map)? };
    let base = state.register_of(thread, "FS_OFFSET")?;
    let base = u64::from_le_bytes(base.try_into().ok()?);
    let block = word(state, word(state, base.wrapping_add(TABLE))?.wrapping_add(number * ENTRY))?;
    // The block of a module that was loaded late is made at the first access.
    (block != u64::MAX).then_some(block)
}

fn module_number(state: &State, link_map: u64) -> Option<u64> {
    if !has_locals(state, link_map) {
        return None;
    }
    let mut number = 1;
    let mut at = link_map;
    for _ in 0..MOST {
        at = word(state, at.wrapping_add(PREVIOUS))?;
        if at == 0 {
            return Some(number);
        }
        number += u64::from(has_locals(state, at));
    }
    None
}

/// Whether a module has variables that each thread has of its own.
fn has_locals(state: &State, link_map: u64) -> bool {
    const SEGMENT: u32 = 7;
    let headers = || {
        let dynamic = word(state, link_map.wrapping_add(DYNAMIC))?;
        let mapped = state.mapped();
        let file = mapped.iter().find(|mapped| mapped.range.contains(&dynamic))?.file.as_ref()?;
        let first = mapped.iter().find(|mapped| mapped.file.as_ref() == Some(file) && mapped.offset == 0)?;
        let start = first.range.start;
        let table = start.wrapping_add(word(state, start + 0x20)?);
        let sizes = word(state, start + 0x36)?;
        Some((table, sizes & 0xffff, sizes >> 16 & 0xffff))
    };
    let Some((table, size, count)) = headers() else { return false };
    (0..count)
        .any(|index| word(state, table.wrapping_add(index * size)).is_some_and(|word| word as u32 == SEGMENT))
}

fn word(state: &State, address: u64) -> Option<u64> {
    let mut bytes = [0; 8];
    state.read(address, &mut bytes).ok().map(|()| u64::from_le_bytes(bytes))
}
