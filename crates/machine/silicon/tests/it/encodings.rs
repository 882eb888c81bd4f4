//! Every opcode of both encodings, with a few operands each: lifted or refused, and what is lifted has a meaning.

use parallax_ir::meaning::{MeaningError, State, exec};
use parallax_op::Bits;
use parallax_sem::{Concrete, Table};
use parallax_sleigh::x86::{Answer, Overrides};
use parallax_sleigh::{Language, Lifter};

/// Registers, then memory with every kind of address.
const OPERANDS: [&[u8]; 7] = [
    &[0xc1],
    &[0xee],
    &[0x00],
    &[0x54, 0x8a, 0x10],
    &[0x9c, 0x25, 1, 2, 3, 4],
    &[0x0d, 1, 2, 3, 4],
    &[0xb7, 1, 2, 3, 4],
];

fn opcodes() -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for opcode in 0..=255 {
        for leader in [&[][..], &[0x0f], &[0x0f, 0x38], &[0x0f, 0x3a]] {
            for prefix in [&[][..], &[0x66], &[0xf2], &[0xf3], &[0x67], &[0x65], &[0x48], &[0x66, 0x44]] {
                all.push([prefix, leader, &[opcode]].concat());
            }
        }
        for map in 1..=3 {
            for rest in 0..16 {
                // W, L and the implied prefix; with and without a second source.
                let last = (rest & 8) << 4 | rest & 7;
                for source in [15, 4] {
                    all.push(vec![0xc4, 0xe0 | map, last | source << 3, opcode]);
                }
            }
        }
    }
    all
}

fn every_opcode_has_an_answer(name: &str, bits: u32) {
    let lifter = Lifter::new(Language::find(name).unwrap()).unwrap();
    let processor = lifter.processor().clone();
    let overrides = Overrides::new(&processor, bits);
    let (mut lifted, mut refused) = (0, 0);
    for opcode in opcodes() {
        for operands in OPERANDS {
            let bytes = [&opcode, operands, &[0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc, 0xde, 0xf0]].concat();
            match overrides.lift(0x1000, &bytes) {
                Answer::Lifted(instruction) => {
                    lifted += 1;
                    let state = State::with_memory(&processor, Table::new(Bits::zero(8)));
                    match exec(&Concrete, &instruction, state) {
                        Ok(_) | Err(MeaningError::Outside(_)) => {}
                        Err(error) => panic!("{bytes:x?} {}: {error}", instruction.text),
                    }
                }
                Answer::Refused(_, text, _) => {
                    refused += 1;
                    assert!(!text.is_empty(), "{bytes:x?}");
                }
                Answer::Invalid(_) => {}
                Answer::NotOurs => panic!("{bytes:x?} goes to the specification"),
            }
        }
    }
    assert!(lifted > 30_000 && refused > 1000, "{lifted} lifted, {refused} refused");
}

#[test]
fn every_opcode_of_64_bit_code_has_an_answer() {
    every_opcode_has_an_answer("x86-64", 64);
}

#[test]
fn every_opcode_of_32_bit_code_has_an_answer() {
    every_opcode_has_an_answer("x86", 32);
}
