//! Composing two pieces of machine code is running one after the other: pieces with loads, stores, divisions that fault, and
//! branches over an instruction or two, which may lead out of a piece, against runs of both as one.
//!
//! Not made: branches backwards, delay slots that hold anything but `nop`, vectors, calls (functions that are called one after
//! the other are a test of their own). `COMPOSE_PIECES` asks for more.

use crate::random::Random;
use parallax_code::{MachineState, Program, Selection, SharedLifter, load};
use parallax_op::Bits;
use parallax_primitives::{Bounds, Composition, Explorer, assumptions, compose};
use parallax_sem::Language as _;
use parallax_sleigh::{Language, Lifter};
use parallax_term::{Store, StructUpdate};
use std::path::Path;
use std::process::Command;

/// Pieces of code of a processor, and its registers: some numbers, and a pointer.
pub(crate) struct Kind {
    pub language: &'static str,
    pub pieces: &'static [&'static [u8]],
    pub numbers: &'static [&'static str],
    pub pointer: &'static str,
    pub pc: &'static str,
}

/// Each has arithmetic, a load, a store, a comparison, and branches over what follows.
pub(crate) const KINDS: &[Kind] = &[
    Kind {
        language: "x86-64",
        pieces: &[
            &[0x01, 0xd8],          // add eax, ebx
            &[0x31, 0xc1],          // xor ecx, eax
            &[0x8b, 0x07],          // mov eax, [rdi]
            &[0x89, 0x47, 0x04],    // mov [rdi+4], eax
            &[0x39, 0xd8],          // cmp eax, ebx
            &[0x83, 0xf8, 0x05],    // cmp eax, 5
            &[0x99],                // cdq
            &[0xf7, 0xf9],          // idiv ecx
            &[0x74, 0x02],          // jz over two bytes
            &[0x7c, 0x02],          // jl
            &[0x77, 0x03],          // ja
            &[0x74, 0x05],          // jz over five bytes
            &[0xb8, 0x01, 0, 0, 0], // mov eax, 1
            &[0x0f, 0x94, 0xc0],    // sete al
        ],
        numbers: &["RAX", "RBX", "RCX", "RDX"],
        pointer: "RDI",
        pc: "RIP",
    },
    Kind {
        language: "aarch64",
        pieces: &[
            &[0, 0, 1, 0x8b],          // add x0, x0, x1
            &[2, 0, 1, 0x4a],          // eor w2, w0, w1
            &[0x61, 0, 0x40, 0xb9],    // ldr w1, [x3]
            &[0x60, 4, 0, 0xb9],       // str w0, [x3, #4]
            &[0x1f, 0, 1, 0x6b],       // cmp w0, w1
            &[0x4b, 0, 0, 0x54],       // b.lt over one
            &[0x60, 0, 0, 0x34],       // cbz w0, over two
            &[0x40, 0x0c, 0xc1, 0x1a], // sdiv w0, w2, w1
        ],
        numbers: &["X0", "X1", "X2"],
        pointer: "X3",
        pc: "PC",
    },
    Kind {
        language: "riscv64",
        pieces: &[
            &[0x33, 0x05, 0xb5, 0], // add a0, a0, a1
            &[0x33, 0x46, 0xb5, 0], // xor a2, a0, a1
            &[0x83, 0xa5, 6, 0],    // lw a1, 0(a3)
            &[0x23, 0xa2, 0xa6, 0], // sw a0, 4(a3)
            &[0x63, 4, 0xb5, 0],    // beq a0, a1, over one
            &[0x63, 0x46, 0xb5, 0], // blt a0, a1, over two
        ],
        numbers: &["A0", "A1", "A2"],
        pointer: "A3",
        pc: "PC",
    },
    Kind {
        language: "arm",
        pieces: &[
            &[1, 0, 0x80, 0xe0],    // add r0, r0, r1
            &[1, 0x20, 0x20, 0xe0], // eor r2, r0, r1
            &[0, 0x10, 0x93, 0xe5], // ldr r1, [r3]
            &[4, 0, 0x83, 0xe5],    // str r0, [r3, #4]
            &[1, 0, 0x50, 0xe1],    // cmp r0, r1
            &[0, 0, 0, 0xba],       // blt over one
            &[1, 0, 0, 0x0a],       // beq over two
            &[1, 0, 0x80, 0xc0],    // addgt r0, r0, r1
        ],
        numbers: &["R0", "R1", "R2"],
        pointer: "R3",
        pc: "PC",
    },
    Kind {
        language: "mips",
        pieces: &[
            &[0, 0x85, 0x20, 0x21],          // addu a0, a0, a1
            &[0, 0x85, 0x30, 0x26],          // xor a2, a0, a1
            &[0x8c, 0xe5, 0, 0],             // lw a1, 0(a3)
            &[0xac, 0xe4, 0, 4],             // sw a0, 4(a3)
            &[0, 0x85, 0x10, 0x2a],          // slt v0, a0, a1
            &[0x10, 0x85, 0, 2, 0, 0, 0, 0], // beq a0, a1 over one, and its delay slot
            &[0x14, 0x40, 0, 3, 0, 0, 0, 0], // bne v0, zero over two
        ],
        numbers: &["A0", "A1", "A2", "V0"],
        pointer: "A3",
        pc: "PC",
    },
    Kind {
        language: "powerpc",
        pieces: &[
            &[0x7c, 0x63, 0x22, 0x14], // add r3, r3, r4
            &[0x7c, 0x65, 0x22, 0x78], // xor r5, r3, r4
            &[0x80, 0x86, 0, 0],       // lwz r4, 0(r6)
            &[0x90, 0x66, 0, 4],       // stw r3, 4(r6)
            &[0x7c, 3, 0x20, 0],       // cmpw r3, r4
            &[0x41, 0x80, 0, 8],       // blt over one
            &[0x41, 0x82, 0, 12],      // beq over two
            &[0x7e, 4, 0x18, 8],       // twlt r4, r3
        ],
        numbers: &["R3", "R4", "R5"],
        pointer: "R6",
        pc: "PC",
    },
];

const MEMORY: u64 = 0x8000;
const BASE: u64 = 0x1000;

pub(crate) fn lifter(language: &str) -> SharedLifter {
    SharedLifter::new(Lifter::new(Language::find(language).unwrap()).unwrap().into())
}

/// Some pieces of code, one behind the other, and where each ends.
pub(crate) fn code(kind: &Kind, random: &mut Random, most: u64) -> (Vec<u8>, Vec<u64>) {
    let (mut bytes, mut ends) = (Vec::new(), Vec::new());
    for _ in 0..1 + random.number() % most {
        bytes.extend(random.pick(kind.pieces));
        ends.push(BASE + bytes.len() as u64);
    }
    (bytes, ends)
}

pub(crate) fn state(kind: &Kind, program: &Program, random: &mut Random) -> MachineState {
    let width = program.processor().address_bytes * 8;
    let mut state = MachineState::default();
    for name in kind.numbers {
        let value = match random.number() % 4 {
            0 => random.number() % 7,
            1 => 0x8000_0000,
            2 => 5,
            _ => random.number(),
        };
        state.registers.push(((*name).to_owned(), Bits::new(width, value.into())));
    }
    state.registers.push((kind.pointer.to_owned(), Bits::new(width, MEMORY.into())));
    state.memory.push((MEMORY, (0..16).map(|_| random.pick(&[0, 1, 5, 0xff])).collect()));
    state
}

fn explored(program: &Program, store: &Store) -> parallax_primitives::Evaluation {
    Explorer::new(program, store, Bounds::default())
        .with_solver(parallax_smt::solver(store))
        .evaluate(&StructUpdate::identity())
}

fn pieces() -> u32 {
    std::env::var("COMPOSE_PIECES").ok().and_then(|text| text.parse().ok()).unwrap_or(60)
}

#[test]
fn composing_pieces_is_running_in_sequence() {
    for kind in KINDS {
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        let lifter = lifter(kind.language);
        let (mut compared, mut left, mut faults) = (0, 0, 0);
        for _ in 0..pieces() {
            let (a, _) = code(kind, &mut random, 3);
            let (b, _) = code(kind, &mut random, 3);
            let whole = Program::from_bytes(&lifter, BASE, [&a[..], &b[..]].concat()).unwrap();
            let first = Program::from_bytes(&lifter, BASE, a.clone()).unwrap();
            let second = Program::from_bytes(&lifter, BASE + a.len() as u64, b.clone()).unwrap();
            second.open_controls();
            let store = Store::new();
            whole.declare(&store);
            first.declare(&store);
            second.declare(&store);
            let (before, then) = (explored(&first, &store), explored(&second, &store));
            let Composition { whole: composed, .. } =
                compose(parallax_smt::solver(&store), (&first, &before), (&second, &then));
            let is_conditional = store.eq(before.pc, store.constant(&second.entry())) != store.true_();
            for _ in 0..4 {
                let start = state(kind, &whole, &mut random);
                let what = || format!("{} {a:02x?} then {b:02x?} from {start:x?}", kind.language);
                if !whole.holds(&store, composed.complete, &start).unwrap() {
                    assert!(!composed.gave_up.is_empty(), "{}: left out without a reason", what());
                    continue;
                }
                let ran = whole.run_state(&start, 1000).unwrap();
                let found = whole.evaluate_state(&store, &composed.update, &start).unwrap();
                assert_eq!(ran.stopped.is_some(), found.stopped.is_some(), "{}", what());
                if ran.stopped.is_some() {
                    faults += 1;
                    continue;
                }
                let named = |state: &MachineState| {
                    let wanted = |name: &str| kind.numbers.contains(&name) || name == kind.pc;
                    let mut all: Vec<_> =
                        state.registers.iter().filter(|(name, _)| wanted(name)).cloned().collect();
                    all.sort_by(|a, b| a.0.cmp(&b.0));
                    (all, state.memory.clone())
                };
                assert_eq!(named(&found), named(&ran), "{}", what());
                compared += 1;
                left += u32::from(is_conditional);
            }
        }
        println!(
            "{}: {compared} states compared, {left} behind a branch that may leave, {faults} faults",
            kind.language
        );
        assert!(compared > 2 * pieces() && left > pieces() / 8, "{}: {compared} {left}", kind.language);
    }
}

const FUNCTIONS: &str = "
static int twice(int x) { return 2 * x; }
int g[4];
int add(int *p, int n) { p[1] += n; return twice(p[0]) + n; }
int store(int *p, int n) { int a[2]; a[n & 1] = p[1]; a[1 - (n & 1)] = n; p[0] = a[0] - a[1]; return p[0] < 3 ? 7 : twice(n); }
";

/// Two functions are called one after the other: the second returns to where the first was called from.
#[test]
fn composing_functions_is_calling_one_after_the_other() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let source = folder.join("compose_functions.c");
    std::fs::write(&source, FUNCTIONS).unwrap();
    for (language, target, arguments, stack, link) in [
        ("x86-64", "x86_64-linux-gnu", ["RDI", "RSI"], "RSP", None),
        ("aarch64", "aarch64-linux-gnu", ["X0", "X1"], "SP", Some("X30")),
        ("powerpc", "powerpc-linux-gnu", ["R3", "R4"], "R1", Some("LR")),
    ] {
        let object = folder.join(format!("compose_functions-{language}.o"));
        let compiler = Command::new("clang-19")
            .args([&format!("--target={target}"), "-O0", "-c", "-ffreestanding", "-fno-stack-protector"])
            .arg(&source)
            .arg("-o")
            .arg(&object)
            .status()
            .expect("clang-19 runs");
        assert!(compiler.success());
        let (file, lifter) = (std::fs::read(&object).unwrap(), lifter(language));
        let function = |name: &str| load(&file, &Selection::Function(name.to_owned()), &lifter).unwrap();
        let (first, second) = (function("add"), function("store"));
        second.open_controls();
        let store = Store::new();
        first.declare(&store);
        second.declare(&store);
        let evaluate = |program: &Program| {
            Explorer::new(program, &store, Bounds::default())
                .with_solver(parallax_smt::solver(&store))
                .with_stack_apart()
                .evaluate(&StructUpdate::identity())
        };
        let (before, then) = (evaluate(&first), evaluate(&second));
        let composition = compose(parallax_smt::solver(&store), (&first, &before), (&second, &then));
        let composed = &composition.whole;
        assert!(composed.gave_up.is_empty(), "{language}: {:?}", composed.gave_up);
        assert_eq!(assumptions(&store).len(), 1, "{language}");
        let mut random = Random(0x1234_5678_9abc_def1);
        for _ in 0..20 {
            let width = first.processor().address_bytes * 8;
            let mut start = MachineState::default();
            let set = |state: &mut MachineState, name: &str, value: u64| {
                state.registers.retain(|(known, _)| known != name);
                state.registers.push((name.to_owned(), Bits::new(width, value.into())));
            };
            set(&mut start, arguments[0], MEMORY);
            set(&mut start, arguments[1], random.number() % 9);
            set(&mut start, stack, 0x3000_0000 - 8);
            if let Some(link) = link {
                set(&mut start, link, 0x7000_0000);
            }
            // A callee leaves its own values in argument registers: as pointers they lie far from the code.
            start.memory.push((MEMORY, (0..8).map(|_| random.pick(&[0x40, 0x51, 0x55])).collect()));
            start.memory.push((0x3000_0000 - 8 - 256, vec![0; 256 + 64]));
            for assumption in &composition.assumptions {
                assert!(
                    !first.holds(&store, assumption.breaks, &start).unwrap(),
                    "{language}: an ordinary state"
                );
            }
            let found = first.evaluate_state(&store, &composed.update, &start).unwrap();
            assert_eq!(found.stopped, None, "{language}");
            // What the caller does between the two calls.
            let mut between = first.run_state(&start, 10_000).unwrap();
            assert_eq!(between.stopped, None, "{language}");
            between.registers.retain(|(name, _)| name != "RIP" && name != "PC");
            set(&mut between, stack, 0x3000_0000 - 8);
            if let Some(link) = link {
                set(&mut between, link, 0x7000_0000);
            }
            let after = second.run_state(&between, 10_000).unwrap();
            assert_eq!(after.stopped, None, "{language}");
            assert_eq!(found.memory[0], after.memory[0], "{language}: what the pointer leads to");
            for name in arguments.iter().chain([&stack]) {
                let value = |state: &MachineState| {
                    state.registers.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
                };
                assert_eq!(value(&found), value(&after), "{language}: {name}");
            }
        }
    }
}
