//! Paths of machine code against runs: the condition of a path holds in a state exactly where a run from it comes to the
//! point, also where instructions on the way may fault; and what is said of inputs is so.
//!
//! Not made: branches backwards (loops are in `control_flow.rs`), calls, more than one point. `FAULT_PATHS` asks for more.

use crate::composition::{KINDS, code, lifter, state};
use crate::random::Random;
use parallax_code::{MachineState, Program};
use parallax_op::Bits;
use parallax_primitives::{Bounds, Explorer, Input, NotFound, input};
use parallax_sem::Language as _;
use parallax_term::{Store, StructUpdate};

fn paths() -> u32 {
    std::env::var("FAULT_PATHS").ok().and_then(|text| text.parse().ok()).unwrap_or(60)
}

#[test]
fn conditions_of_paths_are_what_runs_do() {
    for kind in KINDS {
        let mut random = Random(0x5851_f42d_4c95_7f2d);
        let lifter = lifter(kind.language);
        let (mut there, mut elsewhere, mut faults, mut impossible, mut whole) = (0, 0, 0, 0, 0);
        for _ in 0..paths() {
            let (bytes, ends) = code(kind, &mut random, 6);
            let program = Program::from_bytes(&lifter, 0x1000, bytes.clone()).unwrap();
            let target = random.pick(&ends);
            // The same code up to the point ends there, and nowhere else.
            let cut =
                Program::from_bytes(&lifter, 0x1000, bytes[..(target - 0x1000) as usize].to_vec()).unwrap();
            let store = Store::new();
            program.declare(&store);
            let point = Bits::new(program.processor().pc.width(), target.into());
            let path = Explorer::new(&program, &store, Bounds::default())
                .with_solver(parallax_smt::solver(&store))
                .path(&StructUpdate::identity(), std::slice::from_ref(&point));
            // Branches into the middle of an instruction may come to bytes that are none.
            let is_whole = path.gave_up.is_empty();
            whole += u32::from(is_whole);
            let mut came = false;
            for _ in 0..6 {
                let start = state(kind, &program, &mut random);
                let ran = cut.run_state(&start, 1000).unwrap();
                let comes = ran.stopped.is_none() && pc(&ran, kind.pc) == Some(target);
                let says = program.holds(&store, path.complete, &start).unwrap();
                assert!(
                    if is_whole { says == comes } else { !says || comes },
                    "{} {bytes:02x?} to {target:#x} from {start:x?}: {}, {ran:x?}",
                    kind.language,
                    store.display(path.complete)
                );
                came |= comes;
                there += u32::from(comes);
                elsewhere += u32::from(!comes);
                faults += u32::from(ran.stopped.is_some());
            }
            match input(&program, &mut *parallax_smt::solver(&store), &path, &[], &[point], 1000) {
                Input::Found(_) => {}
                Input::Impossible => {
                    assert!(!came, "{} {bytes:02x?}: a run comes to {target:#x}", kind.language);
                    impossible += 1;
                }
                Input::Unknown(NotFound::Bounded) if !is_whole => {}
                Input::Unknown(why) => panic!("{} {bytes:02x?} to {target:#x}: {why}", kind.language),
            }
        }
        println!(
            "{}: {there} come, {elsewhere} do not, {faults} fault; {impossible} impossible",
            kind.language
        );
        assert!(whole > paths() * 3 / 4, "{}: {whole} paths were followed", kind.language);
        // Few of ARM's random instructions branch.
        let least = if kind.language == "arm" { 20 } else { 8 };
        assert!(there > paths() && elsewhere > paths() / least, "{}: {there} {elsewhere}", kind.language);
        assert!(
            faults > 10 || !["x86-64", "powerpc"].contains(&kind.language),
            "{}: {faults}",
            kind.language
        );
    }
}

fn pc(state: &MachineState, name: &str) -> Option<u64> {
    state.registers.iter().find(|(known, _)| known == name).and_then(|(_, value)| value.to_u64())
}

/// A formula without symbols whose input faults is no proof that there is none: at `-O1`, `a / b` is reached with a divisor.
#[test]
fn a_division_on_the_way_is_a_condition() {
    // mov eax, edi; cdq; idiv esi; ret
    let bytes = vec![0x89, 0xf8, 0x99, 0xf7, 0xfe, 0xc3];
    let program = Program::from_bytes(&lifter("x86-64"), 0x1000, bytes).unwrap();
    let store = Store::new();
    program.declare(&store);
    let points = [Bits::new(64, 0x1005)];
    let path = Explorer::new(&program, &store, Bounds::default()).path(&StructUpdate::identity(), &points);
    assert_ne!(path.complete, store.true_());
    let state = |divisor: u64| MachineState {
        registers: vec![
            ("RDI".to_owned(), Bits::new(64, 7)),
            ("RSI".to_owned(), Bits::new(64, divisor.into())),
        ],
        ..MachineState::default()
    };
    assert!(program.holds(&store, path.complete, &state(2)).unwrap());
    assert!(!program.holds(&store, path.complete, &state(0)).unwrap());
    let found = input(&program, &mut *parallax_smt::solver(&store), &path, &[], &points, 100);
    assert!(matches!(found, Input::Found(_)));
}

/// An instruction that certainly faults ends a path: it is no reason to give up.
#[test]
fn a_certain_fault_is_an_end() {
    // cmp edi, 5; jne over; ud2; over: mov eax, edi
    let bytes = vec![0x83, 0xff, 0x05, 0x75, 0x02, 0x0f, 0x0b, 0x89, 0xf8];
    let program = Program::from_bytes(&lifter("x86-64"), 0x1000, bytes).unwrap();
    let store = Store::new();
    program.declare(&store);
    store.bool_symbol("TRAP");
    let evaluation = Explorer::new(&program, &store, Bounds::default()).evaluate(&StructUpdate::identity());
    assert!(evaluation.gave_up.is_empty(), "{:?}", evaluation.gave_up);
    let wlp = |text: &str| {
        let post = parallax_term::parse_formula(&store, text).unwrap();
        store.display(evaluation.precondition(&program, &store, post))
    };
    assert_eq!(wlp("TRAP"), "extract(RDI, 31, 0) = 5");
    assert_eq!(wlp("!TRAP && RAX = 7:64"), "extract(RDI, 31, 0) = 7");
    assert_eq!(wlp("RAX = 7:64"), "extract(RDI, 31, 0) = 5 || extract(RDI, 31, 0) = 7");
}
