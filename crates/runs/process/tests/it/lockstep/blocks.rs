//! Blocks of random x86-64 instructions, over few registers so that they get in each other's way.

use super::plain::{Accesses, Notes, Plain};
use iced_x86::{Encoder, Instruction, Mnemonic, OpKind, Register};
use parallax_ir::Trap;
use parallax_process::elf::Machine;
use parallax_process::execute::{Engine, Event, Stop, Watcher, World};
use parallax_process::memory::{Backing, Memory, PAGE, Permissions};
use parallax_process::registers::Registers;
use parallax_silicon::forms::{Case, Form, all};
use parallax_silicon::random::Random;
use parallax_sleigh::x86::Overrides;
use parallax_sleigh::{Language, Lifter};

const CODE: u64 = 0x2000_0000;
const DATA: u64 = 0x3000_0000;

/// What ordinary code is made of, and what blocks are improved for.
fn is_ordinary(mnemonic: Mnemonic) -> bool {
    let name = format!("{mnemonic:?}");
    let plain = [
        "Add", "Sub", "Adc", "Sbb", "And", "Or", "Xor", "Cmp", "Test", "Mov", "Movzx", "Movsx", "Movsxd",
        "Lea", "Inc", "Dec", "Neg", "Not", "Shl", "Shr", "Sar", "Rol", "Imul", "Mul", "Push", "Pop", "Xchg",
        "Bswap", "Cdqe", "Cqo", "Cdq", "Shld", "Bt", "Xadd", "Cmpxchg", "Leave",
    ];
    plain.contains(&name.as_str()) || name.starts_with("Set") || name.starts_with("Cmov")
}

/// Moves general and vector registers to the first four of their kind.
fn crowd(instruction: &mut Instruction) {
    const FEW: [[Register; 4]; 4] = [
        [Register::AL, Register::CL, Register::DL, Register::BL],
        [Register::AX, Register::CX, Register::DX, Register::BX],
        [Register::EAX, Register::ECX, Register::EDX, Register::EBX],
        [Register::RAX, Register::RCX, Register::RDX, Register::RBX],
    ];
    let moved = |register: Register| {
        let number = register.number() % 4;
        match register {
            _ if register.is_gpr8()
                && !matches!(register, Register::AH | Register::BH | Register::CH | Register::DH) =>
            {
                FEW[0][number]
            }
            _ if register.is_gpr16() => FEW[1][number],
            _ if register.is_gpr32() => FEW[2][number],
            _ if register.is_gpr64() => FEW[3][number],
            _ if register.is_xmm() => {
                [Register::XMM0, Register::XMM1, Register::XMM2, Register::XMM3][number]
            }
            _ if register.is_ymm() => {
                [Register::YMM0, Register::YMM1, Register::YMM2, Register::YMM3][number]
            }
            other => other,
        }
    };
    for operand in 0..instruction.op_count() {
        if instruction.op_kind(operand) == OpKind::Register {
            instruction.set_op_register(operand, moved(instruction.op_register(operand)));
        }
    }
}

/// A block: instructions encoded one after the other.
fn block(ordinary: &[Form], others: &[Form], random: &mut Random) -> Vec<u8> {
    let mut bytes = Vec::new();
    let count = 2 + random.below(14);
    for _ in 0..count {
        let forms = if random.below(5) > 0 { ordinary } else { others };
        let form = forms[random.below(forms.len() as u64) as usize];
        let Some(case) = Case::new(form, random) else { continue };
        let mut instruction = case.instruction;
        if random.below(4) > 0 {
            crowd(&mut instruction);
        }
        let mut encoder = Encoder::new(64);
        if encoder.encode(&instruction, CODE + bytes.len() as u64).is_ok() {
            bytes.extend(encoder.take_buffer());
        }
    }
    // A way out whose goal is not known in advance: every flag is live there.
    bytes.push(0xc3);
    bytes
}

/// All of memory can be read and written, so that no access fails; a page of it holds random bytes.
fn memory(code: &[u8], random: &mut Random) -> Memory {
    let end = !(PAGE - 1);
    let mut memory = Memory::new(end, 1 << 30);
    memory.map(0, end, Permissions::DATA, Backing::Zero);
    let execute = Permissions { read: true, write: false, execute: true };
    memory.map(CODE, 2 * PAGE, execute, Backing::Zero);
    memory.poke(CODE, code).expect("mapped");
    let data: Vec<u8> = (0..PAGE / 8).flat_map(|_| random.interesting().to_le_bytes()).collect();
    memory.poke(DATA, &data).expect("mapped");
    memory
}

fn registers(blank: &Registers, random: &mut Random) -> Registers {
    let mut registers = blank.clone();
    for name in [
        "RAX", "RCX", "RDX", "RBX", "RBP", "RSI", "RDI", "R8", "R9", "R10", "R11", "R12", "R13", "R14", "R15",
    ] {
        let pointer = DATA + random.below(PAGE - 64);
        registers.set(name, if random.below(2) == 0 { pointer } else { random.interesting() });
    }
    registers.set("RSP", DATA + 2048 + 8 * random.below(64));
    for flag in Machine::X86_64.abi().flags {
        registers.set(flag, random.below(2));
    }
    for number in 0..16 {
        let halves = [random.vector().to_le_bytes(), random.vector().to_le_bytes()].concat();
        registers.set_bytes(&format!("YMM{number}"), &halves);
    }
    // As programs start, or with any rounding, flags raised and denormals as zero; exceptions are masked.
    let fresh = random.below(2) == 0;
    registers.set("MXCSR", if fresh { 0x1f80 } else { 0x1f80 | random.number() & 0xe07f });
    registers.set("FPUCONTROLWORD", if fresh { 0x37f } else { 0x37f | random.number() & 0xc00 });
    registers.set("FPUTAGWORD", if fresh { 0xffff } else { 0 });
    registers
}

/// Runs random blocks both ways; how many instructions were compared.
fn compare(rounds: u64, seed: u64) -> u64 {
    let lifter = Lifter::new(Language::find("x86-64").expect("x86-64")).expect("its specification");
    let overrides = Overrides::new(lifter.processor(), 64);
    let (ordinary, others): (Vec<Form>, Vec<Form>) =
        all(&overrides, 64).into_iter().partition(|form| is_ordinary(form.code.mnemonic()));
    assert!(ordinary.len() > 200 && others.len() > 400, "{} and {} forms", ordinary.len(), others.len());
    let flags = Machine::X86_64.abi().flags;
    let blank = Registers::new(lifter.processor().clone());
    let mut engine = Engine::new(lifter, &blank, flags);
    let mut random = Random::new(seed);
    let mut compared = 0;
    for round in 0..rounds {
        let code = block(&ordinary, &others, &mut random);
        let registers = registers(&blank, &mut random);
        let mut before = memory(&code, &mut random);
        // Some blocks are cut in their middle.
        let limit = if random.below(3) == 0 { 1 + random.below(16) } else { 64 };
        let accesses = Accesses::default();
        for (watched, exact, warm) in
            [(true, false, 0), (false, true, 0), (false, false, 0), (false, false, 9)]
        {
            let mut world = World::new(before.snapshot(), registers.clone());
            world.watcher = watched.then(|| Box::new(Notes(accesses.clone())) as Box<dyn Watcher>);
            // Each makes other code, so that the last block is forgotten.
            engine.set_watched(watched);
            engine.set_exact_flags(exact);
            engine.set_warm(warm);
            let (end, event) = engine.run(&mut world, CODE, limit);
            let mut plain = Plain::new(&registers);
            for (address, size) in accesses.borrow().iter() {
                plain.supply(&mut before, *address, *size);
            }
            let mut at = CODE;
            let mut texts = Vec::new();
            for _ in 0..world.time {
                let mut bytes = [0; 64];
                let fetched = before.fetch(at, &mut bytes).expect("the engine fetched it");
                let instruction = engine.lifter().lift(at, &bytes[..fetched]).expect("it lifted it");
                texts.push(format!("{at:#x} {}", instruction.text));
                let (next, trap) = plain.step(&instruction).expect("the engine gave it a meaning");
                assert_eq!(trap, None, "seed {seed}, round {round}: {texts:#?}");
                at = next;
                compared += 1;
            }
            // Unless asked for, flags that the rest of the block overwrites need not be there when it is cut.
            let cut = matches!(event, Event::Stop(_) | Event::Budget | Event::Lift(_));
            let mut leave_out: Vec<&str> = if cut && !exact { flags.to_vec() } else { Vec::new() };
            // An instruction that stops with a float exception has noted it before it stops.
            if matches!(event, Event::Stop(Stop::Trap(Trap::Float))) {
                leave_out.push("MXCSR");
            }
            let found = plain.differences(&world.registers, &mut world.memory, &leave_out);
            assert!(
                at == end && found.is_empty(),
                "seed {seed}, round {round}: {texts:#?} then {event:?}: plain at {at:#x}, block at {end:#x}, {found:#?}"
            );
        }
    }
    compared
}

#[test]
fn random_blocks() {
    // `make fuzz WHAT="blocks ROUNDS=100000"` runs more of them, from another seed.
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let (rounds, seed) = (number("FUZZ_ROUNDS").unwrap_or(1500), number("FUZZ_SEED").unwrap_or(1));
    let compared = compare(rounds, seed);
    println!("{rounds} blocks, {compared} instructions");
    assert!(compared > 4 * rounds, "only {compared} instructions of {rounds} blocks could be compared");
}
