//! The frame that 32-bit PowerPC Linux puts on the stack for a signal handler, and takes from it afterwards.
//!
//! From low to high: a stack frame of 80 bytes whose first word is the old stack pointer, `siginfo`, and `ucontext` (flags,
//! link, stack, a pointer to the registers, mask, then the registers themselves). Handlers that did not ask for
//! `siginfo` get the same frame; what they may not look at does not matter.
//!
//! The kernel's return code lies in its vdso. Here it lies in a page of its own, see [`RETURN`].

use super::{Entry, Frames};
use crate::memory::{Backing, Fault, Memory, PAGE, Permissions};
use crate::outside::Information;
use crate::process::Process;

const STACK_FRAME: u64 = 64 + 16;
const INFORMATION: u64 = STACK_FRAME;
const CONTEXT: u64 = INFORMATION + 128;
const REGISTERS_POINTER: u64 = CONTEXT + 48;
const MASK: u64 = REGISTERS_POINTER + 4;
const REGISTERS: u64 = CONTEXT + 192;
const FLOATS: u64 = REGISTERS + 48 * 4;
const STATUS: u64 = FLOATS + 32 * 8;
const SIZE: u64 = STATUS + 8 + 8;

/// Where handlers return to: above everything that is placed without being asked for.
const RETURN: u64 = 0xb7ff_f000;

/// Maps the code that handlers return to: `li r0, rt_sigreturn; sc`.
fn map_return(memory: &mut Memory) -> Result<(), Fault> {
    let permissions = Permissions { read: true, write: false, execute: true };
    memory.map(RETURN, PAGE, permissions, Backing::Zero);
    memory.poke(RETURN, &[0x38, 0x00, 0x00, 0xac, 0x44, 0x00, 0x00, 0x02])
}

/// The condition register, put together from its fields.
fn condition(process: &Process) -> u32 {
    (0..8).fold(0, |word, field| word << 4 | (process.world.registers.get(&format!("CR{field}")) & 15) as u32)
}

const OVERFLOWS: [(&str, u32); 3] = [("XER_SO", 31), ("XER_OV", 30), ("XER_CA", 29)];

/// The frame of 32-bit PowerPC.
pub struct Frame;

impl Frames for Frame {
    fn prepare(&self, process: &mut Process) {
        // A reservation is never lost: there is nobody else to write.
        process.world.registers.set("RESERVE", 1);
        if process.world.memory.is_free(RETURN, PAGE) {
            // Without it a program still runs, and only dies when a handler returns.
            let _ = map_return(&mut process.world.memory);
        }
    }

    fn enter(&self, process: &mut Process, entry: &Entry) -> Result<(), Fault> {
        enter(process, entry)
    }

    fn leave(&self, process: &mut Process) -> Result<u64, Fault> {
        leave(process)
    }
}

fn enter(process: &mut Process, entry: &Entry) -> Result<(), Fault> {
    let Entry { signal, action, information, mask } = *entry;
    let old = process.world.registers.get("R1");
    let stack = process.signals.own.stack;
    let wanted = action.flags & libc::SA_ONSTACK as u64 != 0 && stack.size > 0;
    let alternate = wanted && !super::on_alternate_stack(process);
    let top = if alternate { stack.start.wrapping_add(stack.size) } else { old };
    let at = top.wrapping_sub(SIZE) & 0xffff_fff0;

    let registers = &process.world.registers;
    let mut general = [0u32; 48];
    for (number, word) in general.iter_mut().take(32).enumerate() {
        *word = registers.get(&format!("R{number}")) as u32;
    }
    let overflows = OVERFLOWS.map(|(name, position)| (registers.get(name) as u32 & 1) << position);
    const USER_MODE: u32 = 0xd032;
    general[32..39].copy_from_slice(&[
        process.pc() as u32,
        USER_MODE | registers.get("MSR") as u32,
        registers.get("R3") as u32,
        registers.get("CTR") as u32,
        registers.get("LR") as u32,
        overflows.iter().sum::<u32>() | registers.get("XER_COUNT") as u32,
        condition(process),
    ]);
    general[41] = process.signals.own.exception.address.unwrap_or(0) as u32;
    let mut bytes = vec![0u8; SIZE as usize];
    let mut put = |offset: u64, value: u32| {
        bytes[offset as usize..][..4].copy_from_slice(&value.to_be_bytes());
    };
    put(0, old as u32);
    for (index, word) in translated(information).iter().enumerate() {
        put(INFORMATION + 4 * index as u64, *word);
    }
    put(CONTEXT + 8, stack.start as u32);
    put(CONTEXT + 12, stack.flags as u32);
    put(CONTEXT + 16, stack.size as u32);
    put(REGISTERS_POINTER, (at + REGISTERS) as u32);
    put(MASK, mask as u32);
    put(MASK + 4, (mask >> 32) as u32);
    for (index, word) in general.iter().enumerate() {
        put(REGISTERS + 4 * index as u64, *word);
    }
    for number in 0..32 {
        let float = registers.get(&format!("F{number}"));
        bytes[FLOATS as usize + 8 * number..][..8].copy_from_slice(&float.to_be_bytes());
    }
    bytes[STATUS as usize..][..8].copy_from_slice(&registers.get("FPSCR").to_be_bytes());
    process.world.memory.write(at, &bytes)?;
    let registers = &mut process.world.registers;
    // Handlers start with no exception enabled, rounding to nearest.
    registers.set("FPSCR", 0);
    registers.set("R1", at);
    registers.set("R3", signal as u64);
    registers.set("R4", at + INFORMATION);
    registers.set("R5", at + CONTEXT);
    registers.set("R6", at + INFORMATION);
    registers.set("LR", RETURN);
    process.set_pc(action.handler);
    Ok(())
}

/// `siginfo` has its union at byte 12 on 32-bit machines, at byte 16 on the host.
fn translated(information: &Information) -> [u32; 32] {
    let word = |at: usize| u32::from_le_bytes(information[at..at + 4].try_into().expect("four bytes"));
    let mut words = [0; 32];
    words[..3].copy_from_slice(&[word(0), word(4), word(8)]);
    // A fault has an address there; others have a process, a user, and a value or status.
    words[3..7].copy_from_slice(&[word(16), word(20), word(24), word(28)]);
    words
}

/// Restores what the frame holds; the mask to go back to.
fn leave(process: &mut Process) -> Result<u64, Fault> {
    let at = process.world.registers.get("R1");
    let mut bytes = vec![0u8; SIZE as usize];
    process.world.memory.read(at, &mut bytes)?;
    let word =
        |offset: u64| u32::from_be_bytes(bytes[offset as usize..][..4].try_into().expect("four bytes"));
    let general: Vec<u32> = (0..48).map(|index| word(REGISTERS + 4 * index)).collect();
    let registers = &mut process.world.registers;
    for number in 0..32 {
        registers.set(&format!("R{number}"), general[number].into());
        let float = &bytes[FLOATS as usize + 8 * number..][..8];
        registers.set(&format!("F{number}"), u64::from_be_bytes(float.try_into().expect("eight bytes")));
    }
    registers.set("FPSCR", word(STATUS + 4).into());
    registers.set("XER_COUNT", (general[37] & 127).into());
    registers.set("CTR", general[35].into());
    registers.set("LR", general[36].into());
    for (name, position) in OVERFLOWS {
        registers.set(name, (general[37] >> position & 1).into());
    }
    for field in 0..8 {
        registers.set(&format!("CR{field}"), (general[38] >> (28 - 4 * field) & 15).into());
    }
    process.set_pc(general[32].into());
    Ok(u64::from(word(MASK)) | u64::from(word(MASK + 4)) << 32)
}
