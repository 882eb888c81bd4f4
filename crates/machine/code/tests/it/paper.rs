//! The paper's machine-code examples as real x86, through every primitive.

use parallax_code::{MachineState, Program, SharedLifter};
use parallax_op::Bits;
use parallax_primitives::{Bounds, Explorer};
use parallax_sem::{Language as _, logic};
use parallax_sleigh::{Language, Lifter};
use parallax_term::{Store, StructUpdate, parse_formula};

fn program(language: &str, code: &[u8]) -> Program {
    let lifter = SharedLifter::new(Lifter::new(Language::find(language).unwrap()).unwrap().into());
    Program::from_bytes(&lifter, 0x1000, code.to_vec()).unwrap()
}

fn evaluate(program: &Program, store: &Store) -> StructUpdate {
    program.declare(store);
    let evaluation = Explorer::new(program, store, Bounds::default()).evaluate(&StructUpdate::identity());
    assert!(evaluation.gave_up.is_empty(), "{:?}", evaluation.gave_up);
    evaluation.update
}

/// Fig. 1(d): two ints on the stack, exchanged by three exclusive-ors.
const SWAP: &[u8] = &[
    0x8b, 0x45, 0xf6, // mov eax, [ebp-10]
    0x33, 0x45, 0xf2, // xor eax, [ebp-14]
    0x89, 0x45, 0xf6, // mov [ebp-10], eax
    0x8b, 0x45, 0xf6, // mov eax, [ebp-10]
    0x33, 0x45, 0xf2, // xor eax, [ebp-14]
    0x89, 0x45, 0xf2, // mov [ebp-14], eax
    0x8b, 0x45, 0xf6, // mov eax, [ebp-10]
    0x33, 0x45, 0xf2, // xor eax, [ebp-14]
    0x89, 0x45, 0xf6, // mov [ebp-10], eax
];

/// Example 6: the swap's structure update. Memory is bytes, so each int of the paper's formula is four of them.
#[test]
fn the_swap_of_figure_1d() {
    let program = program("x86", SWAP);
    let store = Store::new();
    let update = evaluate(&program, &store);
    let memory = update.function(&store, store.lookup("F_mem").unwrap());
    let parsed = |text: &str| parallax_term::parse_update(&store, text).unwrap();
    let mut expected = "F_mem".to_owned();
    for (to, from) in [(10, 14), (14, 10)] {
        for byte in 0..4 {
            expected += &format!("[EBP - {} -> F_mem(EBP - {})]", to - byte, from - byte);
        }
    }
    let expected = parsed(&format!("({{}}, {{F_mem -> {expected}}})"));
    assert_eq!(
        memory,
        expected.function(&store, store.lookup("F_mem").unwrap()),
        "{}",
        store.display(memory)
    );
    let eax = update.constant(&store, store.lookup("EAX").unwrap());
    let text = store.display(eax.id());
    for byte in 0..4 {
        assert!(text.contains(&format!("F_mem(EBP - {})", 14 - byte)), "{text}");
    }
    assert!(!text.contains('^'), "the exclusive-ors cancel: {text}");
}

/// Example 7, Fig. 6(b): the condition of a branch that is split over `cmp` and `jz`, recovered.
#[test]
fn the_branch_condition_of_figure_6b() {
    // mov eax, [ebp-4]; mov ebx, [ebp-8]; mov [eax], ebx; cmp dword ptr [ebp-12], 5; jz +1; nop; ERROR:
    let code = [0x8b, 0x45, 0xfc, 0x8b, 0x5d, 0xf8, 0x89, 0x18, 0x83, 0x7d, 0xf4, 0x05, 0x74, 0x01, 0x90];
    let program = program("x86", &code);
    let store = Store::new();
    program.declare(&store);
    let mut explorer = Explorer::new(&program, &store, Bounds::default());
    // The whole fragment ends behind the `nop` either way; the path decides which way it went there.
    let nop = Bits::new(32, 0x100e);
    let taken = explorer.path(&StructUpdate::identity(), &[nop]).complete;
    let not_taken = store.not(taken);
    // x, four bytes at EBP - 12, read after the store through p: whether they are 5, byte by byte under aliasing.
    let text = store.display(not_taken);
    assert!(text.contains("ite("), "the store through p may change x: {text}");
    // cmp and jz alone: the condition is on x and nothing else.
    let alone = self::program("x86", &code[8..14]);
    let store = Store::new();
    let update = evaluate(&alone, &store);
    let post = parse_formula(&store, "EIP = 0x1007").unwrap();
    let wlp = logic::precondition(&store, &update, post);
    let expected =
        parse_formula(&store, "F_mem(EBP - 9) ++ F_mem(EBP - 10) ++ F_mem(EBP - 11) ++ F_mem(EBP - 12) = 5");
    if let Ok(expected) = expected {
        assert_eq!(wlp, expected, "{}", store.display(wlp));
    } else {
        panic!("{}", store.display(wlp));
    }
}

/// Running, and evaluating the symbolic result at the same state, are the same thing.
#[test]
fn running_and_evaluating_agree() {
    // add rax, rbx; imul rax, rcx; adc rdx, rax; mov [rsi], rdx; popcnt r8, rax; setc r9b
    let code = [
        0x48, 0x01, 0xd8, 0x48, 0x0f, 0xaf, 0xc1, 0x48, 0x11, 0xc2, 0x48, 0x89, 0x16, 0xf3, 0x4c, 0x0f, 0xb8,
        0xc0, 0x41, 0x0f, 0x92, 0xc1,
    ];
    let program = program("x86-64", &code);
    let store = Store::new();
    let update = evaluate(&program, &store);
    let mut seed = 1u64;
    let mut random = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        seed ^ seed >> 29
    };
    for _ in 0..200 {
        let registers = ["RAX", "RBX", "RCX", "RDX", "R8", "R9"]
            .map(|name| (name.to_owned(), Bits::new(64, u128::from(random()))));
        let mut before = MachineState { registers: registers.to_vec(), ..MachineState::default() };
        before.registers.push(("RSI".to_owned(), Bits::new(64, 0x5000)));
        before.registers.push(("CF".to_owned(), Bits::new(1, u128::from(random() & 1))));
        before.memory.push((0x4ffc, vec![1; 16]));
        let ran = program.run_state(&before, 100).unwrap();
        let evaluated = program.evaluate_state(&store, &update, &before).unwrap();
        assert_eq!(ran, evaluated);
        assert_ne!(ran.memory, before.memory);
    }
}

/// Twice as many straight-line instructions make twice as many terms, not four times as many.
#[test]
fn straight_line_code_grows_linearly() {
    let evaluated = |swaps: usize| {
        let code: Vec<u8> = SWAP.iter().copied().cycle().take(SWAP.len() * swaps).collect();
        let program = program("x86", &code);
        let store = Store::new();
        program.declare(&store);
        let update = evaluate(&program, &store);
        (store, update)
    };
    let (half, _) = evaluated(50);
    let (store, update) = evaluated(100);
    assert!(store.len() < 3 * half.len(), "{} terms, {} for half of it", store.len(), half.len());
    // An even number of swaps puts every byte back where it was.
    let text = store.display(update.function(&store, store.lookup("F_mem").unwrap()));
    let mut back = "F_mem".to_owned();
    for distance in [10, 9, 8, 7, 14, 13, 12, 11] {
        back += &format!("[EBP - {distance} -> F_mem(EBP - {distance})]");
    }
    assert_eq!(text, back);
}
