//! References: SERef, SEAssign, SEDeref and memory type consistency, Figure 3.

use super::memory::{Write, base, class, has_facts, width};
use super::state::Event;
use super::{Bare, Consistency, Executor, State, TypedBlocks, Value};
use crate::complaint::Complaint;
use crate::infer::MAX_TYPE_SIZE;
use crate::syntax::{Expr, ExprId};
use crate::ty::{Nullness, Type};
use parallax_op::BinOp;
use parallax_source::Span;
use parallax_term::{Formula, Sort, SymbolKind, Term};
use rustc_hash::FxHashSet;
use std::rc::Rc;

impl Executor<'_> {
    /// SERef: a new location for the value of `e`. An annotation on `e` keeps the sign of an integer.
    pub(super) fn allocate(
        &self,
        blocks: &dyn TypedBlocks,
        mut state: State,
        value: Value,
        e: ExprId,
    ) -> Option<(State, Value)> {
        let content = match (&value.ty, value.u, self.program.expr(e)) {
            (Type::Int(_) | Type::Ref(..), _, Expr::Annotated(_, ty)) => ty.clone(),
            // What typing keeps of a reference, the path may know.
            (Type::Ref(Nullness::Null, inner), Bare::Bits(term), _)
                if self.proves(&state, self.has_nullness(term, &value.ty, Nullness::NonNull)) =>
            {
                Type::Ref(Nullness::NonNull, inner.clone())
            }
            (ty, ..) => blocks.ordinary(ty).unwrap_or_else(|| ty.clone()),
        };
        let content = blocks.resolved(&content);
        if depth(&content) > MAX_TYPE_SIZE {
            self.gap(state, self.program.span(e), format!("this type has more than {MAX_TYPE_SIZE} parts"));
            return None;
        }
        let number = self.allocations.get() + 1;
        if number >= super::ELSEWHERE {
            self.gap(state, self.program.span(e), "too many locations");
            return None;
        }
        self.allocations.set(number);
        if has_facts(&content) || class(&content) == class(&Type::Broken) {
            self.effects.borrow_mut().written.insert(content.clone());
        }
        let location = self.store.number(64, u128::from(number));
        self.put(&mut state, location, &content, Some(&value));
        state.events.push(Event::Allocated(number));
        Some((state, Value { u: Bare::Bits(location), ty: Type::reference(content) }))
    }

    /// SEAssign: any value may be written; whether it fits the location is only recorded (Overwrite-Ok and
    /// Arbitrary-NotOk).
    pub(super) fn assign(
        &self,
        blocks: &dyn TypedBlocks,
        state: State,
        target: &Value,
        value: Value,
        span: Span,
    ) -> Option<(State, Value)> {
        let (Bare::Bits(location), Type::Ref(nullness, content)) = (target.u, &target.ty) else {
            self.error(state, span, format!("`:=` wants a reference, this is {}", target.ty));
            return None;
        };
        let mut state = self.not_null(state, location, *nullness, span, ":=")?;
        let consistent = self.is_consistent(blocks, &state, &value, content);
        // Asking may have found out more about the type.
        let content = &blocks.resolved(content);
        self.effects.borrow_mut().written.insert(content.clone());
        if consistent {
            self.put(&mut state, location, content, Some(&value));
            self.forgive(&mut state, location, content);
        } else {
            self.put(&mut state, location, content, None);
            let violated = self.violated(&value, content);
            let (content, found) = (content.clone(), value.ty.clone());
            let write = Write { target: location, content, found, violated, span };
            Rc::make_mut(&mut state.memory.inconsistent).push(write);
        }
        Some((state, value))
    }

    /// Whether the value fits a location of type `content`.
    fn is_consistent(&self, blocks: &dyn TypedBlocks, state: &State, value: &Value, content: &Type) -> bool {
        match (&value.ty, content) {
            (Type::Int(_), Type::Int(sign)) => match value.u {
                Bare::Bits(term) => self.proves(state, self.has_sign(term, *sign)),
                _ => false,
            },
            (Type::Known(a), Type::Known(b)) => a == b,
            (Type::Known(_), wanted) => {
                blocks.ordinary(&value.ty).is_some_and(|found| blocks.fits(&found, wanted))
            }
            (Type::Ref(_, inner), Type::Ref(nullness, _)) => match value.u {
                Bare::Bits(term) => {
                    blocks.fits(&Type::Ref(*nullness, inner.clone()), content)
                        && self.proves(state, self.has_nullness(term, &value.ty, *nullness))
                }
                _ => false,
            },
            // A location whose type is still open holds what functions are represented by, and nothing else.
            (found, wanted) => {
                let open = class(&Type::Broken);
                (class(found) == open) == (class(wanted) == open) && blocks.fits(found, wanted)
            }
        }
    }

    /// When the outermost qualifier of `wanted` does not hold of a value; none if it asks for nothing.
    pub(crate) fn violated(&self, value: &Value, wanted: &Type) -> Option<Formula> {
        let holds = match (value.u, &value.ty, wanted) {
            (Bare::Bits(term), Type::Int(_), Type::Int(sign)) => self.has_sign(term, *sign),
            (Bare::Bits(term), ty @ Type::Ref(..), Type::Ref(nullness, _)) => {
                self.has_nullness(term, ty, *nullness)
            }
            _ => return None,
        };
        (self.store.as_boolean(holds) != Some(true)).then(|| self.store.not(holds))
    }

    /// Overwrite-Ok: earlier inconsistent writes to the location do not matter any more.
    fn forgive(&self, state: &mut State, location: Term, content: &Type) {
        if state.memory.inconsistent.is_empty() {
            return;
        }
        let kept: Vec<Write> = state
            .memory
            .inconsistent
            .iter()
            .filter(|write| {
                let same = write.target == location
                    || self.options.consistency == Consistency::Solver
                        && class(&write.content) == class(content)
                        && self.proves(state, self.store.eq(write.target, location));
                !same
            })
            .cloned()
            .collect();
        state.memory.inconsistent = Rc::new(kept);
    }

    /// Writes the value, or something unknown, to the map of its class.
    fn put(&self, state: &mut State, location: Term, content: &Type, value: Option<&Value>) {
        let store = self.store;
        let bits = match value.map(|value| value.u) {
            Some(Bare::Unit) => return,
            Some(Bare::Bits(term)) => term,
            Some(Bare::Bool(formula)) => store.ite(formula, store.number(1, 1), store.number(1, 0)),
            None => {
                let symbol = store.fresh("junk", Sort::Bits(width(content)), SymbolKind::Free);
                match store.expr_of(symbol) {
                    parallax_term::Expr::Term(term) => term,
                    _ => unreachable!("a bit-vector symbol is a term"),
                }
            }
        };
        let class = class(content);
        let map = store.update(state.memory.map(store, &class), location, bits);
        state.memory.set_map(class, map);
    }

    /// SEDeref: the type is the one the pointer promises, so the memory must keep the promise.
    pub(super) fn dereference(
        &self,
        blocks: &dyn TypedBlocks,
        state: State,
        target: &Value,
        span: Span,
    ) -> Option<(State, Value)> {
        let (Bare::Bits(location), Type::Ref(nullness, content)) = (target.u, &target.ty) else {
            self.error(state, span, format!("`!` wants a reference, this is {}", target.ty));
            return None;
        };
        let state = self.not_null(state, location, *nullness, span, "!")?;
        let content = &blocks.resolved(content);
        let blocking = state.memory.inconsistent.iter().find(|write| match self.options.consistency {
            Consistency::Syntactic => true,
            Consistency::Solver => {
                class(&write.content) == class(content)
                    && !self.proves(&state, self.store.not(self.store.eq(write.target, location)))
            }
        });
        if let Some(write) = blocking.cloned() {
            let hints: Vec<Formula> = write.violated.into_iter().collect();
            self.end_where(state, inconsistent(&write, span), &hints);
            return None;
        }
        let ty = content.clone();
        let store = self.store;
        let u = match &ty {
            Type::Unit => Bare::Unit,
            _ => {
                let term = store.access(state.memory.map(store, &class(&ty)), location);
                self.add_memory_facts(term, location, &ty);
                match &ty {
                    Type::Bool => Bare::Bool(store.eq(term, store.number(1, 1))),
                    _ => Bare::Bits(term),
                }
            }
        };
        Some((state, Value { u, ty: ty.widened() }))
    }

    /// The state in which a reference is a location; one in which it is null ends with a complaint.
    fn not_null(
        &self,
        state: State,
        location: Term,
        nullness: Nullness,
        span: Span,
        operator: &str,
    ) -> Option<State> {
        if nullness == Nullness::NonNull || self.options.omit_null {
            return Some(state);
        }
        let null = self.store.eq(location, self.store.number(64, 0));
        let message = format!("`{operator}` wants a location, and this reference may be null");
        match self.store.as_boolean(null) {
            Some(false) => return Some(state),
            Some(true) => self.error(state, span, message),
            None if self.proves(&state, self.store.not(null)) => return Some(state),
            None => match self.fork(&state, null, span) {
                Some((is_null, goes_on)) => {
                    self.error(is_null, span, message);
                    return Some(goes_on);
                }
                None => self.too_many_paths(state, span),
            },
        }
        None
    }

    /// Makes the locations of the given types arbitrary.
    pub(crate) fn forget(&self, state: &mut State, generation: u32, types: &FxHashSet<Type>) {
        for content in types {
            let class = class(content);
            let map = base(self.store, generation, &class);
            state.memory.set_map(class, map);
        }
    }

    /// M-Ok: what keeps the memory from being consistent, and when it does.
    pub(crate) fn memory_complaint(&self, state: &State, span: Span) -> Option<(Complaint, Vec<Formula>)> {
        let write = state.memory.inconsistent.first()?;
        Some((inconsistent(write, span), write.violated.into_iter().collect()))
    }

    /// `-` on a float flips the sign bit, as the interpreter does.
    pub(super) fn flip_sign(&self, term: Term) -> Term {
        self.store.binop(BinOp::Xor, term, self.store.number(64, 1 << 63))
    }
}

fn inconsistent(write: &Write, span: Span) -> Complaint {
    Complaint::error(
        span,
        format!(
            "memory may be inconsistent here: a location of type {} was given a value of type {}",
            write.content, write.found
        ),
    )
    .related(write.span, "written here")
}

fn depth(ty: &Type) -> usize {
    let mut ty = ty;
    let mut depth = 0;
    while let Type::Ref(_, content) = ty {
        ty = content;
        depth += 1;
    }
    depth
}
