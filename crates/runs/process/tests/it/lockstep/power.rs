//! Floats of PowerPC: the host's arithmetic, and what is worked out about it, against the meaning.

use super::plain::Plain;
use parallax_ir::Trap;
use parallax_process::elf::Machine;
use parallax_process::execute::{Engine, Event, Stop, World};
use parallax_process::memory::{Backing, Memory, PAGE, Permissions};
use parallax_process::registers::Registers;
use parallax_silicon::random::Random;
use parallax_sleigh::{Language, Lifter};

const CODE: u64 = 0x1000_0000;
const DATA: u64 = 0x2000_0000;

/// Everything the engine has a way of its own for, and a few that it has not; fields are filled at random.
fn instruction(random: &mut Random) -> u32 {
    let [t, a, b, c] = std::array::from_fn(|_| random.below(32) as u32);
    let primary = random.pick(&[59, 63]) << 26 | t << 21;
    match random.below(10) {
        0 => 63 << 26 | (t & 7) << 23 | a << 16 | b << 11 | random.pick(&[0, 32]) << 1,
        1 => 63 << 26 | t << 21 | b << 11 | random.pick(&[12, 14, 15, 846, 814, 26]) << 1,
        2 => primary | b << 11 | 22 << 1,
        3 => primary | a << 16 | c << 6 | 25 << 1,
        4 | 5 => primary | a << 16 | b << 11 | c << 6 | (28 + random.below(4) as u32) << 1,
        6 => (48 + 4 * random.below(2) as u32) << 26 | t << 21 | 1 << 16 | (random.below(64) as u32 * 4),
        _ => primary | a << 16 | b << 11 | random.pick(&[18, 20, 21]) << 1,
    }
}

/// An ordinary number, a single, something close to another register's value, or anything.
fn operand(random: &mut Random, before: &[u64]) -> u64 {
    match random.below(8) {
        0 | 1 => f64::from(f32::from_bits(random.single())).to_bits(),
        2 => f64::from(random.number() as i16).to_bits(),
        3 if !before.is_empty() => random.pick(before) ^ 1 << 63,
        4 if !before.is_empty() => random.pick(before).wrapping_add(random.below(5)),
        5 => f64::from_bits(0x3ff0 << 48 | random.number() >> 12).to_bits(),
        _ => random.double(),
    }
}

#[test]
fn powerpc_floats() {
    let lifter = Lifter::new(Language::find("powerpc").expect("powerpc")).expect("its specification");
    let blank = Registers::new(lifter.processor().clone());
    let mut engine = Engine::new(lifter, &blank, Machine::PowerPc.abi().flags);
    let mut random = Random::new(7);
    let mut compared = 0;
    for round in 0..400 {
        let words: Vec<u32> = (0..12).map(|_| instruction(&mut random)).chain([0x4e80_0020]).collect();
        let code: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
        let mut memory = Memory::new(0xffff_f000, 1 << 30);
        memory.map(DATA, PAGE, Permissions::DATA, Backing::Zero);
        let execute = Permissions { read: true, write: false, execute: true };
        memory.map(CODE, PAGE, execute, Backing::Zero);
        memory.poke(CODE, &code).expect("mapped");
        let data: Vec<u8> = (0..PAGE / 4).flat_map(|_| random.single().to_be_bytes()).collect();
        memory.poke(DATA, &data).expect("mapped");
        let mut registers = blank.clone();
        registers.set("R1", DATA);
        let mut floats = Vec::new();
        for number in 0..32 {
            floats.push(operand(&mut random, &floats));
            registers.set(&format!("F{number}"), floats[number]);
        }
        let status = random.pick(&[0, 0, 0x8202_4000, 1, 2, 0xe8]);
        registers.set("FPSCR", status);
        registers.set("MSR", random.pick(&[0, 0x900]));
        let mut world = World::new(memory.snapshot(), registers.clone());
        // Another block was here.
        engine.set_watched(round % 2 == 0);
        let (_, event) = engine.run(&mut world, CODE, 12);
        let mut plain = Plain::new(&registers);
        plain.supply(&mut memory, DATA, 512);
        let stopped = matches!(event, Event::Stop(Stop::Trap(Trap::Float)));
        let mut texts = Vec::new();
        for number in 0..world.time + u64::from(stopped) {
            let at = CODE + 4 * number;
            let word = &code[4 * number as usize..][..4];
            let instruction = engine.lifter().lift(at, word).expect("an instruction");
            texts.push(instruction.text.clone());
            plain.step(&instruction).expect("it has a meaning");
            compared += 1;
        }
        // Where a block is cut, flags that the rest of it overwrites need not be there.
        let flags = if stopped { Machine::PowerPc.abi().flags } else { &[] };
        let found = plain.differences(&world.registers, &mut world.memory, flags);
        assert!(found.is_empty(), "round {round} under {status:#x}: {texts:?} then {event:?}: {found:#?}");
    }
    assert!(compared > 3000, "only {compared} instructions could be compared");
}
