//! Type variables: what is known of each, making two types agree, and type schemes.
//!
//! Each variable has a level: how many `let`s of values were open around the place that made it. Leaving such a `let`,
//! the variables of deeper levels are those that no name outside speaks of, and they are generalised.

use crate::syntax::Sign;
use crate::ty::{Nullness, Type};
use std::rc::Rc;

/// Types larger than this are refused: walking them could take as long as the text is short.
pub const MAX_TYPE_SIZE: usize = 1000;

/// What types of unknown shape have turned out to be.
#[derive(Default)]
pub(crate) struct Table {
    variables: Vec<State>,
    level: u32,
    /// Generalise variables of names outside too: wrong, and there to show that the tests notice.
    pub(crate) forget_environment: bool,
}

#[derive(Clone)]
enum State {
    Unknown(Wanted, u32),
    Known(Type),
}

/// What operators want of a type that is not known yet.
#[derive(Clone, Copy, Default, PartialEq)]
pub(crate) struct Wanted {
    /// `int` or `float`.
    pub(crate) number: bool,
    /// A number that is computed with, so that nothing is known of its sign.
    pub(crate) computed: bool,
    /// Anything but a function.
    pub(crate) comparable: bool,
}

/// Why two types do not agree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Mismatch {
    /// They are of different kinds.
    Differ,
    /// A type would be a part of itself.
    Contains,
    /// One has more than [`MAX_TYPE_SIZE`] parts.
    TooLarge,
}

type Agree<T = ()> = Result<T, Mismatch>;

impl Table {
    pub(crate) fn fresh(&mut self) -> Type {
        self.unknown(Wanted::default())
    }

    fn unknown(&mut self, wanted: Wanted) -> Type {
        self.variables.push(State::Unknown(wanted, self.level));
        Type::Var(self.variables.len() as u32 - 1)
    }

    /// The type with its outermost variable looked up.
    pub(crate) fn head(&self, ty: &Type) -> Type {
        let mut ty = ty;
        while let Type::Var(n) = ty {
            match &self.variables[*n as usize] {
                State::Known(known) => ty = known,
                State::Unknown(..) => break,
            }
        }
        ty.clone()
    }

    /// The type with every variable looked up; `None` when it is larger than [`MAX_TYPE_SIZE`].
    pub(crate) fn resolve(&self, ty: &Type) -> Option<Type> {
        self.replaced(ty, &[])
    }

    /// The same with variables exchanged for others.
    fn replaced(&self, ty: &Type, exchange: &[(u32, Type)]) -> Option<Type> {
        let mut room = MAX_TYPE_SIZE;
        self.replaced_within(ty, exchange, &mut room)
    }

    fn replaced_within(&self, ty: &Type, exchange: &[(u32, Type)], room: &mut usize) -> Option<Type> {
        *room = room.checked_sub(1)?;
        Some(match self.head(ty) {
            Type::Ref(nullness, content) => {
                Type::Ref(nullness, Rc::new(self.replaced_within(&content, exchange, room)?))
            }
            Type::Fun(from, to) => {
                let from = self.replaced_within(&from, exchange, room)?;
                Type::function(from, self.replaced_within(&to, exchange, room)?)
            }
            Type::Forall(bound, ty) => {
                Type::Forall(bound, Rc::new(self.replaced_within(&ty, exchange, room)?))
            }
            Type::Var(n) => match exchange.iter().find(|(old, _)| *old == n) {
                Some((_, new)) => new.clone(),
                None => Type::Var(n),
            },
            other => other,
        })
    }

    /// Gives every variable in the type the default: `int`.
    pub(crate) fn settle(&mut self, ty: &Type) -> Option<Type> {
        let mut open = Vec::new();
        collect(&self.resolve(ty)?, &mut open);
        for n in open {
            self.variables[n as usize] = State::Known(Type::INT);
        }
        self.resolve(ty)
    }

    /// The `let` of a value begins.
    pub(crate) fn enter(&mut self) {
        self.level += 1;
    }

    /// It ends: the scheme of its type. The type itself where nothing can be generalised.
    pub(crate) fn leave(&mut self, ty: Type) -> Type {
        self.level -= 1;
        let Some(resolved) = self.resolve(&ty) else { return ty };
        let mut bound = Vec::new();
        collect(&resolved, &mut bound);
        bound.retain(|n| self.forget_environment || self.level_of(*n) > self.level);
        bound.sort_unstable();
        bound.dedup();
        if bound.is_empty() { resolved } else { Type::Forall(bound.into(), Rc::new(resolved)) }
    }

    /// A type of a scheme; any other type is itself.
    pub(crate) fn instance(&mut self, ty: &Type) -> Option<Type> {
        let Type::Forall(bound, ty) = ty else { return Some(ty.clone()) };
        let mut exchange = Vec::with_capacity(bound.len());
        for &n in bound.iter() {
            let wanted = match &self.variables[n as usize] {
                State::Unknown(wanted, _) => *wanted,
                State::Known(_) => Wanted::default(),
            };
            exchange.push((n, self.unknown(wanted)));
        }
        self.replaced(ty, &exchange)
    }

    fn level_of(&self, n: u32) -> u32 {
        match self.variables[n as usize] {
            State::Unknown(_, level) => level,
            State::Known(_) => 0,
        }
    }

    /// Says that a name outside speaks of the type, so that it cannot be generalised here.
    pub(crate) fn hold(&mut self, ty: &Type) {
        self.lower(ty, self.level);
    }

    fn lower(&mut self, ty: &Type, to: u32) {
        let mut inside = Vec::new();
        if let Some(resolved) = self.resolve(ty) {
            collect(&resolved, &mut inside);
        }
        for n in inside {
            if let State::Unknown(_, level) = &mut self.variables[n as usize] {
                *level = to.min(*level);
            }
        }
    }

    /// Notes what an operator wants of a type.
    pub(crate) fn want(&mut self, ty: &Type, wanted: Wanted) -> Agree {
        match self.head(ty) {
            Type::Var(n) => {
                if let State::Unknown(already, _) = &mut self.variables[n as usize] {
                    already.number |= wanted.number;
                    already.computed |= wanted.computed;
                    already.comparable |= wanted.comparable;
                }
                Ok(())
            }
            Type::Broken | Type::Int(_) | Type::Float => Ok(()),
            _ if wanted.number => Err(Mismatch::Differ),
            Type::Fun(..) | Type::Known(_) if wanted.comparable => Err(Mismatch::Differ),
            _ => Ok(()),
        }
    }

    /// Makes the two types equal, qualifiers included.
    fn unify_within(&mut self, a: &Type, b: &Type, room: &mut usize) -> Agree {
        *room = room.checked_sub(1).ok_or(Mismatch::TooLarge)?;
        match (self.head(a), self.head(b)) {
            (Type::Broken, _) | (_, Type::Broken) => Ok(()),
            (Type::Var(n), Type::Var(m)) if n == m => Ok(()),
            (Type::Var(n), other) | (other, Type::Var(n)) => self.bind(n, other),
            (Type::Ref(p, a), Type::Ref(q, b)) if p == q => self.unify_within(&a, &b, room),
            (Type::Fun(a, r), Type::Fun(b, s)) => {
                self.unify_within(&a, &b, room)?;
                self.unify_within(&r, &s, room)
            }
            (a, b) if a == b => Ok(()),
            _ => Err(Mismatch::Differ),
        }
    }

    /// Makes `found` usable where `wanted` is asked for: equal, or with qualifiers within those wanted.
    pub(crate) fn fit(&mut self, found: &Type, wanted: &Type) -> Agree {
        self.fit_within(found, wanted, &mut MAX_TYPE_SIZE.clone())
    }

    fn fit_within(&mut self, found: &Type, wanted: &Type, room: &mut usize) -> Agree {
        *room = room.checked_sub(1).ok_or(Mismatch::TooLarge)?;
        match (self.head(found), self.head(wanted)) {
            (Type::Int(a), Type::Int(b)) if a.within(b) => Ok(()),
            (Type::Int(_), Type::Var(n)) => self.bind(n, Type::INT),
            (Type::Ref(p, a), Type::Ref(q, b)) if p.within(q) => self.unify_within(&a, &b, room),
            (Type::Fun(a, r), Type::Fun(b, s)) => {
                self.fit_within(&b, &a, room)?;
                self.fit_within(&r, &s, room)
            }
            (found, wanted) => self.unify_within(&found, &wanted, room),
        }
    }

    /// The least type that both fit.
    pub(crate) fn join(&mut self, a: &Type, b: &Type) -> Agree<Type> {
        self.join_within(a, b, &mut MAX_TYPE_SIZE.clone())
    }

    fn join_within(&mut self, a: &Type, b: &Type, room: &mut usize) -> Agree<Type> {
        *room = room.checked_sub(1).ok_or(Mismatch::TooLarge)?;
        match (self.head(a), self.head(b)) {
            (Type::Int(a), Type::Int(b)) => Ok(Type::Int(a.join(b))),
            (Type::Int(_), Type::Var(n)) | (Type::Var(n), Type::Int(_)) => {
                self.bind(n, Type::Int(Sign::Unknown))?;
                Ok(Type::INT)
            }
            (Type::Ref(p, a), Type::Ref(q, b)) => {
                self.unify_within(&a, &b, room)?;
                Ok(Type::Ref(Nullness::max(p, q), a))
            }
            (Type::Fun(a, r), Type::Fun(b, s)) => {
                self.unify_within(&a, &b, room)?;
                let result = self.join_within(&r, &s, room)?;
                Ok(Type::function((*a).clone(), result))
            }
            (Type::Broken, other) | (other, Type::Broken) => Ok(other),
            (a, b) => {
                self.unify_within(&a, &b, room)?;
                Ok(a)
            }
        }
    }

    fn bind(&mut self, n: u32, ty: Type) -> Agree {
        let resolved = self.resolve(&ty).ok_or(Mismatch::TooLarge)?;
        let mut inside = Vec::new();
        collect(&resolved, &mut inside);
        if inside.contains(&n) {
            return Err(Mismatch::Contains);
        }
        if let State::Unknown(wanted, level) = self.variables[n as usize] {
            if wanted.computed && matches!(resolved, Type::Int(sign) if sign != Sign::Unknown) {
                return Err(Mismatch::Differ);
            }
            self.want(&ty, wanted)?;
            self.lower(&resolved, level);
        }
        self.variables[n as usize] = State::Known(ty);
        Ok(())
    }
}

fn collect(ty: &Type, into: &mut Vec<u32>) {
    match ty {
        Type::Var(n) => into.push(*n),
        Type::Ref(_, content) => collect(content, into),
        Type::Fun(from, to) => {
            collect(from, into);
            collect(to, into);
        }
        Type::Forall(bound, ty) => {
            let start = into.len();
            collect(ty, into);
            let mut at = 0;
            into.retain(|n| {
                at += 1;
                at <= start || !bound.contains(n)
            });
        }
        _ => {}
    }
}
