//! MC: the idealised machine code of Lim, Lal and Reps (section 3.3): four registers, one flag, four instructions.
//!
//! Programs are written in Intel syntax, one instruction a line, and lie at address 0 unless told otherwise, four
//! bytes an instruction. Names that are
//! no labels are data: each is the address of a memory cell, as in Fig. 6(b).

mod reader;
mod semantics;

pub use reader::read;
pub use semantics::State;

use parallax_op::Bits;

/// How wide registers and addresses are.
pub const WIDTH: parallax_op::Width = 32;

/// The function symbol of the memory.
pub const MEMORY: &str = "F_mem";

/// The flag.
pub const ZF: &str = "ZF";

/// The bytes of one instruction.
pub const SIZE: u32 = 4;

/// `r` of the grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Register {
    /// Accumulator.
    Eax,
    /// Another one.
    Ebx,
    /// The frame pointer.
    Ebp,
    /// The program counter.
    Eip,
}

impl Register {
    /// Every register.
    pub const ALL: [Register; 4] = [Register::Eax, Register::Ebx, Register::Ebp, Register::Eip];

    /// Its name, which is also its symbol.
    pub const fn name(self) -> &'static str {
        match self {
            Register::Eax => "EAX",
            Register::Ebx => "EBX",
            Register::Ebp => "EBP",
            Register::Eip => "EIP",
        }
    }
}

/// `do` and `so` of the grammar.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// `[r + c]`
    Indirect(Register, Bits),
    /// `[name + c]`: a data cell, by number.
    Data(u32, Bits),
    /// `r`
    Direct(Register),
    /// `c`
    Immediate(Bits),
}

/// `instruction` of the grammar.
#[derive(Clone, Debug, PartialEq)]
pub enum Instruction {
    /// `mov do, so`
    Mov(Operand, Operand),
    /// `cmp do, so`
    Cmp(Operand, Operand),
    /// `xor do, so`
    Xor(Operand, Operand),
    /// `jz so`
    Jz(Operand),
}

/// A program.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Where the first instruction lies.
    pub base: u32,
    /// The instructions.
    pub instructions: Vec<Instruction>,
    /// The line of each, counted from one.
    pub lines: Vec<usize>,
    /// Names of data cells.
    pub data: Vec<String>,
    /// Labels and their addresses.
    pub labels: Vec<(String, u32)>,
}

impl Program {
    /// The address that a label or a number names.
    pub fn point(&self, name: &str) -> Option<u32> {
        let label = self.labels.iter().find(|(label, _)| label == name).map(|(_, at)| *at);
        label.or_else(|| Bits::parse(name, WIDTH).ok()?.to_u64().map(|at| at as u32))
    }
}
