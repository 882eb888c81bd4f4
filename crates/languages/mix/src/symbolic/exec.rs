//! The rules of Figure 2, one arm each, and those of the additions.

use super::explain::STRING_WIDTH;
use super::way::{Held, Passed};
use super::{Bare, Closure, Conditionals, Executor, Memory, Outcomes, State, TypedBlocks, Value};
use crate::complaint::Complaint;
use crate::syntax::*;
use crate::ty::Type;
use parallax_source::Span;
use parallax_term::Formula;

impl Executor<'_> {
    /// `Sigma |- <S; e> => <S'; s>`: every outcome of `e` in `state`.
    pub fn exec(&self, blocks: &dyn TypedBlocks, e: ExprId, mut state: State) -> Outcomes {
        let steps = self.steps.get() + 1;
        self.steps.set(steps);
        if steps > self.options.steps {
            let message = format!("gave up after {} steps", self.options.steps);
            self.gap(state, self.program.span(e), message);
            return Vec::new();
        }
        state.way.comes_to(e, self.program.line(e));
        stacker::maybe_grow(64 << 10, 1 << 20, || self.rule(blocks, e, state))
    }

    fn rule(&self, blocks: &dyn TypedBlocks, e: ExprId, mut state: State) -> Outcomes {
        let program = self.program;
        let span = program.span(e);
        let value = match program.expr(e) {
            // SEVar
            Expr::Var(at) => return self.variable(blocks, state, *at, span).into_iter().collect(),
            // SEVal
            Expr::Unit => Value { u: Bare::Unit, ty: Type::Unit },
            Expr::Int(n) => self.int(*n),
            Expr::Float(x) => self.float(*x),
            Expr::Bool(b) => Value { u: Bare::Bool(self.store.boolean(*b)), ty: Type::Bool },
            Expr::Str(id) => {
                Value { u: Bare::Bits(self.store.number(STRING_WIDTH, u128::from(id.0))), ty: Type::Str }
            }
            Expr::Null => {
                Value { u: Bare::Bits(self.store.number(64, 0)), ty: Type::nullable(blocks.unknown()) }
            }
            Expr::Fun(fun) => {
                let captures = &program.fun(*fun).captures;
                let captured: Option<Vec<Value>> =
                    captures.iter().map(|capture| state.slot(capture.from).cloned()).collect();
                let Some(captured) = captured else {
                    self.error(state, span, "this function captures a variable that has no value here");
                    return Vec::new();
                };
                self.known(Closure { fun: *fun, captured })
            }
            // SEPlus, SEEq, SEAnd and their kin
            Expr::Binary(op, e1, e2) => {
                let mut out = Vec::new();
                for (state, v1) in self.exec(blocks, *e1, state) {
                    for (state, v2) in self.exec(blocks, *e2, state) {
                        out.extend(self.binary(blocks, *op, state, &v1, &v2, span));
                    }
                }
                return out;
            }
            // SENot
            Expr::Not(e1) => {
                return self.map(blocks, *e1, state, |state, value| {
                    let guard = self.guard(&state, &value, span, "`not` wants")?;
                    Some((state, Value { u: Bare::Bool(self.store.not(guard)), ty: Type::Bool }))
                });
            }
            Expr::Negate(e1) => {
                return self.map(blocks, *e1, state, |state, value| {
                    let value = self.negate(&state, &value, span)?;
                    Some((state, value))
                });
            }
            // SEIf-True, SEIf-False, SEIf-Defer
            Expr::If(e1, e2, e3) => {
                let mut out = Vec::new();
                for (state, value) in self.exec(blocks, *e1, state) {
                    if let Some(guard) = self.guard(&state, &value, program.span(*e1), "a condition is") {
                        self.conditional(blocks, (*e1, *e2, *e3), state, guard, &mut out);
                    }
                }
                return out;
            }
            // SELet, and sequences
            Expr::Chain(items, last) => return self.chain(blocks, items, *last, state),
            // SERef
            Expr::Ref(e1) => {
                return self.map(blocks, *e1, state, |state, value| self.allocate(blocks, state, value, *e1));
            }
            // SEAssign
            Expr::Assign(e1, e2) => {
                let mut out = Vec::new();
                for (state, target) in self.exec(blocks, *e1, state) {
                    for (state, value) in self.exec(blocks, *e2, state) {
                        let assigned = self.assign(blocks, state, &target, value, span);
                        out.extend(assigned.map(|(mut state, value)| {
                            if let Expr::Var(at) = program.expr(*e1) {
                                state.way.push(Passed::Set(Held::Content(*at), value.clone(), span));
                            }
                            (state, value)
                        }));
                    }
                }
                return out;
            }
            // SEDeref
            Expr::Deref(e1) => {
                return self
                    .map(blocks, *e1, state, |state, target| self.dereference(blocks, state, &target, span));
            }
            Expr::SetVar(at, e1) => {
                return self.map(blocks, *e1, state, |mut state, value| {
                    state.way.push(Passed::Set(Held::Variable(*at), value.clone(), span));
                    if program.var(at.var).boxed {
                        let target = state.slot(at.slot).cloned()?;
                        (state, _) = self.assign(blocks, state, &target, value, span)?;
                    } else {
                        state.set_slot(at.slot, value);
                    }
                    Some((state, Value { u: Bare::Unit, ty: Type::Unit }))
                });
            }
            Expr::Apply(e1, e2) => {
                let mut out = Vec::new();
                for (state, function) in self.exec(blocks, *e1, state) {
                    for (state, argument) in self.exec(blocks, *e2, state) {
                        self.apply(blocks, state, &function, argument, span, &mut out);
                    }
                }
                return out;
            }
            Expr::While(e1, e2) => return self.repeat(blocks, *e1, *e2, state),
            Expr::Annotated(e1, ty) => {
                return self.map(blocks, *e1, state, |state, value| {
                    let value = self.ascribe(blocks, &state, value, ty, span, "the annotation says")?;
                    Some((state, value))
                });
            }
            // A symbolic block inside a symbolic one passes through.
            Expr::Block(BlockKind::Symbolic, e1) => return self.exec(blocks, *e1, state),
            Expr::Block(BlockKind::Typed, _) => match blocks.typed_block(self, &state, e) {
                Ok((after, value)) => {
                    state = after;
                    state.way.push(Passed::Set(Held::Block, value.clone(), span));
                    value
                }
                Err(rejected) => {
                    for complaint in rejected.complaints {
                        self.end_where(state.clone(), complaint, &rejected.hints);
                    }
                    return Vec::new();
                }
            },
        };
        vec![(state, value)]
    }

    /// Executes `e` and goes on with `f` in every outcome.
    fn map(
        &self,
        blocks: &dyn TypedBlocks,
        e: ExprId,
        state: State,
        f: impl Fn(State, Value) -> Option<(State, Value)>,
    ) -> Outcomes {
        self.exec(blocks, e, state).into_iter().filter_map(|(state, value)| f(state, value)).collect()
    }

    fn variable(
        &self,
        blocks: &dyn TypedBlocks,
        state: State,
        at: Use,
        span: Span,
    ) -> Option<(State, Value)> {
        let info = self.program.var(at.var);
        match state.slot(at.slot).cloned() {
            Some(cell) if info.boxed => self.dereference(blocks, state, &cell, span),
            Some(value) => Some((state, value)),
            None => {
                let message = format!(
                    "`{}` has no one type here: the branches before left it different ones",
                    info.name
                );
                self.end(
                    state,
                    Complaint::error(span, message).note("fork at conditionals instead of deferring"),
                );
                None
            }
        }
    }

    /// The guard that a value of type bool is.
    fn guard(&self, state: &State, value: &Value, span: Span, wanted: &str) -> Option<Formula> {
        match value.u {
            Bare::Bool(guard) => Some(guard),
            _ => {
                self.error(state.clone(), span, format!("{wanted} bool, this is {}", value.ty));
                None
            }
        }
    }

    fn conditional(
        &self,
        blocks: &dyn TypedBlocks,
        (e1, e2, e3): (ExprId, ExprId, ExprId),
        mut state: State,
        guard: Formula,
        out: &mut Outcomes,
    ) {
        let span = self.program.span(e1);
        if let Some(holds) = self.store.as_boolean(guard) {
            state.way.push(Passed::Known(span, holds));
            return out.extend(self.exec(blocks, if holds { e2 } else { e3 }, state));
        }
        let Some((yes, no)) = self.fork(&state, guard, span) else { return self.too_many_paths(state, span) };
        let (yes, no) = (self.if_feasible(yes), self.if_feasible(no));
        let run =
            |branch: Option<State>, e| branch.map_or_else(Vec::new, |state| self.exec(blocks, e, state));
        if self.options.conditionals == Conditionals::Fork {
            out.extend(run(yes, e2));
            out.extend(run(no, e3));
            return;
        }
        let (mut yes, mut no) = (run(yes, e2), run(no, e3));
        match (&yes[..], &no[..]) {
            ([(s2, v2)], [(s3, v3)]) => match self.merge(blocks, &state, guard, (s2, v2), (s3, v3), span) {
                Ok(merged) => out.push(merged),
                Err(complaint) => self.end(state, complaint),
            },
            _ => {
                out.append(&mut yes);
                out.append(&mut no);
            }
        }
    }

    /// Inside a call, where recursion may depend on it, asks the solver whether a branch can be taken at all.
    fn if_feasible(&self, state: State) -> Option<State> {
        if !state.calls.is_empty() && self.is_infeasible(&state) {
            self.infeasible(state);
            return None;
        }
        Some(state)
    }

    /// SEIf-Defer: `<(g1 ? g(S2) : g(S3)); (g1 ? m(S2) : m(S3))>` and `g1 ? s2 : s3`.
    fn merge(
        &self,
        blocks: &dyn TypedBlocks,
        before: &State,
        guard: Formula,
        (s2, v2): (&State, &Value),
        (s3, v3): (&State, &Value),
        span: Span,
    ) -> Result<(State, Value), Complaint> {
        let store = self.store;
        let Some(value) = self.choose(blocks, guard, v2, v3) else {
            let message = format!("the branches differ: one gives {}, the other {}", v2.ty, v3.ty);
            return Err(
                Complaint::error(span, message).note("a deferred conditional has one type; fork instead")
            );
        };
        let mut merged = before.clone();
        // What the branches assumed beyond the guard itself.
        let beyond = |state: &State| {
            let added = state.path.len() - before.path.len() - 1;
            store.all(state.path.newest_first().take(added).map(|decision| decision.formula))
        };
        let assumed = store.ite_bool(guard, beyond(s2), beyond(s3));
        if store.as_boolean(assumed) != Some(true) {
            merged = merged.assuming(assumed, span, None);
        }
        merged.memory = Memory::merged(store, guard, &s2.memory, &s3.memory);
        merged.frame = s2.frame.merged(&s3.frame, |a, b| self.choose(blocks, guard, a, b));
        for state in [s2, s3] {
            let added = state.events.len() - before.events.len();
            for event in state.events.to_vec().into_iter().skip(state.events.len() - added) {
                merged.events.push(event.clone());
            }
        }
        Ok((merged, value))
    }

    /// `g ? a : b`, where both have one type.
    fn choose(&self, blocks: &dyn TypedBlocks, guard: Formula, a: &Value, b: &Value) -> Option<Value> {
        if a == b {
            return Some(a.clone());
        }
        let ty = blocks.joined(&a.ty, &b.ty)?;
        let u = match (a.u, b.u) {
            (Bare::Unit, Bare::Unit) => Bare::Unit,
            (Bare::Bool(a), Bare::Bool(b)) => Bare::Bool(self.store.ite_bool(guard, a, b)),
            (Bare::Bits(a), Bare::Bits(b)) => Bare::Bits(self.store.ite(guard, a, b)),
            _ => return None,
        };
        Some(Value { u, ty })
    }

    fn chain(&self, blocks: &dyn TypedBlocks, items: &[Item], last: ExprId, state: State) -> Outcomes {
        let mut states = vec![state];
        for item in items {
            let mut next = Vec::with_capacity(states.len());
            for state in states {
                match item {
                    Item::Do(e1) => {
                        next.extend(self.exec(blocks, *e1, state).into_iter().map(|(state, _)| state));
                    }
                    Item::Let(at, e1) => {
                        for (mut state, value) in self.exec(blocks, *e1, state) {
                            let span = self.program.span(*e1);
                            state.way.push(Passed::Set(Held::Variable(*at), value.clone(), span));
                            state.set_slot(at.slot, value);
                            next.push(state);
                        }
                    }
                    Item::Var(at, e1) => {
                        for (mut state, value) in self.exec(blocks, *e1, state) {
                            let span = self.program.span(*e1);
                            state.way.push(Passed::Set(Held::Variable(*at), value.clone(), span));
                            let bound = if self.program.var(at.var).boxed {
                                self.allocate(blocks, state, value, *e1)
                            } else {
                                Some((state, value))
                            };
                            if let Some((mut state, value)) = bound {
                                state.set_slot(at.slot, value);
                                next.push(state);
                            }
                        }
                    }
                }
            }
            states = next;
        }
        states.into_iter().flat_map(|state| self.exec(blocks, last, state)).collect()
    }

    /// A loop: as long as its condition is known, as often as that takes; where it could go either way, up to the
    /// bound, beyond which lies a gap.
    fn repeat(&self, blocks: &dyn TypedBlocks, condition: ExprId, body: ExprId, state: State) -> Outcomes {
        let span = self.program.span(condition);
        let mut out = Vec::new();
        let mut live = vec![(state, 0)];
        while let Some((state, undecided)) = live.pop() {
            for (mut state, value) in self.exec(blocks, condition, state) {
                let Some(guard) = self.guard(&state, &value, span, "a condition is") else { continue };
                let known = self.store.as_boolean(guard);
                if let Some(holds) = known {
                    state.way.push(Passed::Known(span, holds));
                }
                let (enter, undecided) = match known {
                    Some(true) => (state, undecided),
                    Some(false) => {
                        out.push((state, Value { u: Bare::Unit, ty: Type::Unit }));
                        continue;
                    }
                    None => {
                        let Some((yes, no)) = self.fork(&state, guard, span) else {
                            self.too_many_paths(state, span);
                            continue;
                        };
                        if self.is_infeasible(&no) {
                            self.infeasible(no);
                        } else {
                            out.push((no, Value { u: Bare::Unit, ty: Type::Unit }));
                        }
                        if undecided >= self.options.unroll {
                            let message =
                                format!("this loop may go round more than {} times", self.options.unroll);
                            self.end(
                                yes,
                                Complaint::gap(span, message)
                                    .note("raise the bound, or put the loop into a typed block"),
                            );
                            continue;
                        }
                        if self.is_infeasible(&yes) {
                            self.infeasible(yes);
                            continue;
                        }
                        (yes, undecided + 1)
                    }
                };
                live.extend(self.exec(blocks, body, enter).into_iter().map(|(state, _)| (state, undecided)));
            }
        }
        out
    }
}
