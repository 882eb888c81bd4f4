//! Registers of the exact engine as translated code has them, and back.

use parallax_native::enter::Context;
use parallax_process::registers::Registers;

const GENERAL: [&str; 16] = [
    "RAX", "RCX", "RDX", "RBX", "RSP", "RBP", "RSI", "RDI", "R8", "R9", "R10", "R11", "R12", "R13", "R14",
    "R15",
];

/// Flags by their bits.
pub const FLAGS: [(&str, u32); 7] =
    [("CF", 0), ("PF", 2), ("AF", 4), ("ZF", 6), ("SF", 7), ("DF", 10), ("OF", 11)];

/// The condition codes by their bits in the x87 status word.
pub const CODES: [(&str, u32); 4] = [("C0", 8), ("C1", 9), ("C2", 10), ("C3", 14)];

/// Puts a state into a context.
pub fn load(registers: &Registers, context: &mut Context) {
    for (value, name) in context.general.iter_mut().zip(GENERAL) {
        *value = registers.get(name);
    }
    context.flags = FLAGS.iter().fold(0x202, |word, (name, bit)| word | (registers.get(name) & 1) << bit);
    context.fs = registers.get("FS_OFFSET");
    let image = &mut context.extended.0;
    image.fill(0);
    let status = CODES
        .iter()
        .fold(registers.get("FPUSTATUSWORD"), |word, (name, bit)| word | (registers.get(name) & 1) << bit);
    image[0..2].copy_from_slice(&registers.get("FPUCONTROLWORD").to_le_bytes()[..2]);
    image[2..4].copy_from_slice(&status.to_le_bytes()[..2]);
    // Tags are kept from the top on, two bits each, set if empty; here by number, one bit each, clear if empty.
    let tags = registers.get("FPUTAGWORD");
    let full = (0..8).fold(0u8, |all, index| all | u8::from(tags >> (2 * index) & 1 == 0) << index);
    image[4] = full.rotate_left((status >> 11 & 7) as u32);
    image[24..28].copy_from_slice(&registers.get("MXCSR").to_le_bytes()[..4]);
    for index in 0..8 {
        image[32 + 16 * index..][..10].copy_from_slice(&registers.get_bytes(&format!("ST{index}"))[..10]);
    }
    for index in 0..16 {
        image[160 + 16 * index..][..16].copy_from_slice(&registers.get_bytes(&format!("XMM{index}"))[..16]);
    }
    // x87 and SSE are there, the upper halves are clean.
    image[512] = 3;
}

/// Takes a state out of a context: what translated code can have changed.
pub fn store(context: &Context, registers: &mut Registers) {
    for (value, name) in context.general.iter().zip(GENERAL) {
        registers.set(name, *value);
    }
    for (name, bit) in FLAGS {
        registers.set(name, context.flags >> bit & 1);
    }
    registers.set("FS_OFFSET", context.fs);
    let image = &context.extended.0;
    let word = |at: usize| u64::from(u16::from_le_bytes([image[at], image[at + 1]]));
    // Parts that are as they start need not be written out.
    let (has_x87, has_sse) = (image[512] & 1 != 0, image[512] & 2 != 0);
    let (control, status, full) = if has_x87 { (word(0), word(2), image[4]) } else { (0x37f, 0, 0) };
    registers.set("FPUCONTROLWORD", control);
    registers.set("FPUSTATUSWORD", status & 0xb8ff);
    for (name, bit) in CODES {
        registers.set(name, status >> bit & 1);
    }
    let empty = (!full).rotate_right((status >> 11 & 7) as u32);
    let tags = (0..8).fold(0, |all, index| all | (u64::from(empty >> index & 1) * 3) << (2 * index));
    registers.set("FPUTAGWORD", tags);
    registers.set("MXCSR", u64::from(u32::from_le_bytes([image[24], image[25], image[26], image[27]])));
    for index in 0..8 {
        let value = if has_x87 { &image[32 + 16 * index..][..10] } else { &[0; 10] };
        registers.set_bytes(&format!("ST{index}"), value);
    }
    for index in 0..16 {
        let value = if has_sse { &image[160 + 16 * index..][..16] } else { &[0; 16] };
        registers.set_bytes(&format!("XMM{index}"), value);
    }
}
