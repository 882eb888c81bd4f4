//! Corollary 1.1 on generated programs: exactly one explored path condition holds for each concrete run, and the
//! symbolic result of that path evaluates to the concrete one.
//!
//! The valuation comes from the run: `extern` names are what the world said, a location that symbolic code allocated
//! is the constant of that allocation on the path, a location from elsewhere is a large number, and what stands for a
//! typed block and the memory after it is what the run had there.

use crate::support;

use parallax_mix::interp::{self, Limits, Outside, Stop, Value as Concrete, Watch, World};
use parallax_mix::mix::{Exploration, Havoc, Mix, Options};
use parallax_mix::symbolic::{Bare, Consistency, ELSEWHERE, End, Event, State, Value};
use parallax_mix::syntax::{BlockKind, ExprId, Extern, Program};
use parallax_mix::ty::Type;
use parallax_mix::world::Answers;
use parallax_op::Bits;
use parallax_sem::Table;
use parallax_smt::Model;
use parallax_term::{Expr, Node, Sort, Store};
use std::collections::HashMap;
use support::Shape;

/// What a run did in symbolic code.
enum Happened {
    Allocated(usize),
    Typed { block: ExprId, value: Concrete, memory: Vec<Concrete> },
}

#[derive(Default)]
struct Trace {
    typed_depth: usize,
    happened: Vec<Happened>,
}

impl Watch for Trace {
    fn enter(&mut self, kind: BlockKind, _: ExprId) {
        // Inside a typed block everything belongs to it, symbolic blocks included.
        self.typed_depth += usize::from(self.typed_depth > 0 || kind == BlockKind::Typed);
    }

    fn leave(&mut self, _: BlockKind, block: ExprId, value: &Concrete, memory: &[Concrete]) {
        if self.typed_depth == 1 {
            self.happened.push(Happened::Typed { block, value: value.clone(), memory: memory.to_vec() });
        }
        self.typed_depth = self.typed_depth.saturating_sub(1);
    }

    fn allocated(&mut self, location: usize) {
        if self.typed_depth == 0 {
            self.happened.push(Happened::Allocated(location));
        }
    }
}

/// Remembers what the world said, and the memory when the program started.
struct Recorder {
    answers: Answers,
    named: HashMap<String, Concrete>,
    memory: Vec<Concrete>,
}

impl World for Recorder {
    fn named(&mut self, name: &str, declared: &Extern, memory: &mut Vec<Concrete>) -> Option<Concrete> {
        let value = self.answers.named(name, declared, memory)?;
        self.named.insert(name.to_string(), value.clone());
        self.memory = memory.clone();
        Some(value)
    }

    fn answer(&mut self, function: &Outside, memory: &mut Vec<Concrete>) -> Option<Concrete> {
        self.answers.answer(function, memory)
    }
}

/// The valuation of one path.
struct Valuation<'a> {
    program: &'a Program,
    store: &'a Store,
    model: Model,
    /// Locations that symbolic code allocated on this path.
    numbers: HashMap<usize, u64>,
}

impl Valuation<'_> {
    fn address(&self, location: usize) -> u64 {
        self.numbers.get(&location).copied().unwrap_or(ELSEWHERE + location as u64)
    }

    /// The bits that stand for a value; nothing for a function.
    fn bits(&self, value: &Concrete) -> Option<Bits> {
        Some(match value {
            Concrete::Int(n) => Bits::from_i128(64, i128::from(*n)),
            Concrete::Float(x) => Bits::new(64, u128::from(x.to_bits())),
            Concrete::Bool(b) => Bits::new(1, u128::from(*b)),
            Concrete::Str(text) => {
                let known = self.program.strings.iter().position(|known| **known == **text);
                // A string that the program does not write gets a number of its own.
                let number = known.unwrap_or_else(|| 1000 + text.len() * 10);
                Bits::new(48, number as u128)
            }
            Concrete::Loc(location) => Bits::new(64, u128::from(self.address(*location))),
            Concrete::Null => Bits::new(64, 0),
            Concrete::Unit | Concrete::Closure(_) | Concrete::Outside(_) => return None,
        })
    }

    fn set(&mut self, symbolic: &Value, concrete: &Concrete) {
        let Some(bits) = self.bits(concrete) else { return };
        match symbolic.u {
            Bare::Unit => {}
            Bare::Bool(formula) => {
                if let Node::Symbol(symbol) = self.store.node(formula) {
                    self.model.set_boolean(symbol, bits.is_one());
                }
            }
            Bare::Bits(term) => {
                if let Node::Symbol(symbol) = self.store.node(term) {
                    self.model.set_bits(symbol, bits);
                }
            }
        }
    }

    /// Sets every map of an arbitrary memory to what a concrete one holds.
    fn set_memory(&mut self, generation: u32, memory: &[Concrete]) {
        for symbol in self.store.symbols() {
            let info = self.store.info(symbol);
            let Some(class) = info.name.strip_prefix(&format!("mu{generation}[")) else { continue };
            let (Sort::Map { value: width, .. }, Expr::Func(_)) = (info.sort, self.store.expr_of(symbol))
            else {
                continue;
            };
            let mut table = Table::new(Bits::zero(width));
            for (location, content) in memory.iter().enumerate() {
                let fits = match content {
                    Concrete::Int(_) => class.ends_with("int]"),
                    Concrete::Bool(_) => class == "bool]",
                    Concrete::Float(_) => class == "float]",
                    Concrete::Str(_) => class == "string]",
                    Concrete::Loc(_) | Concrete::Null => class.ends_with("ref]"),
                    _ => false,
                };
                if let (true, Some(bits)) = (fits, self.bits(content)) {
                    table.set(Bits::new(64, u128::from(self.address(location))), bits);
                }
            }
            self.model.set_table(symbol, table);
        }
    }

    /// Whether the symbolic value means the concrete one. Functions are not compared.
    fn means(&self, symbolic: &Value, concrete: &Concrete) -> bool {
        match (symbolic.u, concrete) {
            (_, Concrete::Closure(_) | Concrete::Outside(_)) => {
                matches!(symbolic.ty, Type::Known(_) | Type::Fun(..) | Type::Forall(..))
            }
            (Bare::Unit, Concrete::Unit) => true,
            (Bare::Bool(formula), Concrete::Bool(b)) => self.model.formula(self.store, formula) == *b,
            (Bare::Bits(term), Concrete::Float(x)) => {
                let found = f64::from_bits(self.model.term(self.store, term).to_u64().expect("64 bits"));
                found.to_bits() == x.to_bits() || found.is_nan() && x.is_nan()
            }
            (Bare::Bits(term), _) => Some(self.model.term(self.store, term)) == self.bits(concrete),
            _ => false,
        }
    }
}

fn valuation<'a>(
    program: &'a Program,
    store: &'a Store,
    exploration: &Exploration,
    state: &State,
    recorder: &Recorder,
    trace: &Trace,
) -> Valuation<'a> {
    let mut v = Valuation { program, store, model: Model::new(), numbers: HashMap::new() };
    for input in &exploration.inputs {
        v.set(&input.value, &recorder.named[&input.name]);
    }
    let mut memories = vec![(exploration.memory, recorder.memory.clone())];
    for (event, happened) in state.events().iter().zip(&trace.happened) {
        match (event, happened) {
            (Event::Allocated(number), Happened::Allocated(location)) => {
                v.numbers.insert(*location, *number);
            }
            (
                Event::Typed { block, value, memory, .. },
                Happened::Typed { block: there, value: found, memory: after },
            ) if block == there => {
                v.set(value, found);
                // What the block allocated is new, so it was in the memories before all along.
                for (_, before) in &mut memories {
                    before.extend(after[before.len()..].iter().cloned());
                }
                memories.extend(memory.map(|generation| (generation, after.clone())));
            }
            // This path and the run have gone separate ways.
            _ => break,
        }
    }
    for (generation, memory) in memories {
        v.set_memory(generation, &memory);
    }
    v
}

fn check(seed: u64) -> Option<u32> {
    let shape = Shape { blocks: true, mistakes: 1, unbounded: false, depth: 5 };
    let text = support::program(seed, shape);
    let program = parallax_mix::read(&text).expect("generated programs read");
    let havoc = if seed.is_multiple_of(2) { Havoc::Everything } else { Havoc::Effects };
    let mut options = Options { havoc, ..Options::default() };
    options.symbolic.consistency =
        if seed.is_multiple_of(3) { Consistency::Solver } else { Consistency::Syntactic };
    options.symbolic.paths = 100;
    options.symbolic.steps = 10_000;
    options.symbolic.solver = support::limits();
    let store = Store::new();
    let mix = Mix::new(&program, &store, options);
    let exploration = mix.explore(&mix.checker, program.root);
    let complaints = exploration.ended.iter().any(|ended| matches!(ended.why, End::Complaint(_)));
    let all: Vec<(&State, Option<&Value>, bool)> = exploration
        .outcomes
        .iter()
        .map(|(state, value)| (state, Some(value), true))
        .chain(exploration.ended.iter().map(|ended| (&ended.state, None, matches!(ended.why, End::Trap))))
        .collect();
    // A typed block may assign a local around it, which a run's observer does not see.
    let assigns = |event: &Event| matches!(event, Event::Typed { locals, .. } if !locals.is_empty());
    if complaints || all.iter().any(|(state, ..)| state.events().iter().any(assigns)) {
        return None;
    }
    let mut runs = 0;
    for environment in 0..6 {
        let answers = Answers { seed: Some(seed * 7 + environment), ..Answers::default() };
        let mut recorder = Recorder { answers, named: HashMap::new(), memory: Vec::new() };
        let mut trace = Trace::default();
        let result = interp::run(&program, &mut recorder, &mut trace, Limits { steps: 20_000, calls: 200 });
        if matches!(result, Err(Stop::Bound { .. })) || trace.typed_depth > 0 {
            // Stopped inside a typed block: the path has no result there either.
            continue;
        }
        let mut holding = 0;
        for (state, value, feasible) in &all {
            let v = valuation(&program, &store, &exploration, state, &recorder, &trace);
            if !v.model.formula(&store, mix.executor.path_condition(state)) {
                continue;
            }
            holding += 1;
            assert!(feasible, "seed {seed}: a run takes a path shown to be infeasible\n{text}");
            match (&result, value) {
                (Ok(finished), Some(value)) => {
                    let shown = interp::show(&finished.value, &finished.memory);
                    assert!(v.means(value, &finished.value), "seed {seed}: {value:?} is not {shown}\n{text}");
                }
                (Err(Stop::Trap { .. }), None) => {}
                (found, _) => panic!("seed {seed}: the path ends otherwise than the run, {found:?}\n{text}"),
            }
        }
        assert_eq!(holding, 1, "seed {seed}: {holding} path conditions hold for one run\n{text}");
        runs += 1;
    }
    Some(runs)
}

#[test]
fn exactly_one_path_condition_holds_and_its_result_is_the_run_s() {
    let programs = std::env::var("MIX_PROGRAMS").ok().and_then(|text| text.parse().ok()).unwrap_or(8_000);
    let (mut compared, mut runs) = (0, 0);
    for seed in 0..programs {
        if let Some(more) = check(seed) {
            compared += 1;
            runs += more;
        }
    }
    assert!(compared * 3 > programs, "only {compared} of {programs} programs could be compared");
    assert!(u64::from(runs) > 3 * compared, "only {runs} runs of {compared} programs");
}
