//! Addresses mean one thing in every reading: generated programs that take, compare, store and give back addresses are
//! run, evaluated, asked for preconditions and paths, and analysed, and every pair of answers must agree.
//!
//! The inputs of paths are replayed as a user would: a store that is zero but for the cells of the input, from which a
//! run must visit the points. `ADDRESS_PROGRAMS` asks for more programs than the suite looks at, `ADDRESS_FIRST` for others.

use parallax_op::Bits;
use parallax_pl::{self as pl, Program, STORE};
use parallax_primitives::{
    Bounds, Explorer, Input, NotFound, Stopped, analyse, input, is_placed, placed, run,
};
use parallax_sem::logic::{self, Scalar, Struct};
use parallax_sem::{Abstract, Concrete, Core, Domain, Interval, Language, Sign, Symbolic, Table};
use parallax_source::SourceFile;
use parallax_term::{Store, StructUpdate, SymbolKind};
use std::fmt::Write;

const BOUNDS: Bounds = Bounds { unroll: 6, steps: 3000, time: None };
const STEPS: u64 = 2000;

/// SplitMix64: the same programs everywhere.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % sides as u64) as usize
    }

    fn pick<'t>(&mut self, items: &[&'t str]) -> &'t str {
        items[self.roll(items.len())]
    }
}

struct Writer {
    dice: Dice,
    text: String,
    labels: usize,
}

impl Writer {
    /// A number that is often an address.
    fn value(&mut self, depth: usize) -> String {
        match self.dice.roll(if depth == 0 { 7 } else { 10 }) {
            0 | 1 => self.dice.pick(&["x", "y", "p", "q", "m"]).to_owned(),
            2 | 3 => format!("&{}", self.dice.pick(&["x", "y", "p", "q", "m"])),
            4 => self.dice.pick(&["0", "1", "5", "-1", "4096", "4100", "0x10000000", "12345"]).to_owned(),
            5 => format!("*{}", self.dice.pick(&["p", "q", "m"])),
            6 => format!("*({} + {})", self.dice.pick(&["p", "q", "m"]), self.dice.pick(&["1", "4", "8"])),
            7 => format!("({} - {})", self.value(depth - 1), self.value(depth - 1)),
            8 => format!("({} + {})", self.value(depth - 1), self.dice.pick(&["1", "4", "x"])),
            _ => format!("({} ? {} : {})", self.condition(), self.value(0), self.value(0)),
        }
    }

    fn condition(&mut self) -> String {
        let relation = self.dice.pick(&["==", "==", "!=", "<", "<=", ">", ">="]);
        format!("({} {relation} {})", self.value(1), self.value(0))
    }

    fn statement(&mut self, depth: usize) {
        let target = self.dice.pick(&["x", "y", "p", "q", "m", "*p", "*q", "*(m + 1)"]);
        match self.dice.roll(if depth == 0 { 7 } else { 10 }) {
            0..=2 => {
                let value = self.value(2);
                writeln!(self.text, "{target} = {value};").unwrap();
            }
            3 => {
                let (p, x) = (self.dice.pick(&["p", "q"]), self.dice.pick(&["x", "y", "p", "m"]));
                writeln!(self.text, "{p} = &{x};").unwrap();
            }
            4 => {
                let size = self.dice.pick(&["1", "3", "x", "y", "(x + 1)"]);
                let target = self.dice.pick(&["m", "p", "*q"]);
                writeln!(self.text, "{target} = malloc({size});").unwrap();
            }
            5 => {
                let (f, value) = (self.dice.pick(&["own", "put", "same"]), self.value(1));
                writeln!(self.text, "{target} = {f}({value});").unwrap();
            }
            6 => {
                let (left, value) = (self.value(0), self.value(0));
                writeln!(self.text, "x = {left} + put({value});").unwrap();
            }
            _ => {
                let condition = self.condition();
                self.labels += 1;
                writeln!(self.text, "if {condition} {{ l{}: ;", self.labels).unwrap();
                self.block(depth - 1);
                if self.dice.roll(2) == 0 {
                    self.labels += 1;
                    writeln!(self.text, "}} else {{ l{}: ;", self.labels).unwrap();
                    self.block(depth - 1);
                }
                self.text.push_str("}\n");
            }
        }
    }

    fn block(&mut self, depth: usize) {
        for _ in 0..=self.dice.roll(3) {
            self.statement(depth);
        }
    }
}

fn text(seed: u64) -> (String, usize) {
    let mut writer = Writer { dice: Dice(seed), text: String::new(), labels: 0 };
    writer.text.push_str(
        "proc own(a) { var t; t = &a; return t; }\n\
         proc put(a) { if (p != 0) { *p = a; } return x; }\n\
         proc same(a) { var t; if (a == &t) { return 1; } return a == &x; }\n\
         x = x; y = y; p = p; q = q; m = m;\n",
    );
    for _ in 0..2 + writer.dice.roll(4) {
        writer.statement(2);
    }
    writer.labels += 1;
    let condition = writer.condition();
    writeln!(writer.text, "if {condition} {{ l{}: z = 1; }}", writer.labels).unwrap();
    (writer.text, writer.labels)
}

/// A store in which variables hold small numbers and addresses.
fn start(program: &Program, store: &Store, dice: &mut Dice) -> Struct<Concrete> {
    let mut s = placed(program, store);
    let mut table = Table::new(Bits::zero(32));
    let variables: Vec<Bits> = program.variables().filter_map(|name| program.placement(name)).collect();
    for address in &variables {
        let value = match dice.roll(4) {
            0 => variables[dice.roll(variables.len())].clone(),
            1 => Bits::new(32, 0x1000_0000),
            2 => Bits::new(32, dice.roll(9) as u128),
            _ => Bits::from_i128(32, dice.roll(1 << 16) as i128 - 0x8000),
        };
        table.set(address.clone(), value);
    }
    s.set_map(store.lookup(STORE).expect("declared"), table);
    s
}

/// The store, with the numbers of all objects that formulas speak of.
fn with_objects(program: &Program, store: &Store, s: &Struct<Concrete>) -> Struct<Concrete> {
    let mut all = placed(program, store);
    all.functions.extend(s.functions.iter().map(|(symbol, value)| (*symbol, value.clone())));
    all
}

trait Covers: Domain {
    fn covers(&self, value: &Bits) -> bool;
}
impl Covers for Sign {
    fn covers(&self, value: &Bits) -> bool {
        Sign::covers(*self, value)
    }
}
impl Covers for Interval {
    fn covers(&self, value: &Bits) -> bool {
        Interval::covers(self, value)
    }
}

/// Whether an analysis of any store foresees what a run ended with; `None` when it gave up.
fn foreseen<D: Covers>(
    program: &Program,
    store: &Store,
    end: &Bits,
    after: &Struct<Concrete>,
) -> Option<bool> {
    let core = Abstract::<D>::default();
    let mut start = Struct::new();
    for (symbol, value) in &placed(program, store).constants {
        if let (Scalar::Val(value), SymbolKind::Address { .. }) = (value, store.info(*symbol).kind) {
            start.set_val(*symbol, core.constant(value));
        }
    }
    let map = store.lookup(STORE).expect("declared");
    start.set_map(map, core.map_symbol(STORE, 32, 32));
    let analysis = analyse(program, store, &core, &start, 4000);
    if analysis.gave_up.is_some() {
        return None;
    }
    let table = after.lookup_function(&Concrete, store, map);
    Some(analysis.points.iter().filter(|point| point.pc == *end).any(|point| {
        let known = point.structure.lookup_function(&core, store, map);
        table.entries().all(|(key, value)| core.access(&known, &core.constant(key)).domain.covers(value))
    }))
}

/// How often each pair was really compared.
#[derive(Default, Debug)]
struct Compared {
    evaluations: u64,
    preconditions: u64,
    signs: u64,
    ranges: u64,
    inputs: u64,
    impossible: u64,
    gave_up: u64,
    halves: u64,
    astray: Vec<String>,
}

fn visits(program: &Program, store: &Store, s: &Struct<Concrete>, point: &Bits) -> bool {
    run(program, &Concrete, store, s, STEPS, true).trace.iter().any(|(_, pc)| pc == point)
}

fn compare(seed: u64, compared: &mut Compared) {
    let (text, labels) = text(seed);
    let program = pl::read(&SourceFile::new("addresses.pl", &*text))
        .unwrap_or_else(|error| panic!("{}\n{text}", error.message));
    let store = Store::new();
    program.declare(&store);
    let map = store.lookup(STORE).expect("declared");
    let mut dice = Dice(seed ^ 0xadd2);
    let mut wrong = |what: &str| compared.astray.push(format!("seed {seed}: {what}\n{text}"));
    let evaluation = Explorer::new(&program, &store, BOUNDS).evaluate(&StructUpdate::identity());
    let core = Symbolic::new(&store);
    let conditions = ["p == &x", "x < y", "*p == q", "m == 0", "&x < p"].map(|post| {
        let parsed = pl::read_condition(&program, post).expect("reads");
        pl::condition(&core, &parsed, &program.state(&core, &store, &Struct::new()))
    });
    let starts: Vec<Struct<Concrete>> = (0..3).map(|_| start(&program, &store, &mut dice)).collect();
    for s in &starts {
        let ran = run(&program, &Concrete, &store, s, STEPS, false);
        let (Some(after), Stopped::Ended) = (&ran.structure, &ran.stopped) else { continue };
        let (s, after) = (with_objects(&program, &store, s), with_objects(&program, &store, after));
        if logic::formula(&Concrete, &store, evaluation.complete, &s) {
            let evaluated = logic::update(&Concrete, &store, &evaluation.update, &s);
            let same = evaluated.lookup_function(&Concrete, &store, map)
                == after.lookup_function(&Concrete, &store, map);
            if !same {
                wrong("eval is not run");
            }
            compared.evaluations += 1;
            for post in conditions {
                let wlp = logic::precondition(&store, &evaluation.update, post);
                let before = logic::formula(&Concrete, &store, wlp, &s);
                if before != logic::formula(&Concrete, &store, post, &after) {
                    wrong("wlp is not run");
                }
                compared.preconditions += 1;
            }
        }
        if let Some(covered) = foreseen::<Sign>(&program, &store, &ran.pc, &after) {
            compared.signs += 1;
            if !covered {
                wrong("signs does not cover run");
            }
        }
        if let Some(covered) = foreseen::<Interval>(&program, &store, &ran.pc, &after) {
            compared.ranges += 1;
            if !covered {
                wrong("ranges does not cover run");
            }
        }
    }
    // Two of the labels: the last, which every run can come to, and one more.
    for label in [labels, 1 + dice.roll(labels)] {
        let point = Bits::new(32, program.point(&format!("l{label}")).expect("a label").into());
        let points = [point.clone()];
        let mut explorer = Explorer::new(&program, &store, BOUNDS).with_solver(parallax_smt::solver(&store));
        let path = explorer.path(&StructUpdate::identity(), &points);
        match input(&program, &mut *parallax_smt::solver(&store), &path, &[], &points, STEPS) {
            Input::Found(found) => {
                // What is printed: the cells that are not zero, in a store of zeros, objects where they are placed.
                let mut printed = Table::new(Bits::zero(32));
                for (key, value) in found.lookup_function(&Concrete, &store, map).entries() {
                    printed.set(key.clone(), value.clone());
                }
                let mut s = placed(&program, &store);
                s.set_map(map, printed);
                compared.inputs += 1;
                if !is_placed(&program, &store, &found) || !visits(&program, &store, &s, &point) {
                    wrong(&format!("the input for l{label} does not go there"));
                }
            }
            Input::Impossible => {
                compared.impossible += 1;
                if starts.iter().any(|s| visits(&program, &store, s, &point)) {
                    wrong(&format!("path says that nothing goes to l{label}, and a run does"));
                }
            }
            Input::Unknown(NotFound::Astray) => wrong(&format!("no input of the solver goes to l{label}")),
            Input::Unknown(_) => compared.gave_up += 1,
        }
    }
}

/// A path through two points, cut in half at the first: the state there and the rest of the path must give the whole. Objects
/// that are made behind the point would have the names of those before it, so none are made.
fn compare_halves(seed: u64, compared: &mut Compared) {
    let (text, labels) = text(seed);
    let text = text.replace("malloc", "");
    let program = pl::read(&SourceFile::new("halves.pl", &*text)).expect("reads");
    let store = Store::new();
    program.declare(&store);
    let map = store.lookup(STORE).expect("declared");
    let mut dice = Dice(seed ^ 0x4a1f);
    let first = 1 + dice.roll(labels);
    let ends = [first, first + dice.roll(labels + 1 - first)];
    let points =
        ends.map(|label| Bits::new(32, program.point(&format!("l{label}")).expect("a label").into()));
    let explorer = || Explorer::new(&program, &store, BOUNDS).with_solver(parallax_smt::solver(&store));
    let identity = StructUpdate::identity();
    let whole = explorer().path(&identity, &points);
    let (before, behind) = (explorer().forwards(&identity, &points), explorer().backwards(&points));
    if before.iter().chain(&behind).chain([&whole]).any(|part| !part.gave_up.is_empty()) {
        return;
    }
    for _ in 0..4 {
        let s = with_objects(&program, &store, &start(&program, &store, &mut dice));
        let holds = |condition, s: &_| logic::formula(&Concrete, &store, condition, s);
        let middle = logic::update(&Concrete, &store, &before[0].update, &s);
        let follows = holds(before[0].complete, &s) && holds(behind[0].complete, &middle);
        let mut wrong = |what: &str| {
            compared.astray.push(format!("seed {seed}, l{} and then l{}: {what}\n{text}", ends[0], ends[1]));
        };
        if follows != holds(whole.complete, &s) || follows != holds(before[1].complete, &s) {
            wrong("the halves of the path are not the whole");
        }
        if !follows {
            continue;
        }
        let end = |update: &StructUpdate, s: &_| {
            logic::update(&Concrete, &store, update, s).lookup_function(&Concrete, &store, map)
        };
        if end(&behind[0].update, &middle) != end(&whole.update, &s) {
            wrong("another state at the end");
        }
        compared.halves += 1;
    }
}

#[test]
fn addresses_mean_one_thing_in_every_reading() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let (first, programs) = (number("ADDRESS_FIRST").unwrap_or(0), number("ADDRESS_PROGRAMS").unwrap_or(120));
    let mut compared = Compared::default();
    for seed in first..first + programs {
        let begun = std::time::Instant::now();
        compare(seed, &mut compared);
        compare_halves(seed, &mut compared);
        if begun.elapsed().as_secs() >= 10 {
            println!("seed {seed} took {} s", begun.elapsed().as_secs());
        }
    }
    println!(
        "{programs} programs from {first} on: {} evaluations, {} preconditions, {} signs, {} ranges compared with runs; {} inputs \
         replayed, {} points without input, {} given up; {} astray",
        compared.evaluations,
        compared.preconditions,
        compared.signs,
        compared.ranges,
        compared.inputs,
        compared.impossible,
        compared.gave_up,
        compared.astray.len()
    );
    assert!(compared.astray.is_empty(), "{}", compared.astray[..compared.astray.len().min(3)].join("\n"));
    assert!(compared.evaluations > programs && compared.inputs > programs / 2, "{compared:?}");
    assert!(compared.signs > programs / 2 && compared.ranges > programs / 2, "{compared:?}");
    assert!(compared.gave_up * 10 < programs, "{compared:?}");
    assert!(compared.halves > programs / 4, "{compared:?}");
}

/// `m = malloc(3)` is never 5, and the question is no fault of anyone's.
#[test]
fn an_object_is_not_at_a_number_of_the_program() {
    for (text, reached) in [
        ("m = malloc(3); if (m == 5) { hit: z = 1; }", false),
        ("m = malloc(3); if (m == 0x10000000) { hit: z = 1; }", true),
        ("q = &x; if (q < 0) { hit: z = 1; }", false),
        ("m = malloc(y); if (m == 0) { hit: z = 1; }", true),
        ("if (*12345 == 77) { hit: z = 1; }", true),
    ] {
        let program = pl::read(&SourceFile::new("hit.pl", text)).expect("reads");
        let store = Store::new();
        program.declare(&store);
        let point = Bits::new(32, program.point("hit").expect("a label").into());
        let mut explorer = Explorer::new(&program, &store, BOUNDS).with_solver(parallax_smt::solver(&store));
        let path = explorer.path(&StructUpdate::identity(), std::slice::from_ref(&point));
        let solver = &mut *parallax_smt::solver(&store);
        match input(&program, solver, &path, &[], std::slice::from_ref(&point), STEPS) {
            Input::Found(_) => assert!(reached, "{text}"),
            Input::Impossible => assert!(!reached, "{text}"),
            Input::Unknown(why) => panic!("{text}: {why}"),
        }
    }
}

/// Operands and arguments are evaluated from left to right, whatever the calls between them change.
#[test]
fn calls_inside_expressions_happen_from_left_to_right() {
    let text = "proc f(a) { x = x + 10; return a; }\n\
                proc g(a, b, c) { return a * 100 + b * 10 + c; }\n\
                x = 1; a = x + f(1); b = x; c = g(x, f(2), x); x = 1; d = (x < 5) + f(0) + (x < 5);";
    let program = pl::read(&SourceFile::new("order.pl", text)).expect("reads");
    let store = Store::new();
    program.declare(&store);
    let ran = run(&program, &Concrete, &store, &placed(&program, &store), 1000, false);
    let after = ran.structure.expect("ended");
    let table = after.lookup_function(&Concrete, &store, store.lookup(STORE).expect("declared"));
    let value = |name: &str| table.get(&program.placement(name).expect("a variable")).to_u64();
    // c: x is 11 before f and 21 after it.
    assert_eq!(["a", "b", "c", "d"].map(value), [2, 11, 1100 + 20 + 21, 1].map(Some));
}

/// Readers take time that grows with the text and not with its square, and no stack.
#[test]
fn long_and_deep_programs_are_read() {
    const MANY: usize = 200_000;
    let texts = [
        "x = x + 1; ".repeat(MANY),
        format!("{}y = 1;", "if (x == 1) ".repeat(MANY)),
        format!("{}y = 1;{}", "if (x == 1) {".repeat(MANY), "}".repeat(MANY)),
        format!("x = {}1{};", "(".repeat(MANY), ")".repeat(MANY)),
        (0..MANY).fold(String::new(), |mut text, n| {
            write!(text, "v{n} = {n}; ").unwrap();
            text
        }),
        format!("proc f(a) {{ return a; }} {}", "x = x + f(x); ".repeat(MANY / 4)),
    ];
    for text in texts {
        let begun = std::time::Instant::now();
        let program = pl::read(&SourceFile::new("long.pl", &*text)).expect("reads");
        let store = Store::new();
        program.declare(&store);
        let ran = run(&program, &Concrete, &store, &placed(&program, &store), 1 << 20, false);
        assert_eq!(ran.stopped, Stopped::Ended, "{}", &text[..40]);
        let took = begun.elapsed().as_secs();
        assert!(took < 60, "{took} s for {} bytes: {}", text.len(), &text[..40]);
    }
}
