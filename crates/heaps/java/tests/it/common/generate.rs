//! Random Java programs that print what they compute. Every one terminates: loops have counters of their own, calls go
//! to methods of a lower number. Not generated: floating point beyond conversions, parts of texts, formats, library
//! collections, threads.

use std::fmt::Write;

/// Numbers that depend on nothing but the seed (xorshift).
pub struct Random(u64);

impl Random {
    /// From a seed.
    pub fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// The next number.
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() >> 11) as usize % end
    }

    fn pick<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }
}

const INTS: &[&str] =
    &["0", "1", "-1", "2", "7", "31", "32", "100", "-128", "255", "65535", "2147483647", "-2147483648"];

struct Generator {
    random: Random,
    text: String,
    depth: usize,
    loops: usize,
    methods: usize,
}

/// The text of a class of this name.
pub fn program(name: &str, seed: u64) -> String {
    let mut generator =
        Generator { random: Random::new(seed + 1), text: String::new(), depth: 0, loops: 0, methods: 0 };
    generator.class(name);
    generator.text
}

impl Generator {
    fn line(&mut self, text: &str) {
        let indent = "    ".repeat(self.depth);
        let _ = writeln!(self.text, "{indent}{text}");
    }

    fn class(&mut self, name: &str) {
        self.line(&format!("public class {name} {{"));
        self.depth += 1;
        self.line("static int total; static long wide = 5; static boolean flag; static byte tiny; static char letter = 'a';");
        self.line("int own; Object link;");
        self.line("static class Pair { int first; long second; Pair next; Pair(int f, long s) { first = f; second = s; } int sum() { return first + (int) second; } }");
        self.line("static class Sub extends Pair { Sub(int f) { super(f, f * 3L); } @Override int sum() { return super.sum() ^ 5; } }");
        self.line("record Point(int x, long y) { int dot() { return x * (int) y; } }");
        self.line("interface Op { int apply(int a, int b); }");
        self.line("static void say(String what, long value) { System.out.println(what + value); }");
        for method in 0..3 {
            self.methods = method;
            self.line(&format!("static int m{method}(int a, int b, long c, int[] xs, Pair p) {{"));
            self.depth += 1;
            self.line("int d = a; short s = (short) b; Op op = (u, v) -> u + v * 3;");
            for _ in 0..4 + self.random.below(4) {
                self.statement(3);
            }
            let result = self.int(2);
            self.line(&format!("return {result};"));
            self.depth -= 1;
            self.line("}");
        }
        self.line("public static void main(String[] args) {");
        self.depth += 1;
        self.methods = 3;
        for call in 0..4 {
            let (a, b) = (self.random.pick(INTS), self.random.pick(INTS));
            let length = 1 + self.random.below(5);
            let pair = self.random.pick(&["new Pair(3, 4)", "new Sub(6)", "null"]);
            self.line("try {");
            self.line(&format!(
                "    say(\"m{} \", m{}({a}, {b}, {a} * 7919L, new int[{length}], {pair}));",
                call % 3,
                call % 3
            ));
            self.line("} catch (ArithmeticException | NegativeArraySizeException e) { System.out.println(e.getMessage());");
            self.line("} catch (RuntimeException e) { System.out.println(e.getClass().getName()); }");
            self.line("System.out.println(total + \" \" + wide + \" \" + flag + \" \" + tiny + \" \" + (int) letter);");
        }
        self.depth -= 1;
        self.line("}");
        self.depth -= 1;
        self.line("}");
    }

    fn statement(&mut self, depth: usize) {
        let choice = if depth == 0 { self.random.below(6) } else { self.random.below(14) };
        match choice {
            0 => {
                let (target, value) = (self.random.pick(&["d", "total", "a", "b"]), self.int(2));
                let operator =
                    self.random.pick(&["=", "+=", "-=", "*=", "^=", "|=", "&=", "<<=", ">>>=", ">>="]);
                self.line(&format!("{target} {operator} {value};"));
            }
            1 => {
                let value = self.long(2);
                let target = self.random.pick(&["wide", "c"]);
                let operator = self.random.pick(&["=", "+=", "^=", "*=", "-="]);
                self.line(&format!("{target} {operator} {value};"));
            }
            2 => {
                let value = self.int(2);
                let target = self.random.pick(&["tiny", "letter", "s"]);
                let ty = match target {
                    "tiny" => "byte",
                    "letter" => "char",
                    _ => "short",
                };
                self.line(&format!("{target} = ({ty}) ({value});"));
            }
            3 => {
                let (index, value) = (self.int(1), self.int(2));
                self.line(&format!("xs[{index}] = {value};"));
            }
            4 => {
                let value = self.condition(2);
                self.line(&format!("flag = {value};"));
            }
            5 => {
                let value = self.int(1);
                let made = match self.random.below(4) {
                    0 => format!("new Pair({value}, c)"),
                    1 => format!("new Sub({value})"),
                    2 => "p.next".into(),
                    _ => "null".into(),
                };
                self.line(&format!("p = {made};"));
            }
            6 | 7 => {
                let condition = self.condition(2);
                self.line(&format!("if ({condition}) {{"));
                self.block(depth - 1);
                if self.random.below(2) == 0 {
                    self.line("} else {");
                    self.block(depth - 1);
                }
                self.line("}");
            }
            8 => {
                let (variable, rounds) = (format!("i{}", self.loops), 1 + self.random.below(5));
                self.loops += 1;
                self.line(&format!("for (int {variable} = 0; {variable} < {rounds}; {variable}++) {{"));
                self.block(depth - 1);
                let out = self.condition(1);
                let leave = self.random.pick(&["break", "continue"]);
                self.line(&format!("    if ({out}) {leave};"));
                self.line("}");
            }
            9 => {
                let value = self.int(1);
                self.line(&format!("switch ({value} & 7) {{"));
                for case in 0..3 {
                    let key = case * 2 + self.random.below(2);
                    self.line(&format!("case {key}:"));
                    self.block(depth - 1);
                    if self.random.below(3) > 0 {
                        self.line("    break;");
                    }
                }
                self.line("default: d++;");
                self.line("}");
            }
            10 => {
                self.line("try {");
                self.block(depth - 1);
                let thrown = self.random.pick(&[
                    "ArithmeticException",
                    "RuntimeException",
                    "ArrayIndexOutOfBoundsException",
                    "NullPointerException",
                ]);
                let variable = format!("e{}", self.loops);
                self.loops += 1;
                self.line(&format!("}} catch ({thrown} {variable}) {{"));
                self.block(depth - 1);
                self.line("} finally { total++; }");
            }
            11 if self.methods > 0 => {
                let (method, a, b) = (self.random.below(self.methods), self.int(1), self.int(1));
                self.line(&format!("d ^= m{method}({a}, {b}, c, xs, p);"));
            }
            12 => {
                let value = self.int(1);
                self.line(&format!("xs = java.util.Arrays.copyOf(xs, ({value} & 7) + 1);"));
            }
            _ => {
                let value = self.long(1);
                self.line(&format!("say(\"c \", {value});"));
            }
        }
    }

    fn block(&mut self, depth: usize) {
        self.depth += 1;
        for _ in 0..1 + self.random.below(2) {
            self.statement(depth);
        }
        self.depth -= 1;
    }

    fn int(&mut self, depth: usize) -> String {
        if depth == 0 {
            return match self.random.below(9) {
                0 => "a".into(),
                1 => "b".into(),
                2 => "d".into(),
                3 => "s".into(),
                4 => "total".into(),
                5 => "tiny".into(),
                6 => "letter".into(),
                _ => self.random.pick(INTS).into(),
            };
        }
        let (x, y) = (self.int(depth - 1), self.int(depth - 1));
        match self.random.below(19) {
            0..=6 => format!(
                "({x} {} {y})",
                self.random.pick(&["+", "-", "*", "&", "|", "^", "<<", ">>", ">>>", "/", "%"])
            ),
            7 => format!("xs[{x}]"),
            8 => "xs.length".into(),
            9 => "p.sum()".into(),
            10 => format!("({} ? {x} : {y})", self.condition(depth - 1)),
            11 => format!("(int) ({})", self.long(depth - 1)),
            12 => format!("op.apply({x}, {y})"),
            13 => format!("new Point({x}, c).dot()"),
            14 => format!("-(~{x})"),
            15 => format!("Integer.toString({x}).length()"),
            16 => format!("(\"v\" + ({x})).hashCode()"),
            17 => format!("new StringBuilder().append({x}).append(letter).append(flag).toString().charAt(0)"),
            _ => format!("Math.max({x}, (p instanceof Sub ? {y} : -3))"),
        }
    }

    fn long(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self
                .random
                .pick(&["c", "wide", "9L", "-1L", "0x7fffffffffffffffL", "4294967296L"])
                .into();
        }
        let (x, y) = (self.long(depth - 1), self.int(depth - 1));
        match self.random.below(7) {
            0..=2 => format!("({x} {} {y})", self.random.pick(&["+", "-", "*", "&", "|", "^", "/", "%"])),
            3 => format!("({x} {} ({y}))", self.random.pick(&["<<", ">>", ">>>"])),
            4 => format!("(long) ({y})"),
            5 => format!("(long) (double) ({x})"),
            _ => format!("({} ? {x} : wide)", self.condition(depth - 1)),
        }
    }

    fn condition(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self
                .random
                .pick(&["flag", "p == null", "a < b", "c > wide", "xs.length > 2", "true"])
                .into();
        }
        let (x, y) = (self.condition(depth - 1), self.condition(depth - 1));
        match self.random.below(6) {
            0 => format!("({x} && {y})"),
            1 => format!("({x} || !{})", parenthesised(&y)),
            2 => format!("({x} ^ {})", parenthesised(&y)),
            3 => format!(
                "({} {} {})",
                self.int(depth - 1),
                self.random.pick(&["<", "<=", "==", "!=", ">", ">="]),
                self.int(depth - 1)
            ),
            4 => format!(
                "({} {} {})",
                self.long(depth - 1),
                self.random.pick(&["<", "<=", "==", "!="]),
                self.long(depth - 1)
            ),
            _ => "(p instanceof Sub)".into(),
        }
    }
}

fn parenthesised(text: &str) -> String {
    format!("({text})")
}
