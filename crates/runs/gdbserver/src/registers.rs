//! The registers of x86-64 as GDB wants them: its order, and a description that includes the bases of segments, without
//! which GDB finds no thread-local storage.

use gdbstub::arch::{Arch, Registers};
use parallax_process::outside::Tid;
use parallax_travel::State;

/// x86-64 under Linux.
pub(crate) enum X86_64 {}

/// All registers, in GDB's order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct All {
    bytes: Vec<u8>,
    pc: u64,
}

const GENERAL: [&str; 17] = [
    "RAX", "RBX", "RCX", "RDX", "RSI", "RDI", "RBP", "RSP", "R8", "R9", "R10", "R11", "R12", "R13", "R14",
    "R15", "RIP",
];

/// Flags, and their bits in `EFLAGS`.
const FLAGS: [(&str, u32); 7] =
    [("CF", 0), ("PF", 2), ("AF", 4), ("ZF", 6), ("SF", 7), ("DF", 10), ("OF", 11)];

/// The condition codes of the x87 and their bits in its status word.
const CODES: [(&str, u32); 4] = [("C0", 8), ("C1", 9), ("C2", 10), ("C3", 14)];

impl All {
    /// Those of a thread; none if there is no such thread.
    pub fn of(state: &State, thread: Tid) -> Option<All> {
        let pc = state.pc_of(thread)?;
        let number = |name: &str| {
            let mut number = [0; 8];
            let bytes = state.register_of(thread, name).unwrap_or_default();
            let count = bytes.len().min(8);
            number[..count].copy_from_slice(&bytes[..count]);
            u64::from_le_bytes(number)
        };
        let mut bytes = Vec::new();
        GENERAL.iter().for_each(|name| bytes.extend(number(name).to_le_bytes()));
        let flags = FLAGS.iter().fold(0x202, |word, (name, bit)| word | (number(name) & 1) << bit);
        let mut word = |value: u64| bytes.extend((value as u32).to_le_bytes());
        word(flags);
        const SEGMENTS: [u64; 6] = [0x33, 0x2b, 0, 0, 0, 0];
        SEGMENTS.into_iter().for_each(&mut word);
        let wide = |bytes: &mut Vec<u8>, name: String, size: usize| {
            let found = state.register_of(thread, &name).unwrap_or_default();
            bytes.extend(found.iter().copied().chain(std::iter::repeat(0)).take(size));
        };
        (0..8).for_each(|index| wide(&mut bytes, format!("ST{index}"), 10));
        let status =
            CODES.iter().fold(number("FPUSTATUSWORD"), |word, (name, bit)| word | (number(name) & 1) << bit);
        let float = [number("FPUCONTROLWORD"), status, number("FPUTAGWORD"), 0, 0, 0, 0, 0];
        float.into_iter().for_each(|value| bytes.extend((value as u32).to_le_bytes()));
        (0..16).for_each(|index| wide(&mut bytes, format!("XMM{index}"), 16));
        bytes.extend((number("MXCSR") as u32).to_le_bytes());
        // No call is under way between steps.
        bytes.extend(u64::MAX.to_le_bytes());
        bytes.extend(number("FS_OFFSET").to_le_bytes());
        bytes.extend(number("GS_OFFSET").to_le_bytes());
        Some(All { bytes, pc })
    }
}

impl Registers for All {
    type ProgramCounter = u64;

    fn pc(&self) -> u64 {
        self.pc
    }

    fn gdb_serialize(&self, mut write_byte: impl FnMut(Option<u8>)) {
        self.bytes.iter().for_each(|byte| write_byte(Some(*byte)));
    }

    fn gdb_deserialize(&mut self, bytes: &[u8]) -> Result<(), ()> {
        self.bytes = bytes.to_vec();
        Ok(())
    }
}

impl Arch for X86_64 {
    type Usize = u64;
    type Registers = All;
    type BreakpointKind = usize;
    type RegId = ();

    fn target_description_xml() -> Option<&'static str> {
        Some(include_str!("x86_64.xml"))
    }
}
