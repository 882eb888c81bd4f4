//! Random programs: blocks of random instructions that lead to each other by every kind of jump there is.
//!
//! Not made: instructions that read condition codes which an earlier one left undefined (what they do differs from
//! processor to processor), system calls, code that changes itself, addresses that are relative to GS, 16-bit branches.

use crate::home::{CODE, DATA};
use crate::state::CODES;
use iced_x86::code_asm::*;
use iced_x86::{
    BlockEncoderOptions, Code, CpuidFeature, Encoder, Instruction, Mnemonic, OpKind, Register, RflagsBits,
};
use parallax_native::forms::is_copied;
use parallax_process::registers::Registers;
use parallax_silicon::forms::{Case, Form, all};
use parallax_silicon::random::Random;
use parallax_sleigh::Lifter;
use parallax_sleigh::x86::{Overrides, undefined_codes, undefined_flags};

/// A program and what its data starts with.
pub struct Program {
    pub code: Vec<u8>,
    pub data: Vec<u8>,
}

/// The forms that programs are made of.
pub struct Forms {
    ordinary: Vec<Form>,
    others: Vec<Form>,
}

impl Forms {
    pub fn new(lifter: &Lifter) -> Forms {
        let overrides = Overrides::new(lifter.processor(), 64);
        let mut random = Random::new(3);
        let copied = all(&overrides, 64).into_iter().filter(|form| {
            let case = (0..16).find_map(|_| Case::new(*form, &mut random));
            case.is_some_and(|case| {
                let mut instruction = case.instruction;
                instruction.set_has_rep_prefix(false);
                instruction.set_has_repne_prefix(false);
                instruction.set_segment_prefix(Register::None);
                is_copied(&instruction)
            })
        });
        let (ordinary, others): (Vec<Form>, Vec<Form>) = copied.partition(|form| is_ordinary(form.code));
        assert!(ordinary.len() > 150 && others.len() > 400, "{} and {} forms", ordinary.len(), others.len());
        Forms { ordinary, others }
    }
}

/// What compilers write most.
fn is_ordinary(code: Code) -> bool {
    let name = format!("{:?}", code.mnemonic());
    let plain = [
        "Add", "Sub", "Adc", "Sbb", "And", "Or", "Xor", "Cmp", "Test", "Mov", "Movzx", "Movsx", "Movsxd",
        "Lea", "Inc", "Dec", "Neg", "Not", "Shl", "Shr", "Sar", "Rol", "Imul", "Mul", "Push", "Pop", "Xchg",
        "Bswap", "Cdqe", "Cqo", "Cdq", "Bt", "Xadd", "Cmpxchg",
    ];
    plain.contains(&name.as_str()) || name.starts_with("Set") || name.starts_with("Cmov")
}

const POINTERS: [Register; 11] = [
    Register::RSI,
    Register::RDI,
    Register::RBP,
    Register::R8,
    Register::R9,
    Register::R10,
    Register::R11,
    Register::R12,
    Register::R13,
    Register::R14,
    Register::R15,
];

/// Moves registers to the first four of their kind, so that they get in each other's way and leave pointers alone.
fn crowd(instruction: &mut Instruction) {
    const FEW: [[Register; 4]; 4] = [
        [Register::AL, Register::CL, Register::DL, Register::BL],
        [Register::AX, Register::CX, Register::DX, Register::BX],
        [Register::EAX, Register::ECX, Register::EDX, Register::EBX],
        [Register::RAX, Register::RCX, Register::RDX, Register::RBX],
    ];
    for operand in 0..instruction.op_count() {
        if instruction.op_kind(operand) != OpKind::Register {
            continue;
        }
        let register = instruction.op_register(operand);
        let number = register.number() % 4;
        let moved = match register {
            Register::AH | Register::BH | Register::CH | Register::DH => register,
            _ if register.is_gpr8() => FEW[0][number],
            _ if register.is_gpr16() => FEW[1][number],
            _ if register.is_gpr32() => FEW[2][number],
            _ if register.is_gpr64() => FEW[3][number],
            _ => continue,
        };
        instruction.set_op_register(operand, moved);
    }
}

/// Lets an operand in memory lie in the data, or nearly always.
fn point(instruction: &mut Instruction, random: &mut Random) {
    if !(0..instruction.op_count()).any(|index| instruction.op_kind(index) == OpKind::Memory) {
        return;
    }
    if instruction.memory_displ_size() == 8 && instruction.memory_base() == Register::None
        || instruction.mnemonic() == Mnemonic::Xlatb
    {
        instruction.set_memory_displacement64(DATA + 512 + random.below(128) * 16);
        return;
    }
    instruction.set_segment_prefix(Register::None);
    instruction.set_memory_index(Register::None);
    instruction.set_memory_index_scale(1);
    let offset =
        random.below(16) as i64 * 16 - 128 + if random.below(6) == 0 { random.below(16) as i64 } else { 0 };
    match random.below(8) {
        0 | 1 => {
            instruction.set_memory_base(Register::RIP);
            instruction.set_memory_displ_size(8);
            instruction.set_memory_displacement64((DATA + 1024).wrapping_add(offset as u64));
        }
        choice => {
            let base = random.pick(&POINTERS);
            instruction.set_memory_base(base);
            instruction.set_memory_displ_size(if offset == 0 { 0 } else { 1 });
            instruction.set_memory_displacement64(offset as u64);
            if choice == 2 {
                instruction.set_segment_prefix(Register::FS);
            }
            if choice == 3 && random.below(4) == 0 {
                instruction.set_memory_index(Register::RCX);
                instruction.set_memory_index_scale(random.pick(&[1, 2, 4, 8]));
            }
        }
    }
}

/// What is undefined after the instructions so far.
#[derive(Clone, Copy, Default)]
struct Undefined {
    flags: u32,
    codes: bool,
}

/// The flags of the decoder's table as bits of the flags register.
pub fn as_bits(decoder: u32) -> u32 {
    let pairs = [
        (RflagsBits::CF, 0),
        (RflagsBits::PF, 2),
        (RflagsBits::AF, 4),
        (RflagsBits::ZF, 6),
        (RflagsBits::SF, 7),
        (RflagsBits::OF, 11),
    ];
    pairs.into_iter().fold(0, |all, (flag, bit)| all | u32::from(decoder & flag != 0) << bit)
}

/// The flags that an instruction writes for certain.
fn certain(instruction: &Instruction) -> u32 {
    use Mnemonic::*;
    let by_count =
        matches!(instruction.mnemonic(), Shl | Sal | Shr | Sar | Rol | Ror | Rcl | Rcr | Shld | Shrd);
    if by_count || instruction.is_string_instruction() {
        return 0;
    }
    as_bits(instruction.rflags_written() | instruction.rflags_cleared() | instruction.rflags_set())
}

pub fn is_x87(instruction: &Instruction) -> bool {
    instruction
        .cpuid_features()
        .iter()
        .any(|feature| matches!(feature, CpuidFeature::FPU | CpuidFeature::FPU387 | CpuidFeature::FPU287))
}

impl Undefined {
    fn allows(&self, instruction: &Instruction, reads: bool) -> bool {
        let reads_codes = matches!(instruction.mnemonic(), Mnemonic::Fnstsw | Mnemonic::Fstsw);
        (reads || as_bits(instruction.rflags_read()) & self.flags == 0) && !(reads_codes && self.codes)
    }

    fn note(&mut self, instruction: &Instruction) {
        let counts = (0..72).map(|count| undefined_flags(instruction, count));
        self.flags = (self.flags & !certain(instruction)) | counts.fold(0, |all, flags| all | flags);
        if is_x87(instruction) {
            self.codes = undefined_codes(instruction) != 0;
        }
    }
}

fn ordinary(
    forms: &Forms,
    undefined: &mut Undefined,
    reads: bool,
    random: &mut Random,
) -> Option<Instruction> {
    let forms = if random.below(5) > 0 { &forms.ordinary } else { &forms.others };
    let form = forms[random.below(forms.len() as u64) as usize];
    let mut instruction = Case::new(form, random)?.instruction;
    // Some images of the float units raise exceptions from then on: seldom.
    if matches!(
        instruction.mnemonic(),
        Mnemonic::Fxrstor
            | Mnemonic::Fxrstor64
            | Mnemonic::Frstor
            | Mnemonic::Fldenv
            | Mnemonic::Ldmxcsr
            | Mnemonic::Fldcw
    ) && random.below(8) > 0
    {
        return None;
    }
    // `enter` writes more than one thing before it can fault.
    if instruction.mnemonic() == Mnemonic::Enter {
        return None;
    }
    if random.below(16) > 0 {
        crowd(&mut instruction);
    }
    point(&mut instruction, random);
    if instruction.is_string_instruction() && random.below(8) > 0 {
        instruction.set_has_rep_prefix(false);
        instruction.set_has_repne_prefix(false);
    }
    let mut encoder = Encoder::new(64);
    encoder.encode(&instruction, CODE).ok()?;
    let bytes = encoder.take_buffer();
    let again = iced_x86::Decoder::with_ip(64, &bytes, CODE, 0).decode();
    if again.code() != instruction.code() || !undefined.allows(&again, reads) {
        return None;
    }
    undefined.note(&again);
    Some(instruction)
}

/// A program of up to a dozen blocks.
pub fn program(forms: &Forms, random: &mut Random) -> Program {
    loop {
        if let Ok(program) = try_program(forms, random) {
            return program;
        }
    }
}

fn try_program(forms: &Forms, random: &mut Random) -> Result<Program, IcedError> {
    let mut a = CodeAssembler::new(64)?;
    let count = 1 + random.below(11) as usize;
    // Whether flags are read that instructions left undefined.
    let reads = random.below(2) == 0;
    let mut labels: Vec<CodeLabel> = (0..count).map(|_| a.create_label()).collect();
    for index in 0..count {
        a.set_label(&mut labels[index])?;
        let to = labels[random.below(count as u64) as usize];
        let mut undefined = Undefined { codes: true, ..Undefined::default() };
        for _ in 0..random.below(9) {
            if let Some(instruction) = ordinary(forms, &mut undefined, reads, random) {
                a.add_instruction(instruction)?;
            }
        }
        if random.below(16) == 0 && (reads || undefined.flags == 0) {
            match random.below(3) {
                0 => a.pushfq()?,
                1 => a.cpuid()?,
                _ => a.rep().stosb()?,
            }
        }
        // What follows may read any flag.
        if undefined.flags != 0 && !reads {
            match random.below(5) {
                0 => a.cmp(rax, rdx)?,
                1 => a.add(ebx, 1)?,
                2 => a.cmp(qword_ptr(rsi), rbx)?,
                3 => a.sub(dl, al)?,
                _ => {
                    a.add(eax, edx)?;
                    a.lea(rcx, ptr(rcx + 1))?;
                }
            }
        }
        jump(&mut a, to, random)?;
    }
    a.hlt()?;
    let made = a.assemble_options(CODE, BlockEncoderOptions::RETURN_NEW_INSTRUCTION_OFFSETS)?;
    let places: Vec<u64> = labels.iter().map(|label| made.label_ip(label)).collect::<Result<_, _>>()?;
    let mut data = Vec::new();
    for index in 0..512 {
        let is_place = index < 64 || index > 320 && random.below(3) > 0;
        let word = if is_place { random.pick(&places) } else { random.interesting() };
        data.extend(word.to_le_bytes());
    }
    Ok(Program { code: made.inner.code_buffer, data })
}

/// Ends a block: everything that leads elsewhere, forward and back.
fn jump(a: &mut CodeAssembler, to: CodeLabel, random: &mut Random) -> Result<(), IcedError> {
    // Where tables of goals are.
    let table = DATA + 8 * random.below(64);
    match random.below(26) {
        0 => a.jmp(to),
        1 => a.je(to),
        2 => a.jne(to),
        3 => a.jb(to),
        4 => a.jae(to),
        5 => a.jo(to),
        6 => a.jno(to),
        7 => a.js(to),
        8 => a.jp(to),
        9 => a.jl(to),
        10 => a.jg(to),
        11 => a.call(to),
        12 => a.ret(),
        13 => a.ret_1(8 * random.below(3) as u32),
        14 => {
            a.lea(rdx, ptr(to))?;
            a.jmp(rdx)
        }
        15 => {
            a.lea(rcx, ptr(to))?;
            a.jmp(rcx)
        }
        16 => {
            a.lea(rcx, ptr(to))?;
            a.call(rcx)
        }
        17 => {
            a.lea(r11, ptr(to))?;
            a.call(r11)
        }
        18 => {
            a.mov(rbx, table)?;
            a.jmp(qword_ptr(rbx))
        }
        19 => {
            a.mov(rcx, table - 8)?;
            a.call(qword_ptr(rcx + 8))
        }
        20 => a.call(qword_ptr(rsp + 8 * random.below(4))),
        21 => {
            let mut jump = Instruction::with1(
                if random.below(2) == 0 { Code::Jmp_rm64 } else { Code::Call_rm64 },
                iced_x86::MemoryOperand::with_base_displ(Register::RIP, table as i64),
            )?;
            jump.set_memory_displ_size(8);
            a.add_instruction(jump)
        }
        // A goal, or a stack, where nothing is.
        23 => a.call(qword_ptr(rsi + 0x7000)),
        24 => {
            a.lea(rsp, ptr(rsp - 0x7000))?;
            match random.below(3) {
                0 => a.ret(),
                1 => a.call(to),
                _ => a.call(rdx),
            }
        }
        22 => {
            // Most values of the whole register are far from zero.
            a.and(ecx, 3)?;
            near(a, random, to)
        }
        _ => {
            a.inc(rax)?;
            a.jne(to)
        }
    }
}

/// `jrcxz` and `loop`, which reach only the next few bytes: past a jump to `to`.
fn near(a: &mut CodeAssembler, random: &mut Random, to: CodeLabel) -> Result<(), IcedError> {
    let mut over = a.create_label();
    match random.below(5) {
        0 => a.jrcxz(over)?,
        1 => a.jecxz(over)?,
        2 => a.loop_(over)?,
        3 => a.loope(over)?,
        _ => a.loopne(over)?,
    }
    a.lea(rax, ptr(rax + 3))?;
    a.jmp(to)?;
    a.set_label(&mut over)?;
    a.add(rbx, rcx)
}

/// Registers to start from: pointers into the data, a stack, the rest at random.
pub fn registers(blank: &Registers, random: &mut Random) -> Registers {
    let mut registers = blank.clone();
    for name in ["RAX", "RBX", "RCX", "RDX"] {
        registers.set(name, random.interesting());
    }
    for name in ["RSI", "RDI", "RBP", "R8", "R9", "R10", "R11", "R12", "R13", "R14", "R15"] {
        registers.set(name, DATA + 768 + 16 * random.below(96));
    }
    registers.set("RSP", DATA + 2816 + 8 * random.below(96));
    registers.set("FS_OFFSET", 16 * random.below(8));
    for (name, _) in crate::state::FLAGS {
        registers.set(name, random.below(2));
    }
    for number in 0..16 {
        registers.set_bytes(&format!("XMM{number}"), &random.vector().to_le_bytes());
    }
    // As programs start, or with any rounding, flags raised and denormals as zero; exceptions are masked.
    let fresh = random.below(2) == 0;
    registers.set("MXCSR", if fresh { 0x1f80 } else { 0x1f80 | random.number() & 0xe07f });
    registers.set("FPUCONTROLWORD", if fresh { 0x37f } else { 0x37f | random.number() & 0xc00 });
    registers.set("FPUTAGWORD", if fresh { 0xffff } else { 0 });
    if !fresh {
        for number in 0..8 {
            registers.set_bytes(&format!("ST{number}"), &random.extended().to_le_bytes()[..10]);
        }
        CODES.iter().for_each(|(name, _)| registers.set(name, random.below(2)));
    }
    registers
}
