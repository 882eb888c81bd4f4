//! The first stack of a process: arguments, environment and auxiliary vector, as the System V ABIs lay them out.

use super::Loaded;
use super::load::stack_permissions;
use crate::memory::{Backing, Fault, Memory, PAGE};

/// What a program is started with.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Vectors {
    /// Its arguments, the first of which names it.
    pub arguments: Vec<Vec<u8>>,
    /// Its environment, `NAME=value` each.
    pub environment: Vec<Vec<u8>>,
    /// The path of the file it was loaded from.
    pub path: Vec<u8>,
    /// Sixteen bytes for its stack protector.
    pub random: [u8; 16],
    /// Real and effective user and group: `uid`, `euid`, `gid`, `egid`.
    pub identity: [u64; 4],
}

/// The stack is this large; it costs nothing until it is touched.
pub const STACK_SIZE: u64 = 8 << 20;

/// It is never smaller, whatever the limit says: what a program is started with must fit.
const SMALLEST: u64 = 128 << 10;

/// Bytes between the strings of the program and those of the system.
const GAP: usize = 64;

/// A stack that a program can start with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stack {
    /// The stack pointer.
    pub pointer: u64,
    /// The auxiliary vector that lies there.
    pub auxiliary: Vec<u8>,
}

/// Maps a stack and fills it; none if the strings do not fit.
pub fn build(memory: &mut Memory, loaded: &Loaded, vectors: &Vectors) -> Result<Option<Stack>, Fault> {
    let machine = loaded.machine;
    let usual = machine.abi().address_end - PAGE;
    // It grows to its limit, down from the size that most programs are content with.
    let size = STACK_SIZE.min(memory.stack_limit() & !(PAGE - 1)).max(SMALLEST);
    // A program may want its own segments up there.
    let top = if memory.is_free(usual - STACK_SIZE, STACK_SIZE) {
        usual
    } else {
        match memory.find_free(STACK_SIZE, PAGE, usual) {
            Some(start) => start + STACK_SIZE,
            None => return Ok(None),
        }
    };
    memory.map(top - size, size, stack_permissions(loaded.executable_stack), Backing::Zero);
    memory.advise(top - size, top, |advice| advice.grows_down = true);
    let strings: usize =
        vectors.arguments.iter().chain(&vectors.environment).map(|text| text.len() + 1 + 8).sum();
    if strings as u64 > (memory.stack_limit() / 4).clamp(SMALLEST, 3 * STACK_SIZE / 4) {
        return Ok(None);
    }
    let mut at = top - 8;
    let mut push = |bytes: &[u8]| {
        at -= bytes.len() as u64;
        memory.write(at, bytes).map(|()| at)
    };
    let terminated = |text: &[u8]| [text, &[0]].concat();
    let path = push(&terminated(&vectors.path))?;
    // As Linux lays them out, each behind the one before: some programs join their arguments to one text, and look whether they can.
    let mut place = |texts: &[Vec<u8>]| -> Result<Vec<u64>, Fault> {
        let mut places: Vec<u64> =
            texts.iter().rev().map(|text| push(&terminated(text))).collect::<Result<_, _>>()?;
        places.reverse();
        Ok(places)
    };
    let environment = place(&vectors.environment)?;
    let arguments = place(&vectors.arguments)?;
    // Linux leaves a gap of random size here. The loader measures the platform's name sixteen bytes at a time.
    push(&[0; GAP])?;
    let platform = push(&terminated(machine.abi().platform.as_bytes()))?;
    let random = push(&vectors.random)?;

    let mut words = vec![arguments.len() as u64];
    words.extend(arguments);
    words.push(0);
    words.extend(environment);
    words.push(0);
    let [uid, euid, gid, egid] = vectors.identity;
    let auxiliary = [
        (libc::AT_PHDR, loaded.headers),
        (libc::AT_PHENT, loaded.header_size),
        (libc::AT_PHNUM, loaded.header_count),
        (libc::AT_PAGESZ, PAGE),
        (libc::AT_BASE, loaded.interpreter_base),
        (libc::AT_FLAGS, 0),
        (libc::AT_ENTRY, loaded.entry),
        (libc::AT_UID, uid),
        (libc::AT_EUID, euid),
        (libc::AT_GID, gid),
        (libc::AT_EGID, egid),
        (libc::AT_SECURE, 0),
        (libc::AT_CLKTCK, 100),
        (libc::AT_HWCAP, machine.abi().hardware_capabilities),
        (libc::AT_RANDOM, random),
        (libc::AT_PLATFORM, platform),
        (libc::AT_EXECFN, path),
        (libc::AT_NULL, 0),
    ];
    let auxiliary: Vec<u64> = auxiliary.iter().flat_map(|(key, value)| [*key, *value]).collect();
    words.extend(&auxiliary);

    let size = (words.len() * machine.abi().word) as u64;
    let pointer = (random - size) & !15;
    let bytes = |words: &[u64]| words.iter().flat_map(|word| machine.abi().word_bytes(*word)).collect();
    let block: Vec<u8> = bytes(&words);
    memory.write(pointer, &block)?;
    Ok(Some(Stack { pointer, auxiliary: bytes(&auxiliary) }))
}
