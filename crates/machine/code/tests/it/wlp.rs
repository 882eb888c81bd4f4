//! The weakest liberal precondition of random code, at random states, is what running it says: the postcondition holds
//! afterwards, or an instruction faults.

use crate::random;

use parallax_code::{MachineState, Program, SharedLifter};
use parallax_op::Bits;
use parallax_primitives::{Bounds, Explorer};
use parallax_sem::Language as _;
use parallax_sleigh::{Language, Lifter};
use parallax_term::{Scalar, Sort, Store, StructUpdate, SymbolKind, parse_formula};
use random::Random;

/// Short instructions of which any sequence makes sense: arithmetic, division, loads and stores through RDI, flags,
/// and one that faults on an operand that is not aligned.
const X86: &[&[u8]] = &[
    &[0x48, 0x01, 0xd8],       // add rax, rbx
    &[0x29, 0xc8],             // sub eax, ecx
    &[0x31, 0xd2],             // xor edx, edx
    &[0x31, 0xd2],             // xor edx, edx
    &[0xf7, 0xf1],             // div ecx
    &[0x99],                   // cdq
    &[0xf7, 0xf9],             // idiv ecx
    &[0x48, 0xf7, 0xf3],       // div rbx
    &[0x8b, 0x47, 0x04],       // mov eax, [rdi+4]
    &[0x89, 0x47, 0x06],       // mov [rdi+6], eax
    &[0x0f, 0xb6, 0x0f],       // movzx ecx, byte [rdi]
    &[0x39, 0xc8],             // cmp eax, ecx
    &[0x0f, 0x94, 0xc0],       // sete al
    &[0x0f, 0x42, 0xc3],       // cmovb eax, ebx
    &[0xd3, 0xe0],             // shl eax, cl
    &[0x83, 0xe1, 0x03],       // and ecx, 3
    &[0x66, 0x0f, 0x6f, 0x07], // movdqa xmm0, [rdi]
];

/// The same for PowerPC, whose division never faults; `twlt` traps.
const POWERPC: &[u32] = &[
    0x7c63_2214, // add r3, r3, r4
    0x7c63_23d6, // divw r3, r3, r4
    0x7c63_2396, // divwu r3, r3, r4
    0x7c64_19d6, // mullw r3, r4, r3
    0x8065_0004, // lwz r3, 4(r5)
    0x9065_0006, // stw r3, 6(r5)
    0x8885_0000, // lbz r4, 0(r5)
    0x7c03_2000, // cmpw r3, r4
    0x7060_0003, // andi. r0, r3, 3
    0x7c63_20f8, // nor r3, r3, r4
    0x7e04_0008, // twlt r4, r0
];

const MEMORY: u64 = 0x8000;

/// How many of the states of a kind there were.
#[derive(Default)]
struct Tally {
    hold: usize,
    fail: usize,
    fault: usize,
}

fn lifter(language: &str) -> SharedLifter {
    SharedLifter::new(Lifter::new(Language::find(language).unwrap()).unwrap().into())
}

fn check(
    lifter: &SharedLifter,
    code: Vec<u8>,
    names: &[&str],
    pointer: &str,
    random: &mut Random,
    tally: &mut Tally,
) {
    let program = Program::from_bytes(lifter, 0x1000, code.clone()).unwrap();
    let width = program.processor().address_bytes * 8;
    let states: Vec<MachineState> = (0..6)
        .map(|_| {
            let mut state = MachineState::default();
            for name in names {
                let small = random.number().is_multiple_of(3);
                let value = if small { random.number() % 4 } else { random.number() };
                state.registers.push(((*name).to_owned(), Bits::new(width, value.into())));
            }
            let at = MEMORY + random.pick(&[0, 0, 1]);
            state.registers.push((pointer.to_owned(), Bits::new(width, at.into())));
            let bytes = (0..24).map(|_| random.pick(&[0, 1, 2, 0x80, 0xff])).collect();
            state.memory.push((MEMORY, bytes));
            state
        })
        .collect();
    // The value that the first state gives, so that the condition holds sometimes.
    let value = |state: &MachineState, name: &str| {
        state.registers.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone()).unwrap()
    };
    let result = names[0];
    let first = value(&program.run_state(&states[0], 1000).unwrap(), result);
    let store = Store::new();
    program.declare(&store);
    let text = format!("{result} <=u {first}");
    let post = parse_formula(&store, &text).unwrap_or_else(|error| panic!("{text}: {error:?}"));
    let evaluation = Explorer::new(&program, &store, Bounds::default()).evaluate(&StructUpdate::identity());
    let wlp = evaluation.precondition(&program, &store, post);
    // Evaluated at a state like any other truth value of the machine.
    let answer = store.declare("TRAP", Sort::Bool, SymbolKind::Free);
    let mut update = StructUpdate::identity();
    update.set_constant(&store, answer, Scalar::Formula(wlp));
    for state in &states {
        let after = program.run_state(state, 1000).unwrap();
        let holds = value(&after, result).to_u64() <= first.to_u64();
        let expected = after.stopped.is_some() || holds;
        let found = program.evaluate_state(&store, &update, state).unwrap().stopped.is_some();
        assert_eq!(
            found,
            expected,
            "{code:02x?} at {:?}: {} {:?}",
            state.registers,
            store.display(wlp),
            after.stopped
        );
        match (after.stopped.is_some(), holds) {
            (true, _) => tally.fault += 1,
            (_, true) => tally.hold += 1,
            _ => tally.fail += 1,
        }
    }
}

#[test]
fn x86_preconditions_are_what_running_says() {
    let (mut random, mut tally) = (Random(0x9e37_79b9_7f4a_7c15), Tally::default());
    let lifter = lifter("x86-64");
    for _ in 0..200 {
        let length = 1 + random.number() % 6;
        let code = (0..length).flat_map(|_| random.pick(X86).to_vec()).collect();
        check(&lifter, code, &["RAX", "RBX", "RCX", "RDX"], "RDI", &mut random, &mut tally);
    }
    assert!(tally.hold > 100 && tally.fail > 100 && tally.fault > 100, "each happens");
}

#[test]
fn powerpc_preconditions_are_what_running_says() {
    let (mut random, mut tally) = (Random(0x1234_5678_9abc_def1), Tally::default());
    let lifter = lifter("powerpc");
    for _ in 0..100 {
        let length = 1 + random.number() % 6;
        let code = (0..length).flat_map(|_| random.pick(POWERPC).to_be_bytes()).collect();
        check(&lifter, code, &["R3", "R4", "R0"], "R5", &mut random, &mut tally);
    }
    assert!(tally.hold > 50 && tally.fail > 50 && tally.fault > 20, "each happens");
}
