//! Pointers that walk one array: `start`, `top` and `end` of a stack, a text and where it ends.
//!
//! C lets a program subtract and order only pointers into one array. Input pointers that the explored code treats so may therefore
//! point to any element of one array, and one behind its last; that they do is what the code relies on. Where this is found out late,
//! objects were already chosen without it: the search then starts again.

use super::super::host::Explorer;
use super::{Relied, needed, pointer_name};
use parallax_cmachine::{Relation, State, Token, size_of};
use parallax_op::{BinOp, RelOp};
use parallax_sem::Symbolic;
use parallax_term::{Formula, Symbol, Term};
use rustc_hash::{FxHashMap, FxHashSet};

/// Two input pointers, by name.
type Pair = (String, String);

/// What becomes of something that is found out about pointers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Learned {
    /// It was known, or changes nothing.
    Nothing,
    /// The search starts again with it.
    New,
    /// It would change how objects are chosen, and is not used.
    TooLate,
}

/// What the explored code relates.
#[derive(Default)]
pub(in super::super) struct Walks {
    /// The second is subtracted from the first: it does not lie behind it.
    subtracted: FxHashSet<Pair>,
    /// Compared by order.
    ordered: FxHashSet<Pair>,
    /// Compared for equality.
    equated: FxHashSet<Pair>,
    /// Elements that an array at a pointer has room for, where the code needs more than the bound on arrays.
    rooms: FxHashMap<String, u64>,
    /// Whether something came to be known since the search started.
    learned: bool,
    /// Whether what comes to be known now is too late.
    closed: bool,
}

impl Walks {
    /// Notes that a program relates two pointers.
    pub(in super::super) fn note(&mut self, one: &str, other: &str, how: Relation) -> Learned {
        let related = self.together(one, other);
        let set = match how {
            Relation::Equated => &mut self.equated,
            // Two pointers that are known to walk one array stay so.
            _ if self.closed && related => return Learned::Nothing,
            _ if self.closed => return Learned::TooLate,
            Relation::Subtracted => &mut self.subtracted,
            Relation::Ordered => &mut self.ordered,
        };
        let new = set.insert((one.into(), other.into()));
        match new && self.together(one, other) {
            false => Learned::Nothing,
            // It is known from now on, but objects were chosen without it.
            true if self.closed && !related => Learned::TooLate,
            true if self.closed => Learned::Nothing,
            true => {
                self.learned = true;
                Learned::New
            }
        }
    }

    /// How many elements an array at a pointer is known to need; 0 where nothing is known.
    pub(in super::super) fn elements(&self, name: &str) -> u64 {
        self.rooms.get(name).copied().unwrap_or(0)
    }

    /// Records the least number of elements of the array at a pointer.
    pub(super) fn need(&mut self, name: &str, elements: u64) -> Learned {
        // Room that was made and is not there cannot be made this way.
        if self.closed || self.elements(name) >= elements {
            return Learned::TooLate;
        }
        self.rooms.insert(name.into(), elements);
        self.learned = true;
        Learned::New
    }

    /// Whether objects may have been chosen without what is known now.
    pub(in super::super) fn learned(&self) -> bool {
        self.learned
    }

    /// The same, once: the search starts again.
    pub(in super::super) fn take_learned(&mut self) -> bool {
        std::mem::take(&mut self.learned)
    }

    /// Nothing that changes how objects are chosen is noted any more.
    pub(in super::super) fn close(&mut self) {
        self.closed = true;
    }

    /// Whether a pointer walks an array with others, or until it meets one that does.
    pub(in super::super) fn walks(&self, name: &str) -> bool {
        let met = |(one, other): &Pair| one == name && self.leads(other) || other == name && self.leads(one);
        self.leads(name) || self.equated.iter().any(met)
    }

    fn leads(&self, name: &str) -> bool {
        self.subtracted.iter().chain(&self.ordered).any(|(one, other)| one == name || other == name)
    }

    /// Whether two pointers walk one array.
    pub(in super::super) fn together(&self, one: &str, other: &str) -> bool {
        has(&self.subtracted, one, other)
            || has(&self.ordered, one, other)
            || has(&self.equated, one, other) && (self.leads(one) || self.leads(other))
    }

    /// Whether one pointer is subtracted from another.
    pub(super) fn is_subtracted(&self, from: &str, what: &str) -> bool {
        self.subtracted.contains(&(from.into(), what.into()))
    }

    /// Whether two pointers are compared for equality.
    pub(super) fn is_equated(&self, one: &str, other: &str) -> bool {
        has(&self.equated, one, other)
    }
}

impl<'s> Explorer<'s> {
    /// Pairs of a state's pointers that walk one array.
    fn walking<'t>(
        &self,
        state: &'t State<Symbolic<'s>>,
    ) -> Vec<(&'t Token<Symbolic<'s>>, &'t Token<Symbolic<'s>>)> {
        let mut pairs = Vec::new();
        let walking = state.tokens.iter().filter(|token| self.walks.walks(&token.name));
        let walking: Vec<_> = walking.collect();
        for (number, &one) in walking.iter().enumerate() {
            let others = walking[number + 1..].iter();
            pairs.extend(others.filter(|o| self.walks.together(&one.name, &o.name)).map(|&o| (one, o)));
        }
        pairs
    }

    /// What holds of pointers that walk one array: that they do; that what is subtracted is not larger, and smaller where the code
    /// never asks; and perhaps that a pointer which goes on until it meets another has not passed it.
    fn walk_contracts(&self, state: &State<Symbolic<'s>>) -> [Vec<Relied>; 2] {
        let (mut contracts, mut meeting) = (Vec::new(), Vec::new());
        for (one, other) in self.walking(state) {
            let name = |token| pointer_name(self.module(), state, token);
            contracts.push(Relied::OneArray(name(one), name(other)));
            for (a, b) in [(one, other), (other, one)] {
                let subtracted = self.walks.is_subtracted(&a.name, &b.name);
                let equated = self.walks.is_equated(&a.name, &b.name);
                let behind = Relied::Behind(name(a), name(b));
                match (subtracted, equated) {
                    (true, true) => contracts.push(behind),
                    (true, false) => contracts.extend([behind, Relied::Between(name(a), name(b))]),
                    // Their order is known where the other is subtracted from it.
                    (false, true) if !self.walks.is_subtracted(&b.name, &a.name) => meeting.push(behind),
                    (false, _) => {}
                }
            }
        }
        [contracts, meeting]
    }

    /// What a mistake relies on of these.
    pub(super) fn relies_on_walks(&self, state: &State<Symbolic<'s>>, guard: Formula) -> Vec<Relied> {
        let [mut contracts, meeting] = self.walk_contracts(state);
        if contracts.is_empty() {
            return Vec::new();
        }
        // Of several that would do, those that speak of the mistake.
        let symbols: FxHashSet<Symbol> = self.store.symbols_in([guard.id()]).into_iter().collect();
        contracts.sort_by_key(|contract| !self.mentions(self.condition(state, contract), &symbols));
        for order in std::iter::once(None).chain(meeting.into_iter().map(Some)) {
            let is_guess = order.is_some();
            let all: Vec<Relied> = contracts.iter().cloned().chain(order).collect();
            // An order that is only guessed must leave the path as it is: nothing else goes wrong there.
            if self.excluded_by(state, guard, &all)
                && !(is_guess && self.excluded_by(state, self.store.true_(), &all))
            {
                return needed(all, |contracts| self.excluded_by(state, guard, contracts));
            }
        }
        Vec::new()
    }

    /// Whether a contract says that two places are different, and the code compares them.
    pub(super) fn asks_whether(&self, contract: &Relied) -> bool {
        let Relied::Between(one, other) = contract else { return false };
        // What a contract speaks of has been named.
        let names = self.names.borrow();
        let is = |token: &String, name: &String| names.get(token) == Some(name);
        self.walks.equated.iter().any(|(a, b)| is(a, one) && is(b, other) || is(a, other) && is(b, one))
    }

    fn excluded_by(&self, state: &State<Symbolic<'s>>, guard: Formula, contracts: &[Relied]) -> bool {
        self.excludes(state, guard, self.conditions(state, contracts))
    }

    /// Whether an access at a pointer goes no more than one element beyond another that walks with it, wherever they are in one object:
    /// behind it, or before it where it lies before the object.
    pub(super) fn bounded_by_walk(
        &self,
        state: &State<Symbolic<'s>>,
        guard: Formula,
        token: &Token<Symbolic<'s>>,
        [offset, len]: [Term; 2],
    ) -> bool {
        let store = self.store;
        let others = state.tokens.iter().filter(|other| self.walks.together(&token.name, &other.name));
        let others: Vec<_> = others.collect();
        if others.is_empty() {
            return false;
        }
        let [contracts, _] = self.walk_contracts(state);
        let guard = store.and(guard, self.conditions(state, &contracts));
        let element = store.number(64, size_of(self.module(), token.pointee).max(1).into());
        let end = store.binop(BinOp::Add, offset, len);
        let is_before = self.excludes(state, guard, store.relop(RelOp::Sle, store.number(64, 0), offset));
        others.into_iter().any(|other| {
            let further = self.at_one_target(token, other, |_, place| match is_before {
                true => store.relop(RelOp::Slt, offset, store.binop(BinOp::Sub, place, element)),
                false => store.relop(RelOp::Slt, store.binop(BinOp::Add, place, element), end),
            });
            let same = self.together(token, other);
            let possible = matches!(state.path.sat_all(&self.oracle, &[guard, same]), Ok(Some(_)));
            possible && self.excludes(state, guard, further)
        })
    }
}

fn has(set: &FxHashSet<Pair>, one: &str, other: &str) -> bool {
    // Sets are small: a handful of pointers of one structure.
    set.iter().any(|(a, b)| (a == one && b == other) || (a == other && b == one))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_learned_is_used_or_said_to_be_late() {
        let mut walks = Walks::default();
        assert_eq!(walks.note("p", "e", Relation::Equated), Learned::Nothing);
        assert_eq!(walks.note("e", "p", Relation::Subtracted), Learned::New);
        assert_eq!(walks.note("e", "p", Relation::Subtracted), Learned::Nothing);
        assert_eq!((walks.need("p", 8), walks.elements("p"), walks.elements("q")), (Learned::New, 8, 0));
        walks.close();
        // These two are known to walk one array: how is no news.
        assert_eq!(walks.note("e", "p", Relation::Ordered), Learned::Nothing);
        assert_eq!(walks.note("q", "r", Relation::Ordered), Learned::TooLate);
        assert_eq!(walks.note("q", "r", Relation::Equated), Learned::Nothing);
        // With one that leads through an array, equality matters.
        assert_eq!(walks.note("s", "p", Relation::Equated), Learned::TooLate);
        assert_eq!(walks.need("r", 8), Learned::TooLate);
    }
}
