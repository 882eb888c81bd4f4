//! A region kept apart: addresses computed from one symbol, and those that are not, are taken to be different.
//!
//! A function's stack pointer is such a symbol. No pointer that the function was given points into the part of the
//! stack that it uses itself, unless something is wrong; taking that for granted is what lets `access` see past a store
//! through an argument to a saved register or a return address. It is an assumption, not a promise of the vocabulary: it
//! is made only where [`Store::keep_apart`] asks for it, keys of maps are compared under it and nothing else is, and
//! every use is noted, so that [`Store::apart_breaks`] says exactly when the assumption would be wrong.

use crate::node::{Formula, Id, Op, Packed, Term};
use crate::store::{Store, Symbol};
use parallax_op::{BinOp, Bits, RelOp};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Constant addresses this near to each other are one object in the condition that breaks the assumption.
const CLUSTER: u32 = 12;

/// How a term relates to the symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    /// The symbol plus something that does not depend on it, perhaps rounded down: an address in its region.
    Inside,
    /// Not computed from the symbol.
    Outside,
    /// Computed from it in another way.
    Unclear,
}

impl Relation {
    /// Of a value that is one of two.
    fn either(self, other: Relation) -> Relation {
        if self == other { self } else { Relation::Unclear }
    }

    /// Of a value computed from two.
    fn both(self, other: Relation) -> Relation {
        if (self, other) == (Relation::Outside, Relation::Outside) {
            Relation::Outside
        } else {
            Relation::Unclear
        }
    }
}

/// What one base was used at: the first offset, and the last.
type Offsets = (i128, i128);

/// Bases that were compared: one inside, and one outside or, of constants, a cluster.
type Pair = (Term, Result<Term, u128>);

/// A symbol whose region is kept apart.
pub(crate) struct Apart {
    symbol: Symbol,
    relations: FxHashMap<u32, Relation>,
    used: BTreeMap<Pair, (Offsets, Offsets)>,
}

impl Store {
    /// From now on, keys of maps that are computed from this symbol differ from all that are not.
    pub fn keep_apart(&self, symbol: Symbol) {
        // What was noted stays noted: terms that were built on it are there.
        if self.apart.borrow().as_ref().is_some_and(|apart| apart.symbol == symbol) {
            return;
        }
        let apart = Apart { symbol, relations: FxHashMap::default(), used: BTreeMap::new() };
        *self.apart.borrow_mut() = Some(Box::new(apart));
    }

    /// When what [`Store::keep_apart`] assumed does not hold: some address that was taken to lie outside the region lies
    /// in it. False when nothing rests on the assumption.
    pub fn apart_breaks(&self) -> Formula {
        let used: Vec<_> = match &*self.apart.borrow() {
            Some(apart) => apart.used.iter().map(|(&pair, &offsets)| (pair, offsets)).collect(),
            None => Vec::new(),
        };
        self.any(used.into_iter().map(|((inside, outside), (region, object))| {
            let width = self.width(inside);
            let number = |value: i128| Bits::new(width, value as u128);
            let first = self.add_constant(inside, &number(region.0));
            let last = match outside {
                Ok(base) => self.add_constant(base, &number(object.1)),
                Err(_) => self.constant(&number(object.1)),
            };
            // Two intervals of a ring overlap when the end of one is not far behind the start of the other.
            let room = number((region.1 - region.0) + (object.1 - object.0));
            self.relop(RelOp::Ule, self.sub(last, first), self.constant(&room))
        }))
    }

    /// Whether some region is kept apart: asked for every pair of keys, so that most need no more than this.
    #[inline]
    pub(crate) fn keeps_apart(&self) -> bool {
        self.apart.borrow().is_some()
    }

    /// Whether two keys are different because one is in the region that is kept apart and the other is not; noted. Cold, so that
    /// the comparison of keys stays small enough to be part of the loops that make it.
    #[cold]
    pub(crate) fn are_apart(&self, a: Term, b: Term) -> bool {
        let mut guard = self.apart.borrow_mut();
        let Some(apart) = guard.as_deref_mut() else { return false };
        let (inside, outside) = match (apart.relation(self, a), apart.relation(self, b)) {
            (Relation::Inside, Relation::Outside) => (a, b),
            (Relation::Outside, Relation::Inside) => (b, a),
            _ => return false,
        };
        let (other, away) = match self.base_offset(outside) {
            (Some(other), offset) => (Ok(other), signed(&offset)),
            (None, offset) => (Err(cluster(&offset)), signed(&offset)),
        };
        apart.note(self, inside, other, (away, away))
    }

    /// Whether an address is in the region that is kept apart, and so none of the constant addresses from `low` to `high`;
    /// noted.
    pub fn is_kept_apart(&self, address: Term, low: u128, high: u128) -> bool {
        let mut guard = self.apart.borrow_mut();
        let Some(apart) = guard.as_deref_mut() else { return false };
        let width = self.width(address);
        let ends = [low, high].map(|end| Bits::new(width, end));
        apart.relation(self, address) == Relation::Inside
            && apart.note(self, address, Err(cluster(&ends[0])), (signed(&ends[0]), signed(&ends[1])))
    }

    fn add_constant(&self, base: Term, offset: &Bits) -> Term {
        self.binop(BinOp::Add, base, self.constant(offset))
    }
}

impl Apart {
    /// Notes that an address in the region was taken to differ from others; false where the region's address has no base.
    fn note(&mut self, store: &Store, inside: Term, other: Result<Term, u128>, away: Offsets) -> bool {
        let (Some(base), at) = store.base_offset(inside) else { return false };
        let at = signed(&at);
        let used = self.used.entry((base, other)).or_insert(((at, at), away));
        used.0 = (used.0.0.min(at), used.0.1.max(at));
        used.1 = (used.1.0.min(away.0), used.1.1.max(away.1));
        true
    }

    /// How a term relates to the symbol. What an expression chooses by, and where memory is read, do not count: they
    /// select among values, and the values are looked at.
    fn relation(&mut self, store: &Store, term: Term) -> Relation {
        let mut stack = vec![term.0];
        while let Some(&id) = stack.last() {
            if self.relations.contains_key(&id) {
                stack.pop();
                continue;
            }
            let packed = store.packed(Id(id));
            let waiting = stack.len();
            stack.extend(values(&packed).filter(|value| !self.relations.contains_key(value)));
            if stack.len() == waiting {
                let relation = self.of(store, &packed);
                self.relations.insert(id, relation);
                stack.pop();
            }
        }
        self.relations[&term.0]
    }

    /// The relation of an expression whose values have theirs.
    fn of(&self, store: &Store, packed: &Packed) -> Relation {
        let known = |id: u32| self.relations[&id];
        match packed.op {
            Op::Symbol if packed.a == self.symbol.0 => Relation::Inside,
            Op::Bin(BinOp::Add) => match (known(packed.a), known(packed.b)) {
                (Relation::Inside, Relation::Outside) | (Relation::Outside, Relation::Inside) => {
                    Relation::Inside
                }
                (a, b) => a.both(b),
            },
            // Rounded down to a power of two, as compilers align a stack.
            Op::Bin(BinOp::And) => match store.as_constant(Term(packed.b)).map(|mask| clears_low_bits(&mask))
            {
                Some(true) => known(packed.a),
                _ => known(packed.a).both(known(packed.b)),
            },
            Op::Ite => known(packed.b).either(known(packed.c)),
            // What memory holds is read byte by byte: not an address by itself.
            _ => values(packed).map(known).fold(Relation::Outside, Relation::both),
        }
    }
}

/// The operands whose values an expression can hold.
fn values(packed: &Packed) -> impl Iterator<Item = u32> + use<> {
    let wanted: &[usize] = match packed.op {
        Op::Ite | Op::IteMap => &[1, 2],
        Op::Access => &[0],
        Op::Update => &[0, 2],
        _ => &[0, 1, 2],
    };
    packed.operands().enumerate().filter(|(index, _)| wanted.contains(index)).map(|(_, id)| id.0)
}

fn signed(offset: &Bits) -> i128 {
    offset.to_i128().unwrap_or(0)
}

/// The cluster of a constant address.
fn cluster(address: &Bits) -> u128 {
    u128::from(address.to_u64().unwrap_or(0)) >> CLUSTER
}

fn clears_low_bits(mask: &Bits) -> bool {
    let cleared = parallax_op::UnOp::Not.apply(mask).to_big();
    // One less than a power of two, and small.
    (&cleared & (&cleared + 1u32)) == 0u32.into() && cleared.bits() <= 12
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::Sort;
    use crate::store::SymbolKind;

    fn store() -> (Store, Term, Term) {
        let store = Store::new();
        let stack = store.declare("SP", Sort::Bits(64), SymbolKind::Free);
        let other = store.symbol("p", 64);
        store.keep_apart(stack);
        let stack = store.symbol("SP", 64);
        (store, other, stack)
    }

    fn offset(store: &Store, base: Term, by: i128) -> Term {
        store.binop(BinOp::Add, base, store.number(64, by as u128))
    }

    #[test]
    fn a_store_through_a_pointer_leaves_the_region_alone() {
        let (store, pointer, stack) = store();
        let memory = store.func_symbol("F_mem", 64, 8);
        let slot = offset(&store, stack, -8);
        let saved = store.update(memory, slot, store.number(8, 7));
        let after = store.update(saved, offset(&store, pointer, 3), store.number(8, 1));
        assert_eq!(store.access(after, slot), store.number(8, 7));
        let breaks = store.display(store.apart_breaks());
        assert!(breaks.contains("SP") && breaks.contains('p'), "{breaks}");
    }

    #[test]
    fn an_index_made_of_the_symbol_is_unclear() {
        let (store, pointer, stack) = store();
        let memory = store.func_symbol("F_mem", 64, 8);
        let index = store.binop(BinOp::And, stack, store.number(64, 63));
        let entry = store.binop(BinOp::Add, index, store.number(64, 0x4000));
        let after = store.update(memory, entry, store.number(8, 1));
        assert_ne!(store.access(after, pointer), store.access(memory, pointer));
        let aligned = store.binop(BinOp::And, stack, store.number(64, !15u64 as u128));
        let after = store.update(memory, aligned, store.number(8, 1));
        assert_eq!(store.access(after, pointer), store.access(memory, pointer));
    }

    #[test]
    fn an_address_that_was_stored_is_found_again() {
        let (store, pointer, stack) = store();
        let memory = store.func_symbol("F_mem", 64, 8);
        // A byte of an address in memory makes what is loaded from there unclear, unless the byte is seen.
        let byte = store.extract(stack, 0, 8);
        let after = store.update(memory, pointer, byte);
        let loaded = store.zext(store.access(after, store.symbol("q", 64)), 64);
        assert_ne!(
            store.access(store.update(memory, loaded, byte), stack),
            store.access(memory, stack),
            "what may be a part of the symbol is not apart from it"
        );
        assert_eq!(
            store.access(store.update(memory, store.zext(store.access(memory, stack), 64), byte), stack),
            store.access(memory, stack),
            "what memory held before is"
        );
    }

    #[test]
    fn nothing_is_assumed_where_nothing_was_used() {
        let (store, _, _) = store();
        assert_eq!(store.apart_breaks(), store.false_());
    }
}
