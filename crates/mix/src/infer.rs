//! Type variables: what is known of each, and making two types agree.

use crate::syntax::Sign;
use crate::ty::Type;

/// Types larger than this are refused: walking them could take as long as the text is short.
pub const MAX_TYPE_SIZE: usize = 1000;

/// What types of unknown shape have turned out to be.
#[derive(Default)]
pub(crate) struct Table {
    variables: Vec<State>,
}

#[derive(Clone)]
enum State {
    Unknown(Wanted),
    Known(Type),
}

/// What operators want of a type that is not known yet.
#[derive(Clone, Copy, Default, PartialEq)]
pub(crate) struct Wanted {
    /// `int` or `float`.
    pub(crate) number: bool,
    /// Anything but a function.
    pub(crate) comparable: bool,
}

/// Two types do not agree.
#[derive(Debug)]
pub(crate) struct Mismatch;

impl Table {
    pub(crate) fn fresh(&mut self) -> Type {
        self.variables.push(State::Unknown(Wanted::default()));
        Type::Var(self.variables.len() as u32 - 1)
    }

    /// The type with its outermost variable looked up.
    pub(crate) fn head(&self, ty: &Type) -> Type {
        let mut ty = ty;
        while let Type::Var(n) = ty {
            match &self.variables[*n as usize] {
                State::Known(known) => ty = known,
                State::Unknown(_) => break,
            }
        }
        ty.clone()
    }

    /// The type with every variable looked up; `None` when it is larger than [`MAX_TYPE_SIZE`].
    pub(crate) fn resolve(&self, ty: &Type) -> Option<Type> {
        let mut room = MAX_TYPE_SIZE;
        self.resolve_within(ty, &mut room)
    }

    fn resolve_within(&self, ty: &Type, room: &mut usize) -> Option<Type> {
        *room = room.checked_sub(1)?;
        Some(match self.head(ty) {
            Type::Ref(content) => Type::reference(self.resolve_within(&content, room)?),
            Type::Fun(from, to) => {
                Type::function(self.resolve_within(&from, room)?, self.resolve_within(&to, room)?)
            }
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

    /// Notes what an operator wants of a type.
    pub(crate) fn want(&mut self, ty: &Type, wanted: Wanted) -> Result<(), Mismatch> {
        match self.head(ty) {
            Type::Var(n) => {
                if let State::Unknown(already) = &mut self.variables[n as usize] {
                    already.number |= wanted.number;
                    already.comparable |= wanted.comparable;
                }
                Ok(())
            }
            Type::Broken => Ok(()),
            Type::Int(_) | Type::Float => Ok(()),
            _ if wanted.number => Err(Mismatch),
            Type::Fun(..) | Type::Known(_) => Err(Mismatch),
            _ => Ok(()),
        }
    }

    /// Makes the two types equal, signs included.
    pub(crate) fn unify(&mut self, a: &Type, b: &Type) -> Result<(), Mismatch> {
        match (self.head(a), self.head(b)) {
            (Type::Broken, _) | (_, Type::Broken) => Ok(()),
            (Type::Var(n), Type::Var(m)) if n == m => Ok(()),
            (Type::Var(n), other) | (other, Type::Var(n)) => self.bind(n, other),
            (Type::Ref(a), Type::Ref(b)) => self.unify(&a, &b),
            (Type::Fun(a, r), Type::Fun(b, s)) => {
                self.unify(&a, &b)?;
                self.unify(&r, &s)
            }
            (a, b) if a == b => Ok(()),
            _ => Err(Mismatch),
        }
    }

    /// Makes `found` usable where `wanted` is asked for: equal, or of a sign within it.
    pub(crate) fn fit(&mut self, found: &Type, wanted: &Type) -> Result<(), Mismatch> {
        match (self.head(found), self.head(wanted)) {
            (Type::Int(a), Type::Int(b)) if a.within(b) => Ok(()),
            (Type::Int(_), Type::Var(n)) => self.bind(n, Type::INT),
            (Type::Fun(a, r), Type::Fun(b, s)) => {
                self.fit(&b, &a)?;
                self.fit(&r, &s)
            }
            (found, wanted) => self.unify(&found, &wanted),
        }
    }

    /// The least type that both fit.
    pub(crate) fn join(&mut self, a: &Type, b: &Type) -> Result<Type, Mismatch> {
        match (self.head(a), self.head(b)) {
            (Type::Int(a), Type::Int(b)) => Ok(Type::Int(a.join(b))),
            (Type::Int(_), Type::Var(n)) | (Type::Var(n), Type::Int(_)) => {
                self.bind(n, Type::Int(Sign::Unknown))?;
                Ok(Type::INT)
            }
            (Type::Fun(a, r), Type::Fun(b, s)) => {
                self.unify(&a, &b)?;
                let result = self.join(&r, &s)?;
                Ok(Type::function((*a).clone(), result))
            }
            (Type::Broken, other) | (other, Type::Broken) => Ok(other),
            (a, b) => {
                self.unify(&a, &b)?;
                Ok(a)
            }
        }
    }

    fn bind(&mut self, n: u32, ty: Type) -> Result<(), Mismatch> {
        let resolved = self.resolve(&ty).ok_or(Mismatch)?;
        let mut inside = Vec::new();
        collect(&resolved, &mut inside);
        if inside.contains(&n) {
            return Err(Mismatch);
        }
        if let State::Unknown(wanted) = self.variables[n as usize] {
            self.want(&ty, wanted)?;
        }
        self.variables[n as usize] = State::Known(ty);
        Ok(())
    }
}

fn collect(ty: &Type, into: &mut Vec<u32>) {
    match ty {
        Type::Var(n) => into.push(*n),
        Type::Ref(content) => collect(content, into),
        Type::Fun(from, to) => {
            collect(from, into);
            collect(to, into);
        }
        _ => {}
    }
}
