//! Functions: a call of a known function executes its body.

use super::state::{Call, Frame};
use super::way::{Held, Passed};
use super::{Bare, Executor, Outcomes, State, TypedBlocks, Value};
use crate::complaint::Complaint;
use crate::ty::{KnownId, Type};
use parallax_source::Span;
use parallax_term::{Node, Term};

impl Executor<'_> {
    pub(super) fn apply(
        &self,
        blocks: &dyn TypedBlocks,
        state: State,
        function: &Value,
        argument: Value,
        span: Span,
        out: &mut Outcomes,
    ) {
        let (Bare::Bits(which), Type::Fun(..) | Type::Known(_) | Type::Forall(..)) =
            (function.u, &function.ty)
        else {
            let message = match function.ty {
                Type::Var(_) => "the type of this function is not known here: annotate it".to_string(),
                _ => format!("only a function can be applied, this is {}", function.ty),
            };
            return self.error(state, span, message);
        };
        self.apply_one_of(blocks, state, which, argument, span, out);
    }

    /// Calls the function that a term chooses: one, or one of two depending on a condition.
    fn apply_one_of(
        &self,
        blocks: &dyn TypedBlocks,
        state: State,
        which: Term,
        argument: Value,
        span: Span,
        out: &mut Outcomes,
    ) {
        match self.store.node(which) {
            Node::Const(bits) => {
                let id = bits.to_u64().filter(|&id| id < self.closures.borrow().len() as u64);
                match id {
                    Some(id) => self.call(blocks, state, KnownId(id as u32), argument, span, out),
                    None => self.end(state, unknown_function(span)),
                }
            }
            Node::Ite(condition, yes, no) => {
                let Some((s1, s2)) = self.fork(&state, condition, span) else {
                    return self.too_many_paths(state, span);
                };
                for (state, which) in [(s1, yes), (s2, no)] {
                    if self.is_infeasible(&state) {
                        self.infeasible(state);
                        continue;
                    }
                    stacker::maybe_grow(64 << 10, 1 << 20, || {
                        self.apply_one_of(blocks, state, which, argument.clone(), span, out)
                    });
                }
            }
            _ => self.end(state, unknown_function(span)),
        }
    }

    fn call(
        &self,
        blocks: &dyn TypedBlocks,
        mut state: State,
        id: KnownId,
        argument: Value,
        span: Span,
        out: &mut Outcomes,
    ) {
        let closure = self.closure(id);
        let fun = self.program.fun(closure.fun);
        let argument = match &fun.param_type {
            Some(ty) => match self.ascribe(blocks, &state, argument, ty, span, "the function wants") {
                Some(argument) => argument,
                None => return,
            },
            None => argument,
        };
        let path_length = state.path.len();
        let before = state.calls.newest_first().find(|call| call.fun == closure.fun);
        let undecided = before.map_or(0, |call| call.undecided + u32::from(call.path_length < path_length));
        if undecided > self.options.unroll || state.calls.len() >= self.options.calls as usize {
            let message = format!("`{}` may call itself more often than the bound allows", fun.name);
            let complaint =
                Complaint::gap(span, message).note("raise the bound, or put the call into a typed block");
            return self.end(state, complaint);
        }
        let mut frame = Frame::default();
        for (capture, value) in fun.captures.iter().zip(&closure.captured) {
            frame.set(capture.to as usize, Some(value.clone()));
        }
        if let Some(myself) = fun.myself {
            frame.set(myself.slot as usize, Some(self.known_value(id)));
        }
        let line = state.way.enter(closure.fun, span);
        state.way.push(Passed::Set(Held::Variable(fun.param), argument.clone(), fun.span));
        frame.set(fun.param.slot as usize, Some(argument));
        let (caller, calls) = (state.frame.clone(), state.calls.clone());
        state.calls.push(Call { fun: closure.fun, path_length, undecided, span });
        state.frame = frame;
        for (mut state, value) in self.exec(blocks, fun.body, state) {
            state.frame = caller.clone();
            state.calls = calls.clone();
            state.way.leave(line);
            out.push((state, value));
        }
    }

    /// The value as one of type `ty`, if it is one.
    pub(super) fn ascribe(
        &self,
        blocks: &dyn TypedBlocks,
        state: &State,
        value: Value,
        ty: &Type,
        span: Span,
        why: &str,
    ) -> Option<Value> {
        let Some(found) = blocks.ordinary(&value.ty) else {
            let message = format!("{why} {ty}, this is a function that type checking does not accept");
            self.error(state.clone(), span, message);
            return None;
        };
        // What is wanted of the value beyond the shape of its type: a qualifier.
        let (shape, wanted) = match (&found, ty, value.u) {
            (Type::Int(_), Type::Int(sign), Bare::Bits(term)) => (ty.clone(), self.has_sign(term, *sign)),
            (Type::Ref(_, content), Type::Ref(nullness, _), Bare::Bits(term)) => {
                (Type::Ref(*nullness, content.clone()), self.has_nullness(term, &found, *nullness))
            }
            _ => (found.clone(), self.store.true_()),
        };
        if !blocks.fits(&shape, ty) {
            self.error(state.clone(), span, format!("{why} {ty}, this is {}", blocks.resolved(&found)));
            return None;
        }
        if self.store.as_boolean(wanted) != Some(true) && !self.proves(state, wanted) {
            let violated = state.assuming(self.store.not(wanted), span, None);
            let message = match ty {
                Type::Int(_) => format!("{why} {ty}, this may be another int"),
                _ => format!("{why} {ty}, this may be null"),
            };
            self.error(violated, span, message);
            return None;
        }
        if matches!(ty, Type::Int(_)) {
            return Some(value);
        }
        Some(Value { u: value.u, ty: ty.clone() })
    }
}

fn unknown_function(span: Span) -> Complaint {
    Complaint::error(span, "this function is not known here, so its call cannot be executed symbolically")
        .note("put the call into a typed block, which then stands for any result")
}
