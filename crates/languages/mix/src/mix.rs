//! The mix rules of Figure 4, and nothing else: all that joins the type checker and the symbolic executor.
//!
//! TSymBlock gives a symbolic block a type by executing it from an arbitrary state of its typing environment;
//! SETypBlock passes a typed block in an execution by checking it and forgetting what it may have changed.

use crate::complaint::{Complaint, ComplaintKind};
use crate::exhaustive::exhaustive;
use crate::free::{effects_of_calls, free, functions_may_write};
use crate::symbolic::{Bare, End, Ended, Event, Executor, Input, Rejected, Start, State, TypedBlocks, Value};
use crate::syntax::*;
use crate::ty::{KnownId, Nullness, Type};
use crate::types::{Checker, Effects, Loose, SymbolicBlocks};
use parallax_smt::Answer;
use parallax_source::Span;
use parallax_term::{Formula, Store};
use rustc_hash::FxHashMap;
use std::cell::{Cell, RefCell};
use std::collections::hash_map::Entry;

/// Which analysis the outermost scope is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outer {
    /// Type checking.
    Typed,
    /// Symbolic execution.
    Symbolic,
}

/// What exhaustiveness asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exhaustiveness {
    /// The path conditions are a tautology; anything less is a rejection.
    Sound,
    /// What was explored within the bounds is good enough; what was not is listed.
    GoodEnough,
}

/// What a typed block does to the memory of an execution that passes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Havoc {
    /// All of it becomes arbitrary.
    Everything,
    /// Only locations of types that the block may write to.
    Effects,
}

/// The choices.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The outermost scope.
    pub outer: Outer,
    /// Exhaustiveness.
    pub exhaustiveness: Exhaustiveness,
    /// Memory after typed blocks.
    pub havoc: Havoc,
    /// Choices and bounds of symbolic execution.
    pub symbolic: crate::symbolic::Options,
    /// Premises left out, to show that the tests need them.
    pub omit: Omit,
}

/// Premises of the mix rules that can be left out. Leaving one out makes the rules unsound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Omit {
    /// `exhaustive(...)` of TSymBlock.
    pub exhaustive: bool,
    /// `|- m ok` of both rules.
    pub memory: bool,
    /// That calls of functions from outside may write.
    pub outside: bool,
    /// That a reference that symbolic code follows is not null.
    pub null: bool,
    /// Premises of generalisation.
    pub loose: Loose,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            outer: Outer::Typed,
            exhaustiveness: Exhaustiveness::Sound,
            havoc: Havoc::Everything,
            symbolic: crate::symbolic::Options::default(),
            omit: Omit::default(),
        }
    }
}

/// What MIX says about a program.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// The type of the program; it is accepted when there is no error.
    pub ty: Type,
    /// What is wrong.
    pub errors: Vec<Complaint>,
    /// What was not looked at, where that is good enough.
    pub gaps: Vec<Complaint>,
}

impl Verdict {
    /// Whether the program is accepted.
    pub fn accepted(&self) -> bool {
        self.errors.is_empty()
    }
}

/// Checks a program.
pub fn check(program: &Program, options: &Options) -> Verdict {
    let store = Store::new();
    let mix = Mix::new(program, &store, *options);
    let ty = match options.outer {
        Outer::Typed => mix.checker.check(&mix, program.root),
        Outer::Symbolic => mix.block(&mix.checker, program.root, program.span(program.root)),
    };
    let ty = match mix.checker.resolved(&ty) {
        Type::Known(id) => mix.known_function(&mix.checker, id, program.span(program.root)),
        other => other,
    };
    let ty = mix.checker.resolved(&ty).renamed();
    let mut errors = mix.checker.take_complaints();
    tidy(&mut errors);
    let mut gaps = mix.gaps.take();
    tidy(&mut gaps);
    Verdict { ty, errors, gaps }
}

/// The same complaint may be found on many paths: one of each is enough, the one with the best example.
fn tidy(complaints: &mut Vec<Complaint>) {
    let shown = |complaint: &Complaint| complaint.path.as_ref().and_then(|path| path.shown());
    let mut seen: FxHashMap<(Span, String), usize> = FxHashMap::default();
    let mut kept: Vec<Complaint> = Vec::new();
    for complaint in complaints.drain(..) {
        match seen.entry((complaint.span, complaint.message.clone())) {
            Entry::Vacant(new) => {
                new.insert(kept.len());
                kept.push(complaint);
            }
            Entry::Occupied(known) => {
                let known = &mut kept[*known.get()];
                if shown(known) < shown(&complaint) {
                    *known = complaint;
                }
            }
        }
    }
    *complaints = kept;
}

/// A symbolic execution of a whole program, for those who want to look at its paths.
pub struct Exploration {
    /// What stands for the variables around the block.
    pub inputs: Vec<Input>,
    /// Which arbitrary memory it started from.
    pub memory: u32,
    /// Outcomes.
    pub outcomes: Vec<(State, Value)>,
    /// Executions without a value.
    pub ended: Vec<Ended>,
}

/// Both analyses, and the rules between them.
pub struct Mix<'p> {
    /// The program.
    pub program: &'p Program,
    /// The choices.
    pub options: Options,
    /// The type checker.
    pub checker: Checker<'p>,
    /// The symbolic executor.
    pub executor: Executor<'p>,
    gaps: RefCell<Vec<Complaint>>,
    /// The type schemes of functions in the typed block being checked.
    known: RefCell<FxHashMap<KnownId, Type>>,
    /// What a call may do of a function of which only the type is known.
    calls: Effects,
    /// Symbolic blocks within symbolic blocks, by way of typed ones.
    depth: Cell<u32>,
}

/// How many conditions on the values that enter a typed block are tried for an example of what is wrong in it.
const MOST_HINTS: usize = 8;

/// How deep symbolic blocks may lie within each other: a recursive function may contain a block that calls it.
const MAX_BLOCKS: u32 = 32;

impl SymbolicBlocks for Mix<'_> {
    fn symbolic_block(&self, checker: &Checker<'_>, e: ExprId) -> Type {
        let Expr::Block(_, body) = self.program.expr(e) else { return Type::Broken };
        self.block(checker, *body, self.program.span(e))
    }

    /// A function that executions know is checked like any other: its text, where its captured variables have the
    /// types of what it captured.
    fn known_function(&self, checker: &Checker<'_>, function: KnownId, _: Span) -> Type {
        if let Some(scheme) = self.known.borrow().get(&function) {
            return checker.instance(scheme);
        }
        let closure = self.executor.closure(function);
        let captures = &self.program.fun(closure.fun).captures;
        let outside = checker.environment();
        for (capture, value) in captures.iter().zip(&closure.captured) {
            checker.bind_value(capture.var, self.type_of(capture.var, value));
        }
        let scheme = checker.generalized(|| checker.function(self, closure.fun));
        checker.set_environment(outside);
        let instance = checker.instance(&scheme);
        self.known.borrow_mut().insert(function, scheme);
        instance
    }
}

impl TypedBlocks for Mix<'_> {
    /// SETypBlock.
    fn typed_block(
        &self,
        executor: &Executor<'_>,
        state: &State,
        e: ExprId,
    ) -> Result<(State, Value), Rejected> {
        let span = self.program.span(e);
        let Expr::Block(_, body) = self.program.expr(e) else { return Err(Rejected::default()) };
        // |- m(S) ok
        if let (Some((complaint, hints)), false) =
            (executor.memory_complaint(state, span), self.options.omit.memory)
        {
            return Err(Rejected { complaints: vec![complaint], hints });
        }
        // |- Sigma : Gamma, for the variables that the block uses.
        let free = free(self.program, *body);
        let mut outside = Vec::new();
        for at in &free.used {
            if let Some(value) = state.slot(at.slot) {
                let ty = self.type_of(at.var, value);
                // A local that the block assigns may have other qualifiers afterwards, and one type.
                let assigned = free.assigned.iter().any(|assigned| assigned.var == at.var);
                let ty = if assigned { ty } else { self.qualified(state, ty, value) };
                let ty = if self.program.var(at.var).is_local { self.checker.instance(&ty) } else { ty };
                outside.push((at.var, self.checker.bind_value(at.var, ty)));
            }
        }
        // Gamma |- e : t
        let complaints_before = self.checker.take_complaints();
        let effects_before = self.checker.take_effects();
        let known_before = self.known.take();
        let ty = self.checker.check(self, *body);
        let complaints = self.checker.take_complaints();
        let effects = self.checker.take_effects();
        let ty = self.checker.settled(&ty);
        let assigned: Vec<(Use, Type)> = free
            .assigned
            .iter()
            .filter(|at| !self.program.var(at.var).boxed)
            .filter_map(|at| Some((*at, self.checker.lookup(at.var)?)))
            .collect();
        self.known.replace(known_before);
        self.checker.restore_complaints(complaints_before);
        self.checker.add_effects(effects_before);
        for (var, ty) in outside.into_iter().rev() {
            self.checker.bind(var, ty);
        }
        if !complaints.is_empty() {
            let values = free.used.iter().filter_map(|at| state.slot(at.slot));
            let hints = values.flat_map(|value| executor.violations(state, value)).take(MOST_HINTS).collect();
            return Err(Rejected { complaints, hints });
        }
        // A fresh value of the type, and a fresh memory for what the block may have written to.
        let (line_name, mut after) = (format!("typed{}", e.0), state.clone());
        let value = executor.fresh(&line_name, &ty);
        let memory = self.havoc(executor, &mut after, effects);
        let mut locals = Vec::new();
        for (at, ty) in assigned {
            let fresh = executor.fresh(&self.program.var(at.var).name, &ty);
            locals.push((at.slot, fresh.clone()));
            after.set_slot(at.slot, fresh);
        }
        after.events.push(Event::Typed { block: e, value: value.clone(), memory, locals });
        Ok((after, value))
    }

    fn ordinary(&self, ty: &Type) -> Option<Type> {
        let Type::Known(function) = *ty else { return Some(self.checker.instance(ty)) };
        let complaints_before = self.checker.take_complaints();
        let effects_before = self.checker.take_effects();
        let known_before = self.known.take();
        let ty = self.known_function(&self.checker, function, Span::default());
        let accepted = self.checker.take_complaints().is_empty();
        self.checker.take_effects();
        self.known.replace(known_before);
        self.checker.restore_complaints(complaints_before);
        self.checker.add_effects(effects_before);
        accepted.then(|| self.checker.resolved(&ty))
    }

    fn fits(&self, found: &Type, wanted: &Type) -> bool {
        self.checker.fits(found, wanted)
    }

    fn joined(&self, a: &Type, b: &Type) -> Option<Type> {
        let joined = self.checker.joined(&self.ordinary(a)?, &self.ordinary(b)?)?;
        Some(self.checker.resolved(&joined))
    }

    fn resolved(&self, ty: &Type) -> Type {
        self.checker.resolved(ty)
    }

    fn unknown(&self) -> Type {
        self.checker.unknown()
    }
}

impl<'p> Mix<'p> {
    /// Both analyses of a program, with nothing done yet.
    pub fn new(program: &'p Program, store: &'p Store, options: Options) -> Self {
        let symbolic = crate::symbolic::Options { omit_null: options.omit.null, ..options.symbolic };
        let calls = match options.omit.outside {
            true => Effects { everything: functions_may_write(program), ..Effects::default() },
            false => effects_of_calls(program),
        };
        Mix {
            program,
            options,
            checker: Checker::new(program).loosened(options.omit.loose),
            executor: Executor::new(program, store, symbolic),
            gaps: RefCell::default(),
            known: RefCell::default(),
            calls,
            depth: Cell::new(0),
        }
    }

    /// The start of TSymBlock: `Sigma(x) = alpha_x : Gamma(x)`, `S = <true; mu>`, and all outcomes of `e`.
    pub fn explore(&self, checker: &Checker<'_>, e: ExprId) -> Exploration {
        let executor = &self.executor;
        let (memory, generation) = executor.arbitrary_memory();
        let mut state = State::new(memory);
        let mut inputs = Vec::new();
        for at in free(self.program, e).used {
            let Some(ty) = checker.lookup(at.var) else { continue };
            let info = self.program.var(at.var);
            let ty = if info.boxed { Type::reference(ty) } else { ty };
            let value = executor.fresh(&info.name, &ty);
            let (name, value) = (info.name.clone(), value.clone());
            inputs.push(Input { name, at, value: value.clone(), memory: generation });
            state.set_slot(at.slot, value);
        }
        let start_before = executor.set_start(Start { body: Some(e), inputs });
        let ended_before = executor.take_ended();
        let reported_before = executor.set_reported(Default::default());
        self.depth.set(self.depth.get() + 1);
        let outcomes = if self.depth.get() <= MAX_BLOCKS {
            executor.exec(self, e, state)
        } else {
            let message = format!("symbolic blocks lie within each other more than {MAX_BLOCKS} deep");
            executor.end(state, Complaint::gap(self.program.span(e), message));
            Vec::new()
        };
        self.depth.set(self.depth.get() - 1);
        let ended = executor.take_ended();
        executor.restore_ended(ended_before);
        executor.set_reported(reported_before);
        let inputs = executor.set_start(start_before).inputs;
        Exploration { inputs, memory: generation, outcomes, ended }
    }

    /// TSymBlock.
    fn block(&self, checker: &Checker<'_>, e: ExprId, span: Span) -> Type {
        let executor = &self.executor;
        let used = free(self.program, e).used;
        for at in &used {
            match checker.lookup(at.var) {
                Some(Type::Broken) => return Type::Broken,
                // Nothing can be executed on a value of which not even the width is known.
                Some(ty) if is_open(&ty) => {
                    let name = &self.program.var(at.var).name;
                    let message =
                        format!("the type of `{name}` is not known where this symbolic block starts");
                    checker.complain(Complaint::error(span, message).note("annotate it"));
                    return Type::Broken;
                }
                _ => {}
            }
        }
        let effects_before = executor.take_effects();
        let Exploration { inputs, outcomes, ended, .. } = self.explore(checker, e);
        checker.add_effects(executor.take_effects());
        executor.add_effects(effects_before);
        // Every path ends well ...
        let mut complaints = Vec::new();
        let start_before = executor.set_start(Start { body: Some(e), inputs });
        let ended_before = executor.take_ended();
        let ty = self.common_type(checker, &outcomes, e, span);
        executor.set_start(start_before);
        complaints.extend(executor.take_ended().into_iter().filter_map(complaint));
        executor.restore_ended(ended_before);
        // ... and together they are all there are.
        let is_complaint = |ended: &Ended| matches!(ended.why, End::Complaint(_));
        if !self.options.omit.exhaustive && complaints.is_empty() && !ended.iter().any(is_complaint) {
            let paths = outcomes.iter().map(|(state, _)| state).chain(ended.iter().map(|ended| &ended.state));
            if let Some(complaint) = not_exhaustive(exhaustive(executor, paths), span) {
                complaints.push(complaint);
            }
        }
        complaints.extend(ended.into_iter().filter_map(complaint));
        for complaint in complaints {
            if complaint.kind == ComplaintKind::Gap && self.options.omit.exhaustive {
                continue;
            }
            if complaint.kind == ComplaintKind::Gap
                && self.options.exhaustiveness == Exhaustiveness::GoodEnough
            {
                self.gaps.borrow_mut().push(complaint);
            } else {
                checker.complain(complaint);
            }
        }
        ty
    }

    /// The type that the results of all paths have, where memory and assigned locals keep theirs. What does not fit
    /// ends its path with a complaint.
    fn common_type(&self, checker: &Checker<'_>, outcomes: &[(State, Value)], e: ExprId, span: Span) -> Type {
        let executor = &self.executor;
        let assigned = free(self.program, e).assigned;
        // The type so far, and the paths that it is of.
        let mut common: Option<(Type, Vec<&State>)> = None;
        for (state, value) in outcomes {
            if let (Some((complaint, hints)), false) =
                (executor.memory_complaint(state, span), self.options.omit.memory)
            {
                executor.end_where(state.clone(), complaint, &hints);
                continue;
            }
            for at in assigned.iter().filter(|at| !self.program.var(at.var).boxed) {
                let (Some(wanted), Some(value)) = (checker.lookup(at.var), state.slot(at.slot)) else {
                    continue;
                };
                let found = self.type_outside(checker, state, value);
                if !checker.fits(&found, &wanted) {
                    let name = &self.program.var(at.var).name;
                    let message = format!("`{name}` holds {wanted}, and {} at the end of this block", found);
                    let hints: Vec<Formula> = executor.violated(value, &wanted).into_iter().collect();
                    executor.end_where(state.clone(), Complaint::error(span, message), &hints);
                }
            }
            let found = self.type_outside(checker, state, value);
            // A singleton type names one function; the block may be executed many times, and make a new one each time.
            if mentions_known(&checker.resolved(&found)) {
                let message = "this block gives out a function that type checking does not accept";
                executor.end(state.clone(), Complaint::error(span, message));
                continue;
            }
            common = match common {
                None => Some((found, vec![state])),
                Some((ty, mut of)) => match checker.joined(&ty, &found) {
                    Some(joined) => {
                        of.push(state);
                        Some((joined, of))
                    }
                    None if of.iter().all(|path| executor.is_infeasible(path)) => Some((found, vec![state])),
                    None => {
                        let message = format!(
                            "this block gives {} on one path and {found} on another",
                            checker.resolved(&ty)
                        );
                        executor.end(state.clone(), Complaint::error(span, message));
                        Some((ty, of))
                    }
                },
            };
        }
        common.map_or_else(|| checker.unknown(), |(ty, _)| ty)
    }

    /// The type of a variable that holds a value: of a boxed local, that of its content.
    fn type_of(&self, var: VarId, value: &Value) -> Type {
        match &value.ty {
            Type::Ref(_, content) if self.program.var(var).boxed => (**content).clone(),
            other => other.clone(),
        }
    }

    /// The type of a value outside the executor: functions are no longer known or polymorphic, integers have the sign and
    /// references the nullness that the path gives them.
    fn type_outside(&self, checker: &Checker<'_>, state: &State, value: &Value) -> Type {
        match &value.ty {
            Type::Known(id) => self.known_function(checker, *id, Span::default()),
            scheme @ Type::Forall(..) => checker.instance(scheme),
            other => self.qualified(state, other.clone(), value),
        }
    }

    /// Asks the solver for the sign of an integer, where signs matter, and whether a reference may be null.
    fn qualified(&self, state: &State, ty: Type, value: &Value) -> Type {
        if let (Type::Int(_), Bare::Bits(term), true) = (&ty, value.u, self.program.uses_signs) {
            for sign in [Sign::Pos, Sign::Zero, Sign::Neg] {
                if self.executor.proves(state, self.executor.has_sign(term, sign)) {
                    return Type::Int(sign);
                }
            }
        }
        if let (Type::Ref(Nullness::Null, content), Bare::Bits(term)) = (&ty, value.u)
            && self.executor.proves(state, self.executor.has_nullness(term, &ty, Nullness::NonNull))
        {
            return Type::Ref(Nullness::NonNull, content.clone());
        }
        ty
    }

    /// Forgets what a typed block with these effects may have changed, and says which arbitrary memory replaces it.
    fn havoc(&self, executor: &Executor<'_>, state: &mut State, mut effects: Effects) -> Option<u32> {
        effects.everything |= self.options.havoc == Havoc::Everything;
        if effects.calls {
            effects.everything |= self.calls.everything;
            effects.written.extend(self.calls.written.iter().cloned());
        }
        // What was unknown where it was written may have been found out since; if not, it could be anything.
        effects.written = effects.written.iter().map(|ty| self.checker.resolved(ty)).collect();
        effects.everything |= effects.written.iter().any(Type::is_open);
        let (fresh, generation) = executor.arbitrary_memory();
        let changed = effects.everything || !effects.written.is_empty();
        if effects.everything {
            state.memory = fresh;
        } else {
            executor.forget(state, generation, &effects.written);
        }
        executor.add_effects(effects);
        changed.then_some(generation)
    }
}

/// Whether a singleton type occurs in a type.
fn mentions_known(ty: &Type) -> bool {
    match ty {
        Type::Known(_) => true,
        Type::Ref(_, content) => mentions_known(content),
        Type::Forall(_, ty) => mentions_known(ty),
        Type::Fun(from, to) => mentions_known(from) || mentions_known(to),
        _ => false,
    }
}

/// Whether a value of the type, or what it refers to, could be anything.
fn is_open(ty: &Type) -> bool {
    match ty {
        Type::Var(_) => true,
        Type::Ref(_, content) => is_open(content),
        _ => false,
    }
}

fn complaint(ended: Ended) -> Option<Complaint> {
    match ended.why {
        End::Complaint(complaint) => Some(complaint),
        End::Trap | End::Infeasible => None,
    }
}

fn not_exhaustive(answer: Answer, span: Span) -> Option<Complaint> {
    match answer {
        Answer::Unsat => None,
        Answer::Sat(_) => {
            Some(Complaint::gap(span, "the paths explored in this block are not all there are"))
        }
        Answer::Unknown(why) => Some(
            Complaint::gap(
                span,
                "the solver cannot tell whether the paths explored in this block are all there are",
            )
            .note(why.to_string()),
        ),
    }
}
