//! Random expressions of C, evaluated here, compiled by gcc and run, and evaluated by GDB: one value and one type.
//!
//! gcc's word is C's. GDB 13 departs from C: bit fields are numbers of their declared type, conditional expressions have the
//! type of the side that was chosen, `sizeof` is an `int`, names of enumerations are not. It is not asked about those.
//! `PARALLAX_FUZZ_CASES` sets how many expressions there are.
//!
//! Not generated: what C leaves undefined (shifts by too much, division by zero, conversions of large floats to integers;
//! signed overflow wraps by `-fwrapv`), arithmetic of long double, bit fields wider than `int` (gcc gives them types of their
//! own), character literals by themselves (`int` in C, `char` in C++ and GDB), assignments, calls, C++.

use crate::common::Core;
use parallax_symbols::{Kind, Scalar, Symbols, Value};
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

const DECLARATIONS: &str = r#"
#include <stdint.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
enum colour { RED, GREEN = 5, BLUE };
enum sign { NEGATIVE = -3, POSITIVE };
struct inner { short x; unsigned char y; };
struct fields { unsigned narrow : 3; int signed_narrow : 5; unsigned whole : 32; unsigned odd : 31;
                struct inner in; struct fields *next; float real; };
struct fields other = {7, -16, 4000000000u, 2147483647u, {-300, 200}, 0, 2.5f};
unsigned long global = 18446744073709551615ul;
size_t size = (size_t) -1;
static void put_integer(const char *ty, long long value) { printf("%s %lld\n", ty, value); }
static void put_f4(float value) { unsigned bits; memcpy(&bits, &value, 4); printf("f4 %u\n", bits); }
static void put_f8(double value) { unsigned long bits; memcpy(&bits, &value, 8); printf("f8 %lu\n", bits); }
static void put_i1(signed char value) { put_integer("i1", value); }
static void put_u1(unsigned char value) { put_integer("u1", value); }
static void put_i2(short value) { put_integer("i2", value); }
static void put_u2(unsigned short value) { put_integer("u2", value); }
static void put_i4(int value) { put_integer("i4", value); }
static void put_u4(unsigned value) { put_integer("u4", value); }
static void put_i8(long value) { put_integer("i8", value); }
static void put_u8(unsigned long value) { put_integer("u8", (long long) value); }
static void put_pointer(const void *value) { put_integer("p8", (long long) value); }
#define PUT(e) _Generic((e), float: put_f4, double: put_f8, char: put_i1, signed char: put_i1, unsigned char: put_u1, \
    _Bool: put_u1, short: put_i2, unsigned short: put_u2, int: put_i4, unsigned: put_u4, long: put_i8, \
    long long: put_i8, unsigned long: put_u8, unsigned long long: put_u8, default: put_pointer)(e)
"#;

const LOCALS: &str = r#"
    signed char sc = -7; unsigned char uc = 250; char c = 'x'; short s = -32768; unsigned short us = 65535;
    int i = -1; unsigned u = 4294967295u; int zero = 0; long l = -5000000000l; unsigned long ul = 9223372036854775808ul;
    long long ll = -1; unsigned long long ull = 3; int64_t i64 = 1ll << 40; uint8_t u8 = 17; size_t n = -1;
    _Bool yes = 1; _Bool no = 0; float f = 16777216.0f; float g = -0.1f; double d = 0.1; double e = 1e10;
    enum colour hue = BLUE; enum sign way = NEGATIVE;
    int row[4] = {3, -1, 2147483647, -2147483647 - 1}; int *p = row + 1; int *q = row + 3; int *null = 0;
    const char *text = "abc"; struct fields local = {5, -1, 4294967295u, 1, {30000, 1}, &other, -1.5f};
    struct fields *r = &local;
"#;

const INTEGERS: &[&str] = &[
    "sc",
    "uc",
    "c",
    "s",
    "us",
    "i",
    "u",
    "zero",
    "l",
    "ul",
    "ll",
    "ull",
    "i64",
    "u8",
    "n",
    "yes",
    "no",
    "hue",
    "way",
    "global",
    "size",
    "row[0]",
    "row[2]",
    "p[1]",
    "*p",
    "*q",
    "r->in.x",
    "local.in.y",
    "r->next->in.x",
    "text[1]",
    "other.in.y",
    "p[-1]",
];
const BITS: &[&str] =
    &["local.narrow", "r->signed_narrow", "local.whole", "r->next->odd", "other.whole", "local.odd"];
const FLOATS: &[&str] = &["f", "g", "d", "e", "r->real", "other.real"];
const POINTERS: &[&str] = &["p", "q", "row", "&row[2]", "(p + 1)", "(q - 2)", "null", "&*p"];
const LITERALS: &[&str] = &[
    "0",
    "1",
    "5",
    "-1",
    "5u",
    "~0u",
    "~0",
    "0x80000000",
    "2147483647",
    "2147483648",
    "0xffffffff",
    "1ul",
    "0xffffffffffffffffull",
    "037777777777",
    "0b101",
    "7l",
    "3ll",
    "+5",
    "1u",
    "4294967296",
    "sizeof(int)",
    "sizeof(long)",
    "sizeof(u8 + c)",
    "GREEN",
    "0x7fffffffffffffff",
];
const FLOAT_LITERALS: &[&str] = &["1e3", "0.5", "1.5f", "16777217.0", "2.5e-1f", ".25", "1.", "0x1.8p1"];
const CASTS: &[&str] = &[
    "char",
    "unsigned char",
    "short",
    "unsigned short",
    "int",
    "unsigned",
    "long",
    "unsigned long",
    "size_t",
    "uint8_t",
    "int64_t",
    "long long",
    "signed char",
    "unsigned long int",
];

struct Generator(u64);

impl Generator {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ mixed >> 31) % bound as u64) as usize
    }

    fn one(&mut self, of: &[&str]) -> String {
        of[self.below(of.len())].to_owned()
    }

    fn integer(&mut self, depth: usize) -> String {
        if depth == 0 {
            return match self.below(8) {
                0..4 => self.one(INTEGERS),
                4 => format!("+{}", self.one(BITS)),
                _ => self.one(LITERALS),
            };
        }
        let less = depth - 1;
        match self.below(14) {
            0..3 => {
                let operator = self.one(&["+", "-", "*", "&", "|", "^"]);
                format!("({} {operator} {})", self.integer(less), self.integer(less))
            }
            3..6 => self.comparison(less),
            6 => {
                let operator = self.one(&["/", "%"]);
                let divisor = self.one(&["3", "7u", "100l", "5ul", "2"]);
                format!("({} {operator} {divisor})", self.integer(less))
            }
            7 => {
                let operator = self.one(&["<<", ">>"]);
                format!("({} {operator} {})", self.integer(less), self.below(31))
            }
            8 => format!("{}({})", self.one(&["-", "~", "!", "+"]), self.integer(less)),
            9 => format!(
                "({}) ({})",
                self.one(&["int", "unsigned", "long", "unsigned char", "short"]),
                self.integer(less)
            ),
            10 => format!("({}) {}", self.one(CASTS), self.one(INTEGERS)),
            11 => {
                let operator = self.one(&["&&", "||"]);
                format!("({} {operator} {})", self.integer(less), self.comparison(less))
            }
            12 => format!("({} ? {} : {})", self.comparison(less), self.integer(less), self.integer(less)),
            _ => {
                let operator = self.one(&["-", "=="]);
                format!("(({}) {operator} ({}))", self.one(&POINTERS[..6]), self.one(&POINTERS[..6]))
            }
        }
    }

    fn comparison(&mut self, depth: usize) -> String {
        let operator = self.one(&["==", "!=", "<", "<=", ">", ">="]);
        let (left, right) = match self.below(8) {
            0 => (self.one(POINTERS), self.one(&["p", "q", "row + 2", "null"])),
            1 => (self.float(depth), self.integer(depth)),
            2 => (self.integer(depth), self.float(depth)),
            _ => (self.integer(depth), self.integer(depth)),
        };
        format!("({left} {operator} {right})")
    }

    fn float(&mut self, depth: usize) -> String {
        if depth == 0 {
            return if self.below(3) == 0 { self.one(FLOAT_LITERALS) } else { self.one(FLOATS) };
        }
        let less = depth - 1;
        let operator = self.one(&["+", "-", "*", "/"]);
        match self.below(5) {
            0 => format!("({} {operator} {})", self.float(less), self.float(less)),
            1 => format!("({} {operator} {})", self.integer(less), self.float(less)),
            2 => format!("-({})", self.float(less)),
            3 => format!("({}) ({})", self.one(&["float", "double"]), self.integer(less)),
            _ => format!("({} ? {} : {})", self.comparison(less), self.float(less), self.integer(less)),
        }
    }

    fn expression(&mut self) -> String {
        let depth = self.below(4);
        match self.below(5) {
            0 => self.float(depth),
            1 => self.comparison(depth),
            _ => self.integer(depth),
        }
    }
}

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The type and the bits of a value, as the program writes them.
fn told(symbols: &Symbols, value: &Value, core: &Core) -> Result<String, parallax_symbols::Error> {
    let integer =
        |letter: &str, size: u64| Ok(format!("{letter}{size} {}", symbols.integer(value, core)? as i64));
    match &*symbols.kind(&value.ty)? {
        Kind::Integer { size, signed }
        | Kind::Character { size, signed }
        | Kind::Enum { size, signed, .. } => integer(if *signed { "i" } else { "u" }, *size),
        Kind::Boolean { size } => integer("u", *size),
        Kind::Pointer { size, .. } => integer("p", *size),
        Kind::Array { .. } => integer("p", 8),
        Kind::Float { size: 4 } => Ok(format!("f4 {}", (symbols.float(value, core)? as f32).to_bits())),
        Kind::Float { size } => Ok(format!("f{size} {}", symbols.float(value, core)?.to_bits())),
        other => panic!("{other:?}"),
    }
}

fn scalar(one: Scalar) -> String {
    match one {
        Scalar::Whole(number) => (number as i64).to_string(),
        Scalar::Address(address) => (address as i64).to_string(),
        Scalar::Real(number) => format!("{:?}", number.to_bits()),
    }
}

/// What is wrong with one expression: what was expected, and what was answered.
struct Wrong(String);

fn check(seed: u64, count: usize) -> Vec<Wrong> {
    let folder = tempfile::tempdir().unwrap();
    let mut generator = Generator(seed);
    let texts: Vec<String> = (0..count).map(|_| generator.expression()).collect();
    let mut source = format!("{DECLARATIONS}int main(void) {{\n{LOCALS}");
    for text in &texts {
        writeln!(source, "    PUT({text});").unwrap();
    }
    source.push_str("    fflush(stdout); /* here */\n    return 0;\n}\n");
    let line = source.lines().position(|line| line.contains("/* here */")).unwrap() + 1;
    let (path, program) = (folder.path().join("expressions.c"), folder.path().join("program"));
    std::fs::write(&path, source).unwrap();
    run(Command::new("gcc")
        .args(["-O0", "-g", "-w", "-std=gnu17", "-fwrapv", "-ffp-contract=off", "-o"])
        .arg(&program)
        .arg(&path));
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let departs = |text: &&String| {
        ["?", "sizeof", "GREEN"].iter().chain(BITS).any(|construct| text.contains(construct))
    };
    let asked: Vec<&String> = texts.iter().filter(|text| !departs(text)).collect();
    let script = format!(
        "PROGRAM = {program:?}\nSOURCE = {path:?}\nFOLDER = {:?}\nSTOPS = [[{line}, {}]]\nFUNCTIONS = []\nexec(open({:?}).read())\n",
        folder.path(),
        serde_json::to_string(&asked).unwrap(),
        here.join("gdb-truth.py"),
    );
    let script_path = folder.path().join("script.py");
    std::fs::write(&script_path, script).unwrap();
    run(Command::new("gdb").args(["-nx", "-q", "-batch", "-x"]).arg(&script_path));
    let truth = std::fs::read_to_string(folder.path().join("truth.json")).unwrap();
    let truth: serde_json::Value = serde_json::from_str(&truth).unwrap();
    let core = Core::open(Path::new(truth["stops"][0]["core"].as_str().unwrap()));
    let by_gdb = truth["stops"][0]["expressions"].as_object().unwrap();
    let symbols = core.symbols();
    let frame = symbols.innermost(&core);
    // Where it is loaded differs from run to run: pointers are only told from those that are null.
    let run = run(Command::new("setarch").arg("-R").arg(&program));
    let by_gcc: Vec<&str> = run.lines().collect();
    assert_eq!(by_gcc.len(), texts.len());
    let mut wrong = Vec::new();
    let (mut compiled, mut by_both) = (0, 0);
    for (text, theirs) in texts.iter().zip(by_gcc) {
        let value = match symbols.evaluate(text, &frame, &core) {
            Ok(value) => value,
            Err(error) => {
                wrong.push(Wrong(format!("{text}\n  gcc {theirs}\n ours {error}")));
                continue;
            }
        };
        let ours = told(&symbols, &value, &core).unwrap_or_else(|error| error.to_string());
        let same = if theirs.starts_with("p8") { ours.starts_with("p8") } else { is_same(&ours, theirs) };
        if !same {
            wrong.push(Wrong(format!("{text}\n  gcc {theirs}\n ours {ours}")));
        }
        if let Some(theirs) = by_gdb.get(text).and_then(|theirs| theirs.as_str()) {
            by_both += 1;
            let ours = symbols.print(&value, &core);
            if ours != theirs && !theirs.contains("nan") {
                wrong.push(Wrong(format!("{text}\n  gdb {theirs}\n ours {ours}")));
            }
        }
        let quick = symbols.compiled(text, parallax_symbols::State::pc(&core));
        if let Some(quick) = quick.and_then(|quick| quick.number(&symbols, &core)) {
            compiled += 1;
            let slow = match &*symbols.kind(&value.ty).unwrap() {
                Kind::Float { .. } => Scalar::Real(symbols.float(&value, &core).unwrap()),
                _ => Scalar::Whole(symbols.integer(&value, &core).unwrap()),
            };
            if scalar(quick) != scalar(slow) {
                wrong.push(Wrong(format!("{text}\n evaluated {slow:?}\n compiled {quick:?}")));
            }
        }
    }
    assert!(compiled * 4 > count && by_both * 4 > count, "{compiled} compiled, {by_both} by GDB, of {count}");
    wrong
}

/// Equal, or both not a number: its sign is the processor's choice.
fn is_same(ours: &str, theirs: &str) -> bool {
    let number = |text: &str| -> Option<f64> {
        let (kind, bits) = text.split_once(' ')?;
        match kind {
            "f4" => Some(f32::from_bits(bits.parse().ok()?).into()),
            "f8" => Some(f64::from_bits(bits.parse().ok()?)),
            _ => None,
        }
    };
    let is_nan = |text: &str| number(text).is_some_and(f64::is_nan);
    ours == theirs || ours[..2] == theirs[..2] && is_nan(ours) && is_nan(theirs)
}

#[test]
fn expressions_mean_what_they_mean_in_c_and_in_gdb() {
    let cases = std::env::var("PARALLAX_FUZZ_CASES").ok().and_then(|cases| cases.parse().ok());
    let cases: usize = cases.unwrap_or(400);
    // One program of all of them would be slow to compile.
    const AT_ONCE: usize = 400;
    for (round, start) in (0..cases).step_by(AT_ONCE).enumerate() {
        let wrong = check(round as u64 + 1, AT_ONCE.min(cases - start));
        let all: Vec<&str> = wrong.iter().map(|one| one.0.as_str()).collect();
        assert!(all.is_empty(), "{} of round {round}:\n{}", all.len(), all[..all.len().min(40)].join("\n"));
    }
}
