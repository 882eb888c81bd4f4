//! Instruction forms: every opcode of the decoder's table that we give a meaning to, with random operands.

use crate::machine::{ARENA, CODE, DATA, LOW_DATA, Registers, SHORT_CODE, SHORT_DATA, follows_the_manual};
use crate::random::Random;
use iced_x86::{
    Code, Encoder, EncodingKind, Instruction, MemoryOperand, Mnemonic, OpCodeOperandKind as Kind, OpKind,
    Register,
};
use parallax_sleigh::x86::{Answer, Overrides};

/// One opcode with its operand kinds, in its register or its memory variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Form {
    /// The opcode.
    pub code: Code,
    /// Whether an operand that may be in memory is.
    pub memory: bool,
    /// Of 16-bit, 32-bit or 64-bit code.
    pub bits: u32,
}

impl std::fmt::Display for Form {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let variant = match (self.code.op_code().op_kinds().iter().any(|kind| either(*kind)), self.memory) {
            (false, _) => "",
            (true, true) => " (memory)",
            (true, false) => " (register)",
        };
        let mode = match self.bits {
            16 => "16-bit ",
            32 => "32-bit ",
            _ => "",
        };
        write!(f, "{mode}{:?}{variant}", self.code)
    }
}

/// What a single step cannot compare: the answers come from outside, or are requests to the operating system.
fn is_excluded(mnemonic: Mnemonic, bits: u32) -> bool {
    use Mnemonic::*;
    // In real mode anybody may enable interrupts and stop the processor.
    matches!(mnemonic, Cpuid | Rdtsc | Rdtscp | Xgetbv | Syscall | Int3)
        || bits == 16 && matches!(mnemonic, Cli | Sti | Hlt | Sysenter)
}

/// Every form of code of that many bits that the override table lifts.
pub fn all(overrides: &Overrides, bits: u32) -> Vec<Form> {
    let mut forms = Vec::new();
    for code in Code::values() {
        let info = code.op_code();
        let encodable = matches!(info.encoding(), EncodingKind::Legacy | EncodingKind::VEX);
        let exists = match bits {
            16 => info.mode16(),
            32 => info.mode32(),
            _ => info.mode64(),
        };
        if !encodable || !exists || !info.is_instruction() || is_excluded(code.mnemonic(), bits) {
            continue;
        }
        for memory in [false, true] {
            let form = Form { code, memory, bits };
            if memory && !info.op_kinds().iter().any(|kind| either(*kind)) {
                continue;
            }
            // A handful of tries: a random operand may not be encodable (AH beside R8).
            let mut random = Random::new(1);
            let lifted = (0..8).find_map(|_| {
                let case = Case::new(form, &mut random)?;
                Some(matches!(overrides.lift(case.registers.rip, &case.bytes), Answer::Lifted(_)))
            });
            if lifted == Some(true) {
                forms.push(form);
            }
        }
    }
    forms
}

/// Whether an operand may be a register or in memory.
fn either(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::r8_or_mem
            | Kind::r16_or_mem
            | Kind::r32_or_mem
            | Kind::r64_or_mem
            | Kind::mm_or_mem
            | Kind::xmm_or_mem
            | Kind::ymm_or_mem
    )
}

const GENERAL: [Register; 16] = [
    Register::RAX,
    Register::RCX,
    Register::RDX,
    Register::RBX,
    Register::RSP,
    Register::RBP,
    Register::RSI,
    Register::RDI,
    Register::R8,
    Register::R9,
    Register::R10,
    Register::R11,
    Register::R12,
    Register::R13,
    Register::R14,
    Register::R15,
];

/// An instruction with a state to run it from.
pub struct Case {
    /// The instruction.
    pub instruction: Instruction,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// The registers before; [`Case::refresh`] makes new ones.
    pub registers: Registers,
    /// What the memory operand's address is made of.
    pointers: Vec<(usize, u64)>,
    /// Where the segment of the memory operand begins, if it names one: FS is 0, GS is 1.
    segment: Option<(usize, u64)>,
}

impl Case {
    /// Random operands and registers, or nothing when they cannot be encoded together.
    pub fn new(form: Form, random: &mut Random) -> Option<Case> {
        let rip = code(form.bits) + 512 + random.below(2048);
        let mut registers = blank(rip, form.bits);
        if form.bits == 16 {
            registers.segments = [(); 6].map(|()| short_segment(random));
            registers.segments[1] = SHORT_CODE;
        }
        let mut instruction = Instruction::new();
        instruction.set_code(form.code);
        let mut memory = None;
        let segment = (form.bits == 64 && random.below(8) == 0)
            .then(|| (random.below(2) as usize, segment_base(random)));
        let begin = segment.map_or(0, |(_, base)| base);
        for (index, kind) in form.code.op_code().op_kinds().iter().enumerate() {
            let in_memory = matches!(kind, Kind::mem | Kind::mem_offs) || (form.memory && either(*kind));
            if let Some(index_register) = vector_index(*kind, form.bits, random) {
                let (operand, registers) = gathered(random, index_register, form.bits, begin);
                instruction.set_op_kind(index as u32, OpKind::Memory);
                set_memory(&mut instruction, &operand);
                memory = Some(registers);
            } else if in_memory {
                let size = operand_bytes(form);
                let vex = form.code.op_code().encoding() == EncodingKind::VEX;
                let place = place(random, size, if vex { 2 } else { 8 }, form.bits);
                let mut built = if form.bits == 16 {
                    let built = real_address(random, place, *kind == Kind::mem_offs, &registers.segments);
                    instruction.set_segment_prefix(built.2);
                    (built.0, built.1)
                } else {
                    address(random, place - begin, *kind == Kind::mem_offs, form.bits)
                };
                // No program has memory where 16 bits reach; only `lea` does not ask for any.
                if form.bits == 32 && form.code.mnemonic() == Mnemonic::Lea && random.below(3) == 0 {
                    built = (short_address(random), Vec::new());
                }
                instruction.set_op_kind(index as u32, OpKind::Memory);
                set_memory(&mut instruction, &built.0);
                memory = Some(built.1);
            } else {
                set_operand(&mut instruction, index as u32, *kind, rip, random, form.bits)?;
            }
        }
        if let (Some((number, _)), Some(_)) = (segment, &memory) {
            instruction.set_segment_prefix([Register::FS, Register::GS][number]);
        }
        if is_string(form.code.mnemonic()) {
            match random.below(3) {
                0 => {}
                1 => instruction.set_has_rep_prefix(true),
                _ => instruction.set_has_repne_prefix(true),
            }
            // Only comparisons tell the two apart; the others take one.
            let compares = format!("{:?}", form.code.mnemonic());
            if instruction.has_repne_prefix()
                && !(compares.starts_with("Cmps") || compares.starts_with("Scas"))
            {
                instruction.set_has_repne_prefix(false);
                instruction.set_has_rep_prefix(true);
            }
        }
        let mut encoder = Encoder::new(form.bits);
        let length = encoder.encode(&instruction, rip).ok()?;
        let mut bytes = encoder.take_buffer();
        bytes.truncate(length);
        let decoded = iced_x86::Decoder::with_ip(form.bits, &bytes, rip, 0).decode();
        // The shortest encoding may be another opcode's.
        if decoded.code() != form.code {
            return None;
        }
        use Mnemonic::{Bt, Btc, Btr, Bts};
        let index = decoded.op1_register().full_register();
        // A request to the operating system, and a breakpoint.
        if decoded.mnemonic() == Mnemonic::Int && matches!(decoded.immediate8(), 3 | 0x80) {
            return None;
        }
        // A segment register in 32-bit code is loaded from a table that we do not have.
        let segment_at =
            |i: u32| decoded.op_kind(i) == OpKind::Register && decoded.op_register(i).is_segment_register();
        if form.bits != 16 && (0..decoded.op_count()).any(segment_at) {
            return None;
        }
        // Behind a load of SS the processor does not stop at once; and a stack elsewhere is another test.
        if decoded.op_count() > 0
            && segment_at(0)
            && decoded.op0_register() == Register::SS
            && decoded.mnemonic() != Mnemonic::Push
        {
            return None;
        }
        let pointed =
            |register: Register| memory.iter().flatten().any(|(number, _)| GENERAL[*number] == register);
        // A bit index that is also part of the address leads anywhere.
        if matches!(form.code.mnemonic(), Bt | Bts | Btr | Btc) && pointed(index) {
            return None;
        }
        // The stack would be in the code.
        if decoded.mnemonic() == Mnemonic::Call && decoded.op0_register().full_register() == Register::RSP {
            return None;
        }
        // So it would where the stack pointer is part of an address, and the stack is used besides.
        if decoded.stack_pointer_increment() != 0 && pointed(Register::RSP) {
            return None;
        }
        let mut case =
            Case { instruction: decoded, bytes, registers, pointers: memory.unwrap_or_default(), segment };
        case.refresh(random);
        Some(case)
    }

    /// Random registers under which the instruction's memory operands lie in the arena.
    pub fn refresh(&mut self, random: &mut Random) {
        let r = &mut self.registers;
        for value in &mut r.general {
            *value = random.interesting();
        }
        for value in r.vector.iter_mut().chain(&mut r.upper) {
            *value = random.vector();
        }
        for value in &mut r.stack {
            *value = random.extended();
        }
        if r.bits == 64 {
            r.bases = [segment_base(random), segment_base(random)];
        }
        if let Some((number, base)) = self.segment {
            r.bases[number] = base;
        }
        // Arithmetic flags and direction at random; bit 1 is always set, interrupts are enabled.
        r.flags = 0x202 | (random.number() & 0xcd5);
        use Mnemonic::*;
        let mnemonic = self.instruction.mnemonic();
        float_controls(r, random);
        // The stack, and what string instructions point to.
        let data = data(r.bits);
        // The segments that the stack and the two ends of string instructions are in.
        let begin = |segment: usize| if r.bits == 16 { u64::from(r.segments[segment]) << 4 } else { 0 };
        let masked = matches!(mnemonic, Maskmovq | Maskmovdqu);
        let begins = [begin(2), begin(2), begin(3), begin(if masked { 3 } else { 0 })];
        for (index, begin) in (4..).zip(begins) {
            r.general[index] = data + 64 + 8 * random.below(ARENA as u64 / 8 - 16) - begin;
        }
        // Lengths and counts that reach past the ends but not far.
        if is_string(mnemonic) {
            r.general[1] = random.below(4);
        }
        if mnemonic == Xlatb {
            r.general[3] = data + random.below(ARENA as u64 - 256) - begins[2];
        }
        // Frames within frames take room below, in both stacks.
        if mnemonic == Enter {
            r.general[4] = data + ARENA as u64 / 2 + 64 + 8 * random.below(32) - begins[0];
            r.general[5] = data + ARENA as u64 / 2 + 8 * random.below(32) - begins[0];
        }
        if format!("{mnemonic:?}").to_lowercase().contains("pcmpestr") {
            r.general[0] = random.below(40).wrapping_sub(20);
            r.general[2] = random.below(40).wrapping_sub(20);
        }
        if matches!(mnemonic, Shl | Shr | Sar | Rol | Ror | Rcl | Rcr | Shld | Shrd) && random.below(2) == 0 {
            r.general[1] = random.below(70);
        }
        if matches!(mnemonic, Div | Idiv) && random.below(4) > 0 {
            let high = if mnemonic == Idiv && random.below(2) == 0 { u64::MAX } else { 0 };
            r.general[2] = if random.below(4) == 0 { random.below(100) } else { high };
            if r.general[0] >> 32 == 0 && random.below(2) == 0 {
                r.general[0] = (high << 8 | random.below(200)) & 0xffff;
            }
        }
        if matches!(mnemonic, Cmpxchg)
            && random.below(2) == 0
            && self.instruction.op0_kind() == OpKind::Register
        {
            r.general[0] = r.general[self.instruction.op0_register().full_register().number()];
        }
        if matches!(mnemonic, Bt | Bts | Btr | Btc)
            && self.instruction.op0_kind() == OpKind::Memory
            && self.instruction.op1_kind() == OpKind::Register
        {
            // The index is signed and in bits.
            let number = self.instruction.op1_register().full_register().number();
            r.general[number] = random.below(512).wrapping_sub(256);
        }
        // Distances for each lane.
        if matches!(mnemonic, Vpsllvd | Vpsllvq | Vpsrlvd | Vpsrlvq | Vpsravd) && random.below(2) == 0 {
            for value in r.vector.iter_mut().chain(&mut r.upper) {
                *value &= 0x3f_0000_003f_0000_003f_0000_003f;
            }
        }
        // Shift counts of vectors.
        if is_shift(mnemonic) && random.below(2) == 0 {
            for value in &mut r.vector {
                *value = (*value & !0xffff_ffff_ffff_ffff) | u128::from(random.below(70));
            }
        }
        // Numbers that stay in the arena: 32 bits each, or 64.
        let index = self.instruction.memory_index();
        if index.is_xmm() || index.is_ymm() {
            let wide = format!("{mnemonic:?}").contains("gatherq");
            let scale = u64::from(self.instruction.memory_index_scale());
            let number = |random: &mut Random| random.below(900 / scale).wrapping_sub(450 / scale);
            for half in [&mut r.vector, &mut r.upper] {
                half[index.number()] = if wide {
                    u128::from(number(random)) | u128::from(number(random)) << 64
                } else {
                    (0..4).fold(0, |all, _| all << 32 | u128::from(number(random) as u32))
                };
            }
        }
        if matches!(mnemonic, Jmp | Call) && self.instruction.op0_kind() == OpKind::Register {
            let target = code(r.bits) + random.below(3800);
            r.general[self.instruction.op0_register().full_register().number()] = target;
        }
        // What a segment register is loaded with must be a segment.
        let loads = self.instruction.op0_kind() == OpKind::Register
            && self.instruction.op0_register().is_segment_register();
        if mnemonic == Mov && loads && self.instruction.op1_kind() == OpKind::Register {
            let number = self.instruction.op1_register().full_register().number();
            r.general[number] = (r.general[number] & !0xffff) | u64::from(short_segment(random));
        }
        for (register, value) in &self.pointers {
            r.general[*register] = *value;
        }
        if r.bits < 64 {
            for (index, value) in r.general.iter_mut().enumerate() {
                *value = if index < 8 { u64::from(*value as u32) } else { 0 };
            }
            r.vector[8..].fill(0);
            r.upper[8..].fill(0);
        }
    }

    /// Whether control goes to an address that is read from memory: then the arena must hold one.
    pub fn needs_target_in_memory(&self) -> Option<u64> {
        use Mnemonic::*;
        match self.instruction.mnemonic() {
            Ret => Some(self.top()),
            Jmp | Call if self.instruction.op0_kind() == OpKind::Memory => self.memory_address(),
            _ => None,
        }
    }

    /// Where a segment of 16-bit code begins.
    fn begin(&self, segment: Register) -> u64 {
        u64::from(self.registers.segments[segment.number()]) << 4
    }

    /// The top of the stack.
    fn top(&self) -> u64 {
        let begin = if self.registers.bits == 16 { self.begin(Register::SS) } else { 0 };
        begin + self.registers.general[4]
    }

    /// Where the operand in memory is.
    fn memory_address(&self) -> Option<u64> {
        let operand = (0..self.instruction.op_count())
            .find(|&index| self.instruction.op_kind(index) == OpKind::Memory)
            .unwrap_or(0);
        self.instruction.virtual_address(operand, 0, |register, _, _| {
            Some(if self.registers.bits == 16 && register.is_segment_register() {
                self.begin(register)
            } else if register == Register::FS {
                self.registers.bases[0]
            } else if register == Register::GS {
                self.registers.bases[1]
            } else if register == Register::RIP || register.is_segment_register() {
                0
            } else {
                let full = self.registers.general[register.full_register().number()];
                match register.size() {
                    2 => full & 0xffff,
                    4 => u64::from(full as u32),
                    _ => full,
                }
            })
        })
    }

    /// Where the instruction stores what we do not keep: pointers to the last x87 instruction and operand, and which bits of
    /// MXCSR a processor of another maker has.
    pub fn unkept(&self) -> [std::ops::Range<u64>; 2] {
        use Mnemonic::*;
        let none = 0..0;
        let Some(address) = self.memory_address() else { return [none.clone(), none] };
        match self.instruction.mnemonic() {
            Fnstenv | Fnsave if matches!(self.instruction.memory_size().size(), 14 | 94) => {
                [address + 6..address + 14, none]
            }
            Fnstenv | Fnsave => [address + 12..address + 28, none],
            Fxsave | Fxsave64 if follows_the_manual() => [address + 6..address + 24, none],
            Fxsave | Fxsave64 => [address + 6..address + 24, address + 28..address + 32],
            _ => [none.clone(), none],
        }
    }

    /// What memory must hold for the instruction to do something worth comparing: address and bytes.
    pub fn wishes(&self, random: &mut Random) -> Option<(u64, Vec<u8>)> {
        use Mnemonic::*;
        let mxcsr = |random: &mut Random| (random.number() as u32 & 0xffff).to_le_bytes().to_vec();
        match self.instruction.mnemonic() {
            Ldmxcsr if random.below(4) > 0 => Some((self.memory_address()?, mxcsr(random))),
            Fxrstor | Fxrstor64 if random.below(8) > 0 => Some((self.memory_address()? + 24, mxcsr(random))),
            // Flags without the one that single-stepping uses, and without ID, which a debugger cannot take back: every
            // later `pushf` would show it.
            Popf | Popfd | Popfq => {
                let flags = (random.number() & 0x4_4cd5) | 0x202;
                Some((self.top(), flags.to_le_bytes().to_vec()))
            }
            Pop if self.instruction.op0_register().is_segment_register() => {
                Some((self.top(), short_segment(random).to_le_bytes().to_vec()))
            }
            Mov if self.instruction.op0_register().is_segment_register() => {
                Some((self.memory_address()?, short_segment(random).to_le_bytes().to_vec()))
            }
            Lds | Les | Lss | Lfs | Lgs => {
                let bytes = self.instruction.op0_register().size() as u64;
                Some((self.memory_address()? + bytes, short_segment(random).to_le_bytes().to_vec()))
            }
            // Equal every other time.
            Cmpxchg8b | Cmpxchg16b if random.below(2) == 0 => {
                let [low, high] = [self.registers.general[0], self.registers.general[2]];
                let bytes = if self.instruction.mnemonic() == Cmpxchg8b {
                    (u64::from(low as u32) | high << 32).to_le_bytes().to_vec()
                } else {
                    [low.to_le_bytes(), high.to_le_bytes()].concat()
                };
                Some((self.memory_address()?, bytes))
            }
            _ => None,
        }
    }
}

fn blank(rip: u64, bits: u32) -> Registers {
    Registers {
        bits,
        general: [0; 16],
        bases: [0; 2],
        segments: [0; 6],
        rip,
        flags: 0x202,
        vector: [0; 16],
        upper: [0; 16],
        stack: [0; 8],
        control: 0x37f,
        status: 0,
        mxcsr: 0x1f80,
        valid: 0xff,
    }
}

/// Control and status of both float units: half of the time as programs start with them, else at random, mostly with all
/// exceptions masked.
fn float_controls(r: &mut Registers, random: &mut Random) {
    let masks = |random: &mut Random| if random.below(4) == 0 { random.below(64) } else { 0x3f };
    r.mxcsr = 0x1f80;
    if random.below(2) == 0 {
        // Sticky flags, denormals are zero, masks, rounding, flush to zero.
        r.mxcsr = (random.number() & 0xe07f) as u32 | (masks(random) as u32) << 7;
    }
    r.control = 0x37f;
    r.status = (random.below(8) << 11) as u16;
    if random.below(2) == 0 {
        // All precisions but the reserved one.
        let precision = random.pick(&[0u16, 2, 3]);
        r.control = 0x40 | masks(random) as u16 | precision << 8 | (random.below(4) << 10) as u16;
    }
    if random.below(2) == 0 {
        r.status |= (random.number() & 0x477f) as u16;
    }
    // A pending exception would stop every x87 instruction: only now and then.
    if random.below(8) > 0 {
        r.status &= r.control | 0xffc0;
    }
    if r.status & !r.control & 0x3f != 0 {
        r.status |= 0x8080;
    }
    let below = (r.status >> 11).wrapping_sub(1) & 7;
    r.valid = match random.below(8) {
        0 => random.number() as u8,
        1 => 0xff,
        _ => !(1 << below),
    };
}

/// Aligned, so that vectors stay so.
fn segment_base(random: &mut Random) -> u64 {
    random.below(1 << 16) & !63
}

fn is_string(mnemonic: Mnemonic) -> bool {
    use Mnemonic::*;
    matches!(
        mnemonic,
        Movsb
            | Movsw
            | Movsq
            | Stosb
            | Stosw
            | Stosd
            | Stosq
            | Lodsb
            | Lodsw
            | Lodsd
            | Lodsq
            | Scasb
            | Scasw
            | Scasd
            | Scasq
            | Cmpsb
            | Cmpsw
            | Cmpsq
    )
}

/// Whether all lanes of a vector are shifted by the lowest of another.
fn is_shift(mnemonic: Mnemonic) -> bool {
    let name = format!("{mnemonic:?}").to_lowercase();
    let name = name.strip_prefix('v').unwrap_or(&name);
    matches!(name, "psllw" | "pslld" | "psllq" | "psrlw" | "psrld" | "psrlq" | "psraw" | "psrad")
}

fn operand_bytes(form: Form) -> usize {
    form.code.op_code().memory_size().size().max(1)
}

/// Where the data is.
pub fn data(bits: u32) -> u64 {
    if bits == 16 { LOW_DATA } else { DATA }
}

/// Where the code is, as its instruction pointer has it.
pub fn code(bits: u32) -> u64 {
    if bits == 16 { 0 } else { CODE }
}

/// A segment from which the data is in reach.
fn short_segment(random: &mut Random) -> u16 {
    SHORT_DATA.start + 8 * random.below(SHORT_DATA.len() as u64 / 8) as u16
}

/// An address in the arena for that many bytes; vectors are aligned, as most instructions ask, but for one in so many.
fn place(random: &mut Random, bytes: usize, odd: u64, bits: u32) -> u64 {
    let align = match bytes {
        16.. if random.below(odd) == 0 => 1,
        32 => 32,
        16.. => 16,
        _ => 1,
    };
    let room = (ARENA - 128 - bytes.min(ARENA / 2)) as u64;
    data(bits) + 64 + random.below(room / align) * align
}

/// An address expression for `target`, and the registers it needs, by number.
fn address(
    random: &mut Random,
    target: u64,
    absolute: bool,
    bits: u32,
) -> (MemoryOperand, Vec<(usize, u64)>) {
    if absolute {
        return (MemoryOperand::with_displ(target, bits / 8), Vec::new());
    }
    let registers = u64::from(if bits == 64 { 16u32 } else { 8 });
    let displacement = match random.below(3) {
        0 => 0i64,
        1 => random.below(256) as i64 - 128,
        _ => random.number() as i32 as i64 / 4,
    };
    let small = bits == 32 || random.below(8) == 0;
    let name = |number: usize| {
        let full = GENERAL[number];
        if small { full.full_register32() } else { full }
    };
    // In 32-bit addresses the sum wraps, and the upper halves of the registers do not matter.
    let noise = if small { random.number() << 32 } else { 0 };
    let fit = |value: u64| if small { u64::from(value as u32) | noise } else { value };
    match random.below(4) {
        0 if bits == 32 => (MemoryOperand::with_displ(target, 4), Vec::new()),
        0 => (MemoryOperand::with_base_displ(Register::RIP, target as i64), Vec::new()),
        1 | 2 => {
            let base = random.below(registers) as usize;
            let operand =
                MemoryOperand::with_base_displ_size(name(base), displacement, size_of(displacement));
            (operand, vec![(base, fit(target.wrapping_sub(displacement as u64)))])
        }
        _ => {
            let base = random.below(registers) as usize;
            let mut index = random.below(registers) as usize;
            while index == 4 || index == base {
                index = random.below(registers) as usize;
            }
            let scale = 1u32 << random.below(4);
            let distance = random.below(16);
            let rest = target.wrapping_sub(displacement as u64).wrapping_sub(distance * u64::from(scale));
            let operand = MemoryOperand::new(
                name(base),
                name(index),
                scale,
                displacement,
                size_of(displacement),
                false,
                Register::None,
            );
            (operand, vec![(base, fit(rest)), (index, fit(distance))])
        }
    }
}

/// An address expression of 16-bit code for `target`, the registers it needs, and the prefix that names its segment, if it does.
fn real_address(
    random: &mut Random,
    target: u64,
    absolute: bool,
    segments: &[u16; 6],
) -> (MemoryOperand, Vec<(usize, u64)>, Register) {
    let names = [Register::ES, Register::CS, Register::SS, Register::DS, Register::FS, Register::GS];
    let prefix = random.pick(&[None, None, None, Some(0), Some(2), Some(3), Some(4), Some(5)]);
    let named = prefix.map_or(Register::None, |number: usize| names[number]);
    let offset = |default: usize| target - (u64::from(segments[prefix.unwrap_or(default)]) << 4);
    let plain = |displacement: u64, size: u32| {
        MemoryOperand::new(
            Register::None,
            Register::None,
            1,
            displacement as i64,
            size,
            false,
            Register::None,
        )
    };
    let number = random.number();
    let displacement = random.pick(&[0, i64::from(number as i8), i64::from(number as i16)]);
    let size = |long: u32| match displacement {
        0 => 0,
        -128..128 => 1,
        _ => long,
    };
    if absolute || random.below(4) == 0 {
        let bytes = random.pick(&[2, 2, 4]);
        return (plain(offset(3), bytes), Vec::new(), named);
    }
    if random.below(3) == 0 {
        // With 32-bit addresses; the sum must stay inside the segment.
        let base = random.below(8) as usize;
        let default = if matches!(base, 4 | 5) { 2 } else { 3 };
        let value = u64::from(offset(default).wrapping_sub(displacement as u64) as u32);
        let name = GENERAL[base].full_register32();
        let operand =
            MemoryOperand::new(name, Register::None, 1, displacement, size(4), false, Register::None);
        return (operand, vec![(base, value)], named);
    }
    let base = random.pick(&[Some((Register::BX, 3usize)), Some((Register::BP, 5)), None]);
    let index = random.pick(&[Some((Register::SI, 6usize)), Some((Register::DI, 7)), None]);
    let index = if base.is_none() { index.or(Some((Register::SI, 6))) } else { index };
    let default = if matches!(base, Some((Register::BP, _))) { 2 } else { 3 };
    let mut rest = offset(default).wrapping_sub(displacement as u64);
    let mut registers = Vec::new();
    let noise = random.number() << 16;
    if let (Some((_, number)), Some(_)) = (index, base) {
        let part = random.number() & 0xffff;
        registers.push((number, part | noise));
        rest = rest.wrapping_sub(part);
    }
    let last = base.or(index).map_or(3, |(_, number)| number);
    registers.push((last, rest & 0xffff | noise));
    let register = |of: Option<(Register, usize)>| of.map_or(Register::None, |(register, _)| register);
    let operand =
        MemoryOperand::new(register(base), register(index), 1, displacement, size(2), false, Register::None);
    (operand, registers, named)
}

/// The register of numbers that a gathering instruction adds to an address.
fn vector_index(kind: Kind, bits: u32, random: &mut Random) -> Option<Register> {
    let number = random.below(if bits == 64 { 16 } else { 8 }) as u32;
    match kind {
        Kind::mem_vsib32x | Kind::mem_vsib64x => Some(Register::XMM0 + number),
        Kind::mem_vsib32y | Kind::mem_vsib64y => Some(Register::YMM0 + number),
        _ => None,
    }
}

/// An address in the middle of the arena, to which small numbers can be added or subtracted.
fn gathered(
    random: &mut Random,
    index: Register,
    bits: u32,
    begin: u64,
) -> (MemoryOperand, Vec<(usize, u64)>) {
    let displacement = if random.below(2) == 0 { 0 } else { random.below(256) as i64 - 128 };
    let base = random.below(if bits == 64 { 16 } else { 8 }) as usize;
    let name = if bits == 64 { GENERAL[base] } else { GENERAL[base].full_register32() };
    let scale = 1 << random.below(4);
    let size = size_of(displacement);
    let operand = MemoryOperand::new(name, index, scale, displacement, size, false, Register::None);
    (operand, vec![(base, (DATA + ARENA as u64 / 2 - begin).wrapping_sub(displacement as u64))])
}

/// An address expression of 16 bits.
fn short_address(random: &mut Random) -> MemoryOperand {
    let base = random.pick(&[Register::BX, Register::BP, Register::None]);
    let index = random.pick(&[Register::SI, Register::DI, Register::None]);
    let displacement = random.number() as i16;
    MemoryOperand::new(base, index, 1, displacement.into(), 2, false, Register::None)
}

fn size_of(displacement: i64) -> u32 {
    u32::from(displacement != 0)
}

fn set_memory(instruction: &mut Instruction, operand: &MemoryOperand) {
    instruction.set_memory_base(operand.base);
    instruction.set_memory_index(operand.index);
    instruction.set_memory_index_scale(operand.scale);
    instruction.set_memory_displ_size(operand.displ_size);
    instruction.set_memory_displacement64(operand.displacement as u64);
    instruction.set_is_broadcast(false);
}

fn set_operand(
    instruction: &mut Instruction,
    index: u32,
    kind: Kind,
    rip: u64,
    random: &mut Random,
    bits: u32,
) -> Option<()> {
    let number = random.below(if bits == 64 { 16 } else { 8 }) as u32;
    let register = match kind {
        Kind::r8_or_mem | Kind::r8_reg | Kind::r8_opcode => {
            if bits < 64 || random.below(4) == 0 {
                let low = [Register::AL, Register::CL, Register::DL, Register::BL];
                let high = [Register::AH, Register::CH, Register::DH, Register::BH];
                let low_half = bits < 64 && random.below(2) == 0;
                random.pick(if low_half { &low } else { &high })
            } else {
                let low = GENERAL[number as usize];
                [
                    Register::AL,
                    Register::CL,
                    Register::DL,
                    Register::BL,
                    Register::SPL,
                    Register::BPL,
                    Register::SIL,
                    Register::DIL,
                    Register::R8L,
                    Register::R9L,
                    Register::R10L,
                    Register::R11L,
                    Register::R12L,
                    Register::R13L,
                    Register::R14L,
                    Register::R15L,
                ][low.number()]
            }
        }
        Kind::r16_or_mem | Kind::r16_reg | Kind::r16_rm | Kind::r16_opcode => Register::AX + number,
        Kind::r32_or_mem | Kind::r32_reg | Kind::r32_rm | Kind::r32_opcode | Kind::r32_vvvv => {
            Register::EAX + number
        }
        Kind::r64_or_mem | Kind::r64_reg | Kind::r64_rm | Kind::r64_opcode | Kind::r64_vvvv => {
            Register::RAX + number
        }
        Kind::mm_or_mem | Kind::mm_reg | Kind::mm_rm => Register::MM0 + number % 8,
        Kind::xmm_or_mem | Kind::xmm_reg | Kind::xmm_rm | Kind::xmm_vvvv | Kind::xmm_is4 => {
            Register::XMM0 + number
        }
        Kind::ymm_or_mem | Kind::ymm_reg | Kind::ymm_rm | Kind::ymm_vvvv | Kind::ymm_is4 => {
            Register::YMM0 + number
        }
        Kind::cr_reg => Register::CR0 + random.pick(&[0, 2, 3, 4]),
        Kind::dr_reg => Register::DR0 + random.pick(&[0, 1, 2, 3, 6, 7]),
        Kind::seg_reg => {
            random.pick(&[Register::ES, Register::CS, Register::SS, Register::DS, Register::FS, Register::GS])
        }
        Kind::es => Register::ES,
        Kind::cs => Register::CS,
        Kind::ss => Register::SS,
        Kind::ds => Register::DS,
        Kind::fs => Register::FS,
        Kind::gs => Register::GS,
        Kind::al => Register::AL,
        Kind::cl => Register::CL,
        Kind::ax => Register::AX,
        Kind::dx => Register::DX,
        Kind::eax => Register::EAX,
        Kind::rax => Register::RAX,
        Kind::st0 => Register::ST0,
        Kind::sti_opcode => Register::ST0 + number % 8,
        _ => Register::None,
    };
    if register != Register::None {
        instruction.set_op_kind(index, OpKind::Register);
        instruction.set_op_register(index, register);
        return Some(());
    }
    let value = random.interesting();
    match kind {
        Kind::imm8 => {
            let second = instruction.op_kind(index.saturating_sub(1)) == OpKind::Immediate16;
            instruction.set_op_kind(index, if second { OpKind::Immediate8_2nd } else { OpKind::Immediate8 });
            let small = if random.below(2) == 0 { random.below(70) } else { value };
            if second {
                instruction.set_immediate8_2nd(small as u8);
            } else {
                instruction.set_immediate8(small as u8);
            }
        }
        Kind::imm8_const_1 => {
            instruction.set_op_kind(index, OpKind::Immediate8);
            instruction.set_immediate8(1);
        }
        Kind::imm8sex16 => {
            instruction.set_op_kind(index, OpKind::Immediate8to16);
            instruction.set_immediate8to16((value as i8).into());
        }
        Kind::imm8sex32 => {
            instruction.set_op_kind(index, OpKind::Immediate8to32);
            instruction.set_immediate8to32((value as i8).into());
        }
        Kind::imm8sex64 => {
            instruction.set_op_kind(index, OpKind::Immediate8to64);
            instruction.set_immediate8to64((value as i8).into());
        }
        Kind::imm16 => {
            instruction.set_op_kind(index, OpKind::Immediate16);
            // `ret` adds it to the stack pointer, which must stay in the arena for nothing: any value will do. `enter`
            // looks whether there is room.
            let enters = instruction.mnemonic() == Mnemonic::Enter;
            instruction.set_immediate16(if enters { random.below(64) as u16 } else { value as u16 });
        }
        Kind::imm32 => {
            instruction.set_op_kind(index, OpKind::Immediate32);
            instruction.set_immediate32(value as u32);
        }
        Kind::imm32sex64 => {
            instruction.set_op_kind(index, OpKind::Immediate32to64);
            instruction.set_immediate32to64((value as i32).into());
        }
        Kind::imm64 => {
            instruction.set_op_kind(index, OpKind::Immediate64);
            instruction.set_immediate64(value);
        }
        Kind::seg_rBX_al => {
            instruction.set_op_kind(index, OpKind::Memory);
            instruction.set_memory_base(match bits {
                16 => Register::BX,
                32 => Register::EBX,
                _ => Register::RBX,
            });
            instruction.set_memory_index(Register::AL);
        }
        Kind::br16_1 | Kind::br16_2 => {
            instruction.set_op_kind(index, OpKind::NearBranch16);
            instruction.set_near_branch16(rip.wrapping_add(random.below(200)).wrapping_sub(100) as u16);
        }
        Kind::seg_rSI if bits == 16 => instruction.set_op_kind(index, OpKind::MemorySegSI),
        Kind::seg_rDI if bits == 16 => instruction.set_op_kind(index, OpKind::MemorySegDI),
        Kind::es_rDI if bits == 16 => instruction.set_op_kind(index, OpKind::MemoryESDI),
        Kind::seg_rSI if bits == 32 => instruction.set_op_kind(index, OpKind::MemorySegESI),
        Kind::seg_rDI if bits == 32 => instruction.set_op_kind(index, OpKind::MemorySegEDI),
        Kind::es_rDI if bits == 32 => instruction.set_op_kind(index, OpKind::MemoryESEDI),
        Kind::seg_rSI => instruction.set_op_kind(index, OpKind::MemorySegRSI),
        Kind::seg_rDI => instruction.set_op_kind(index, OpKind::MemorySegRDI),
        Kind::es_rDI => instruction.set_op_kind(index, OpKind::MemoryESRDI),
        Kind::br32_1 | Kind::br32_4 => {
            instruction.set_op_kind(index, OpKind::NearBranch32);
            instruction.set_near_branch32(rip.wrapping_add(random.below(200)).wrapping_sub(100) as u32);
        }
        Kind::br64_1 | Kind::br64_4 => {
            instruction.set_op_kind(index, OpKind::NearBranch64);
            instruction.set_near_branch64(rip.wrapping_add(random.below(200)).wrapping_sub(100));
        }
        _ => return None,
    }
    Some(())
}
