//! Going back to a moment of a running program, and on from there again.

use crate::assembled;

use parallax_process::outside::live::Live;
use parallax_process::{Ending, Process, Program};

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

/// Code that returns 1, and is changed to return 2; the status is made of both.
const CHANGING: &str = "
    .globl _start
_start:
    mov $9, %eax
    xor %edi, %edi
    mov $4096, %esi
    mov $7, %edx
    mov $0x22, %r10d
    mov $-1, %r8
    xor %r9d, %r9d
    syscall
    mov %rax, %rbx
    movl $0x000001b8, (%rbx)
    movw $0xc300, 4(%rbx)
    call *%rbx
    mov %eax, %r12d
    movb $2, 1(%rbx)
    call *%rbx
    shl $4, %r12d
    lea (%r12, %rax), %edi
    mov $60, %eax
    syscall
";

/// Code was translated after the moment to which a process goes back: it is not what is there now.
#[test]
fn code_as_it_was() {
    let binary = assembled::assemble("changing", CHANGING);
    let program = assembled::program(&binary);
    let mut process = Process::start(program, Box::new(Live::embedded())).expect("it can be run");
    std::fs::remove_file(&binary).expect("it was there");
    let start = process.snapshot();
    assert_eq!(process.run(), Ending::Exited(0x12));
    for time in 1..process.time() {
        process.go_back(&start);
        assert_eq!(process.run_until(time), None);
        let snapshot = process.snapshot();
        assert_eq!(process.run(), Ending::Exited(0x12), "past {time}");
        process.go_back(&snapshot);
        assert_eq!(process.run(), Ending::Exited(0x12), "again from {time}");
    }
}
