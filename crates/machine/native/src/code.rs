//! A stretch of code being written: the few instructions that translated code has besides the guest's own.
//!
//! Methods are named for the instruction they write. Cells are addressed relative to the instruction pointer.

use crate::layout::cell;

/// A stretch of code that will lie at a known address.
pub struct Code {
    /// The bytes so far.
    pub bytes: Vec<u8>,
    start: u64,
    cells: u64,
}

impl Code {
    pub fn new(start: u64, cells: u64) -> Self {
        Code { bytes: Vec::new(), start, cells }
    }

    /// Where the next byte will lie.
    pub fn here(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }

    pub fn raw(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// The distance to an address from behind the distance itself, and `behind` more bytes of its instruction.
    fn distance(&mut self, to: u64, behind: u64) {
        let distance = to.wrapping_sub(self.here() + 4 + behind) as i64;
        // `Places::are_near` was checked when the cache was made.
        let distance = i32::try_from(distance).expect("both parts of the code and the cells are near");
        self.raw(&distance.to_le_bytes());
    }

    /// An instruction with a cell as its operand; `behind` bytes of it follow.
    fn with_cell(&mut self, opcode: &[u8], register: u8, cell: u32, behind: u64) {
        self.raw(opcode);
        self.raw(&[register << 3 | 5]);
        self.distance(self.cells + u64::from(cell), behind);
    }

    pub fn mov_cell_reg(&mut self, cell: u32, register: u8) {
        self.with_cell(&[0x48 | register >> 3 << 2, 0x89], register & 7, cell, 0);
    }

    pub fn mov_reg_cell(&mut self, register: u8, cell: u32) {
        self.with_cell(&[0x48 | register >> 3 << 2, 0x8b], register & 7, cell, 0);
    }

    pub fn mov_ecx_cell(&mut self, cell: u32) {
        self.with_cell(&[0x8b], RCX, cell, 0);
    }

    pub fn movzx_ecx_byte_cell(&mut self, cell: u32) {
        self.with_cell(&[0x0f, 0xb6], RCX, cell, 0);
    }

    pub fn sub_cell(&mut self, cell: u32, amount: u8) {
        self.with_cell(&[0x48, 0x83], 5, cell, 1);
        self.raw(&[amount]);
    }

    /// `lea rcx, [rcx - amount]`
    pub fn lea_rcx_less(&mut self, amount: u8) {
        self.raw(&[0x48, 0x8d, 0x49, amount.wrapping_neg()]);
    }

    /// `lea ecx, [rcx - amount]`
    pub fn lea_ecx_less(&mut self, amount: u32) {
        self.raw(&[0x8d, 0x89]);
        self.raw(&amount.wrapping_neg().to_le_bytes());
    }

    /// `mov ecx, r32`: the low half of a register.
    pub fn mov_ecx_low(&mut self, register: u8) {
        if register >= 8 {
            self.raw(&[0x44]);
        }
        self.raw(&[0x89, 0xc1 | (register & 7) << 3]);
    }

    pub fn mov_rcx_reg(&mut self, register: u8) {
        self.raw(&[0x48 | register >> 3 << 2, 0x89, 0xc1 | (register & 7) << 3]);
    }

    /// `mov rcx, [rcx]`
    pub fn mov_rcx_at_rcx(&mut self) {
        self.raw(&[0x48, 0x8b, 0x09]);
    }

    pub fn mov_reg_constant(&mut self, register: u8, value: u64) {
        self.raw(&[0x48 | register >> 3, 0xb8 | register & 7]);
        self.raw(&value.to_le_bytes());
    }

    pub fn pop_rcx(&mut self) {
        self.raw(&[0x59]);
    }

    /// `lea rsp, [rsp + amount]`
    pub fn lea_rsp_more(&mut self, amount: u16) {
        self.raw(&[0x48, 0x8d, 0xa4, 0x24]);
        self.raw(&u32::from(amount).to_le_bytes());
    }

    /// `push` of a constant that fits into 32 bits with its sign.
    pub fn push_constant(&mut self, value: i32) {
        self.raw(&[0x68]);
        self.raw(&value.to_le_bytes());
    }

    /// `push qword [at]`
    pub fn push_from(&mut self, at: u64) {
        self.raw(&[0xff, 0x35]);
        self.distance(at, 0);
    }

    pub fn jrcxz(&mut self, over: u8) {
        self.raw(&[0xe3, over]);
    }

    pub fn jmp_short(&mut self, over: u8) {
        self.raw(&[0xeb, over]);
    }

    /// `jmp`; where its distance lies.
    pub fn jmp(&mut self, to: u64) -> u64 {
        self.raw(&[0xe9]);
        self.distance(to, 0);
        self.here() - 4
    }

    /// A jump under a condition, the low four bits of its opcode; where its distance lies.
    pub fn jcc(&mut self, condition: u8, to: u64) -> u64 {
        self.raw(&[0x0f, 0x80 | condition]);
        self.distance(to, 0);
        self.here() - 4
    }

    /// `jmp gs:[rcx*8]`
    pub fn jmp_slot(&mut self) {
        self.raw(&[0x65, 0xff, 0x24, 0xcd, 0, 0, 0, 0]);
    }

    /// `jmp` to an address that may be anywhere: it follows the instruction.
    pub fn jmp_constant(&mut self, to: u64) {
        self.raw(&[0xff, 0x25, 0, 0, 0, 0]);
        self.raw(&to.to_le_bytes());
    }

    /// `mov ecx, 0` and `mov edx, 0`: the flags stay.
    pub fn clear_ecx_edx(&mut self) {
        self.raw(&[0xb9, 0, 0, 0, 0, 0xba, 0, 0, 0, 0]);
    }

    pub fn wrpkru(&mut self) {
        self.raw(&[0x0f, 0x01, 0xef]);
    }

    /// `jmp [cell]`
    pub fn jmp_cell(&mut self, cell: u32) {
        self.with_cell(&[0xff], 4, cell, 0);
    }

    /// `mov dword [EXIT], number`
    pub fn note_exit(&mut self, number: u32) {
        self.with_cell(&[0xc7], 0, cell::EXIT, 4);
        self.raw(&number.to_le_bytes());
    }

    /// Lets the distance at `site` lead to `to`, both in this stretch or near.
    pub fn aim(&mut self, site: u64, to: u64) {
        let at = (site - self.start) as usize;
        self.bytes[at..at + 4].copy_from_slice(&aimed(site, to));
    }
}

/// RAX, by number.
pub const RAX: u8 = 0;
/// RCX, by number.
pub const RCX: u8 = 1;
/// RDX, by number.
pub const RDX: u8 = 2;

/// The distance that leads from `site` to `to`.
pub fn aimed(site: u64, to: u64) -> [u8; 4] {
    (to.wrapping_sub(site + 4) as i32).to_le_bytes()
}
