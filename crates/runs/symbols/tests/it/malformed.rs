//! Debug information that contradicts itself: every question is answered or refused, nothing panics or runs away.

use parallax_symbols::{Module, State, Symbols};
use std::path::Path;
use std::process::Command;

/// A state that knows some registers and the program's own bytes.
struct Still {
    pc: u64,
    bytes: Vec<u8>,
}

impl State for Still {
    fn pc(&self) -> u64 {
        self.pc
    }

    fn register(&self, number: u16) -> Option<u128> {
        (number < 33).then_some(match number {
            16 => self.pc.into(),
            6 | 7 => 0x100,
            other => u128::from(other) << 4,
        })
    }

    fn read(&self, address: u64, into: &mut [u8]) -> bool {
        match self.bytes.get(address as usize..(address as usize).saturating_add(into.len())) {
            Some(bytes) => {
                into.copy_from_slice(bytes);
                true
            }
            None => false,
        }
    }
}

fn program(folder: &Path, source: &str, compiler: &str, flags: &[&str]) -> Vec<u8> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(source);
    let out = folder.join("program");
    let status =
        Command::new(compiler).args(flags).args(["-g", "-w", "-o"]).arg(&out).arg(source).status().unwrap();
    assert!(status.success());
    std::fs::read(out).unwrap()
}

/// Asks everything that can be asked, at a few places.
fn ask(bytes: &[u8], places: &[u64]) -> usize {
    let Ok(module) = Module::read("mutant", bytes, None, 0) else { return 0 };
    let symbols = Symbols::new(vec![module]);
    let mut answers = 0;
    for &pc in places {
        let state = Still { pc, bytes: bytes.to_vec() };
        for frame in symbols.frames(&state, 20) {
            for variable in symbols.variables(&frame).unwrap_or_default() {
                symbols.type_name(&variable.ty);
                if let Ok(value) = symbols.value(&variable, Some(&frame), &state) {
                    answers += symbols.print(&value, &state).len();
                }
            }
            for text in
                ["all.packed.b", "first->next->next->name", "*this", "nodes[1]", "zoo::animal::count", "list"]
            {
                answers += usize::from(symbols.evaluate(text, &frame, &state).is_ok());
            }
        }
        answers += symbols.line_at(pc).map_or(0, |line| line.line as usize);
    }
    answers += symbols.breakpoints_on("main").len() + symbols.breakpoints_on("clamp").len();
    answers + symbols.addresses_of_line("shapes.c", 70).len()
}

/// A generator of numbers; the seed is part of the test.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) as usize) % bound.max(1)
    }
}

/// Where the sections of debug information and of unwinding lie in a file, and addresses of its code.
fn interesting(bytes: &[u8]) -> (Vec<(usize, usize)>, Vec<u64>) {
    let symbols = Symbols::new(vec![Module::read("program", bytes, None, 0).unwrap()]);
    let mut places = Vec::new();
    for symbol in symbols.modules()[0].symbols().iter().filter(|symbol| symbol.is_function) {
        places.extend([symbol.range.start, symbol.range.start + (symbol.range.end - symbol.range.start) / 2]);
    }
    use object::{Object, ObjectSection};
    let file = object::read::elf::ElfFile64::<object::Endianness>::parse(bytes).unwrap();
    let sections = file.sections().filter(|section| {
        section.name().is_ok_and(|name| name.starts_with(".debug") || name.starts_with(".eh_frame"))
    });
    let ranges =
        sections.filter_map(|section| section.file_range()).map(|(at, size)| (at as usize, size as usize));
    (ranges.filter(|(_, size)| *size > 0).collect(), places)
}

fn mutate(source: &str, compiler: &str, flags: &[&str], rounds: usize) {
    let folder = tempfile::tempdir().unwrap();
    let bytes = program(folder.path(), source, compiler, flags);
    let (sections, places) = interesting(&bytes);
    let places: Vec<u64> = places.iter().step_by(places.len().div_ceil(12)).copied().collect();
    let whole = ask(&bytes, &places);
    assert!(whole > 500, "the program itself gives {whole}");
    let mut random = Random(20);
    let mut changed = 0;
    for round in 0..rounds {
        let mut mutant = bytes.clone();
        let (at, size) = sections[random.below(sections.len())];
        for _ in 0..1 + random.below(4) {
            let place = at + random.below(size);
            mutant[place] = match random.below(4) {
                0 => 0xff,
                1 => 0,
                2 => mutant[place] ^ (1 << random.below(8)),
                _ => random.below(256) as u8,
            };
        }
        if round % 16 == 0 {
            mutant.truncate(mutant.len() - random.below(mutant.len() / 2));
        }
        changed += usize::from(ask(&mutant, &places) != whole);
    }
    assert!(changed > rounds / 8, "only {changed} of {rounds} changes were felt");
}

#[test]
fn mutants_of_c() {
    mutate("shapes.c", "gcc", &["-O2"], 300);
}

#[test]
fn mutants_of_cpp() {
    mutate("classes.cc", "clang++-19", &["-O0"], 150);
}
