//! Contracts as conditions on the input of a path.

use super::super::host::Explorer;
use super::{MOST_LENGTH, Relied, can_be_freed, nulls, pointer_name};
use parallax_cmachine::{State, Target, Token, size_of};
use parallax_op::{BinOp, RelOp};
use parallax_sem::Symbolic;
use parallax_term::{Formula, Term};

type Pointer<'s> = Token<Symbolic<'s>>;

impl<'s> Explorer<'s> {
    /// When a contract holds of what a path knows of its input; always, where it says nothing of that.
    pub(super) fn condition(&self, state: &State<Symbolic<'s>>, contract: &Relied) -> Formula {
        let (store, module) = (self.store, self.module());
        let named = |name: &str| {
            let name = name.to_string();
            state.tokens.iter().filter(move |token| self.is_named(state, token, &name))
        };
        let all =
            |conditions: Vec<Formula>| conditions.into_iter().fold(store.true_(), |a, b| store.and(a, b));
        let pairs = |one: &str, other: &str, holds: &dyn Fn(&Pointer<'s>, &Pointer<'s>) -> Formula| {
            all(named(one).flat_map(|a| named(other).map(move |b| holds(a, b))).collect())
        };
        let number = |value: u64| store.number(64, value.into());
        match contract {
            Relied::Room { pointer, length, elements } => all(named(pointer)
                .flat_map(|token| {
                    let scale = if *elements { size_of(module, token.pointee) } else { 1 };
                    let lengths = self.lengths(state, token);
                    let lengths = lengths.into_iter().filter(|known| known.name == *length);
                    lengths.map(move |length| {
                        let there = self.each_object(state, token, |room| self.there(&length, scale, room));
                        // At null there is nothing.
                        let nothing = self.there(&length, scale, number(0));
                        let null = nulls(token).fold(store.false_(), |any, null| store.or(any, null));
                        store.and(there, store.implies(null, nothing))
                    })
                })
                .collect()),
            Relied::AtLeast { pointer, bytes } => {
                let enough = |room| store.relop(RelOp::Ule, number(*bytes), room);
                all(named(pointer).map(|token| self.each_object(state, token, enough)).collect())
            }
            Relied::Apart(one, other) => pairs(one, other, &|a, b| store.not(self.together(a, b))),
            Relied::OneArray(one, other) => pairs(one, other, &|a, b| {
                let both = store.and(a.done, b.done);
                store.implies(both, self.at_one_target(a, b, |_, _| store.true_()))
            }),
            Relied::Behind(one, other) => pairs(one, other, &|a, b| {
                let before = self.at_one_target(a, b, |a, b| store.relop(RelOp::Slt, a, b));
                store.not(before)
            }),
            Relied::Between(one, other) => {
                pairs(one, other, &|a, b| store.not(self.at_one_target(a, b, |a, b| store.eq(a, b))))
            }
            Relied::Freed(pointer) => {
                all(named(pointer).map(|token| can_be_freed(store, state, token)).collect())
            }
            Relied::Counts(length) => {
                let known = self.all_lengths(state, |_| true).into_iter();
                let numbers = known.filter(|known| known.name == *length && known.bits == 64);
                all(numbers.map(|known| store.relop(RelOp::Ule, known.term, number(MOST_LENGTH))).collect())
            }
            // The code decides what is enough, and whether null is possible is never settled before the end.
            Relied::Enough(_) | Relied::Ends(_) | Relied::NotNull(_) | Relied::Asserted(_) => store.true_(),
        }
    }

    /// When all of some contracts hold.
    pub(super) fn conditions(&self, state: &State<Symbolic<'s>>, contracts: &[Relied]) -> Formula {
        let conditions = contracts.iter().map(|contract| self.condition(state, contract));
        conditions.fold(self.store.true_(), |all, one| self.store.and(all, one))
    }

    /// Whether a pointer is what a contract calls so. Following pointers back to where they stand takes long where there are many.
    fn is_named(&self, state: &State<Symbolic<'s>>, token: &Pointer<'s>, name: &str) -> bool {
        let mut names = self.names.borrow_mut();
        if !names.contains_key(&token.name) {
            names.insert(token.name.clone(), pointer_name(self.module(), state, token));
        }
        names[&token.name] == name
    }

    /// A condition on how many bytes are at a pointer, for each object that it may point to.
    fn each_object(
        &self,
        state: &State<Symbolic<'s>>,
        token: &Pointer<'s>,
        holds: impl Fn(Term) -> Formula,
    ) -> Formula {
        let store = self.store;
        token.entries.iter().fold(store.true_(), |all, entry| {
            let Target::Object(object) = entry.target else { return all };
            let room = store.binop(BinOp::Sub, state.memory.object(object).size, entry.offset);
            store.and(all, store.implies(entry.guard, holds(room)))
        })
    }

    /// When two pointers have one target, with places in it that something holds of.
    pub(super) fn at_one_target(
        &self,
        one: &Pointer<'s>,
        other: &Pointer<'s>,
        holds: impl Fn(Term, Term) -> Formula,
    ) -> Formula {
        self.at_target(one, other, |_| true, holds)
    }

    /// When two pointers point into one object.
    pub(super) fn together(&self, one: &Pointer<'s>, other: &Pointer<'s>) -> Formula {
        self.at_target(one, other, |target| matches!(target, Target::Object(_)), |_, _| self.store.true_())
    }

    fn at_target(
        &self,
        one: &Pointer<'s>,
        other: &Pointer<'s>,
        wanted: impl Fn(Target) -> bool,
        holds: impl Fn(Term, Term) -> Formula,
    ) -> Formula {
        let store = self.store;
        let mut any = store.false_();
        for a in one.entries.iter().filter(|entry| wanted(entry.target)) {
            for b in other.entries.iter().filter(|entry| entry.target == a.target) {
                let both = store.and(a.guard, b.guard);
                any = store.or(any, store.and(both, holds(a.offset, b.offset)));
            }
        }
        any
    }
}
