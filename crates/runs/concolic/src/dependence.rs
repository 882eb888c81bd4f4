//! Which bytes of the input an expression speaks of.
//!
//! Found once for every expression: asking costs as much as there is new below it. Looking through a
//! formula each time would make a run cost the square of its length.

use parallax_term::{Id, Node, Store, Symbol};
use rustc_hash::FxHashMap;

/// A set of input bytes, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Set(u32);

/// No byte at all.
const NONE: Set = Set(0);
/// Not found yet.
const UNKNOWN: Set = Set(u32::MAX);

/// Half-open ranges of bytes, in order, with gaps between them.
type Ranges = Box<[(u32, u32)]>;

/// The sets of all expressions of a store.
pub struct Dependence {
    of: Vec<Set>,
    sets: Vec<Ranges>,
    numbers: FxHashMap<Ranges, Set>,
    unions: FxHashMap<(Set, Set), Set>,
    bytes: FxHashMap<Symbol, (u32, u32)>,
}

impl Dependence {
    /// `symbols` are those of the input's bytes; bytes of one symbol lie one behind the other.
    pub fn new(symbols: impl IntoIterator<Item = Symbol>) -> Self {
        let mut bytes: FxHashMap<Symbol, (u32, u32)> = FxHashMap::default();
        for (index, symbol) in (0..).zip(symbols) {
            bytes.entry(symbol).or_insert((index, index)).1 = index + 1;
        }
        let mut new = Dependence {
            of: Vec::new(),
            sets: Vec::new(),
            numbers: FxHashMap::default(),
            unions: FxHashMap::default(),
            bytes,
        };
        new.number(Box::default());
        new
    }

    /// The input bytes that a symbol is.
    pub fn range(&self, symbol: Symbol) -> Option<std::ops::Range<usize>> {
        self.bytes.get(&symbol).map(|(from, to)| *from as usize..*to as usize)
    }

    /// The bytes that an expression speaks of.
    pub fn of(&mut self, store: &Store, id: Id) -> Set {
        if self.of.len() < store.len() {
            self.of.resize(store.len(), UNKNOWN);
        }
        let mut open = vec![id];
        while let Some(&next) = open.last() {
            if self.of[next.index()] != UNKNOWN {
                open.pop();
                continue;
            }
            let mut set = match store.node(next) {
                Node::Symbol(symbol) => match self.bytes.get(&symbol) {
                    Some(&range) => self.number(Box::new([range])),
                    None => NONE,
                },
                _ => NONE,
            };
            let before = open.len();
            for operand in store.operands(next) {
                match self.of[operand.index()] {
                    UNKNOWN => open.push(operand),
                    known => set = self.union(set, known),
                }
            }
            if open.len() == before {
                self.of[next.index()] = set;
                open.pop();
            }
        }
        self.of[id.index()]
    }

    /// The bytes of a set, in order.
    pub fn bytes(&self, set: Set) -> impl Iterator<Item = usize> + '_ {
        self.sets[set.0 as usize].iter().flat_map(|&(from, to)| from as usize..to as usize)
    }

    fn number(&mut self, ranges: Ranges) -> Set {
        if let Some(&set) = self.numbers.get(&ranges) {
            return set;
        }
        let set = Set(self.sets.len() as u32);
        self.sets.push(ranges.clone());
        self.numbers.insert(ranges, set);
        set
    }

    fn union(&mut self, a: Set, b: Set) -> Set {
        if a == b || b == NONE {
            return a;
        }
        if a == NONE {
            return b;
        }
        let key = (Set(a.0.min(b.0)), Set(a.0.max(b.0)));
        if let Some(&known) = self.unions.get(&key) {
            return known;
        }
        let mut all: Vec<(u32, u32)> =
            self.sets[a.0 as usize].iter().chain(&self.sets[b.0 as usize]).copied().collect();
        all.sort_unstable();
        let mut merged: Vec<(u32, u32)> = Vec::with_capacity(all.len());
        for (from, to) in all {
            match merged.last_mut() {
                Some(last) if from <= last.1 => last.1 = last.1.max(to),
                _ => merged.push((from, to)),
            }
        }
        let set = self.number(merged.into());
        self.unions.insert(key, set);
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parallax_op::BinOp;

    #[test]
    fn sets_are_those_that_a_walk_finds() {
        let store = Store::new();
        let bytes: Vec<_> = (0..40).map(|index| store.symbol(&format!("b{index}"), 8)).collect();
        let other = store.symbol("other", 8);
        let symbol = |term: parallax_term::Term| store.symbols_in([term.id()])[0];
        let mut dependence = Dependence::new(bytes.iter().map(|term| symbol(*term)));
        let mut made = bytes.clone();
        made.push(other);
        let mut seed = 7usize;
        for _ in 0..400 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let (a, b) = (made[(seed >> 33) % made.len()], made[(seed >> 13) % made.len()]);
            made.push(store.binop([BinOp::Add, BinOp::Xor, BinOp::Mul][seed % 3], a, b));
        }
        for term in made {
            let set = dependence.of(&store, term.id());
            let mut walked: Vec<usize> = store
                .symbols_in([term.id()])
                .into_iter()
                .filter_map(|s| dependence.range(s))
                .flatten()
                .collect();
            walked.sort_unstable();
            assert_eq!(dependence.bytes(set).collect::<Vec<_>>(), walked);
        }
    }
}
