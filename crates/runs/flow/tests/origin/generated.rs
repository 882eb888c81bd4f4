//! Random straight-line programs, run by the real processor: an output byte that changes when an input byte does comes from it.
//!
//! The program reads 24 bytes, computes with registers and memory, and writes 64 bytes. For each input byte it is run natively
//! with other values of that byte; whatever output changed must name the byte among its origins. The other way round need not
//! hold, since what is computed from a byte need not change with it.

use crate::recorded::recorder::Test;
use crate::recorded::{Random, Recorded, brought, compile, folder};
use parallax_flow::Follow;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

const INPUT: u64 = 24;
const OUTPUT: u64 = 64;

pub fn tests() -> Vec<Test> {
    (1..=4).map(|seed| -> Test { (format!("generated: {seed}"), Box::new(move || compare(seed))) }).collect()
}

const WIDE: [&str; 8] = ["rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9"];
const HALF: [&str; 8] = ["eax", "ebx", "ecx", "edx", "esi", "edi", "r8d", "r9d"];
const WORD: [&str; 8] = ["ax", "bx", "cx", "dx", "si", "di", "r8w", "r9w"];
const BYTE: [&str; 8] = ["al", "bl", "cl", "dl", "sil", "dil", "r8b", "r9b"];

fn instruction(random: &mut Random) -> String {
    let sizes = [WIDE, HALF, WORD, BYTE];
    let size = random.below(4) as usize;
    let names = ["qword", "dword", "word", "byte"];
    let widths = [8, 4, 2, 1];
    let (a, b) = (random.below(8) as usize, random.below(8) as usize);
    let (ra, rb) = (sizes[size][a], sizes[size][b]);
    let wide = size.min(2);
    let (wa, wb) = (sizes[wide][a], sizes[wide][b]);
    let place = |random: &mut Random, bytes: u64| format!("[rbp + {}]", random.below(96 - bytes + 1));
    let condition = *random.pick(&["e", "ne", "c", "nc", "s", "ns", "o", "no", "a", "be", "l", "g", "p"]);
    let (x, y) = (random.below(4), random.below(4));
    let constant = random.below(128);
    match random.below(34) {
        0..=2 => {
            format!("{} {ra}, {rb}", random.pick(&["add", "sub", "xor", "and", "or", "mov", "adc", "sbb"]))
        }
        3 => format!(
            "{} {ra}, {constant}",
            random.pick(&["add", "sub", "xor", "and", "or", "mov", "adc", "sbb"])
        ),
        4 => format!("{} {ra}", random.pick(&["not", "neg", "inc", "dec"])),
        5 => format!("{} {ra}, {}", random.pick(&["shl", "shr", "sar", "rol", "ror"]), 1 + random.below(7)),
        6 => format!("{} {ra}, cl", random.pick(&["shl", "shr", "sar", "rol", "ror"])),
        7 => format!("imul {wa}, {wb}"),
        8 => format!("imul {wa}, {wb}, {constant}"),
        9 => format!("cmov{condition} {wa}, {wb}"),
        10 => format!("set{condition} {}", BYTE[a]),
        11 => format!("movzx {}, {}", HALF[a], random.pick(&[BYTE[b], WORD[b]])),
        12 => format!("movsx {}, {}", WIDE[a], random.pick(&[BYTE[b], WORD[b]])),
        13 => format!("bswap {}", random.pick(&[WIDE[a], HALF[a]])),
        14 => format!("xchg {ra}, {rb}"),
        15 => format!("lea {}, [{} + {}*{} + {constant}]", WIDE[a], WIDE[b], WIDE[x as usize], 1 << y),
        16..=18 => format!("mov {} ptr {}, {ra}", names[size], place(random, widths[size])),
        19..=21 => format!("mov {ra}, {} ptr {}", names[size], place(random, widths[size])),
        22 => {
            let op = random.pick(&["add", "xor", "sub", "and", "or"]);
            format!("{op} {} ptr {}, {ra}", names[size], place(random, widths[size]))
        }
        23 => format!("xor {}, {}", HALF[a], HALF[a]),
        24 => format!("mul {}", random.pick(&[WIDE[b], HALF[b], WORD[b], BYTE[b]])),
        25 => format!("movq xmm{x}, {}", WIDE[a]),
        26 => format!("movq {}, xmm{x}", WIDE[a]),
        27 => format!("movdqu xmm{x}, xmmword ptr {}", place(random, 16)),
        28 => format!("movdqu xmmword ptr {}, xmm{x}", place(random, 16)),
        29 | 30 => {
            let ops = [
                "paddb",
                "paddw",
                "psubd",
                "pxor",
                "pand",
                "pandn",
                "por",
                "punpcklbw",
                "pcmpeqb",
                "pmullw",
                "pmaddwd",
                "pshufb",
                "paddusb",
                "pminub",
                "packuswb",
                "psubq",
                "pcmpgtd",
            ];
            format!("{} xmm{x}, xmm{y}", random.pick(&ops))
        }
        31 => {
            format!("{} xmm{x}, {}", random.pick(&["psllq", "psrld", "psraw", "pslldq"]), 1 + random.below(7))
        }
        32 => format!("pshufd xmm{x}, xmm{y}, {constant}"),
        _ => format!("popcnt {}, {}", WIDE[a], WIDE[b]),
    }
}

fn source(random: &mut Random) -> String {
    let mut text = String::from(
        ".intel_syntax noprefix\n.globl _start\n.bss\n.globl input\n.globl output\ninput: .skip 96\n\
         .size input, 24\noutput: .skip 64\n.size output, 64\n.text\n_start:\n\
         xor eax, eax\nxor edi, edi\nlea rsi, input[rip]\nmov edx, 24\nsyscall\nlea rbp, input[rip]\n",
    );
    let load = |name: &str, at: u64| format!("mov {name}, qword ptr [rbp + {at}]\n");
    for (index, name) in WIDE.iter().enumerate() {
        text += &load(name, index as u64 * 2);
    }
    for index in 0..4 {
        let _ = writeln!(text, "movdqu xmm{index}, xmmword ptr [rbp + {}]", index * 2);
    }
    for _ in 0..60 + random.below(60) {
        text += &instruction(random);
        text.push('\n');
    }
    text += "lea r15, output[rip]\n";
    for (index, name) in WIDE.iter().enumerate().take(6) {
        let _ = writeln!(text, "mov qword ptr [r15 + {}], {name}", index * 8);
    }
    text += "movdqu xmmword ptr [r15 + 48], xmm1\n";
    text +=
        "mov eax, 1\nmov edi, 1\nmov rsi, r15\nmov edx, 64\nsyscall\nmov eax, 60\nxor edi, edi\nsyscall\n";
    text
}

fn natively(binary: &Path, input: &[u8]) -> Result<Vec<u8>, String> {
    let mut child = Command::new(binary)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    child.stdin.take().ok_or("no pipe")?.write_all(input).map_err(|error| error.to_string())?;
    Ok(child.wait_with_output().map_err(|error| error.to_string())?.stdout)
}

fn compare(seed: u64) -> Result<(), String> {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let place = folder(&format!("generated-source-{seed}"));
    let assembly = place.0.join("program.s");
    std::fs::write(&assembly, source(&mut random)).map_err(|error| error.to_string())?;
    let flags = ["-nostdlib", "-static"];
    let binary = place.0.join("program");
    compile(&assembly, &flags, &binary)?;
    let input: Vec<u8> = (0..INPUT).map(|_| random.next() as u8).collect();
    let name = format!("generated-{seed}");
    let recorded = Recorded::new(&name, &assembly, &flags, &input, 1_000_000)?;
    let base = recorded.symbol("input")?.start;
    let output = recorded.symbol("output")?;
    // What the processor shows.
    let plain = natively(&binary, &input)?;
    if plain.len() != OUTPUT as usize {
        return Err(format!("{} bytes of output", plain.len()));
    }
    let mut shown: Vec<BTreeSet<u64>> = vec![BTreeSet::new(); OUTPUT as usize];
    for index in 0..INPUT {
        for round in 0..5 {
            let mut other = input.clone();
            let change = if round < 3 { 1 << random.below(8) } else { 1 + random.below(255) as u8 };
            other[index as usize] ^= change;
            let changed = natively(&binary, &other)?;
            for (at, set) in shown.iter_mut().enumerate() {
                if changed.get(at) != plain.get(at) {
                    set.insert(index);
                }
            }
        }
    }
    let end = recorded.travel_end();
    let follow = Follow { conditions: true, ..Follow::default() };
    let (mut named, mut seen) = (0, 0);
    for (at, shown) in shown.iter().enumerate().filter(|(at, _)| at % 3 == seed as usize % 3) {
        let address = output.start + at as u64;
        let found = recorded.memory(address..address + 1, end, follow)?;
        if found.cut.is_some() {
            return Err(format!("output {at}: cut"));
        }
        let origins: BTreeSet<u64> = brought(&found, "read").into_iter().map(|byte| byte - base).collect();
        if let Some(missing) = shown.iter().find(|byte| !origins.contains(byte)) {
            return Err(format!(
                "output {at} changes with input {missing}, and is said to come from {origins:?}\n{found:#?}"
            ));
        }
        named += origins.len();
        seen += shown.len();
    }
    println!("  {named} dependencies named, {seen} of them seen on the processor");
    if seen == 0 {
        return Err(String::from("nothing depends on the input"));
    }
    Ok(())
}

impl Recorded {
    fn travel_end(&self) -> u64 {
        use parallax_trace::Target;
        self.travel.span().end
    }
}
