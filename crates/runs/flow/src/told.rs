//! The steps of a flow of data, in words.

use crate::node::{Piece, What};

/// Bytes as a number if they are few, else one by one.
fn value(bytes: &[u8]) -> String {
    if matches!(bytes.len(), 1 | 2 | 4 | 8) {
        let number = bytes.iter().rev().fold(0u64, |number, byte| number << 8 | u64::from(*byte));
        return format!("{number:#x}");
    }
    const MOST: usize = 16;
    let list: Vec<String> = bytes.iter().take(MOST).map(|byte| format!("{byte:02x}")).collect();
    let rest = if bytes.len() > MOST { format!(" and {} more", bytes.len() - MOST) } else { String::new() };
    format!("{}{rest}", list.join(" "))
}

/// The name of some bytes: `rax`, `rax[4..8]`, `[0x7ffe1234:4]`.
pub fn piece_name(piece: &Piece) -> String {
    match piece {
        Piece::Register { name, low: 0, .. } => name.to_lowercase(),
        Piece::Register { name, low, bytes, .. } => {
            format!("{}[{low}..{}]", name.to_lowercase(), low + bytes.len())
        }
        Piece::Memory { address, bytes } => format!("[{address:#x}:{}]", bytes.len()),
    }
}

/// What some bytes held.
pub fn piece_bytes(piece: &Piece) -> &[u8] {
    match piece {
        Piece::Register { bytes, .. } | Piece::Memory { bytes, .. } => bytes,
    }
}

/// Some bytes and what they held: `rax = 0x2a`.
pub fn piece(piece: &Piece) -> String {
    format!("{} = {}", piece_name(piece), value(piece_bytes(piece)))
}

/// The same for several.
pub fn pieces(all: &[Piece]) -> String {
    all.iter().map(piece).collect::<Vec<_>>().join(", ")
}

/// What a step is, in words.
pub fn what(what: &What) -> String {
    match what {
        What::Asked => String::from("asked"),
        What::Instruction { text, constant: false } => text.clone(),
        What::Instruction { text, constant: true } => format!("{text} (constant)"),
        What::Call { name, arguments, result, .. } => {
            let list: Vec<String> =
                arguments.iter().take(call_arguments(name)).map(|one| format!("{one:#x}")).collect();
            format!("{name}({}) = {}", list.join(", "), *result as i64)
        }
        What::Delivery { signal } => format!("signal {signal} is delivered"),
        What::HandlerReturn => String::from("a signal handler returns"),
        What::Thread => String::from("a thread is made"),
        What::Moved => String::from("mremap moves memory"),
        What::Foreign => String::from("another process wrote to shared memory"),
        What::Mapped { file: Some((name, offset)) } => format!("mapped from {name}, offset {offset:#x}"),
        What::Mapped { file: None } => String::from("mapped as zeros"),
        What::Start { program } => format!("the start of {program}: registers, arguments, environment"),
        What::Unknown { why } => format!("unknown: {why}"),
    }
}

/// How many arguments of a call say something.
fn call_arguments(name: &str) -> usize {
    match name {
        "read" | "write" | "readv" | "getrandom" | "recvmsg" | "getdents64" | "ioctl" | "getsockname" => 3,
        "fstat" | "stat" | "clock_gettime" | "gettimeofday" | "uname" | "pipe" | "pipe2" | "getcwd" => 2,
        "pread64" | "newfstatat" | "openat" | "prlimit64" | "wait4" => 4,
        "brk" | "close" | "times" => 1,
        "getpid" | "gettid" | "getuid" | "getppid" => 0,
        _ => 6,
    }
}

/// What a step is, in one word.
pub fn kind(what: &What) -> &'static str {
    match what {
        What::Asked => "asked",
        What::Instruction { constant: false, .. } => "instruction",
        What::Instruction { constant: true, .. } => "constant",
        What::Call { .. } => "call",
        What::Delivery { .. } => "delivery",
        What::HandlerReturn => "handler-return",
        What::Thread => "thread",
        What::Moved => "moved",
        What::Foreign => "foreign",
        What::Mapped { .. } => "mapped",
        What::Start { .. } => "start",
        What::Unknown { .. } => "unknown",
    }
}
