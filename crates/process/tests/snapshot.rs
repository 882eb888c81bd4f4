//! Going back to a moment of a running program, and on from there again.

use parallax_process::outside::live::Live;
use parallax_process::{Process, Program};

fn state(process: &mut Process) -> (u64, u64, Vec<u8>, Vec<u8>) {
    let (pc, time) = (process.pc(), process.time());
    let world = process.world();
    let stack = world.registers.get("RSP");
    let mut around = vec![0; 1024];
    world.memory.read(stack - 512, &mut around).expect("the stack is mapped");
    (pc, time, world.registers.contents().to_vec(), around)
}

#[test]
fn the_same_way_twice() {
    let text = "BEGIN { for (i = 1; i < 100000; i++) x = x * 7 % 1001 + i; print x }";
    let program = Program {
        path: "/usr/bin/awk".into(),
        arguments: vec![b"awk".to_vec(), text.as_bytes().to_vec()],
        environment: Vec::new(),
        byte_bound: 1 << 30,
        instruction_bound: u64::MAX,
        schedule: None,
    };
    let mut process = Process::start(program, Box::new(Live::embedded())).expect("it can be run");
    process.engine().set_exact_flags(true);
    assert_eq!(process.run_until(1_000_000), None);
    let before = state(&mut process);
    let snapshot = process.snapshot();
    assert_eq!(snapshot.time(), 1_000_000);
    let mut first = Vec::new();
    for step in 1..=20 {
        assert_eq!(process.run_until(1_000_000 + 1777 * step), None);
        first.push(state(&mut process));
    }
    assert_ne!(first[0].2, before.2, "the program goes on");
    // Twice, since going back must leave the snapshot as it was.
    for _ in 0..2 {
        process.go_back(&snapshot);
        assert_eq!(state(&mut process), before);
        for expected in &first {
            assert_eq!(process.run_until(expected.1), None);
            assert_eq!(state(&mut process), *expected);
        }
    }
}
