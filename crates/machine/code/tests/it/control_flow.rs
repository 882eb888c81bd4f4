//! Control flow that compilers make: a switch as a table, in a loop too, loops with several ways back. The symbolic
//! reading goes through it to every end, and no bound is hit.

use parallax_code::{MachineState, Program, Selection, SharedLifter, load};
use parallax_op::Bits;
use parallax_primitives::{Bounds, Explorer};
use parallax_sem::Language as _;
use parallax_sleigh::{Language, Lifter};
use parallax_term::{Store, StructUpdate, parse_update};
use std::path::Path;
use std::process::Command;

struct Target {
    language: &'static str,
    options: &'static [&'static str],
    /// First argument, second argument, result, stack pointer.
    registers: [&'static str; 4],
}

const fn target(
    language: &'static str,
    options: &'static [&'static str],
    registers: [&'static str; 4],
) -> Target {
    Target { language, options, registers }
}

const TARGETS: &[Target] = &[
    target("x86-64", &["--target=x86_64-linux-gnu", "-fno-pic"], ["RDI", "RSI", "RAX", "RSP"]),
    target("x86-64", &["--target=x86_64-linux-gnu", "-fPIC"], ["RDI", "RSI", "RAX", "RSP"]),
    target("aarch64", &["--target=aarch64-linux-gnu"], ["X0", "X1", "X0", "SP"]),
    target("riscv64", &["--target=riscv64-linux-gnu", "-march=rv64gc"], ["A0", "A1", "A0", "SP"]),
    target("powerpc", &["--target=powerpc-linux-gnu"], ["R3", "R4", "R3", "R1"]),
    target(
        "arm",
        &["--target=arm-linux-gnueabihf", "-mcpu=cortex-a15", "-mfpu=vfpv4", "-marm"],
        ["R0", "R1", "R0", "SP"],
    ),
];

/// What the functions of `control_flow.c` return.
fn choose(x: i32, y: i32) -> i32 {
    match x {
        0 => y.wrapping_add(1),
        1 => y.wrapping_mul(3),
        2 => y ^ 0x55,
        3 => 7i32.wrapping_sub(y),
        4 | 9 => y & 12,
        5 => y << 2,
        6 => y | 3,
        7 => !y,
        8 => y.wrapping_sub(100),
        10 => y / 16,
        11 => y.wrapping_neg(),
        _ => 42,
    }
}

fn offset_cases(x: i64, y: i64) -> i64 {
    match x {
        100 => y.wrapping_add(1),
        101 => y.wrapping_mul(3),
        102 => y ^ 0x55,
        103 => 7i64.wrapping_sub(y),
        104 => y & 12,
        105 => y << 2,
        106 => y | 3,
        _ => 1,
    }
}

fn machine(x: i32, y: i32) -> i32 {
    let (mut input, mut state, mut n) = (x as u32, 0, y);
    for _ in 0..6 {
        let c = (input & 15) as i32;
        input >>= 4;
        match state {
            0 => state = [5, 1, 2].get(c as usize).copied().unwrap_or(5),
            1 => (n, state) = (n.wrapping_add(c), if c & 1 == 1 { 2 } else { 3 }),
            2 => (n, state) = (n ^ c, 4),
            3 => (n, state) = (n.wrapping_sub(c * 3), if c > 9 { 0 } else { 6 }),
            4 => (n, state) = (n.wrapping_mul(5), 0),
            5 if c == 0 => return -1,
            5 => (n, state) = (n.wrapping_add(2), 1),
            _ => (n, state) = (!n, if c == 7 { 5 } else { 3 }),
        }
    }
    n
}

fn divisor(x: i32, y: i32) -> i32 {
    let (n, d) = (x as u32, (y & 1) as u32);
    (2..20).find(|i| n.is_multiple_of(i + d) && n != *i).unwrap_or(0) as i32
}

fn compiled(target: &Target) -> Vec<u8> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/functions/control_flow.c");
    let object = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!(
        "control_flow-{}{}.o",
        target.language,
        target.options.concat()
    ));
    // How many cases make a table differs among processors.
    let status = Command::new("clang-19")
        .args(target.options)
        .args(["-O2", "-c", "-mllvm", "-min-jump-table-entries=4"])
        .arg(source)
        .arg("-o")
        .arg(&object)
        .status()
        .expect("clang-19 runs");
    assert!(status.success());
    std::fs::read(object).unwrap()
}

fn state(program: &Program, target: &Target, x: i64, y: i64) -> MachineState {
    let width = program.processor().address_bytes * 8;
    let mut state = MachineState::default();
    for (name, value) in target.registers.iter().zip([x, y]) {
        state.registers.push(((*name).to_owned(), Bits::new(width, value as u64 as u128)));
    }
    state.registers.push((target.registers[3].to_owned(), Bits::new(width, 0x300_0000)));
    if target.registers[2] != target.registers[0] {
        // What is named comes back, changed or not.
        state.registers.push((target.registers[2].to_owned(), Bits::zero(width)));
    }
    state
}

fn check(target: &Target, function: &str, cases: &[i64], expected: impl Fn(i64, i64) -> u64, bits: u16) {
    let file = compiled(target);
    let lifter = SharedLifter::new(Lifter::new(Language::find(target.language).unwrap()).unwrap().into());
    let program = load(&file, &Selection::Function(function.to_owned()), &lifter).unwrap();
    let place = format!("{}{} {function}", target.language, target.options.concat());
    let store = Store::new();
    program.declare(&store);
    let width = program.processor().address_bytes * 8;
    let stack = format!("({{{} -> 50331648:{width}}}, {{}})", target.registers[3]);
    let from: StructUpdate = parse_update(&store, &stack).unwrap();
    let evaluation = Explorer::new(&program, &store, Bounds::default())
        .with_solver(parallax_smt::solver(&store))
        .evaluate(&from);
    assert!(evaluation.gave_up.is_empty(), "{place}: {:?}", evaluation.gave_up);
    for &x in cases {
        for y in [0, 5, -17, 0x7fff_0001] {
            let start = state(&program, target, x, y);
            let symbolic = program.evaluate_state(&store, &evaluation.update, &start).unwrap();
            let concrete = program.run_state(&start, 10_000).unwrap();
            for (how, after) in [("run", concrete), ("evaluated", symbolic)] {
                let result = after.registers.iter().find(|(name, _)| name == target.registers[2]);
                let result = result.map(|(_, value)| value.extract(0, bits).to_u64().unwrap());
                assert_eq!(result, Some(expected(x, y)), "{place} {how} at {x}, {y}");
            }
        }
    }
}

#[test]
fn a_jump_through_a_table_goes_to_every_case() {
    let cases: Vec<i64> = (-2..15).chain([1 << 31, 0x7fff_ffff]).collect();
    for target in TARGETS {
        // Arguments that are narrower than a register come extended by their sign where the convention says so.
        check(target, "choose", &cases, |x, y| u64::from(choose(x as i32, y as i32) as u32), 32);
    }
}

#[test]
fn the_first_case_need_not_be_zero() {
    let cases: Vec<i64> = (97..110).chain([-1, 0, i64::MAX, i64::MIN]).collect();
    for target in TARGETS.iter().filter(|target| !["powerpc", "arm"].contains(&target.language)) {
        check(target, "offset_cases", &cases, |x, y| offset_cases(x, y) as u64, 64);
    }
}

#[test]
fn a_switch_in_a_loop_is_joined_every_round() {
    let cases: Vec<i64> =
        (0..64i64).map(|n| (n.wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as i64) >> 20) as i32 as i64).collect();
    let simple = [0x1, 0x121, 0x7a31, 0x0aa_3121, 0x300, 0x77_7531];
    for target in TARGETS {
        check(target, "machine", &cases, |x, y| u64::from(machine(x as i32, y as i32) as u32), 32);
        check(target, "machine", &simple, |x, y| u64::from(machine(x as i32, y as i32) as u32), 32);
    }
}

#[test]
fn a_loop_goes_round_by_round() {
    let cases = [0, 1, 2, 17, 19, 23, 35, 361, 0x7fff_ffff, 221, 4294967291u32 as i32 as i64];
    for target in TARGETS {
        check(target, "divisor", &cases, |x, y| u64::from(divisor(x as i32, y as i32) as u32), 32);
    }
}
