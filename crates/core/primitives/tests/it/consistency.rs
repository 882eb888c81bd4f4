//! Mutual consistency, for both languages, on random programs and random states: the readings come from one meaning and
//! must agree.
//!
//! Not made: PL's `goto` backwards, `return` outside of procedures and `malloc` of a computed size (see [`crate::addresses`]); MC's
//! jumps to addresses that are not constant.

use parallax_mc as mc;
use parallax_op::{Bits, RelOp};
use parallax_pl as pl;
use parallax_primitives::{Bounds, Explorer, Program, Run, Stopped, analyse, placed, run};
use parallax_sem::logic::{self, Scalar, Struct};
use parallax_sem::{Abstract, Concrete, Core, Domain, Interval, Language, Sign, Table};
use parallax_source::SourceFile;
use parallax_term::{Formula, Store, StructUpdate};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::cell::Cell;
use std::fmt::Write;

pub(crate) const STEPS: u64 = 1500;
pub(crate) const BOUNDS: Bounds = Bounds { unroll: 6, steps: 2500, time: None };

const CASES: u32 = 500;

// How often two readings were really compared, so that a test that compares nothing fails.
thread_local! { static COMPARED: Cell<u32> = const { Cell::new(0) } }

/// Random numbers that decide what a program looks like.
pub(crate) struct Dice<'a> {
    pub rolls: &'a [u16],
    pub at: usize,
}

impl Dice<'_> {
    pub fn roll(&mut self, sides: u16) -> u16 {
        let value = self.rolls.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        value % sides
    }

    pub fn pick<'t>(&mut self, items: &[&'t str]) -> &'t str {
        items[usize::from(self.roll(items.len() as u16))]
    }
}

pub(crate) const GLOBALS: [&str; 5] = ["x", "y", "z", "p", "q"];

/// A PL program, written as text: what the reader cannot read is never tested.
pub(crate) struct PlWriter<'a> {
    pub dice: Dice<'a>,
    pub text: String,
    names: Vec<&'static str>,
    counters: usize,
    in_procedure: bool,
    /// Behind the names of procedures, counters and labels.
    suffix: &'static str,
    /// Whether calls stand in expressions, and not alone.
    nests_calls: bool,
}

impl PlWriter<'_> {
    fn expression(&mut self, depth: u32) -> String {
        match self.dice.roll(if depth == 0 { 3 } else { 12 }) {
            0 | 3 => {
                let names = self.names.clone();
                self.dice.pick(&names).to_owned()
            }
            1 => self.dice.roll(7).to_string(),
            2 => format!("&{}", self.dice.pick(&GLOBALS)),
            4 => format!("*{}", self.dice.pick(&["p", "q"])),
            5 => format!("*({} + {})", self.dice.pick(&["p", "q"]), self.dice.roll(3) * 4),
            6 => format!(
                "({}) ? {} : {}",
                self.condition(depth - 1),
                self.expression(depth - 1),
                self.expression(0)
            ),
            7 => format!("-({})", self.expression(depth - 1)),
            8 => format!("(({}) == {})", self.expression(depth - 1), self.expression(0)),
            _ => {
                let operator = self.dice.pick(&["+", "-", "^", "*", "&", "|", "<<", ">>", "/", "%"]);
                let left = self.expression(depth - 1);
                // What stands on both sides is where simplification and meaning part ways first.
                let right = if self.dice.roll(4) == 0 { left.clone() } else { self.expression(depth - 1) };
                format!("({left} {operator} {right})")
            }
        }
    }

    fn condition(&mut self, depth: u32) -> String {
        match self.dice.roll(if depth == 0 { 2 } else { 5 }) {
            2 => format!("!({})", self.condition(depth - 1)),
            3 => format!("({}) && ({})", self.condition(depth - 1), self.condition(0)),
            4 => format!("({}) || ({})", self.condition(depth - 1), self.condition(0)),
            _ => {
                let relation = self.dice.pick(&["==", "!=", "<", "<=", ">", ">="]);
                format!("{} {relation} {}", self.expression(1), self.expression(1))
            }
        }
    }

    fn statement(&mut self, depth: u32) {
        match self.dice.roll(if depth == 0 { 6 } else { 12 }) {
            0..=2 => {
                let names = self.names.clone();
                let target = self.dice.pick(&names);
                let e = self.expression(2);
                let _ = writeln!(self.text, "{target} = {e};");
            }
            3 => {
                let e = self.expression(2);
                let _ = writeln!(self.text, "*{} = {e};", self.dice.pick(&["p", "q"]));
            }
            4 => {
                let e = self.expression(1);
                let _ = writeln!(self.text, "*({} + 4) = {e};", self.dice.pick(&["p", "q"]));
            }
            5 => {
                let _ =
                    writeln!(self.text, "{} = &{};", self.dice.pick(&["p", "q"]), self.dice.pick(&GLOBALS));
            }
            6 | 7 => {
                let condition = self.condition(1);
                let _ = writeln!(self.text, "if ({condition}) {{");
                self.block(depth - 1);
                if self.dice.roll(2) == 0 {
                    self.text.push_str("} else {\n");
                    self.block(depth - 1);
                }
                self.text.push_str("}\n");
            }
            8 => {
                self.counters += 1;
                let counter = format!("c{}{}", self.counters, self.suffix);
                let condition = if self.dice.roll(2) == 0 {
                    format!("{counter} < 3")
                } else {
                    format!("{counter} < (x & 3)")
                };
                let _ =
                    writeln!(self.text, "{counter} = 0; while ({condition}) {{ {counter} = {counter} + 1;");
                self.block(depth - 1);
                self.text.push_str("}\n");
            }
            9 => {
                self.counters += 1;
                let label = format!("l{}{}", self.counters, self.suffix);
                let condition = self.condition(1);
                let _ = writeln!(self.text, "if ({condition}) goto {label};");
                self.block(depth - 1);
                let _ = writeln!(self.text, "{label}: ;");
            }
            10 if !self.in_procedure => {
                let (a, b) = (self.expression(1), self.expression(1));
                let target = self.dice.pick(&["x", "y", "*p"]);
                let f = self.dice.pick(&["f", "g", "h"]);
                let rest = self.dice.pick(&["", " + 1", " - f(x, y)", " ^ g(h(y, 2), x)"]);
                let rest = if self.nests_calls { rest } else { "" };
                let _ = writeln!(self.text, "{target} = {f}{}({a}, {b}){rest};", self.suffix);
            }
            11 => {
                let _ = writeln!(
                    self.text,
                    "{} = malloc({});",
                    self.dice.pick(&["p", "q"]),
                    1 + self.dice.roll(8)
                );
            }
            _ => self.text.push_str("z = z + 1;\n"),
        }
    }

    fn block(&mut self, depth: u32) {
        for _ in 0..=self.dice.roll(3) {
            self.statement(depth);
        }
    }
}

impl<'a> PlWriter<'a> {
    fn new(rolls: &'a [u16], suffix: &'static str, nests_calls: bool) -> Self {
        let (dice, text, names) = (Dice { rolls, at: 0 }, String::new(), GLOBALS.to_vec());
        PlWriter { dice, text, names, counters: 0, in_procedure: true, suffix, nests_calls }
    }

    /// Three procedures, and statements that may call them.
    pub fn program(rolls: &'a [u16], statements: u32, suffix: &'static str, nests_calls: bool) -> String {
        let mut writer = PlWriter::new(rolls, suffix, nests_calls);
        for (name, body) in
            [("f", "return a + b;"), ("g", "if (a < b) { x = a; return b; } return a;"), ("h", "")]
        {
            let _ = writeln!(writer.text, "proc {name}{suffix}(a, b) {{ int t; t = a;");
            writer.names.extend(["a", "b", "t"]);
            if body.is_empty() {
                writer.block(1);
            }
            writer.names.truncate(GLOBALS.len());
            let _ = writeln!(writer.text, "{body} }}");
        }
        writer.in_procedure = false;
        for _ in 0..statements {
            writer.statement(2);
        }
        writer.text
    }
}

fn pl_text(rolls: &[u16], statements: u32) -> String {
    PlWriter::program(rolls, statements, "", true)
}

fn mc_text(rolls: &[u16], instructions: u32) -> String {
    mc_part(rolls, instructions, instructions)
}

/// Instructions that jump to the first `places` places.
pub(crate) fn mc_part(rolls: &[u16], instructions: u32, places: u32) -> String {
    let mut dice = Dice { rolls, at: 0 };
    let mut text = String::new();
    for _ in 0..instructions {
        let memory = |dice: &mut Dice<'_>| match dice.roll(4) {
            0 => format!("[{}]", dice.pick(&["x", "y", "p"])),
            1 => format!("[ebp-{}]", dice.roll(3) * 4),
            _ => format!("[{}]", dice.pick(&["eax", "ebx"])),
        };
        let register = |dice: &mut Dice<'_>| dice.pick(&["eax", "ebx", "ebp"]).to_owned();
        let source = |dice: &mut Dice<'_>| match dice.roll(3) {
            0 => memory(dice),
            1 => register(dice),
            _ => dice.roll(6).to_string(),
        };
        match dice.roll(11) {
            0 | 1 => {
                let _ = writeln!(text, "jz {}", 4 * u32::from(dice.roll(places as u16 + 1)));
            }
            2 => {
                let _ = writeln!(text, "mov eip, {}", 4 * u32::from(dice.roll(places as u16 + 1)));
            }
            3 | 4 => {
                let (a, b) = (memory(&mut dice), source(&mut dice));
                let _ = writeln!(text, "cmp {a}, {b}");
            }
            5 | 6 => {
                let (a, b) = (memory(&mut dice), source(&mut dice));
                let _ = writeln!(text, "mov {a}, {b}");
            }
            7 | 8 => {
                let (a, b) = (register(&mut dice), source(&mut dice));
                let _ = writeln!(text, "xor {a}, {b}");
            }
            _ => {
                let (a, b) = (register(&mut dice), source(&mut dice));
                let _ = writeln!(text, "mov {a}, {b}");
            }
        }
    }
    text
}

/// A random initial structure in which pointers point somewhere.
pub(crate) fn start<L: Program>(language: &L, store: &Store, seeds: &[u16]) -> Struct<Concrete> {
    let mut s = placed(language, store);
    let addresses: Vec<Bits> = s
        .constants
        .values()
        .filter_map(|v| match v {
            Scalar::Val(a) => Some(a.clone()),
            Scalar::Bool(_) => None,
        })
        .collect();
    let mut dice = Dice { rolls: seeds, at: 0 };
    let mut value = |addresses: &[Bits]| match dice.roll(3) {
        0 if !addresses.is_empty() => addresses[usize::from(dice.roll(addresses.len() as u16))].clone(),
        1 => Bits::new(32, dice.roll(9).into()),
        _ => Bits::from_i128(32, i128::from(dice.roll(u16::MAX)) - 0x8000),
    };
    for symbol in store.symbols() {
        match store.info(symbol).sort {
            parallax_term::Sort::Bool => s.set_bool(symbol, value(&[]).bit(0)),
            parallax_term::Sort::Bits(_) => {
                if !s.constants.contains_key(&symbol) {
                    s.set_val(symbol, value(&addresses));
                }
            }
            parallax_term::Sort::Map { .. } => {
                let mut table = Table::new(value(&[]));
                for address in &addresses {
                    table.set(address.clone(), value(&addresses));
                }
                for low in 0..8u128 {
                    table.set(Bits::new(32, low), value(&addresses));
                }
                s.set_map(symbol, table);
            }
        }
    }
    s
}

/// The structures agree on every function and every constant symbol that either mentions.
pub(crate) fn assert_same(
    store: &Store,
    a: &Struct<Concrete>,
    b: &Struct<Concrete>,
    what: &str,
) -> Result<(), TestCaseError> {
    for symbol in store.symbols() {
        let name = store.info(symbol).name;
        match store.expr_of(symbol) {
            parallax_term::Expr::Func(_) => {
                prop_assert_eq!(
                    a.lookup_function(&Concrete, store, symbol),
                    b.lookup_function(&Concrete, store, symbol),
                    "{}: {}",
                    what,
                    name
                );
            }
            _ => match (
                a.lookup_constant(&Concrete, store, symbol),
                b.lookup_constant(&Concrete, store, symbol),
            ) {
                (Scalar::Val(x), Scalar::Val(y)) => prop_assert_eq!(x, y, "{}: {}", what, name),
                (Scalar::Bool(x), Scalar::Bool(y)) => prop_assert_eq!(x, y, "{}: {}", what, name),
                _ => prop_assert!(false, "{what}: {name}"),
            },
        }
    }
    Ok(())
}

/// Objects a program makes are symbols too: whatever is evaluated must know where they lie.
pub(crate) fn with_objects<L: Program>(
    language: &L,
    store: &Store,
    s: &Struct<Concrete>,
) -> Struct<Concrete> {
    let mut all = placed(language, store);
    all.constants.extend(s.constants.iter().map(|(symbol, value)| (*symbol, value.clone())));
    all.functions.extend(s.functions.iter().map(|(symbol, value)| (*symbol, value.clone())));
    all
}

/// Everything that must hold between the readings of one program from one state.
fn check<L: Program>(
    language: &L,
    store: &Store,
    s: &Struct<Concrete>,
    post: &[Formula],
) -> Result<u64, TestCaseError> {
    let ran = run(language, &Concrete, store, s, STEPS, false);
    let mut explorer = Explorer::new(language, store, BOUNDS);
    let evaluation = explorer.evaluate(&StructUpdate::identity());
    let s = with_objects(language, store, s);
    let complete = logic::formula(&Concrete, store, evaluation.complete, &s);
    if ran.stopped == Stopped::Ended && complete {
        let after = ran.structure.as_ref().expect("ended");
        let after = with_objects(language, store, after);
        let evaluated = logic::update(&Concrete, store, &evaluation.update, &s);
        assert_same(store, &evaluated, &after, "symbolic evaluation")?;
        COMPARED.set(COMPARED.get() + 1);
        for &post in post {
            let wlp = logic::precondition(store, &evaluation.update, post);
            let (before, holds) =
                (logic::formula(&Concrete, store, wlp, &s), logic::formula(&Concrete, store, post, &after));
            prop_assert_eq!(before, holds, "WLP of {}", store.display(post));
        }
    }
    cover::<L, Sign>(language, store, &s, &ran)?;
    cover::<L, Interval>(language, store, &s, &ran)?;
    Ok(explorer.applied)
}

/// A domain of single values, for comparing with runs.
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

/// Whatever a run ends with, an analysis from what describes its start has foreseen.
fn cover<L: Program, D: Covers>(
    language: &L,
    store: &Store,
    s: &Struct<Concrete>,
    ran: &Run<Concrete>,
) -> Result<(), TestCaseError> {
    let (Some(after), Stopped::Ended) = (&ran.structure, &ran.stopped) else { return Ok(()) };
    let core = Abstract::<D>::default();
    let mut start = Struct::new();
    for (symbol, value) in &s.constants {
        match value {
            // Addresses are known numbers to the analysis, everything else by its sign.
            Scalar::Val(v)
                if matches!(store.info(*symbol).kind, parallax_term::SymbolKind::Address { .. }) =>
            {
                start.set_val(*symbol, core.constant(v))
            }
            Scalar::Val(v) => start.set_val(*symbol, parallax_sem::Value::described(D::constant(v))),
            Scalar::Bool(_) => {}
        }
    }
    for (symbol, table) in &s.functions {
        let mut known = core.map_symbol("", 32, 32);
        for (key, value) in table.entries() {
            known.entries.insert(
                parallax_sem::BigKey(key.clone()),
                parallax_sem::Value::described(D::constant(value)),
            );
        }
        start.set_map(*symbol, known);
    }
    let analysis = analyse(language, store, &core, &start, 4000);
    if analysis.gave_up.is_some() {
        return Ok(());
    }
    let end = analysis.points.iter().find(|point| point.pc == ran.pc);
    prop_assert!(end.is_some(), "the analysis never comes to {:?}", ran.pc);
    let covered = analysis.points.iter().filter(|point| point.pc == ran.pc).any(|point| {
        after.functions.iter().all(|(symbol, table)| {
            let known = point.structure.lookup_function(&core, store, *symbol);
            table.entries().all(|(key, value)| core.access(&known, &core.constant(key)).domain.covers(value))
        }) && after.constants.iter().all(|(symbol, value)| {
            match (value, point.structure.lookup_constant(&core, store, *symbol)) {
                (Scalar::Val(value), Scalar::Val(known)) => known.domain.covers(value),
                _ => true,
            }
        })
    });
    prop_assert!(covered, "what is known at the end");
    Ok(())
}

pub(crate) fn rolls(most: usize) -> impl Strategy<Value = Vec<u16>> {
    prop::collection::vec(any::<u16>(), 10..most)
}

/// A procedure that is called many times is explored once.
#[test]
fn summaries_replace_exploration() {
    let mut text = String::from(
        "proc f(a, b) { int t; if (a < b) { t = malloc(2); *t = a; x = x + *t; } return a * b; }\n",
    );
    for _ in 0..50 {
        text.push_str("y = f(y, x);\n");
    }
    let program = pl::read(&SourceFile::new("calls.pl", text)).expect("reads");
    let store = Store::new();
    program.declare(&store);
    let mut explorer = Explorer::new(&program, &store, Bounds { unroll: 64, steps: 4000, time: None });
    let s = start(&program, &store, &[3, 7, 9, 11, 2, 5, 1, 8, 21, 4]);
    let evaluation = explorer.evaluate(&StructUpdate::identity());
    assert!(explorer.applied >= 50, "{} calls were answered by the summary", explorer.applied);
    assert!(evaluation.gave_up.is_empty(), "{:?}", evaluation.gave_up);
    let after = logic::update(&Concrete, &store, &evaluation.update, &with_objects(&program, &store, &s));
    let ran = run(&program, &Concrete, &store, &s, 1_000_000, false);
    assert_same(
        &store,
        &after,
        &with_objects(&program, &store, ran.structure.as_ref().expect("ended")),
        "summaries",
    )
    .unwrap();
}

/// Recursion has no closed summary: it is explored, each call in a record of its own.
#[test]
fn recursion_is_explored_record_by_record() {
    let text = "proc fact(n) { int rest; if (n <= 1) { return 1; } rest = fact(n - 1); return n * rest; }\nx = fact(y);";
    let program = pl::read(&SourceFile::new("fact.pl", text)).expect("reads");
    let store = Store::new();
    program.declare(&store);
    let mut s = placed(&program, &store);
    let map = store.lookup(pl::STORE).expect("declared");
    let mut table = Table::new(Bits::zero(32));
    table.set(program.placement("y").expect("a global"), Bits::new(32, 5));
    s.set_map(map, table);
    let ran = run(&program, &Concrete, &store, &s, 10_000, false);
    let after = ran.structure.expect("ended");
    let x = program.placement("x").expect("a global");
    assert_eq!(after.lookup_function(&Concrete, &store, map).get(&x).to_u64(), Some(120));
    let evaluation = Explorer::new(&program, &store, Bounds { unroll: 8, steps: 100_000, time: None })
        .evaluate(&StructUpdate::identity());
    assert!(!evaluation.gave_up.is_empty(), "unknown depth cannot be followed to its end");
    let s = with_objects(&program, &store, &s);
    assert!(logic::formula(&Concrete, &store, evaluation.complete, &s), "depth five is within the bound");
    let evaluated = logic::update(&Concrete, &store, &evaluation.update, &s);
    assert_eq!(evaluated.lookup_function(&Concrete, &store, map).get(&x).to_u64(), Some(120));
}

#[test]
fn the_readings_of_pl_agree() {
    let before = COMPARED.get();
    let mut runner = TestRunner::new(ProptestConfig::with_cases(CASES));
    runner
        .run(&(rolls(160), rolls(40), 1u32..7), |(program, seeds, length)| {
            let text = pl_text(&program, length);
            let program = pl::read(&SourceFile::new("random.pl", &*text))
                .map_err(|e| TestCaseError::fail(format!("{e:?}\n{text}")))?;
            let store = Store::new();
            program.declare(&store);
            let s = start(&program, &store, &seeds);
            let post: Vec<Formula> = ["x == 5", "*p < y", "x + z > 3 && p != q"]
                .iter()
                .map(|post| {
                    let post = pl::read_condition(&program, post);
                    let core = parallax_sem::Symbolic::new(&store);
                    post.map(|post| {
                        pl::condition(&core, &post, &program.state(&core, &store, &Struct::new()))
                    })
                })
                .filter_map(Result::ok)
                .collect();
            check(&program, &store, &s, &post).map_err(|e| TestCaseError::fail(format!("{e}\n{text}")))?;
            Ok(())
        })
        .unwrap();
    let compared = COMPARED.get() - before;
    assert!(compared > CASES / 4, "only {compared} of {CASES} programs were compared");
}

/// Compilers put what is rarely executed behind the end of a procedure: it still comes together with the rest there.
#[test]
fn blocks_behind_the_end_are_joined_where_they_return_to() {
    const BRANCHES: usize = 30;
    let behind = 3 * BRANCHES + 1;
    let mut text = String::new();
    for branch in 0..BRANCHES {
        let rare = 4 * (behind + 2 * branch);
        write!(text, "cmp [ebp-{}], 5\njz {rare}\nxor ebx, eax\n", 4 * branch).unwrap();
    }
    writeln!(text, "mov eip, {}", 4 * (behind + 2 * BRANCHES)).unwrap();
    for branch in 0..BRANCHES {
        write!(text, "xor eax, {}\nmov eip, {}\n", branch + 1, 4 * (3 * branch + 2)).unwrap();
    }
    text += "mov ebx, eax\n";
    let program = mc::read(&SourceFile::new("behind.mc", &*text), 0).unwrap();
    let store = Store::new();
    program.declare(&store);
    let bounds = Bounds { steps: 1000, ..Bounds::default() };
    let evaluation = Explorer::new(&program, &store, bounds).evaluate(&StructUpdate::identity());
    assert!(evaluation.gave_up.is_empty(), "{:?}", evaluation.gave_up);
}

#[test]
fn the_readings_of_mc_agree() {
    let before = COMPARED.get();
    let mut runner = TestRunner::new(ProptestConfig::with_cases(CASES));
    runner
        .run(&(rolls(80), rolls(40), 1u32..12), |(program, seeds, length)| {
            let text = mc_text(&program, length);
            let program = mc::read(&SourceFile::new("random.mc", &*text), 0)
                .map_err(|e| TestCaseError::fail(format!("{e:?}\n{text}")))?;
            let store = Store::new();
            program.declare(&store);
            let s = start(&program, &store, &seeds);
            let memory = store.func_symbol(mc::MEMORY, 32, 32);
            let post = [
                store.eq(store.access(memory, store.symbol("EAX", 32)), store.number(32, 5)),
                store.bool_symbol("ZF"),
                store.relop(RelOp::Slt, store.symbol("EBX", 32), store.symbol("EAX", 32)),
            ];
            check(&program, &store, &s, &post).map_err(|e| TestCaseError::fail(format!("{e}\n{text}")))?;
            Ok(())
        })
        .unwrap();
    let compared = COMPARED.get() - before;
    assert!(compared > CASES / 4, "only {compared} of {CASES} programs were compared");
}
