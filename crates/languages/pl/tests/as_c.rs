//! PL without pointers and procedures is C: random programs are read and run by PL's own meaning, and compiled by the C
//! compiler, and must leave the same values.

use parallax_op::Bits;
use parallax_pl::{Program, STORE, WIDTH, read};
use parallax_sem::logic::Struct;
use parallax_sem::{Concrete, Language};
use parallax_source::SourceFile;
use parallax_term::{Store, SymbolKind};
use std::fmt::Write;
use std::process::Command;

const VARIABLES: [&str; 4] = ["w", "x", "y", "z"];
const PROGRAMS: usize = 300;

/// Numbers that are the same in every run (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len() as u64) as usize]
    }
}

/// An expression without anything that C leaves undefined; signed sums wrap around on both sides. Parentheses stand
/// only sometimes, so that both readers must agree on how tightly operators bind.
fn expression(random: &mut Random, depth: u32) -> String {
    if depth == 0 {
        return match random.below(3) {
            0 => random.pick(&["0", "1", "7", "31", "255", "65536", "2147483647"]).to_owned(),
            _ => random.pick(&VARIABLES).to_owned(),
        };
    }
    let a = expression(random, depth - 1);
    let b = expression(random, depth - 1);
    let text = match random.below(14) {
        0 => format!("-({a})"),
        1 => format!("~{a}"),
        2 => format!("!({a})"),
        3 => format!("({a}) << (({b}) & 31)"),
        4 => format!("({a}) >> (({b}) & 31)"),
        5 => format!("({a}) / ((({b}) & 7) + 1)"),
        6 => format!("({a}) % ((({b}) & 7) + 1)"),
        7 => format!("({a} ? {b} : {})", expression(random, depth - 1)),
        8 | 9 => format!("{a} {} {b}", random.pick(&["==", "!=", "<", "<=", ">", ">="])),
        10 => format!("{a} {} {b}", random.pick(&["&&", "||"])),
        _ => format!("{a} {} {b}", random.pick(&["+", "-", "*", "&", "|", "^"])),
    };
    // A prefix operator takes what is next to it.
    if random.below(2) == 0 || text.starts_with(['-', '~', '!']) { format!("({text})") } else { text }
}

fn statements(random: &mut Random, depth: u32, loops: &mut u32, text: &mut String) {
    for _ in 0..=random.below(3) {
        let target = random.pick(&VARIABLES);
        match random.below(5) {
            0 if depth > 0 => {
                let _ = write!(text, "if ({}) {{ ", expression(random, 2));
                statements(random, depth - 1, loops, text);
                text.push_str("} else { ");
                statements(random, depth - 1, loops, text);
                text.push_str("} ");
            }
            1 if depth > 0 => {
                // Every loop counts its turns, so every program ends.
                let counter = format!("i{loops}");
                *loops += 1;
                let condition = expression(random, 1);
                let _ = write!(text, "{counter} = 0; while ({counter} < 5 && ({condition})) {{ ");
                statements(random, depth - 1, loops, text);
                let _ = write!(text, "{counter} = {counter} + 1; }} ");
            }
            _ => {
                let _ = write!(text, "{target} = {}; ", expression(random, 3));
            }
        }
    }
}

/// What PL makes of a program from these values of the variables.
fn run(program: &Program, start: &[i32; 4]) -> Vec<i32> {
    let store = Store::new();
    program.declare(&store);
    let mut s = Struct::new();
    for symbol in store.symbols() {
        let info = store.info(symbol);
        if let (SymbolKind::Address { .. }, Some(address)) = (&info.kind, program.placement(&info.name)) {
            s.set_val(symbol, address);
        }
    }
    let memory = store.lookup(STORE).expect("declared");
    let mut cells = s.lookup_function(&Concrete, &store, memory);
    for (name, value) in VARIABLES.iter().zip(start) {
        if let Some(address) = program.placement(name) {
            cells.set(address, Bits::new(WIDTH, u128::from(*value as u32)));
        }
    }
    s.set_map(memory, cells);
    let mut state = program.state(&Concrete, &store, &s);
    for _ in 0..100_000 {
        let pc = program.pc(&state);
        if !program.has_instruction(&pc) {
            let after = program.structure(&Concrete, &store, &state);
            let cells = after.lookup_function(&Concrete, &store, memory);
            let value = |name: &&str| match program.placement(name) {
                Some(address) => cells.get(&address).to_u64().expect("32 bits") as u32 as i32,
                None => start[VARIABLES.iter().position(|known| known == name).expect("one of them")],
            };
            return VARIABLES.iter().map(value).collect();
        }
        state = program.step(&Concrete, state, &pc).expect("nothing here gets stuck");
    }
    panic!("the program does not end");
}

#[test]
fn random_programs_leave_what_the_c_compiler_leaves() {
    let mut random = Random(0x1234_5678_9abc_def1);
    let mut c = String::from("#include <stdio.h>\n");
    let mut calls = String::new();
    let mut texts = Vec::new();
    for number in 0..PROGRAMS {
        let (mut text, mut loops) = (String::new(), 0);
        statements(&mut random, 2, &mut loops, &mut text);
        let start: [i32; 4] = std::array::from_fn(|_| match random.below(3) {
            0 => random.below(9) as i32 - 4,
            _ => random.below(1 << 32) as u32 as i32,
        });
        let counters: String = (0..loops).map(|i| format!("int i{i} = 0; ")).collect();
        let _ = writeln!(
            c,
            "static void f{number}(int w, int x, int y, int z) {{ {counters}{text}printf(\"%d %d %d %d\\n\", w, x, y, z); }}"
        );
        let numbers: Vec<String> = start.iter().map(|value| format!("(int){}u", *value as u32)).collect();
        let _ = writeln!(calls, "f{number}({});", numbers.join(", "));
        texts.push((text, start));
    }
    let _ = writeln!(c, "int main(void) {{\n{calls}return 0; }}");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (source, binary) = (folder.path().join("all.c"), folder.path().join("all"));
    std::fs::write(&source, &c).expect("written");
    let compiled = Command::new("cc")
        .args(["-O1", "-w", "-fwrapv", "-o"])
        .args([&binary, &source])
        .output()
        .expect("a C compiler");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let printed = Command::new(&binary).output().expect("the program runs");
    let printed = String::from_utf8(printed.stdout).expect("numbers");
    assert_eq!(printed.lines().count(), PROGRAMS);
    for ((text, start), line) in texts.iter().zip(printed.lines()) {
        let expected: Vec<i32> = line.split(' ').map(|word| word.parse().expect("a number")).collect();
        let program =
            read(&SourceFile::new("random.pl", text.as_str())).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
        assert_eq!(run(&program, start), expected, "from {start:?}\n{text}");
    }
}
