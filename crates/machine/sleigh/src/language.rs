//! The processors that come with Parallax, and those a user brings.

use crate::noted;
use crate::sla::{self, Contents};
use parallax_ir::RegisterKind;
use sleigh_config::{
    processor_aarch64 as aarch64, processor_arm as arm, processor_mips as mips, processor_power_pc as power,
    processor_riscv as riscv, processor_x86 as x86,
};

/// A processor that comes with Parallax.
pub struct Language {
    /// As `--lang` names it.
    pub name: &'static str,
    /// In words.
    pub description: &'static str,
    /// Compiled specification.
    sla: &'static [u8],
    /// What that holds, as far as it is needed before an instruction is lifted.
    pub(crate) notes: &'static str,
    /// Processor specification: context defaults, the name of the program counter.
    pspec: &'static str,
    /// Registers of one byte that are truth values.
    pub flags: &'static [&'static str],
}

const X86_FLAGS: &[&str] = &[
    "CF", "PF", "AF", "ZF", "SF", "TF", "IF", "DF", "OF", "NT", "RF", "VM", "AC", "VIF", "VIP", "ID", "C0",
    "C1", "C2", "C3",
];
const ARM_FLAGS: &[&str] = &["NG", "ZR", "CY", "OV", "TMPNG", "TMPZR", "TMPCY", "TMPOV"];

/// Every processor that comes with Parallax.
pub const LANGUAGES: &[Language] = &[
    Language {
        name: "x86-64",
        description: "x86, 64-bit",
        sla: x86::SLA_X86_64,
        notes: include_str!("noted/x86-64.txt"),
        pspec: x86::PSPEC_X86_64,
        flags: X86_FLAGS,
    },
    Language {
        name: "x86",
        description: "x86, 32-bit",
        sla: x86::SLA_X86,
        notes: include_str!("noted/x86.txt"),
        pspec: x86::PSPEC_X86,
        flags: X86_FLAGS,
    },
    Language {
        name: "x86-16",
        description: "x86, 16-bit, in real mode",
        sla: x86::SLA_X86,
        notes: include_str!("noted/x86.txt"),
        pspec: x86::PSPEC_X86_16_REAL,
        flags: X86_FLAGS,
    },
    Language {
        name: "powerpc",
        description: "PowerPC, 32-bit, big-endian",
        sla: power::SLA_PPC_32_BE,
        notes: include_str!("noted/powerpc.txt"),
        pspec: power::PSPEC_PPC_32,
        flags: &[],
    },
    Language {
        name: "powerpc64",
        description: "PowerPC, 64-bit, big-endian",
        sla: power::SLA_PPC_64_ISA_ALTIVEC_BE,
        notes: include_str!("noted/powerpc64.txt"),
        pspec: power::PSPEC_PPC_64,
        flags: &[],
    },
    Language {
        name: "powerpc64le",
        description: "PowerPC, 64-bit, little-endian",
        sla: power::SLA_PPC_64_ISA_ALTIVEC_LE,
        notes: include_str!("noted/powerpc64le.txt"),
        pspec: power::PSPEC_PPC_64,
        flags: &[],
    },
    Language {
        name: "aarch64",
        description: "ARM, 64-bit",
        sla: aarch64::SLA_AARCH64,
        notes: include_str!("noted/aarch64.txt"),
        pspec: aarch64::PSPEC_AARCH64,
        flags: ARM_FLAGS,
    },
    Language {
        name: "arm",
        description: "ARM, 32-bit, little-endian",
        sla: arm::SLA_ARM8_LE,
        notes: include_str!("noted/arm.txt"),
        pspec: arm::PSPEC_ARMT,
        flags: ARM_FLAGS,
    },
    Language {
        name: "thumb",
        description: "ARM, 32-bit, little-endian, Thumb encoding",
        sla: arm::SLA_ARM8_LE,
        notes: include_str!("noted/arm.txt"),
        pspec: arm::PSPEC_ARMTTHUMB,
        flags: ARM_FLAGS,
    },
    Language {
        name: "riscv64",
        description: "RISC-V, 64-bit, with compressed instructions",
        sla: riscv::SLA_RISCV_LP64D,
        notes: include_str!("noted/riscv64.txt"),
        pspec: riscv::PSPEC_RV64GC,
        flags: &[],
    },
    Language {
        name: "mips",
        description: "MIPS, 32-bit, big-endian",
        sla: mips::SLA_MIPS32BE,
        notes: include_str!("noted/mips.txt"),
        pspec: mips::PSPEC_MIPS32,
        flags: &[],
    },
    Language {
        name: "mipsel",
        description: "MIPS, 32-bit, little-endian",
        sla: mips::SLA_MIPS32LE,
        notes: include_str!("noted/mipsel.txt"),
        pspec: mips::PSPEC_MIPS32,
        flags: &[],
    },
];

impl Language {
    /// The processor of that name.
    pub fn find(name: &str) -> Option<&'static Language> {
        LANGUAGES.iter().find(|language| language.name == name)
    }

    /// The language of the processor's second encoding, when code may change between two.
    pub fn alternate(&self) -> Option<&'static Language> {
        (self.name == "arm").then(|| Language::find("thumb")).flatten()
    }

    /// What its compiled specification holds.
    pub(crate) fn contents(&self) -> Contents {
        noted::contents(self.notes).unwrap_or_else(|| sla::read(self.sla))
    }

    /// What the library needs to read it.
    pub fn specification(&self) -> Specification {
        Specification {
            name: self.name.to_owned(),
            sla: self.sla.to_vec(),
            pspec: self.pspec.to_owned(),
            flags: self.flags.iter().map(|&f| f.to_owned()).collect(),
        }
    }
}

/// A specification to lift with.
#[derive(Clone, Debug)]
pub struct Specification {
    /// What to call the processor.
    pub name: String,
    /// The bytes of a compiled `.sla` file.
    pub sla: Vec<u8>,
    /// The text of a `.pspec` file; may be empty.
    pub pspec: String,
    /// Names, in upper case, of one-byte registers that are truth values.
    pub flags: Vec<String>,
}

impl Specification {
    /// A user's own compiled specification. Without a `.pspec` all context variables start at zero.
    pub fn custom(name: impl Into<String>, sla: Vec<u8>, pspec: Option<String>) -> Self {
        Specification { name: name.into(), sla, pspec: pspec.unwrap_or_default(), flags: Vec::new() }
    }

    /// The name of the program counter, as the processor specification has it.
    pub(crate) fn program_counter(&self) -> Option<&str> {
        let tag = self.pspec.split("<programcounter").nth(1)?;
        tag.split("register=\"").nth(1)?.split('"').next()
    }

    /// How a register is shown.
    pub(crate) fn kind(&self, name: &str, bytes: u16) -> RegisterKind {
        if bytes == 1 && self.flags.iter().any(|flag| flag == name) {
            RegisterKind::Flag
        } else {
            RegisterKind::Word
        }
    }
}
