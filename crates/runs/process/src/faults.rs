//! What the program did wrong, and the signal that Linux would send for it.

use crate::elf::Machine;
use crate::memory::{Access, Cause, Fault};
use crate::process::{Ending, Process};
use crate::signal::Exception;
use parallax_ir::Trap;

/// What a handler of `SIGFPE` is told, besides division of integers.
const FPE_FLTDIV: i32 = 3;
const FPE_FLTOVF: i32 = 4;
const FPE_FLTUND: i32 = 5;
const FPE_FLTRES: i32 = 6;
const FPE_FLTINV: i32 = 7;

impl Process {
    pub(crate) fn trapped(&mut self, trap: Trap) -> Option<Ending> {
        const SI_KERNEL: i32 = 0x80;
        const FPE_INTDIV: i32 = 1;
        const BUS_ADRALN: i32 = 1;
        const TRAP_BRKPT: i32 = 1;
        const ILL_ILLOPN: i32 = 2;
        let pc = self.pc();
        let (signal, code, address, number, why) = match trap {
            Trap::Divide => {
                (libc::SIGFPE, FPE_INTDIV, pc, DIVIDE, "division by zero, or a quotient that does not fit")
            }
            Trap::Float => return self.float_exception(),
            Trap::Undefined => {
                (libc::SIGILL, ILL_ILLOPN, pc, UNDEFINED, "an instruction that is always illegal")
            }
            Trap::Breakpoint if self.machine == Machine::PowerPc => {
                // The handler finds the trap itself, and goes on behind it if it wants to.
                let at = pc.wrapping_sub(4);
                self.set_pc(at);
                (libc::SIGTRAP, TRAP_BRKPT, at, BREAKPOINT, "a trap instruction")
            }
            Trap::Breakpoint => (libc::SIGTRAP, SI_KERNEL, 0, BREAKPOINT, "a breakpoint instruction"),
            Trap::Protection | Trap::Halt => {
                (libc::SIGSEGV, SI_KERNEL, 0, PROTECTION, "a privileged operation")
            }
            Trap::Alignment if self.machine == Machine::X86_64 => {
                (libc::SIGSEGV, SI_KERNEL, 0, PROTECTION, "a memory operand that is not aligned")
            }
            Trap::Alignment => {
                (libc::SIGBUS, BUS_ADRALN, pc, PROTECTION, "a memory operand that is not aligned")
            }
            Trap::SystemCall => return self.system_call(),
        };
        self.raise(signal, code, address, exception(number), String::from(why))
    }

    /// What was raised and is not masked decides what the handler is told. Both units have the exceptions in the same
    /// order; the x87 has its summary bit set if it is the one.
    fn float_exception(&mut self) -> Option<Ending> {
        if self.machine == Machine::PowerPc {
            return self.enabled_exception();
        }
        let registers = &self.world.registers;
        let get = |name: &str| if registers.has(name) { registers.get(name) } else { 0 };
        let (status, control, mxcsr) = (get("FPUSTATUSWORD"), get("FPUCONTROLWORD"), get("MXCSR"));
        const SUMMARY: u64 = 0x80;
        let sse = mxcsr & !(mxcsr >> 7) & 0x3f;
        let (raised, number) = if sse != 0 || status & SUMMARY == 0 {
            (sse, SIMD_FLOAT)
        } else {
            (status & !control & 0x3f, X87_FLOAT)
        };
        // The order in which Linux looks.
        let (code, why) = match raised {
            r if r & 1 != 0 => (FPE_FLTINV, "an invalid float operation"),
            r if r & 4 != 0 => (FPE_FLTDIV, "a float division by zero"),
            r if r & 8 != 0 => (FPE_FLTOVF, "a float overflow"),
            r if r & 0x12 != 0 => (FPE_FLTUND, "a float underflow, or a denormal operand"),
            _ => (FPE_FLTRES, "an inexact float result"),
        };
        let pc = self.pc();
        self.raise(libc::SIGFPE, code, pc, exception(number), String::from(why))
    }

    /// What FPSCR has both raised and enabled, in the order in which Linux looks.
    fn enabled_exception(&mut self) -> Option<Ending> {
        let status = self.world.registers.get("FPSCR");
        let (code, why) = match status >> 25 & status >> 3 {
            r if r & 16 != 0 => (FPE_FLTINV, "an invalid float operation"),
            r if r & 8 != 0 => (FPE_FLTOVF, "a float overflow"),
            r if r & 4 != 0 => (FPE_FLTUND, "a float underflow"),
            r if r & 2 != 0 => (FPE_FLTDIV, "a float division by zero"),
            _ => (FPE_FLTRES, "an inexact float result"),
        };
        let pc = self.pc();
        self.raise(libc::SIGFPE, code, pc, exception(SIMD_FLOAT), String::from(why))
    }

    fn page_fault(&self, fault: &Fault) -> Exception {
        // The error code: whether the page is there, writing, from a user program, fetching.
        let there = u64::from(self.world.memory.is_written(fault.address));
        let kind = match fault.access {
            Access::Read => 0,
            Access::Write => 2,
            Access::Execute => 16,
        };
        Exception { number: PAGE_FAULT, code: there | kind | 4, address: Some(fault.address) }
    }

    pub(crate) fn faulted(&mut self, fault: Fault) -> Option<Ending> {
        const SEGV_MAPERR: i32 = 1;
        const SEGV_ACCERR: i32 = 2;
        const BUS_ADRERR: i32 = 2;
        const SI_KERNEL: i32 = 0x80;
        if fault.access == Access::Execute
            && let Some(number) = self.function_of_kernel(fault.address)
        {
            return match self.call_function_of_kernel(number) {
                Ok(ending) => ending,
                Err(fault) => self.faulted(fault),
            };
        }
        let why = fault.to_string();
        let page_fault = self.page_fault(&fault);
        match fault.cause {
            // Addresses that are not sign-extended are refused before they are looked at.
            Cause::Unmapped
                if self.machine == Machine::X86_64 && (fault.address >> 47).wrapping_add(1) & 0x1ffff > 1 =>
            {
                self.raise(libc::SIGSEGV, SI_KERNEL, 0, exception(PROTECTION), why)
            }
            Cause::Unmapped => self.raise(libc::SIGSEGV, SEGV_MAPERR, fault.address, page_fault, why),
            Cause::Forbidden => self.raise(libc::SIGSEGV, SEGV_ACCERR, fault.address, page_fault, why),
            Cause::BeyondFile => self.raise(libc::SIGBUS, BUS_ADRERR, fault.address, page_fault, why),
            Cause::Unrecorded => {
                let time = self.time();
                Some(self.outside().unrecorded(time, &format!("{:#x} of a mapping", fault.address)))
            }
            // The execution loop deals with these itself.
            Cause::OwnCode | Cause::Contended | Cause::Guarded => None,
            Cause::OutOfMemory => {
                let at = self.describe(self.pc());
                Some(Ending::GaveUp { what: format!("{} bytes of memory", self.byte_bound), at })
            }
        }
    }
}

/// Numbers of x86 exceptions.
const DIVIDE: u64 = 0;
const BREAKPOINT: u64 = 3;
pub(crate) const UNDEFINED: u64 = 6;
const PROTECTION: u64 = 13;
const PAGE_FAULT: u64 = 14;
const X87_FLOAT: u64 = 16;
const SIMD_FLOAT: u64 = 19;

pub(crate) fn exception(number: u64) -> Exception {
    Exception { number, code: 0, address: None }
}
