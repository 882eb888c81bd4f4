//! Random C functions over linked structures.

#![allow(dead_code, reason = "each test takes what it needs")]

use std::fmt::Write;

/// xorshift.
pub struct Random(u64);

impl Random {
    /// A sequence of its own for each seed.
    pub fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below a bound.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) as usize % bound
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
}

const HEAD: &str = "\
struct S { int x; struct S *n; int *p; int y; };
struct S g;
void *malloc(unsigned long);
void free(void *);
static struct S *made(int x, struct S *n, int *p) {
  struct S *s = malloc(sizeof *s);
  s->x = x; s->n = n; s->p = p; s->y = 1;
  return s;
}
";

/// A program of functions `f0`, `f1`, ...
pub fn functions(seed: u64, count: usize) -> String {
    let mut random = Random::new(seed);
    let mut text = HEAD.to_string();
    for number in 0..count {
        let _ = writeln!(text, "int f{number}(struct S *a, struct S *b, int *i, int *j, int v) {{");
        let _ = writeln!(text, "  int r = 0;");
        for _ in 0..2 + random.below(5) {
            let statement = statement(&mut random, true);
            let _ = writeln!(text, "  {statement}");
        }
        let _ = writeln!(text, "  return (r + 3 * g.x + 5 * g.y) & 127;\n}}");
    }
    text
}

fn node(random: &mut Random) -> &'static str {
    random.pick(&["a", "b", "a", "b", "a->n", "b->n", "&g"])
}

fn int(random: &mut Random) -> &'static str {
    random.pick(&["i", "j", "i", "j", "a->p", "&b->x", "&a->y", "&g.y", "i + 1"])
}

fn value(random: &mut Random) -> &'static str {
    random.pick(&["1", "v", "*i", "a->x", "b->y", "g.x", "2"])
}

fn condition(random: &mut Random) -> String {
    match random.below(9) {
        0 | 1 => format!("{} == {}", node(random), node(random)),
        2 | 3 => format!("{} == {}", int(random), int(random)),
        4 => format!("{} == 0", node(random)),
        5 => format!("{} < {}", value(random), value(random)),
        6 => format!("{} < {}", node(random), node(random)),
        7 => format!("(void *){} == (void *){}", node(random), int(random)),
        _ => format!("{} == {}", value(random), value(random)),
    }
}

fn statement(random: &mut Random, outer: bool) -> String {
    match random.below(if outer { 17 } else { 13 }) {
        0 => format!("a = {};", node(random)),
        1 => format!("b = {};", node(random)),
        2 => format!("i = {};", int(random)),
        3 => format!("j = {};", int(random)),
        4 => format!("{}->n = {};", random.pick(&["a", "b"]), node(random)),
        5 => format!("{}->p = {};", random.pick(&["a", "b"]), int(random)),
        6 => format!("{} = {};", random.pick(&["*i", "*j", "a->x", "b->y", "g.x", "i[1]"]), value(random)),
        7 => format!("r = r * 3 + {};", value(random)),
        8 => "*a = *b;".into(),
        9 => format!("free({});", random.pick(&["a", "b", "a->n"])),
        10 => format!("{} = made(v, {}, {});", random.pick(&["a", "b"]), node(random), int(random)),
        11 => format!("((unsigned char *)&{})[{}] = 1;", random.pick(&["a->x", "b->y"]), random.below(4)),
        12 => "for (int k = 0; k < (int)sizeof a; k++) ((char *)&b)[k] = ((char *)&a)[k];".into(),
        13 => format!("for (int k = 0; a && k < {}; k++) a = a->n;", 1 + random.below(2)),
        14 => format!(
            "if ({}) {{ {} r = r * 2 + 1; }} else {{ {} r = r * 2; }}",
            condition(random),
            statement(random, false),
            statement(random, false)
        ),
        _ => format!("if ({}) {{ {} r = r * 5 + 3; }}", condition(random), statement(random, false)),
    }
}
