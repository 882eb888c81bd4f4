//! Stretches of real programs.

use super::plain::{Accesses, Notes, Plain};
use parallax_ir::Trap;
use parallax_ir::meaning::MeaningError;
use parallax_process::outside::live::Live;
use parallax_process::{Process, Program};
use parallax_silicon::random::Random;
use std::path::{Path, PathBuf};

/// Compares `count` instructions of a program after its first `skip`; how many were compared.
///
/// Blocks run with their flags as they come, or exact, and then those are compared too.
fn compare(command: &[&str], skip: u64, count: u64, exact: bool) -> u64 {
    let program = Program {
        path: PathBuf::from(command[0]),
        arguments: command.iter().map(|argument| argument.as_bytes().to_vec()).collect(),
        environment: vec![b"LC_ALL=C".to_vec()],
        byte_bound: 1 << 30,
        instruction_bound: u64::MAX,
        schedule: None,
    };
    let mut process = Process::start(program, Box::new(Live::embedded())).expect("a program that can be run");
    let ended = process.run_until(skip);
    assert!(ended.is_none(), "{command:?} ends before instruction {skip}: {ended:?}");
    let accesses = Accesses::default();
    process.world().watcher = Some(Box::new(Notes(accesses.clone())));
    process.engine().set_watched(true);
    process.engine().set_exact_flags(exact);
    // Every block improved, or only those that run often enough.
    process.engine().set_warm(if exact { 3 } else { 0 });
    let leave_out = if exact { &[] } else { process.machine().abi().flags };
    let mut random = Random::new(skip + u64::from(exact));
    let mut compared = 0;
    let mut plain = Plain::new(&process.world().registers);
    while process.time() < skip + count {
        let (start, time) = (process.pc(), process.time());
        let mut before = process.world().memory.snapshot();
        accesses.borrow_mut().clear();
        let ending = process.run_until(time + 1 + random.below(100));
        for (address, size) in accesses.borrow().iter() {
            plain.supply(&mut before, *address, *size);
        }
        let (end, ran) = (process.pc(), process.time() - time);
        let mut at = start;
        let mut outside = false;
        for _ in 0..ran {
            let mut bytes = [0; 64];
            let fetched = before.fetch(at, &mut bytes).expect("the engine fetched it");
            let instruction = process.engine().lifter().lift(at, &bytes[..fetched]).expect("it lifted it");
            match plain.step(&instruction) {
                Ok((next, None)) => at = next,
                // The world outside answers, and registers are taken over from the engine.
                Ok((_, Some(Trap::SystemCall))) | Err(MeaningError::Outside(_)) => {
                    outside = true;
                    break;
                }
                Ok((_, Some(trap))) => panic!("{command:?}: {} traps: {trap:?}", instruction.text),
                Err(error) => panic!("{command:?}: {}: {error}", instruction.text),
            }
            compared += 1;
        }
        // At its end a program would close the output of this test.
        assert!(ending.is_none(), "{command:?} ends too early: {ending:?}");
        if outside {
            plain = Plain::new(&process.world().registers);
            continue;
        }
        let world = process.world();
        let found = plain.differences(&world.registers, &mut world.memory, leave_out);
        assert!(
            at == end && found.is_empty(),
            "{command:?}: after {ran} instructions from {start:#x} (time {time}) plain is at {at:#x}, blocks at {end:#x}: {found:#?}"
        );
        plain.forget_memory();
    }
    compared
}

fn both_ways(command: &[&str], skip: u64, count: u64) {
    for exact in [false, true] {
        let compared = compare(command, skip, count, exact);
        println!("{command:?}: {compared} instructions compared");
        assert!(compared > count / 2, "only {compared} of {count} instructions could be compared");
    }
}

#[test]
fn a_dynamic_program_starting() {
    both_ways(&["/bin/true"], 0, 60_000);
}

#[test]
fn the_middle_of_a_checksum() {
    both_ways(&["/usr/bin/sha256sum", "/bin/true"], 150_000, 20_000);
}

#[test]
fn floating_point_and_formatting() {
    let program = "BEGIN { for (i = 1; i < 4000; i++) x += sin(i) / i ^ 1.5; printf \"%.12g %e\\n\", x, x }";
    both_ways(&["/usr/bin/awk", program], 200_000, 40_000);
}

#[test]
fn an_interpreter() {
    let program = "$s .= chr(97 + $_ * 7 % 26) for 1..300; print length join ',', sort split //, $s";
    both_ways(&["/usr/bin/perl", "-e", program], 700_000, 40_000);
}

#[test]
fn a_big_endian_program() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/sources/arithmetic.c");
    let binary = std::env::temp_dir().join(format!("parallax-lockstep-{}", std::process::id()));
    let built = std::process::Command::new("powerpc-linux-gnu-gcc")
        .args(["-O1", "-static", "-o"])
        .args([&binary, &source])
        .arg("-lm")
        .status();
    assert!(built.is_ok_and(|status| status.success()), "scripts/setup names what the tests need");
    both_ways(&[binary.to_str().expect("a plain path")], 2_000, 40_000);
    std::fs::remove_file(&binary).expect("it was there");
}
