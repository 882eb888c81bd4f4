//! Examples: values under which the interpreter has been where a path goes.
//!
//! A model of a path condition gives each unknown of the block a value. A typed block on the path stands for any value
//! of its type, and a complaint may be about types, so that a run with these values need not go wrong. The interpreter
//! tries them: the whole program first, if all unknowns are its `extern` names, then the block alone.

use super::memory::{base, class};
use super::state::Event;
use super::{Bare, Executor, State, Value};
use crate::complaint::{Example, Given, Shown};
use crate::free::children;
use crate::interp::{self, Limits, Outside, Stop, Watch, World};
use crate::syntax::{Expr, ExprId, Extern, Program, Sign, Writes};
use crate::ty::{Nullness, Type};
use crate::world::Answers;
use parallax_op::RelOp;
use parallax_smt::{Answer, Model};
use parallax_source::Span;
use parallax_term::{Formula, Term};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// How far the interpreter goes with one example.
const LIMITS: Limits = Limits { steps: 300_000, calls: 1_000 };

impl Executor<'_> {
    /// The best example for a complaint at `place`, with the model it comes from. Each of `hints` is asked for first: what
    /// goes wrong may need more than the path does.
    pub(super) fn example(
        &self,
        state: &State,
        place: Span,
        hints: &[Formula],
    ) -> Option<(Model, Option<Example>)> {
        let known = self.store.all(self.facts_of_inputs());
        let small = self.small(state);
        let model = |more: Formula| {
            let more = self.store.and(known, more);
            self.ask(state, self.store.and(small, more)).model().or_else(|| self.ask(state, more).model())
        };
        let mut best: Option<(Model, Option<Example>)> = None;
        for more in hints.iter().copied().chain([self.store.true_()]) {
            let Some(model) = model(more) else { continue };
            let example = self.tried(state, place, &model);
            let shown = |example: &Option<Example>| example.as_ref().map(|example| example.shown);
            let rank = shown(&example);
            if best.as_ref().is_none_or(|(_, best)| shown(best) < rank) {
                best = Some((model, example));
            }
            if rank == Some(Shown::Failed) {
                break;
            }
        }
        // Whatever the inputs are known to be, the path is possible: the caller asked.
        best.or_else(|| Some((self.ask(state, self.store.true_()).model()?, None)))
    }

    /// What the types say of the inputs and of what they refer to.
    fn facts_of_inputs(&self) -> Vec<Formula> {
        let mut roots = Vec::new();
        for input in self.inputs() {
            let mut value = input.value;
            while let Bare::Bits(term) = value.u {
                roots.push(term.id());
                let Type::Ref(_, content) = value.ty else { break };
                value = self.content(term, &content, input.memory);
                if let Bare::Bits(held) = value.u {
                    self.add_memory_facts(held, term, &content);
                }
            }
        }
        self.facts_about(roots)
    }

    /// What a location holds in an arbitrary memory.
    fn content(&self, location: Term, content: &Type, memory: u32) -> Value {
        let read = || self.store.access(base(self.store, memory, &class(content)), location);
        let u = match content {
            Type::Unit => Bare::Unit,
            Type::Bool => Bare::Bool(self.store.eq(read(), self.store.number(1, 1))),
            _ => Bare::Bits(read()),
        };
        Value { u, ty: content.clone() }
    }

    /// Nobody wants -9223372036854775806 for an example where -1 will do.
    fn small(&self, state: &State) -> Formula {
        let typed = state.events.to_vec().into_iter().filter_map(|event| match event {
            Event::Typed { value, memory, .. } => Some((value.clone(), memory.unwrap_or(0))),
            Event::Allocated(_) => None,
        });
        let mut small = Vec::new();
        for (mut value, memory) in
            self.inputs().into_iter().map(|input| (input.value, input.memory)).chain(typed)
        {
            while let (Bare::Bits(term), Type::Ref(_, content)) = (value.u, &value.ty) {
                value = self.content(term, content, memory);
            }
            if let (Bare::Bits(term), Type::Int(_)) = (value.u, &value.ty) {
                let shifted = self.store.add(term, self.store.number(64, 9));
                small.push(self.store.relop(RelOp::Ult, shifted, self.store.number(64, 19)));
            }
        }
        self.store.all(small)
    }

    /// The values of a model, after runs with them; none where an unknown has no value that could be written down.
    fn tried(&self, state: &State, place: Span, model: &Model) -> Option<Example> {
        let mut values = Values::new(self, model);
        let inputs = self.inputs();
        let slots: Option<Vec<(u32, interp::Value)>> = inputs
            .iter()
            .map(|input| Some((input.at.slot, values.of(&input.value, input.memory)?)))
            .collect();
        let slots = slots?;
        if let Some(example) = self.whole_program(place, &slots, values.memory.clone()) {
            return Some(example);
        }
        let mut given = Vec::new();
        for (input, (_, value)) in inputs.iter().zip(&slots) {
            let boxed = self.program.var(input.at.var).boxed;
            let value = match value {
                interp::Value::Loc(location) if boxed => values.memory[*location].clone(),
                value => value.clone(),
            };
            given.extend(shown(&input.name, &value, &values.memory, &mut values.names));
        }
        let body = self.body()?;
        let mut world = Silent(Answers { memory: values.memory.clone(), ..Answers::default() });
        let mut passes = Passes { program: self.program, place, passed: false };
        let end = interp::run_part(self.program, body, &slots, &mut world, &mut passes, LIMITS);
        let block = (!self.is_whole(body)).then(|| self.program.span(body));
        if self.failed_at(&end, place) {
            return Some(Example { given, block, shown: Shown::Failed });
        }
        if passes.passed {
            return Some(Example { given, block, shown: Shown::Reached });
        }
        // The value of a typed block on the path is not that of the run.
        for event in state.events.to_vec() {
            if let Event::Typed { block, value, memory, .. } = event
                && value.u != Bare::Unit
                && let Some(held) = values.of(value, memory.unwrap_or(0))
            {
                let named = shown("typed block", &held, &values.memory, &mut values.names);
                given.extend(named.map(|given| Given { block: Some(self.program.span(*block)), ..given }));
            }
        }
        Some(Example { given, block, shown: Shown::Assumed })
    }

    /// Whether a run went wrong at the place: there, or where it was used as an operand, which is what types are wrong of.
    fn failed_at(&self, end: &Result<interp::Finished, Stop>, place: Span) -> bool {
        let Err(Stop::Error { span, .. }) = end else { return false };
        let program = self.program;
        let failed = (0..program.nodes.len() as u32).map(ExprId).filter(|e| program.span(*e) == *span);
        let mut operands = failed.flat_map(|e| children(program, e));
        *span == place || operands.any(|operand| program.span(operand) == place)
    }

    /// Whether a block is all that the program does.
    fn is_whole(&self, body: ExprId) -> bool {
        let mut at = self.program.root;
        while let (true, Expr::Block(_, inner)) = (at != body, self.program.expr(at)) {
            at = *inner;
        }
        at == body
    }

    /// The values as those of `extern` names, if they all are and the program fails with them at the place.
    fn whole_program(
        &self,
        place: Span,
        slots: &[(u32, interp::Value)],
        memory: Vec<interp::Value>,
    ) -> Option<Example> {
        let inputs = self.inputs();
        let externs = &self.program.externs;
        let is_extern = |var| externs.iter().any(|declared| declared.name.var == var);
        if !inputs.iter().all(|input| is_extern(input.at.var)) {
            return None;
        }
        let whole = self.body().is_some_and(|body| self.is_whole(body));
        let mut world = Answers { memory, ..Answers::default() };
        let (mut given, mut names) = (Vec::new(), FxHashMap::default());
        for declared in externs {
            let name = &self.program.var(declared.name.var).name;
            let at = inputs.iter().position(|input| input.at.var == declared.name.var);
            let value = match at {
                Some(at) => slots[at].1.clone(),
                None => any(declared, &mut world.memory)?,
            };
            // The world makes functions of its own.
            if matches!(value, interp::Value::Outside(_)) {
                continue;
            }
            if at.is_some() || !whole {
                given.extend(shown(name, &value, &world.memory, &mut names));
            }
            world.named.insert(name.clone(), value);
        }
        let end = interp::run(self.program, &mut Silent(world), &mut (), LIMITS);
        self.failed_at(&end, place).then_some(Example { given, block: None, shown: Shown::Failed })
    }

    /// Ways in which a value, or what it refers to, may lack a qualifier that is asked for.
    pub(crate) fn violations(&self, state: &State, value: &Value) -> Vec<Formula> {
        match (value.u, &value.ty) {
            (Bare::Bits(term), Type::Int(_)) if self.program.uses_signs => [Sign::Pos, Sign::Neg, Sign::Zero]
                .map(|sign| self.store.not(self.has_sign(term, sign)))
                .to_vec(),
            (Bare::Bits(term), Type::Ref(Nullness::Null, _)) => {
                vec![self.store.eq(term, self.store.number(64, 0))]
            }
            (Bare::Bits(term), Type::Ref(_, content)) if matches!(**content, Type::Int(_)) => {
                let held = self.store.access(state.memory.map(self.store, &class(content)), term);
                self.violations(state, &Value { u: Bare::Bits(held), ty: Type::INT })
            }
            _ => Vec::new(),
        }
    }

    /// How a string constant, or one that the program does not mention, is called.
    pub(super) fn string(&self, number: u64) -> String {
        match usize::try_from(number).ok().and_then(|number| self.program.strings.get(number)) {
            Some(text) => text.clone(),
            None => format!("another string, {number}"),
        }
    }

    /// Whether the solver has values for the path, has none, or cannot tell.
    pub(super) fn answer(&self, state: &State) -> Answer {
        self.ask(state, self.store.true_())
    }
}

/// A value for a name that the block does not use.
fn any(declared: &Extern, memory: &mut Vec<interp::Value>) -> Option<interp::Value> {
    fn of(ty: &Type, declared: &Extern, memory: &mut Vec<interp::Value>) -> Option<interp::Value> {
        Some(match ty {
            Type::Int(Sign::Pos) => interp::Value::Int(1),
            Type::Int(Sign::Neg) => interp::Value::Int(-1),
            Type::Int(_) => interp::Value::Int(0),
            Type::Bool => interp::Value::Bool(false),
            Type::Str => interp::Value::Str("".into()),
            Type::Float => interp::Value::Float(0.0),
            Type::Unit => interp::Value::Unit,
            Type::Ref(Nullness::Null, _) => interp::Value::Null,
            Type::Ref(Nullness::NonNull, content) => {
                let content = of(content, declared, memory)?;
                memory.push(content);
                interp::Value::Loc(memory.len() - 1)
            }
            Type::Fun(from, to) => {
                let (from, to, writes) = (from.clone(), to.clone(), declared.writes.clone());
                interp::Value::Outside(Rc::new(Outside { from, to, writes }))
            }
            Type::Known(_) | Type::Var(_) | Type::Forall(..) | Type::Broken => return None,
        })
    }
    of(&declared.ty, declared, memory)
}

/// A name with its value as the language writes it, where it can. A location is written once, and called by that name
/// afterwards.
fn shown(
    name: &str,
    value: &interp::Value,
    memory: &[interp::Value],
    names: &mut FxHashMap<usize, String>,
) -> Option<Given> {
    fn text(
        place: String,
        value: &interp::Value,
        memory: &[interp::Value],
        names: &mut FxHashMap<usize, String>,
    ) -> Option<String> {
        Some(match value {
            interp::Value::Int(n) => n.to_string(),
            interp::Value::Float(x) => interp::float(*x),
            interp::Value::Bool(b) => b.to_string(),
            interp::Value::Str(text) => interp::quoted(text),
            interp::Value::Unit => "()".to_string(),
            interp::Value::Null => "null".to_string(),
            interp::Value::Loc(location) => match names.get(location) {
                Some(name) => name.clone(),
                None => {
                    let inner =
                        if place.starts_with('!') { format!("!({place})") } else { format!("!{place}") };
                    names.insert(*location, place);
                    let content = text(inner, &memory[*location], memory, names)?;
                    match memory[*location] {
                        interp::Value::Int(0..) | interp::Value::Bool(_) | interp::Value::Str(_) => {
                            format!("ref {content}")
                        }
                        interp::Value::Unit | interp::Value::Null => format!("ref {content}"),
                        _ => format!("ref ({content})"),
                    }
                }
            },
            interp::Value::Closure(_) | interp::Value::Outside(_) => return None,
        })
    }
    let value = text(name.to_string(), value, memory, names)?;
    Some(Given { name: name.to_string(), block: None, value })
}

/// Values of a model as the interpreter has them.
struct Values<'a, 'p> {
    executor: &'a Executor<'p>,
    model: &'a Model,
    memory: Vec<interp::Value>,
    /// Where the locations of the model are, by class and number.
    places: FxHashMap<(Type, u64), usize>,
    /// How locations are called that were written down.
    names: FxHashMap<usize, String>,
}

impl<'a, 'p> Values<'a, 'p> {
    fn new(executor: &'a Executor<'p>, model: &'a Model) -> Self {
        let (places, names) = (FxHashMap::default(), FxHashMap::default());
        Values { executor, model, memory: Vec::new(), places, names }
    }

    /// A value of the model; what a location holds is read from an arbitrary memory.
    fn of(&mut self, value: &Value, memory: u32) -> Option<interp::Value> {
        let executor = self.executor;
        let store = executor.store;
        let bits = match value.u {
            Bare::Unit => return Some(interp::Value::Unit),
            Bare::Bool(formula) => return Some(interp::Value::Bool(self.model.formula(store, formula))),
            Bare::Bits(term) => self.model.term(store, term).to_u64()?,
        };
        Some(match &value.ty {
            Type::Int(_) => interp::Value::Int(bits as i64),
            Type::Float => interp::Value::Float(f64::from_bits(bits)),
            Type::Str => interp::Value::Str(executor.string(bits).into()),
            Type::Ref(Nullness::Null, _) if bits == 0 => interp::Value::Null,
            Type::Ref(..) if bits == 0 => return None,
            Type::Ref(_, content) => {
                let key = (class(content), bits);
                if let Some(&location) = self.places.get(&key) {
                    return Some(interp::Value::Loc(location));
                }
                let location = self.memory.len();
                self.memory.push(interp::Value::Unit);
                self.places.insert(key, location);
                let held = executor.content(store.number(64, u128::from(bits)), content, memory);
                self.memory[location] = self.of(&held, memory)?;
                interp::Value::Loc(location)
            }
            Type::Known(id) => {
                let closure = executor.closure(*id);
                let captured: Option<Vec<_>> =
                    closure.captured.iter().map(|value| self.of(value, memory)).collect();
                interp::Value::Closure(Rc::new(interp::Closure { fun: closure.fun, captured: captured? }))
            }
            Type::Fun(from, to) => {
                let (from, to) = (from.clone(), to.clone());
                interp::Value::Outside(Rc::new(Outside { from, to, writes: Writes::Anything }))
            }
            _ => return None,
        })
    }
}

/// A world in which functions from outside give no answer: an example cannot say what they would.
struct Silent(Answers);

impl World for Silent {
    fn memory(&mut self) -> Vec<interp::Value> {
        self.0.memory()
    }

    fn named(
        &mut self,
        name: &str,
        declared: &Extern,
        memory: &mut Vec<interp::Value>,
    ) -> Option<interp::Value> {
        self.0.named(name, declared, memory)
    }

    fn answer(&mut self, function: &Outside, _: &mut Vec<interp::Value>) -> Option<interp::Value> {
        let nothing = *function.to == Type::Unit && function.writes == Writes::Only(Vec::new());
        nothing.then_some(interp::Value::Unit)
    }
}

/// Notices whether a run passes a place.
struct Passes<'p> {
    program: &'p Program,
    place: Span,
    passed: bool,
}

impl Watch for Passes<'_> {
    fn comes_to(&mut self, e: ExprId) {
        self.passed |= self.program.span(e) == self.place;
    }
}
