//! Symbolic memories and their type consistency: Figure 3.
//!
//! A memory is kept as one map of the logic per type of content, because locations of different types are different
//! locations; the maps are the log of allocations and writes over the arbitrary memory `mu`. Beside them stands the
//! set `U` of `|- m ok U`: the writes that do not fit the type of the location they went to.

use super::explain::STRING_WIDTH;
use crate::syntax::Sign;
use crate::ty::{KnownId, Type};
use parallax_op::Width;
use parallax_source::Span;
use parallax_term::{Formula, FuncExpr, Store, Term};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// A symbolic memory `m`.
#[derive(Clone)]
pub(crate) struct Memory {
    /// Which arbitrary memory the maps start from.
    pub(crate) mu: Rc<Mu>,
    pub(crate) maps: Rc<Vec<(Type, FuncExpr)>>,
    /// The set `U`.
    pub(crate) inconsistent: Rc<Vec<Write>>,
}

/// An arbitrary memory, or one of two.
pub(crate) enum Mu {
    /// Arbitrary, but consistently typed. Each is numbered.
    Arbitrary(u32),
    /// `g ? mu1 : mu2`
    Either(Formula, Rc<Mu>, Rc<Mu>),
}

/// A write that does not fit the type of its location.
#[derive(Clone, Debug)]
pub(crate) struct Write {
    /// The location.
    pub(crate) target: Term,
    /// What it should hold.
    pub(crate) content: Type,
    /// What was written.
    pub(crate) found: Type,
    /// When it does not fit; none where it never does.
    pub(crate) violated: Option<Formula>,
    pub(crate) span: Span,
}

/// Everything that functions are, and what is not known yet, in one class: they share a map.
const FUNCTION_CLASS: Type = Type::Known(KnownId(u32::MAX));

/// The class of a content type: locations of different classes are different. Integers of every sign are apart too,
/// because the type of a location never changes.
pub(crate) fn class(ty: &Type) -> Type {
    match ty {
        Type::Fun(..) | Type::Known(_) | Type::Var(_) | Type::Forall(..) | Type::Broken => FUNCTION_CLASS,
        Type::Ref(nullness, content) => Type::Ref(*nullness, Rc::new(class(content))),
        other => other.clone(),
    }
}

/// How many bits stand for a value of the type.
pub(crate) fn width(ty: &Type) -> Width {
    match ty {
        Type::Bool | Type::Unit => 1,
        Type::Int(_) | Type::Float | Type::Ref(..) => 64,
        Type::Str => STRING_WIDTH,
        _ => 32,
    }
}

impl Memory {
    /// The arbitrary memory `mu` of a generation.
    pub(crate) fn arbitrary(generation: u32) -> Self {
        Memory { mu: Rc::new(Mu::Arbitrary(generation)), maps: Rc::default(), inconsistent: Rc::default() }
    }

    /// The map of a class, which starts as a symbol of its own.
    pub(crate) fn map(&self, store: &Store, class: &Type) -> FuncExpr {
        match self.maps.iter().find(|(of, _)| of == class) {
            Some((_, map)) => *map,
            None => base_of(store, &self.mu, class, &mut FxHashMap::default()),
        }
    }

    pub(crate) fn set_map(&mut self, class: Type, map: FuncExpr) {
        let maps = Rc::make_mut(&mut self.maps);
        match maps.iter_mut().find(|(of, _)| *of == class) {
            Some((_, old)) => *old = map,
            None => maps.push((class, map)),
        }
    }

    /// `g ? m1 : m2`. Both must come from the same fork.
    pub(crate) fn merged(store: &Store, guard: Formula, yes: &Memory, no: &Memory) -> Memory {
        let mut merged = yes.clone();
        let classes = yes.maps.iter().chain(no.maps.iter()).map(|(class, _)| class.clone());
        for class in classes.collect::<Vec<_>>() {
            let (a, b) = (yes.map(store, &class), no.map(store, &class));
            if a != b {
                merged.set_map(class, store.ite_map(guard, a, b));
            } else {
                merged.set_map(class, a);
            }
        }
        if !Rc::ptr_eq(&yes.mu, &no.mu) {
            merged.mu = Rc::new(Mu::Either(guard, yes.mu.clone(), no.mu.clone()));
        }
        // A write that is inconsistent on either side stays so: the set only ever blocks.
        for write in no.inconsistent.iter() {
            let known = merged.inconsistent.iter().any(|w| w.target == write.target && w.span == write.span);
            if !known {
                Rc::make_mut(&mut merged.inconsistent).push(write.clone());
            }
        }
        merged
    }
}

/// Where a map starts. Shared parts are visited once.
fn base_of(store: &Store, mu: &Rc<Mu>, class: &Type, known: &mut FxHashMap<*const Mu, FuncExpr>) -> FuncExpr {
    if let Some(&map) = known.get(&Rc::as_ptr(mu)) {
        return map;
    }
    let map = stacker::maybe_grow(64 << 10, 1 << 20, || match &**mu {
        Mu::Arbitrary(generation) => base(store, *generation, class),
        Mu::Either(guard, yes, no) => {
            let yes = base_of(store, yes, class, known);
            let no = base_of(store, no, class, known);
            store.ite_map(*guard, yes, no)
        }
    });
    known.insert(Rc::as_ptr(mu), map);
    map
}

/// The symbol of the arbitrary memory of a generation, for a class of contents.
pub(crate) fn base(store: &Store, generation: u32, class: &Type) -> FuncExpr {
    store.func_symbol(&format!("mu{generation}[{class}]"), 64, width(class))
}

/// Whether what is read from an arbitrary memory of this type is bound by more than its width.
pub(crate) fn has_facts(ty: &Type) -> bool {
    matches!(ty, Type::Ref(..)) || matches!(ty, Type::Int(sign) if *sign != Sign::Unknown)
}
