//! Bad input: files that are no programs, programs that do what no program may.

use crate::{CANNOT, Outcome, Test, emulated, native, same, temporary};
use std::path::PathBuf;

/// A file with these bytes, executable, given to the emulator.
fn run_file(name: &str, bytes: &[u8]) -> Outcome {
    let path = temporary(name);
    std::fs::write(&path, bytes).unwrap();
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let outcome = emulated(&[path.to_str().unwrap()], b"");
    std::fs::remove_file(&path).unwrap();
    outcome
}

fn refused(outcome: &Outcome, says: &str) -> Result<(), String> {
    let text = String::from_utf8_lossy(&outcome.errors);
    if outcome.status == CANNOT && text.contains(says) && !text.contains("panicked") {
        return Ok(());
    }
    Err(format!("expected a refusal that says {says:?}: {outcome:?}"))
}

/// Assembles machine code into a small static program.
fn assembled(name: &str, source: &str) -> Result<PathBuf, String> {
    let path = temporary(&format!("{name}.S"));
    std::fs::write(&path, source).unwrap();
    let binary = crate::compiled::compile("gcc", &["-nostdlib", "-static"], &path, name);
    std::fs::remove_file(&path).unwrap();
    binary
}

/// Runs an assembly program natively and emulated; the error message must contain the given words.
fn assembly(name: &'static str, source: &'static str, says: &'static [&'static str]) -> Test {
    (
        format!("refused: {name}"),
        Box::new(move || {
            let binary = assembled(name, source)?;
            let command = [binary.to_str().unwrap()];
            let (native, emulated) = (native(&command, b""), emulated(&command, b""));
            std::fs::remove_file(&binary).unwrap();
            same(&native, &emulated)?;
            let text = String::from_utf8_lossy(&emulated.errors);
            match says.iter().find(|words| !text.contains(**words)) {
                Some(missing) => Err(format!("the message lacks {missing:?}: {text}")),
                None => Ok(()),
            }
        }),
    )
}

pub fn tests() -> Vec<Test> {
    let file = |name: &'static str, bytes: fn() -> Vec<u8>, says: &'static str| -> Test {
        (format!("refused: {name}"), Box::new(move || refused(&run_file(name, &bytes()), says)))
    };
    vec![
        file("empty file", Vec::new, "not an ELF file"),
        file("text file", || b"hello\n".to_vec(), "not an ELF file"),
        file("truncated", || std::fs::read("/bin/sh").unwrap()[..5000].to_vec(), "beyond the end"),
        file("header only", || std::fs::read("/bin/sh").unwrap()[..64].to_vec(), "program headers"),
        file(
            "other machine",
            || {
                let mut bytes = std::fs::read("/bin/sh").unwrap();
                bytes[18] = 0xf3;
                bytes
            },
            "RISC-V",
        ),
        file(
            "script without interpreter",
            || b"#!/no/such/interpreter\n".to_vec(),
            "cannot read /no/such/interpreter",
        ),
        file("script of another system", || b"#!/bin/sh\r\necho x\r\n".to_vec(), "cannot read /bin/sh\r"),
        (
            "refused: a pipe".into(),
            Box::new(|| {
                let path = temporary("pipe");
                let name = std::ffi::CString::new(path.to_str().unwrap()).unwrap();
                // SAFETY: a path of our own, zero-terminated.
                assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o755) }, 0);
                let outcome = emulated(&[path.to_str().unwrap()], b"");
                std::fs::remove_file(&path).unwrap();
                refused(&outcome, "cannot read")
            }),
        ),
        ("refused: a directory".into(), Box::new(|| refused(&emulated(&["/etc"], b""), "cannot read /etc"))),
        assembly(
            "null pointer",
            ".globl _start\n_start: mov 8, %eax\n",
            &["SIGSEGV", "_start", "cannot read 0x8"],
        ),
        assembly(
            "write to code",
            ".globl _start\n_start: movl $1, _start(%rip)\n",
            &["SIGSEGV", "does not permit"],
        ),
        assembly(
            "jump to nowhere",
            ".globl _start\n_start: mov $0x123456789, %rax\njmp *%rax\n",
            &["SIGSEGV", "0x123456789"],
        ),
        assembly("jump to the last byte", ".globl _start\n_start: mov $-1, %rax\njmp *%rax\n", &["SIGSEGV"]),
        assembly("run data", ".globl _start\n_start: jmp there\n.data\nthere: nop\n", &["SIGSEGV"]),
        assembly("undefined instruction", ".globl _start\n_start: nop\nbad: ud2\n", &["SIGILL", "bad"]),
        assembly("undecodable bytes", ".globl _start\n_start: .byte 0x06, 0x07\n", &["SIGILL"]),
        assembly("divide by zero", ".globl _start\n_start: xor %ecx, %ecx\ndiv %ecx\n", &["SIGFPE"]),
        assembly("privileged", ".globl _start\n_start: hlt\n", &["SIGSEGV"]),
        assembly("breakpoint", ".globl _start\n_start: int3\n", &["SIGTRAP"]),
        assembly("stack overflow", ".globl _start\n_start: push %rax\njmp _start\n", &["SIGSEGV"]),
        assembly(
            "non-canonical",
            ".globl _start\n_start: mov $0x8000000000000000, %rax\nmov (%rax), %eax\n",
            &["SIGSEGV"],
        ),
        (
            "refused: unknown system call".into(),
            Box::new(|| {
                let source = ".globl _start\n_start: mov $136, %eax\nsyscall\n";
                let binary = assembled("unknown", source)?;
                let outcome = emulated(&[binary.to_str().unwrap()], b"");
                std::fs::remove_file(&binary).unwrap();
                refused(&outcome, "system call ustat (number 136)")
            }),
        ),
    ]
}
