//! One description per architecture: how a Linux program of it is laid out, and how it talks to the kernel.

use crate::elf::Machine;
use crate::process::Process;
use crate::signal::x86_64::HandlerFrame;
use crate::signal::{Frames, powerpc, x86_64};
use crate::system::Errno;

/// What is true of every program of a machine.
pub struct Abi {
    /// As `--lang` names it.
    pub name: &'static str,
    /// As the kernel names it.
    pub platform: &'static str,
    /// One past the last address a program may use.
    pub address_end: u64,
    /// Bytes in an address.
    pub word: usize,
    /// Whether the highest byte of a number comes first.
    pub big_endian: bool,
    /// Registers that most instructions write and few read.
    pub flags: &'static [&'static str],
    /// What the kernel says the processor can do.
    pub hardware_capabilities: u64,
    /// Where a movable program goes: always the same place, so that runs can be repeated.
    pub program: u64,
    /// Where its dynamic linker goes.
    pub interpreter: u64,
    /// Mappings are placed from here downwards.
    pub mapping_top: u64,
    /// The register that shows the program counter, if one does.
    pub program_counter: Option<&'static str>,
    /// The register that points to the top of the stack.
    pub stack_pointer: &'static str,
    /// The register that points to a thread's own data.
    pub thread_pointer: &'static str,
    /// The register with the number of a system call.
    pub call_number: &'static str,
    /// The registers with its arguments.
    pub call_arguments: [&'static str; 6],
    /// Bytes of the instruction that makes a system call.
    pub call_length: u64,
    /// Whether making a call overwrites the register with its number.
    pub result_is_number: bool,
    /// The positions among the arguments of `clone` of the child's number and of the thread pointer.
    pub clone_arguments: (usize, usize),
    /// The column of the table of system calls.
    pub column: usize,
    /// The flag of `mmap` that no room need be kept.
    pub no_reserve: u64,
    /// Flags of `open` that have other numbers than the host's: the machine's, and the host's.
    pub open_flags: &'static [(u64, i32)],
    /// Commands of `fcntl` that have other numbers than the host's.
    pub lock_commands: &'static [(i32, i32)],
    /// Whether its programs may have threads.
    pub has_threads: bool,
    /// The frames of its signal handlers.
    pub frames: &'static dyn Frames,
    /// Sets the result of a system call.
    pub set_result: fn(&mut Process, Result<u64, Errno>),
}

/// x86 in 64-bit mode.
static X86_64: Abi = Abi {
    name: "x86-64",
    platform: "x86_64",
    address_end: 0x7fff_ffff_f000,
    word: 8,
    big_endian: false,
    flags: &["CF", "PF", "AF", "ZF", "SF", "OF"],
    // Programs ask the processor itself.
    hardware_capabilities: 0x0178_abfd,
    program: 0x5555_5555_4000,
    interpreter: 0x7fff_f7fc_0000,
    mapping_top: 0x7fff_f7ff_f000,
    program_counter: Some("RIP"),
    stack_pointer: "RSP",
    thread_pointer: "FS_OFFSET",
    call_number: "RAX",
    call_arguments: ["RDI", "RSI", "RDX", "R10", "R8", "R9"],
    call_length: 2,
    result_is_number: true,
    clone_arguments: (3, 4),
    column: 0,
    no_reserve: libc::MAP_NORESERVE as u64,
    open_flags: &[],
    lock_commands: &[],
    has_threads: true,
    frames: &x86_64::Frame,
    set_result: |process, answer| {
        let value = answer.unwrap_or_else(|Errno(number)| (-i64::from(number)) as u64);
        process.world.registers.set("RAX", value);
    },
};

/// PowerPC, 32 bits, big-endian.
static POWERPC: Abi = Abi {
    name: "powerpc",
    platform: "ppc",
    address_end: 0xc000_0000,
    word: 4,
    big_endian: true,
    flags: &["CR0", "CR1", "CR5", "CR6", "CR7", "XER_CA", "XER_OV", "XER_SO"],
    // A 32-bit processor with a floating-point unit and an MMU, and nothing else.
    hardware_capabilities: 0x8c00_0000,
    program: 0x0040_0000,
    interpreter: 0xb7f0_0000,
    mapping_top: 0xb7ff_f000,
    program_counter: None,
    stack_pointer: "r1",
    thread_pointer: "r2",
    call_number: "r0",
    call_arguments: ["r3", "r4", "r5", "r6", "r7", "r8"],
    call_length: 4,
    result_is_number: false,
    clone_arguments: (4, 3),
    column: 1,
    no_reserve: 0x40,
    open_flags: &[
        (0o40000, libc::O_DIRECTORY),
        (0o100_000, libc::O_NOFOLLOW),
        (0o200_000, libc::O_LARGEFILE),
        (0o400_000, libc::O_DIRECT),
    ],
    // Locks on large files, with the structure of 64-bit machines.
    lock_commands: &[(12, libc::F_GETLK), (13, libc::F_SETLK), (14, libc::F_SETLKW)],
    has_threads: false,
    frames: &powerpc::Frame,
    set_result: |process, answer| {
        // The summary overflow bit of condition field 0 says whether r3 is an error number.
        let registers = &mut process.world.registers;
        let field = registers.get("cr0") & !1;
        let (field, value) = match answer {
            Ok(value) => (field, value & 0xffff_ffff),
            Err(Errno(number)) => (field | 1, number as u64),
        };
        registers.set("cr0", field);
        registers.set("r3", value);
    },
};

impl Machine {
    /// The layout of the frames of its signal handlers, where it is known outside this crate.
    pub fn handler_frame(self) -> Option<HandlerFrame> {
        match self {
            Machine::X86_64 => Some(x86_64::layout()),
            Machine::PowerPc => None,
        }
    }

    /// Its description.
    pub fn abi(self) -> &'static Abi {
        match self {
            Machine::X86_64 => &X86_64,
            Machine::PowerPc => &POWERPC,
        }
    }
}

impl Abi {
    /// An address or a long as the machine stores it.
    pub fn word_bytes(&self, value: u64) -> Vec<u8> {
        self.number_bytes(value, self.word)
    }

    /// An `int` as the machine stores it.
    pub fn int_bytes(&self, value: u32) -> [u8; 4] {
        if self.big_endian { value.to_be_bytes() } else { value.to_le_bytes() }
    }

    /// A number of so many bytes as the machine stores it.
    pub fn number_bytes(&self, value: u64, size: usize) -> Vec<u8> {
        if self.big_endian {
            value.to_be_bytes()[8 - size..].to_vec()
        } else {
            value.to_le_bytes()[..size].to_vec()
        }
    }

    /// The number that the machine stores as these bytes, at most eight.
    pub fn number(&self, bytes: &[u8]) -> u64 {
        let append = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
        if self.big_endian { bytes.iter().fold(0, append) } else { bytes.iter().rev().fold(0, append) }
    }

    /// A set of signals: on a big-endian machine of 32 bits two words, the lower signals first.
    pub fn signal_set(&self, bytes: &[u8]) -> u64 {
        let number = self.number(bytes);
        if self.word == 4 && self.big_endian { number.rotate_left(32) } else { number }
    }

    /// The bytes of a set of signals.
    pub fn signal_set_bytes(&self, set: u64) -> Vec<u8> {
        let number = if self.word == 4 && self.big_endian { set.rotate_left(32) } else { set };
        self.number_bytes(number, 8)
    }

    /// An argument of a call as the host wants it: a 32-bit machine's numbers are signed.
    pub fn argument(&self, value: u64) -> usize {
        if self.word == 4 { i64::from(value as u32 as i32) as usize } else { value as usize }
    }
}
