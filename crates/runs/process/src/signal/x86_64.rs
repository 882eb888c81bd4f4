//! The frame that x86-64 Linux puts on the stack for a signal handler, and takes from it afterwards.
//!
//! From low to high: return address, `ucontext` (flags, link, stack, registers, mask), `siginfo`, then the
//! floating-point state in the format of `fxsave`, to which the `ucontext` points.

use super::{Entry, Frames};
use crate::memory::Fault;
use crate::process::Process;

const CONTEXT: u64 = 8;
const STACK: u64 = CONTEXT + 16;
const REGISTERS: u64 = CONTEXT + 40;
const FLOAT_POINTER: u64 = REGISTERS + 23 * 8;
const MASK: u64 = REGISTERS + 256;
const INFORMATION: u64 = MASK + 8;
const SIZE: u64 = INFORMATION + 128;
const FLOAT: u64 = 512;
const RED_ZONE: u64 = 128;

/// The general registers in the order of `gregs`, before the flags.
const GENERAL: [&str; 17] = [
    "R8", "R9", "R10", "R11", "R12", "R13", "R14", "R15", "RDI", "RSI", "RBP", "RBX", "RDX", "RAX", "RCX",
    "RSP", "RIP",
];

/// What every user program finds in registers of the system: interrupts are enabled, and segments are those of 64-bit code.
const SYSTEM: [(&str, u64); 3] = [("IF", 1), ("CS", 0x33), ("SS", 0x2b)];

/// The flags and their bits in `EFLAGS`.
const FLAGS: [(&str, u32); 7] =
    [("CF", 0), ("PF", 2), ("AF", 4), ("ZF", 6), ("SF", 7), ("DF", 10), ("OF", 11)];

/// Where a handler's frame keeps what was interrupted, for those who follow values through it.
pub struct HandlerFrame {
    /// Registers of eight bytes, with their distance from the stack pointer that the handler starts with.
    pub general: Vec<(&'static str, u64)>,
    /// The distance of the word with the flags.
    pub flags: u64,
    /// The flags and their bits in that word.
    pub flag_bits: &'static [(&'static str, u32)],
    /// The distance of the word with the address of the floating-point state.
    pub float_pointer: u64,
    /// Registers of that state, with their distances from its start and their sizes.
    pub float: Vec<(String, u64, u64)>,
    /// Registers that the handler is given.
    pub given: &'static [&'static str],
}

/// The layout of the frames built here.
pub(crate) fn layout() -> HandlerFrame {
    let general = GENERAL.iter().filter(|name| **name != "RIP");
    let float = (0..8)
        .map(|index| (format!("ST{index}"), 32 + 16 * index, 10))
        .chain((0..16).map(|index| (format!("XMM{index}"), 160 + 16 * index, 16)))
        .collect();
    HandlerFrame {
        general: general.enumerate().map(|(index, name)| (*name, REGISTERS + 8 * index as u64)).collect(),
        flags: REGISTERS + 8 * GENERAL.len() as u64,
        flag_bits: &FLAGS,
        float_pointer: FLOAT_POINTER,
        float,
        given: &["RDI", "RSI", "RDX", "RAX", "RSP", "DF", "MXCSR", "FPUCONTROLWORD"],
    }
}

/// The frame of x86-64.
pub struct Frame;

impl Frames for Frame {
    fn prepare(&self, process: &mut Process) {
        for (name, value) in SYSTEM {
            process.world.registers.set(name, value);
        }
        reset_float(process);
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
    let stack = process.signals.own.stack;
    let alternate =
        action.flags & libc::SA_ONSTACK as u64 != 0 && stack.size > 0 && !super::on_alternate_stack(process);
    let top = if alternate {
        stack.start.wrapping_add(stack.size)
    } else {
        process.world.registers.get("RSP").wrapping_sub(RED_ZONE)
    };
    let float = top.wrapping_sub(FLOAT) & !63;
    // The handler starts as if called: the stack pointer is 8 past a multiple of 16.
    let at = (float.wrapping_sub(SIZE) & !15).wrapping_sub(8);

    let registers = &process.world.registers;
    let mut words = vec![action.restorer, 0, 0, stack.start, stack.flags, stack.size];
    words.extend(GENERAL.map(|name| registers.get(name)));
    words.push(flags(process));
    const USER_SEGMENTS: u64 = 0x002b_0000_0000_0033;
    let exception = process.signals.own.exception;
    words.extend([USER_SEGMENTS, exception.code, exception.number, mask, exception.address.unwrap_or(0)]);
    words.push(float);
    words.extend([0; 8]);
    words.push(mask);
    let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes.extend(*information);
    debug_assert_eq!(bytes.len() as u64, SIZE);
    let float_bytes = save_float(process);
    process.world.memory.write(float, &float_bytes)?;
    process.world.memory.write(at, &bytes)?;

    if stack.flags & super::SS_AUTODISARM != 0 {
        process.signals.own.stack = super::AlternateStack::NONE;
    }
    process.world.registers.set("RDI", signal as u64);
    process.world.registers.set("RSI", at + INFORMATION);
    process.world.registers.set("RDX", at + CONTEXT);
    process.world.registers.set("RAX", 0);
    process.world.registers.set("RSP", at);
    process.world.registers.set("DF", 0);
    reset_float(process);
    process.set_pc(action.handler);
    Ok(())
}

/// Restores what the frame holds; the mask to go back to.
fn leave(process: &mut Process) -> Result<u64, Fault> {
    let at = process.world.registers.get("RSP").wrapping_sub(8);
    let word = |process: &mut Process, offset: u64| {
        process.world.memory.load::<8>(at.wrapping_add(offset)).map(u64::from_le_bytes)
    };
    let mut general = [0; GENERAL.len()];
    for (index, value) in general.iter_mut().enumerate() {
        *value = word(process, REGISTERS + 8 * index as u64)?;
    }
    let flags = word(process, REGISTERS + 8 * GENERAL.len() as u64)?;
    let mask = word(process, MASK)?;
    let stack = super::AlternateStack {
        start: word(process, STACK)?,
        flags: word(process, STACK + 8)? & 0xffff_ffff,
        size: word(process, STACK + 16)?,
    };
    let float = word(process, FLOAT_POINTER)?;
    if float != 0 {
        let mut bytes = [0; FLOAT as usize];
        process.world.memory.read(float, &mut bytes)?;
        restore_float(process, &bytes);
    }
    for (name, value) in GENERAL.iter().zip(general) {
        process.world.registers.set(name, value);
    }
    process.set_pc(general[GENERAL.len() - 1]);
    // What the frame says of the alternate stack holds again, where it makes sense and the stack is not in use.
    let mode = stack.flags & !super::SS_AUTODISARM;
    let makes_sense = mode <= libc::SS_DISABLE as u64
        && (mode == libc::SS_DISABLE as u64 || stack.size >= libc::MINSIGSTKSZ as u64);
    if makes_sense && !super::on_alternate_stack(process) {
        let disabled = mode == libc::SS_DISABLE as u64;
        process.signals.own.stack = if disabled {
            super::AlternateStack { flags: stack.flags, ..super::AlternateStack::NONE }
        } else {
            stack
        };
    }
    for (name, position) in FLAGS {
        process.world.registers.set(name, flags >> position & 1);
    }
    Ok(mask)
}

/// `EFLAGS`, with the bits that are always set in a user program.
fn flags(process: &Process) -> u64 {
    FLAGS
        .iter()
        .fold(0x202, |word, (name, position)| word | (process.world.registers.get(name) & 1) << position)
}

/// A handler starts with float units as a program does.
fn reset_float(process: &mut Process) {
    let registers = &mut process.world.registers;
    for (name, value) in &registers.processor().clone().initial {
        registers.set(name, *value);
    }
}

/// The condition codes and their bits in the x87 status word.
const CODES: [(&str, u32); 4] = [("C0", 8), ("C1", 9), ("C2", 10), ("C3", 14)];

fn save_float(process: &Process) -> [u8; FLOAT as usize] {
    let mut bytes = [0; FLOAT as usize];
    let registers = &process.world.registers;
    let status = CODES
        .iter()
        .fold(registers.get("FPUSTATUSWORD"), |word, (name, bit)| word | (registers.get(name) & 1) << bit);
    bytes[0..2].copy_from_slice(&registers.get("FPUCONTROLWORD").to_le_bytes()[..2]);
    bytes[2..4].copy_from_slice(&status.to_le_bytes()[..2]);
    // Tags are kept from the top on, two bits each, set if empty; here by number, one bit each, clear if empty.
    let tags = registers.get("FPUTAGWORD");
    let full = (0..8).fold(0u8, |all, index| all | u8::from(tags >> (2 * index) & 1 == 0) << index);
    bytes[4] = full.rotate_left((status >> 11 & 7) as u32);
    bytes[24..28].copy_from_slice(&registers.get("MXCSR").to_le_bytes()[..4]);
    const MXCSR_MASK: u32 = 0xffff;
    bytes[28..32].copy_from_slice(&MXCSR_MASK.to_le_bytes());
    for index in 0..8 {
        bytes[32 + 16 * index..][..10].copy_from_slice(&registers.get_bytes(&format!("ST{index}"))[..10]);
    }
    for index in 0..16 {
        bytes[160 + 16 * index..][..16].copy_from_slice(&registers.get_bytes(&format!("XMM{index}"))[..16]);
    }
    bytes
}

fn restore_float(process: &mut Process, bytes: &[u8; FLOAT as usize]) {
    let registers = &mut process.world.registers;
    let word = |at: usize| u64::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]));
    let (control, status) = (word(0) & 0x1f3f | 0x40, word(2));
    for (name, bit) in CODES {
        registers.set(name, status >> bit & 1);
    }
    const SUMMARY: u64 = 0x8080;
    let summary = if status & !control & 0x3f != 0 { SUMMARY } else { 0 };
    registers.set("FPUCONTROLWORD", control);
    registers.set("FPUSTATUSWORD", status & 0x387f | summary);
    let empty = (!bytes[4]).rotate_right((status >> 11 & 7) as u32);
    let tags = (0..8).fold(0, |all, index| all | (u64::from(empty >> index & 1) * 3) << (2 * index));
    registers.set("FPUTAGWORD", tags);
    registers.set("MXCSR", u64::from(u32::from_le_bytes([bytes[24], bytes[25], bytes[26], bytes[27]])));
    for index in 0..8 {
        registers.set_bytes(&format!("ST{index}"), &bytes[32 + 16 * index..][..10]);
    }
    for index in 0..16 {
        registers.set_bytes(&format!("XMM{index}"), &bytes[160 + 16 * index..][..16]);
    }
}
