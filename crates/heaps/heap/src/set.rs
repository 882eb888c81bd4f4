//! Guarded sets: what a reference may be, each alternative under its guard.
//!
//! Javalite's references and C's pointers are instances. They differ in what there is to point to, and in whether an
//! alternative also says how far into it. Guards of one set exclude each other, and there is one alternative per target.

use parallax_op::BoolOp;
use parallax_sem::Core;
use smallvec::SmallVec;

/// One alternative, `g : l`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<B, T, O = ()> {
    /// When it is this one.
    pub guard: B,
    /// What it points to.
    pub target: T,
    /// How far into it, where targets have an inside.
    pub offset: O,
}

impl<B, T> Entry<B, T> {
    /// An alternative whose target has no inside.
    pub fn new(guard: B, target: T) -> Self {
        Entry { guard, target, offset: () }
    }
}

/// The alternatives of one set; most have one.
pub type Entries<B, T, O = ()> = SmallVec<[Entry<B, T, O>; 1]>;

/// Guarded sets over a reading, and the operations on them.
pub trait GuardedSets<C: Core> {
    /// How far into a target an alternative points; nothing where targets have no inside.
    type Offset: Clone;

    /// The reading.
    fn core(&self) -> &C;

    /// What a guard is for certain, if anything.
    fn known(&self, guard: &C::Bool) -> Option<bool>;

    /// The first offset where the guard holds, else the second.
    fn choose(&self, guard: &C::Bool, a: &Self::Offset, b: &Self::Offset) -> Self::Offset;

    /// `⊔`: alternatives with one target become one, by disjunction; those that plainly cannot be are left out.
    fn join<T: PartialEq>(
        &self,
        alternatives: impl IntoIterator<Item = Entry<C::Bool, T, Self::Offset>>,
    ) -> Entries<C::Bool, T, Self::Offset> {
        let mut joined = Entries::<C::Bool, T, Self::Offset>::new();
        for entry in alternatives {
            if self.known(&entry.guard) == Some(false) {
                continue;
            }
            match joined.iter_mut().find(|same| same.target == entry.target) {
                Some(same) => {
                    same.offset = self.choose(&entry.guard, &entry.offset, &same.offset);
                    same.guard = self.core().boolop(BoolOp::Or, &entry.guard, &same.guard);
                }
                None => joined.push(entry),
            }
        }
        joined
    }

    /// The first set where `guard` holds, else the second.
    fn either<T: PartialEq + Clone>(
        &self,
        guard: &C::Bool,
        a: &[Entry<C::Bool, T, Self::Offset>],
        b: &[Entry<C::Bool, T, Self::Offset>],
    ) -> Entries<C::Bool, T, Self::Offset> {
        let core = self.core();
        let never = core.boolean(false);
        let mut both = Entries::new();
        for x in a {
            let (other, offset) = match b.iter().find(|y| y.target == x.target) {
                Some(y) => (&y.guard, self.choose(guard, &x.offset, &y.offset)),
                None => (&never, x.offset.clone()),
            };
            both.push(Entry { guard: core.cond_bool(guard, &x.guard, other), offset, ..x.clone() });
        }
        for y in b.iter().filter(|y| a.iter().all(|x| x.target != y.target)) {
            both.push(Entry { guard: core.cond_bool(guard, &never, &y.guard), ..y.clone() });
        }
        both.retain(|entry| self.known(&entry.guard) != Some(false));
        both
    }

    /// Where a set is one of these targets; so, when an object exists because it was chosen.
    fn exists<T>(&self, set: &[Entry<C::Bool, T, Self::Offset>], is: impl Fn(&T) -> bool) -> C::Bool {
        let those = set.iter().filter(|entry| is(&entry.target));
        those.fold(self.core().boolean(false), |any, one| self.core().boolop(BoolOp::Or, &any, &one.guard))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parallax_op::{BinOp, Bits};
    use parallax_sem::Concrete;

    struct Places;

    impl GuardedSets<Concrete> for Places {
        type Offset = Bits;
        fn core(&self) -> &Concrete {
            &Concrete
        }
        fn known(&self, guard: &bool) -> Option<bool> {
            Some(*guard)
        }
        fn choose(&self, guard: &bool, a: &Bits, b: &Bits) -> Bits {
            if *guard { a.clone() } else { b.clone() }
        }
    }

    fn set(entries: &[(bool, char, u128)]) -> Entries<bool, char, Bits> {
        Places.join(entries.iter().map(|&(guard, target, n)| Entry {
            guard,
            target,
            offset: Bits::new(64, n),
        }))
    }

    #[test]
    fn over_concrete_values_a_set_is_one_place() {
        let mut place = set(&[(false, 'a', 1), (true, 'b', 2), (false, 'b', 3)]);
        assert_eq!(place, set(&[(true, 'b', 2)]));
        let other = set(&[(true, 'c', 4)]);
        assert_eq!(Places.either(&true, &place, &other), place);
        assert_eq!(Places.either(&false, &place, &other), other);
        assert!(Places.exists(&place, |target| *target == 'b'));
        assert!(!Places.exists(&place, |target| *target == 'c'));
        for entry in &mut place {
            entry.offset = BinOp::Add.apply(&entry.offset, &Bits::new(64, 5));
        }
        assert_eq!(place, set(&[(true, 'b', 7)]));
    }
}
