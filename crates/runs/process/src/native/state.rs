//! Registers of the exact engine as translated code has them, and back.

use crate::registers::Registers;
use parallax_native::enter::Context;

const GENERAL: [&str; 16] = [
    "RAX", "RCX", "RDX", "RBX", "RSP", "RBP", "RSI", "RDI", "R8", "R9", "R10", "R11", "R12", "R13", "R14",
    "R15",
];

/// Flags by their bits.
const FLAGS: [(&str, u32); 7] =
    [("CF", 0), ("PF", 2), ("AF", 4), ("ZF", 6), ("SF", 7), ("DF", 10), ("OF", 11)];

/// The condition codes by their bits in the x87 status word.
const CODES: [(&str, u32); 4] = [("C0", 8), ("C1", 9), ("C2", 10), ("C3", 14)];

/// Where registers are in the register file.
pub(super) struct Layout {
    general: [usize; 16],
    flags: [usize; 7],
    fs: usize,
    control: usize,
    status: usize,
    codes: [usize; 4],
    tags: usize,
    mxcsr: usize,
    st: [usize; 8],
    xmm: [usize; 16],
}

impl Layout {
    pub fn new(registers: &Registers) -> Layout {
        let processor = registers.processor();
        let at = |name: &str| {
            let register = processor.register(name).expect("a register of x86-64");
            registers.offset(register.place).expect("a register of the description")
        };
        Layout {
            general: GENERAL.map(at),
            flags: FLAGS.map(|(name, _)| at(name)),
            fs: at("FS_OFFSET"),
            control: at("FPUCONTROLWORD"),
            status: at("FPUSTATUSWORD"),
            codes: CODES.map(|(name, _)| at(name)),
            tags: at("FPUTAGWORD"),
            mxcsr: at("MXCSR"),
            st: std::array::from_fn(|index| at(&format!("ST{index}"))),
            xmm: std::array::from_fn(|index| at(&format!("XMM{index}"))),
        }
    }

    /// Puts a state into a context; false if the processor would not take it.
    pub fn load(&self, registers: &Registers, context: &mut Context) -> bool {
        let file = registers.bytes();
        let long = |at: usize| u64::from_le_bytes(file[at..at + 8].try_into().expect("eight bytes"));
        let word = |at: usize| u16::from_le_bytes([file[at], file[at + 1]]);
        let mxcsr = u32::from_le_bytes(file[self.mxcsr..][..4].try_into().expect("four bytes"));
        let fs = long(self.fs);
        // The bits of MXCSR that are reserved, and bases that are not canonical, fault.
        if mxcsr >> 16 != 0 || fs >> 47 != 0 {
            return false;
        }
        for (value, at) in context.general.iter_mut().zip(self.general) {
            *value = long(at);
        }
        let flag = |word: u64, ((_, bit), at): (&(&str, u32), usize)| word | u64::from(file[at] & 1) << bit;
        context.flags = FLAGS.iter().zip(self.flags).fold(0x202, flag);
        context.fs = fs;
        let image = &mut context.extended.0;
        let status = CODES
            .iter()
            .zip(self.codes)
            .fold(word(self.status), |word, ((_, bit), at)| word | u16::from(file[at] & 1) << bit);
        image[0..2].copy_from_slice(&file[self.control..][..2]);
        image[2..4].copy_from_slice(&status.to_le_bytes());
        // Tags are kept from the top on, two bits each, set if empty; here by number, one bit each, clear if empty.
        let tags = word(self.tags);
        let full = (0..8).fold(0u8, |all, index| all | u8::from(tags >> (2 * index) & 1 == 0) << index);
        image[4] = full.rotate_left(u32::from(status >> 11 & 7));
        image[24..28].copy_from_slice(&mxcsr.to_le_bytes());
        for (index, at) in self.st.into_iter().enumerate() {
            image[32 + 16 * index..][..10].copy_from_slice(&file[at..at + 10]);
        }
        for (index, at) in self.xmm.into_iter().enumerate() {
            image[160 + 16 * index..][..16].copy_from_slice(&file[at..at + 16]);
        }
        // x87 and SSE are there, the upper halves are clean.
        image[512] = 3;
        true
    }

    /// Takes a state out of a context: what translated code can have changed.
    pub fn store(&self, context: &Context, registers: &mut Registers) {
        let file = registers.bytes_mut();
        for (value, at) in context.general.iter().zip(self.general) {
            file[at..at + 8].copy_from_slice(&value.to_le_bytes());
        }
        for ((_, bit), at) in FLAGS.iter().zip(self.flags) {
            file[at] = (context.flags >> bit & 1) as u8;
        }
        file[self.fs..][..8].copy_from_slice(&context.fs.to_le_bytes());
        let image = &context.extended.0;
        let word = |at: usize| u16::from_le_bytes([image[at], image[at + 1]]);
        // Parts that are as they start need not be written out.
        let (has_x87, has_sse) = (image[512] & 1 != 0, image[512] & 2 != 0);
        let (control, status, full) = if has_x87 { (word(0), word(2), image[4]) } else { (0x37f, 0, 0) };
        file[self.control..][..2].copy_from_slice(&control.to_le_bytes());
        file[self.status..][..2].copy_from_slice(&(status & 0xb8ff).to_le_bytes());
        for ((_, bit), at) in CODES.iter().zip(self.codes) {
            file[at] = (status >> bit & 1) as u8;
        }
        let empty = (!full).rotate_right(u32::from(status >> 11 & 7));
        let tags =
            (0..8).fold(0u16, |all, index| all | ((u16::from((empty >> index) & 1) * 3) << (2 * index)));
        file[self.tags..][..2].copy_from_slice(&tags.to_le_bytes());
        file[self.mxcsr..][..4].copy_from_slice(&image[24..28]);
        for (index, at) in self.st.into_iter().enumerate() {
            let value = if has_x87 { &image[32 + 16 * index..][..10] } else { &[0; 10] };
            file[at..at + 10].copy_from_slice(value);
        }
        for (index, at) in self.xmm.into_iter().enumerate() {
            let value = if has_sse { &image[160 + 16 * index..][..16] } else { &[0; 16] };
            file[at..at + 16].copy_from_slice(value);
        }
    }
}
