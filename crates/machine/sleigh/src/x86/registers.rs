//! Where the specification keeps the registers that the table uses.

use iced_x86::Register;
use parallax_ir::{Processor, Varnode};
use std::collections::HashMap;

/// Places of registers and flags.
pub struct Registers {
    by_register: HashMap<Register, Varnode>,
    /// Carry.
    pub cf: Varnode,
    /// Parity of the low byte.
    pub pf: Varnode,
    /// Carry out of bit 3.
    pub af: Varnode,
    /// Zero.
    pub zf: Varnode,
    /// Sign.
    pub sf: Varnode,
    /// Direction of string operations.
    pub df: Varnode,
    /// Signed overflow.
    pub of: Varnode,
    /// The other flags, with their bits in the flags register.
    pub other_flags: Vec<(u16, Varnode)>,
    /// Base of the FS segment, where there is one.
    pub fs_base: Option<Varnode>,
    /// Base of the GS segment, where there is one.
    pub gs_base: Option<Varnode>,
    /// SSE control and status.
    pub mxcsr: Varnode,
    /// x87 control word.
    pub control_word: Varnode,
    /// x87 status word without the condition codes.
    pub status_word: Varnode,
    /// x87 tag word.
    pub tag_word: Varnode,
    /// x87 condition codes.
    pub c: [Varnode; 4],
    /// The x87 stack, top first.
    pub st: [Varnode; 8],
}

/// What the specification calls a register: the low bytes of R8 to R15 end in `B` there, in `L` at the decoder's.
fn name(register: Register) -> String {
    let name = format!("{register:?}").to_uppercase();
    match name.strip_suffix('L') {
        Some(number) if number.starts_with('R') => format!("{number}B"),
        _ => name,
    }
}

impl Registers {
    /// Looks the registers up.
    pub fn new(processor: &Processor) -> Self {
        let find = |name: &str| processor.register(name).map(|register| register.place);
        // The specification is ours to choose, and it has these.
        let place = |name: &str| find(name).unwrap_or_else(|| panic!("the x86 specification lacks {name}"));
        let by_register =
            Register::values().filter_map(|register| Some((register, find(&name(register))?))).collect();
        let other = [
            ("TF", 8),
            ("IF", 9),
            ("NT", 14),
            ("RF", 16),
            ("VM", 17),
            ("AC", 18),
            ("VIF", 19),
            ("VIP", 20),
            ("ID", 21),
        ];
        Registers {
            by_register,
            cf: place("CF"),
            pf: place("PF"),
            af: place("AF"),
            zf: place("ZF"),
            sf: place("SF"),
            df: place("DF"),
            of: place("OF"),
            other_flags: other.iter().filter_map(|(name, bit)| Some((*bit, find(name)?))).collect(),
            fs_base: find("FS_OFFSET"),
            gs_base: find("GS_OFFSET"),
            mxcsr: place("MXCSR"),
            control_word: place("FPUControlWord"),
            status_word: place("FPUStatusWord"),
            tag_word: place("FPUTagWord"),
            c: ["C0", "C1", "C2", "C3"].map(place),
            st: ["ST0", "ST1", "ST2", "ST3", "ST4", "ST5", "ST6", "ST7"].map(place),
        }
    }

    /// The place of a register.
    pub fn place(&self, register: Register) -> Varnode {
        self.by_register.get(&register).copied().unwrap_or_else(|| panic!("no place for {register:?}"))
    }

    /// Whether the register has a place.
    pub fn has(&self, register: Register) -> bool {
        self.by_register.contains_key(&register)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Language, Lifter};

    /// A register without a place would silently send its instructions to the specification.
    #[test]
    fn every_general_and_vector_register_has_a_place() {
        let lifter = Lifter::new(Language::find("x86-64").expect("x86-64")).expect("its specification");
        let registers = Registers::new(lifter.processor());
        for register in Register::values().filter(|r| r.is_gpr() || (r.is_xmm() && r.number() < 16)) {
            assert!(registers.has(register), "{register:?}");
            assert_eq!(usize::from(registers.place(register).bytes), register.size(), "{register:?}");
        }
    }
}
