//! Two older ways into the kernel on x86-64: `int 0x80` with the numbers of 32-bit programs, and three functions of the kernel
//! at fixed addresses (`vsyscall`).

use super::{Arguments, Process};
use crate::elf::Machine;
use crate::process::Ending;

/// Calls of 32-bit programs that mean the same with registers of 64 bits, and their numbers there and here.
const SAME: [(u64, u64); 20] = [
    (1, 60),
    (3, 0),
    (4, 1),
    (5, 2),
    (6, 3),
    (8, 85),
    (9, 86),
    (10, 87),
    (12, 80),
    (15, 90),
    (20, 39),
    (33, 21),
    (36, 162),
    (37, 62),
    (38, 82),
    (39, 83),
    (40, 84),
    (41, 32),
    (64, 110),
    (252, 231),
];

impl Process {
    /// Whether the call that was just made came by way of `int 0x80`.
    pub(crate) fn is_by_interrupt(&mut self) -> bool {
        let mut bytes = [0; 2];
        let at = self.pc().wrapping_sub(2);
        self.machine == Machine::X86_64
            && self.world.memory.fetch(at, &mut bytes) == Ok(2)
            && bytes == [0xcd, 0x80]
    }

    /// The call that a program asks for by `int 0x80`, in our numbering; or that it is not supported.
    pub(super) fn narrow_call(&mut self) -> Result<(u64, Arguments), Ending> {
        let registers = &self.world.registers;
        let asked = registers.get("RAX") & 0xffff_ffff;
        let arguments =
            ["RBX", "RCX", "RDX", "RSI", "RDI", "RBP"].map(|name| registers.get(name) & 0xffff_ffff);
        match SAME.iter().find(|(number, _)| *number == asked) {
            Some((_, number)) => Ok((*number, arguments)),
            None => {
                let at = self.describe(self.pc());
                let what = format!("system call {asked} of 32-bit programs (int 0x80)");
                Err(Ending::Unsupported { what, at })
            }
        }
    }

    /// The number that a call has for `int 0x80`.
    pub(super) fn narrow_number(number: u64) -> Option<u64> {
        SAME.iter().find(|(_, wide)| *wide == number).map(|(narrow, _)| *narrow)
    }

    /// The call behind one of the kernel's functions at fixed addresses.
    pub(crate) fn function_of_kernel(&self, address: u64) -> Option<u64> {
        const GETTIMEOFDAY: u64 = 0xffff_ffff_ff60_0000;
        match address {
            _ if self.machine != Machine::X86_64 => None,
            GETTIMEOFDAY => Some(96),
            0xffff_ffff_ff60_0400 => Some(201),
            0xffff_ffff_ff60_0800 => Some(309),
            _ => None,
        }
    }

    /// Makes that call, and returns from the function. Its thread is at its first byte.
    pub(crate) fn call_function_of_kernel(
        &mut self,
        number: u64,
    ) -> Result<Option<Ending>, crate::memory::Fault> {
        let stack = self.world.registers.get("RSP");
        let back = u64::from_le_bytes(self.world.memory.load::<8>(stack)?);
        let arguments = ["RDI", "RSI", "RDX", "R10", "R8", "R9"].map(|name| self.world.registers.get(name));
        self.world.registers.set("RSP", stack.wrapping_add(8));
        self.set_pc(back);
        // It is a step, as one instruction would be.
        self.world.time += 1;
        Ok(self.make_call(number, arguments))
    }
}
