//! Operands: reading, writing, and the addresses of those in memory.

use crate::x86::registers::Registers;
use iced_x86::{Instruction as Decoded, OpKind, Register};
use parallax_ir::{Builder, Instruction, Op, Trap, Varnode};
use parallax_op::{BinOp, RelOp};

/// The instruction under construction.
pub struct Lift<'a> {
    /// Its operations so far.
    pub b: Builder,
    /// Where registers are.
    pub r: &'a Registers,
    /// 16, 32 or 64.
    pub bits: u32,
    /// Whether it has the newer encoding: writing a part of a vector register then clears the rest of it.
    pub vex: bool,
    /// The address of its memory operand, computed once.
    address: Option<Varnode>,
}

impl<'a> Lift<'a> {
    /// An instruction without operations.
    pub fn new(r: &'a Registers, bits: u32, vex: bool) -> Self {
        Lift { b: Builder::new(), r, bits, vex, address: None }
    }

    /// The finished instruction.
    pub fn finish(self, address: u64, length: u8, text: String) -> Instruction {
        self.b.finish(address, length, text)
    }

    /// Size of an address of memory. In 16-bit code, which adds the base of a segment to everything, it is that of 32-bit code.
    pub fn word(&self) -> u16 {
        if self.bits == 64 { 8 } else { 4 }
    }

    /// The place of a general register of this width: `gpr(Register::RAX)` is EAX in 32-bit code.
    pub fn gpr(&self, register: Register) -> Varnode {
        self.sized(register, (self.bits / 8) as u16)
    }

    /// The low `bytes` bytes of a general register.
    pub fn sized(&self, register: Register, bytes: u16) -> Varnode {
        let full = if self.bits == 64 { register.full_register() } else { register.full_register32() };
        self.r.place(full).slice(0, bytes)
    }

    /// A constant.
    pub fn constant(&self, value: u64, bytes: u16) -> Varnode {
        Varnode::constant(value, bytes)
    }

    /// The size of an operand in bytes.
    pub fn size(&self, decoded: &Decoded, index: u32) -> u16 {
        match decoded.op_kind(index) {
            OpKind::Register => decoded.op_register(index).size() as u16,
            OpKind::Immediate8 | OpKind::Immediate8_2nd => 1,
            OpKind::Immediate16 | OpKind::Immediate8to16 => 2,
            OpKind::Immediate32 | OpKind::Immediate8to32 => 4,
            OpKind::Immediate64 | OpKind::Immediate8to64 | OpKind::Immediate32to64 => 8,
            _ => decoded.memory_size().size() as u16,
        }
    }

    /// Whether an operand is in memory.
    pub fn is_memory(&self, decoded: &Decoded, index: u32) -> bool {
        decoded.op_kind(index) == OpKind::Memory
    }

    /// The address of the memory operand.
    pub fn address(&mut self, decoded: &Decoded) -> Varnode {
        if let Some(address) = self.address {
            return address;
        }
        let address = self.compute_address(decoded, true);
        self.address = Some(address);
        address
    }

    /// The address without the base of its segment, as `lea` has it.
    pub fn offset(&mut self, decoded: &Decoded) -> Varnode {
        self.compute_address(decoded, false)
    }

    fn compute_address(&mut self, decoded: &Decoded, with_segment: bool) -> Varnode {
        let index = decoded.memory_index();
        let bytes = self.address_bytes(decoded);
        // Only `xlat` has an index, a byte, that is shorter than the address.
        let index = (index != Register::None).then(|| self.b.zext(self.r.place(index), bytes));
        self.sum(decoded, bytes, index, with_segment)
    }

    /// The address of the memory operand and a distance, which wraps around like every address of its size: that of a
    /// bit far from the operand.
    pub fn distant_address(&mut self, decoded: &Decoded, distance: Varnode) -> Varnode {
        let (bytes, word) = (self.address_bytes(decoded), self.word());
        let offset = self.compute_address(decoded, false);
        let mut sum = self.b.bin(BinOp::Add, offset, distance);
        if bytes < word {
            let low = self.b.extract(sum, 0, bytes);
            sum = self.b.zext(low, word);
        }
        self.linear(decoded.memory_segment(), sum)
    }

    /// The address of memory that an offset into a segment is. In real mode a segment begins at sixteen times what its register
    /// holds; otherwise all of them but two begin at zero in user programs. That segments end is not modelled, as it is not that
    /// memory does.
    pub fn linear(&mut self, segment: Register, offset: Varnode) -> Varnode {
        let word = self.word();
        let offset = self.b.zext(offset, word);
        let base = match segment {
            _ if self.bits == 16 => {
                let wide = self.b.zext(self.r.place(segment), word);
                Some(self.b.bin_constant(BinOp::Shl, wide, 4))
            }
            Register::FS => self.r.fs_base.map(|base| base.slice(0, word)),
            Register::GS => self.r.gs_base.map(|base| base.slice(0, word)),
            _ => None,
        };
        match base {
            Some(base) => self.b.bin(BinOp::Add, base, offset),
            None => offset,
        }
    }

    /// The address of memory that an offset into the stack is.
    pub fn stack(&mut self, offset: Varnode) -> Varnode {
        self.linear(Register::SS, offset)
    }

    /// The address of the memory operand with a number, signed, in the place of its index.
    pub fn indexed_address(&mut self, decoded: &Decoded, index: Varnode) -> Varnode {
        let bytes = self.address_bytes(decoded);
        let index = if index.bytes < bytes { self.b.sext(index, bytes) } else { index.slice(0, bytes) };
        self.sum(decoded, bytes, Some(index), true)
    }

    fn address_bytes(&self, decoded: &Decoded) -> u16 {
        let (base, index) = (decoded.memory_base(), decoded.memory_index());
        let general = |r: &Register| r.is_gpr() && !r.is_gpr8();
        match [base, index].into_iter().find(general) {
            Some(register) => register.size() as u16,
            // Without a register the size of the displacement tells.
            None if base == Register::EIP => 4,
            None if matches!(decoded.memory_displ_size(), 2 | 4) => decoded.memory_displ_size() as u16,
            None => self.word(),
        }
    }

    /// Base, scaled index and displacement, in an address of `bytes` bytes.
    fn sum(&mut self, decoded: &Decoded, bytes: u16, index: Option<Varnode>, with_segment: bool) -> Varnode {
        let word = self.word();
        let base = decoded.memory_base();
        // Relative addresses come out absolute.
        let relative = matches!(base, Register::RIP | Register::EIP);
        let mut sum = (base != Register::None && !relative).then(|| self.r.place(base));
        if let Some(index) = index {
            let scale = decoded.memory_index_scale();
            let scaled = match scale {
                1 => index,
                _ => self.b.bin_constant(BinOp::Shl, index, u64::from(scale.trailing_zeros())),
            };
            sum = Some(match sum {
                Some(sum) => self.b.bin(BinOp::Add, sum, scaled),
                None => scaled,
            });
        }
        let displacement = decoded.memory_displacement64();
        let mut address = match sum {
            None => self.constant(displacement, bytes),
            Some(sum) if displacement == 0 => sum,
            Some(sum) => self.b.bin_constant(BinOp::Add, sum, displacement),
        };
        if with_segment {
            return self.linear(decoded.memory_segment(), address);
        }
        if address.bytes < word {
            address = self.b.zext(address, word);
        }
        address
    }

    /// The value of an operand, in its own size.
    pub fn read(&mut self, decoded: &Decoded, index: u32) -> Varnode {
        let bytes = self.size(decoded, index);
        self.read_sized(decoded, index, bytes)
    }

    /// The low `bytes` bytes of an operand; an immediate is sign-extended to them.
    pub fn read_sized(&mut self, decoded: &Decoded, index: u32, bytes: u16) -> Varnode {
        match decoded.op_kind(index) {
            OpKind::Register => self.r.place(decoded.op_register(index)).slice(0, bytes),
            OpKind::Memory => {
                let address = self.address(decoded);
                self.b.load(address, bytes)
            }
            _ => self.constant(decoded.immediate(index), bytes),
        }
    }

    /// Writes an operand; 32 bits written to a 64-bit register clear the rest of it.
    pub fn write(&mut self, decoded: &Decoded, index: u32, value: Varnode) {
        match decoded.op_kind(index) {
            OpKind::Register => self.set(decoded.op_register(index), value),
            _ => {
                let address = self.address(decoded);
                self.b.store(address, value);
            }
        }
    }

    /// Writes a register; 32 bits written to a 64-bit register clear the rest of it, and so does a newer instruction
    /// that writes half a vector.
    pub fn set(&mut self, register: Register, value: Varnode) {
        let place = self.r.place(register);
        if self.bits == 64 && register.is_gpr32() {
            let out = self.r.place(register.full_register());
            self.b.push(Op::Zext { out, a: value });
        } else {
            self.b.copy(place, value);
            if self.vex && register.is_xmm() {
                let rest = self.r.place(Register::YMM0 + register.number() as u32).slice(16, 16);
                let zero = self.constant(0, 16);
                self.b.copy(rest, zero);
            }
            if register.is_mm() {
                // An MMX register is the fraction of an x87 register; writing it sets sign and exponent to ones.
                let index = register.number();
                let rest = self.r.st[index].slice(8, 2);
                let ones = self.constant(0xffff, 2);
                self.b.copy(rest, ones);
            }
        }
    }

    /// The address of operand 0, if it is in memory.
    pub fn memory_target(&mut self, decoded: &Decoded) -> Option<Varnode> {
        self.is_memory(decoded, 0).then(|| self.address(decoded))
    }

    /// Writes operand 0 if it is a register; one in memory was stored before the flags.
    pub fn write_register(&mut self, decoded: &Decoded, value: Varnode) {
        if !self.is_memory(decoded, 0) {
            self.write(decoded, 0, value);
        }
    }

    /// Stops if a value for MXCSR has a bit set that has no meaning.
    pub fn check_mxcsr(&mut self, value: Varnode) {
        let reserved = self.b.bin_constant(BinOp::And, value, 0xffff_0000);
        let any = self.b.rel_constant(RelOp::Ne, reserved, 0);
        self.b.trap(Some(any), Trap::Protection);
    }

    /// Stops unless the address is a multiple of `bytes`, a power of two.
    pub fn check_alignment(&mut self, address: Varnode, bytes: u16) {
        let rest = self.b.bin_constant(BinOp::And, address, u64::from(bytes) - 1);
        let odd = self.b.rel_constant(RelOp::Ne, rest, 0);
        self.b.trap(Some(odd), Trap::Protection);
    }
}
