//! Where a run is cut into pieces changes nothing: not what the processor's counter shows, not what a store into the
//! running code does.

use crate::assembled;

use assembled::{assemble, program};
use parallax_process::outside::live::Live;
use parallax_process::{Ending, Process};
use std::path::Path;

/// Six readings of the counter in one block, and a store into it; the status is made of both.
const SOURCE: &str = "
    .globl _start
_start:
    rdtsc
    mov %eax, %ebx
    nop
    nop
    rdtsc
    sub %ebx, %eax
    mov %eax, %r12d
    rdtsc
    mov %eax, %ebx
    rdtsc
    sub %ebx, %eax
    imul $10, %eax, %eax
    add %eax, %r12d
    mov $9, %eax
    xor %edi, %edi
    mov $4096, %esi
    mov $7, %edx
    mov $0x22, %r10d
    mov $-1, %r8
    xor %r9d, %r9d
    syscall
    mov %rax, %rbx
    lea code(%rip), %rsi
    mov %rax, %rdi
    mov $14, %ecx
    rep movsb
    call *%rbx
    imul $10, %eax, %eax
    lea (%r12, %rax), %edi
    mov $60, %eax
    syscall
code:
    movb $7, 1(%rip)
    mov $1, %eax
    ret
";

fn run(binary: &Path, piece: u64, warm: u32) -> (Ending, u64) {
    let mut process = Process::start(program(binary), Box::new(Live::embedded())).expect("it can be run");
    process.engine().set_warm(warm);
    loop {
        let limit = process.time() + piece;
        if let Some(ending) = process.run_until(limit) {
            return (ending, process.time());
        }
    }
}

#[test]
fn pieces_of_any_length() {
    let binary = assemble("cuts", SOURCE);
    // Four instructions, then two, from one reading of the counter to the next; the new constant is seen at once.
    let expected = Ending::Exited(4 + 10 * 2 + 10 * 7);
    let whole = run(&binary, 1 << 40, 16);
    assert_eq!(whole.0, expected);
    for piece in [1, 2, 3, 5, 7, 11] {
        for warm in [0, 16] {
            assert_eq!(run(&binary, piece, warm), whole, "in pieces of {piece}, improved after {warm} runs");
        }
    }
    std::fs::remove_file(&binary).expect("it was there");
}
