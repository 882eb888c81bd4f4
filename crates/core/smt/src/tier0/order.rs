//! Vectors of which only the order matters need few bits.
//!
//! Where vectors are compared by signed order or equality, chosen between, and used in no other way, a query holds for
//! some vectors exactly if it holds for some *ranks*: the constants they meet, in order, and in each gap between two as
//! many ranks as there are unknowns, or as the gap has numbers, whichever is less. Thirty keys of a search tree between
//! two constants then take seven bits each instead of thirty-two. A rank stands for a number of its gap, so models map
//! back, order and all.
//!
//! What is learnt only grows: two vectors that once met stay together, and where more than order mattered once, all bits
//! are kept for good. So a circuit is thrown away a bounded number of times.

use parallax_op::{Bits, RelOp, Width};
use parallax_term::{Expr, Id, Node, Store, Term};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// Constants of one width beyond which ranks are not worth their trouble.
const MARKS: usize = 256;

/// Which vectors are taken by their order, and the scales of their ranks.
#[derive(Default)]
pub(crate) struct Order {
    /// Off until somebody asks for it; off for good once functions are read, whose lemmas compare what they will.
    on: bool,
    learnt: FxHashSet<Id>,
    /// Vectors that meet in a comparison or a conditional, as a forest.
    parent: FxHashMap<Id, Id>,
    /// Roots of trees in which more than order matters.
    wide: FxHashSet<Id>,
    /// Roots of trees that circuits may have been built for.
    used: FxHashSet<Id>,
    scales: BTreeMap<Width, Scale>,
    stale: bool,
}

impl Order {
    /// Takes vectors by their order from now on.
    pub fn start(&mut self) {
        self.on = true;
    }

    /// Takes note of expressions of a query, all operands of each among them or known. False if circuits that were
    /// built before no longer mean the same.
    pub fn learn(&mut self, store: &Store, members: &[Id], reads: bool) -> bool {
        if !self.on {
            return true;
        }
        if reads {
            self.on = false;
            return self.learnt.is_empty();
        }
        self.stale = false;
        let mut fresh = Vec::new();
        for &id in members {
            if self.learnt.insert(id) {
                fresh.push(id);
                self.expression(store, id);
            }
        }
        for id in fresh {
            if let Some(root) = self.root(id) {
                self.used.insert(root);
            }
        }
        for scale in self.scales.values_mut() {
            self.stale |= scale.update();
        }
        !self.stale
    }

    fn expression(&mut self, store: &Store, id: Id) {
        match store.node(id) {
            Node::Rel(RelOp::Eq | RelOp::Slt | RelOp::Sle, a, b) => self.meet(store, a, b),
            Node::Ite(_, a, b) => {
                let Expr::Term(whole) = store.expr(id) else { return };
                self.meet(store, whole, a);
                self.meet(store, whole, b);
            }
            Node::Symbol(symbol) => {
                let Expr::Term(term) = store.expr(id) else { return };
                self.tree(id);
                self.scale(store, term).unknowns += 1;
                if crate::address::extent(store, symbol).is_some() || store.width(term) > 64 {
                    self.spoil(id);
                }
            }
            Node::Const(_) | Node::Bool(_) | Node::BoolOp(..) | Node::Not(_) | Node::IteBool(..) => {}
            _ => {
                for part in store.operands(id).chain([id]) {
                    if let Expr::Term(term) = store.expr(part)
                        && store.as_constant(term).is_none()
                    {
                        self.spoil(part);
                    }
                }
            }
        }
    }

    fn scale(&mut self, store: &Store, term: Term) -> &mut Scale {
        let width = store.width(term);
        self.scales.entry(width).or_insert_with(|| Scale::new(width))
    }

    /// Two vectors are compared, or one is chosen as the other.
    fn meet(&mut self, store: &Store, a: Term, b: Term) {
        match (store.as_constant(a), store.as_constant(b)) {
            (None, None) => {
                let (a, b) = (self.tree(a.id()), self.tree(b.id()));
                if a == b {
                    return;
                }
                let wide = [a, b].map(|root| self.wide.contains(&root));
                let used = [a, b].map(|root| self.used.contains(&root));
                self.stale |= wide[0] && !wide[1] && used[1] || wide[1] && !wide[0] && used[0];
                self.parent.insert(b, a);
                if wide[1] {
                    self.wide.insert(a);
                }
                if used[1] {
                    self.used.insert(a);
                }
            }
            (Some(mark), None) => self.mark(store, b, &mark),
            (None, Some(mark)) => self.mark(store, a, &mark),
            (Some(_), Some(_)) => {}
        }
    }

    fn mark(&mut self, store: &Store, term: Term, mark: &Bits) {
        let root = self.tree(term.id());
        match (self.wide.contains(&root), number(mark)) {
            (true, _) => {}
            (false, None) => self.spoil(term.id()),
            (false, Some(mark)) => self.scale(store, term).mark(mark),
        }
    }

    /// All bits of a vector matter.
    fn spoil(&mut self, id: Id) {
        let root = self.tree(id);
        if self.wide.insert(root) {
            self.stale |= self.used.contains(&root);
        }
    }

    /// The root of the tree of a vector, which is planted if need be.
    fn tree(&mut self, id: Id) -> Id {
        let mut at = id;
        loop {
            let up = *self.parent.entry(at).or_insert(at);
            if up == at {
                break;
            }
            let further = self.parent.get(&up).copied().unwrap_or(up);
            self.parent.insert(at, further);
            at = further;
        }
        at
    }

    fn root(&self, id: Id) -> Option<Id> {
        let mut at = id;
        loop {
            let up = *self.parent.get(&at)?;
            if up == at {
                return Some(at);
            }
            at = up;
        }
    }

    /// The scale that a vector is measured by, if only its order matters. Constants have none of their own.
    pub fn ranks(&self, store: &Store, term: Term) -> Option<&Ranks> {
        if !self.on {
            return None;
        }
        let root = self.root(term.id())?;
        if self.wide.contains(&root) {
            return None;
        }
        self.scales.get(&store.width(term))?.ranks.as_ref()
    }
}

/// A constant as a signed number.
fn number(bits: &Bits) -> Option<i128> {
    let width = u32::from(bits.width());
    let shift = 128 - width;
    (width <= 64).then(|| (i128::from(bits.to_u64().unwrap_or(0)) << shift) >> shift)
}

/// The constants and unknowns of one width.
struct Scale {
    width: Width,
    marks: Vec<i128>,
    unknowns: usize,
    /// For how many unknowns there are ranks.
    room: usize,
    changed: bool,
    ranks: Option<Ranks>,
}

impl Scale {
    fn new(width: Width) -> Self {
        Scale { width, marks: Vec::new(), unknowns: 0, room: 0, changed: true, ranks: None }
    }

    fn mark(&mut self, mark: i128) {
        if self.marks.len() <= MARKS
            && let Err(at) = self.marks.binary_search(&mark)
        {
            self.marks.insert(at, mark);
            self.changed = true;
        }
    }

    /// Brings the ranks up to date; true if circuits may have been built with others.
    fn update(&mut self) -> bool {
        if self.unknowns > self.room {
            self.room = self.unknowns.next_power_of_two().max(16);
            self.changed = true;
        }
        if !std::mem::take(&mut self.changed) {
            return false;
        }
        let first = self.ranks.is_none();
        self.ranks = Ranks::new(self.width, &self.marks, self.room).filter(|_| self.marks.len() <= MARKS);
        // Whoever had no ranks was built with all bits, which agree with ranks of others no more.
        !(first && self.ranks.is_none())
    }
}

/// The ranks of one width.
pub(crate) struct Ranks {
    width: Width,
    /// How many bits a rank takes.
    pub bits: Width,
    /// The constants with their ranks, in order.
    marks: Vec<(i128, u128)>,
}

impl Ranks {
    /// Ranks for these constants and so many unknowns, if they take at most half the bits.
    fn new(width: Width, marks: &[i128], unknowns: usize) -> Option<Self> {
        if width > 64 {
            return None;
        }
        let (least, most) = (-(1i128 << (width - 1)), (1i128 << (width - 1)) - 1);
        let ends = [least - 1].into_iter().chain(marks.iter().copied()).chain([most + 1]);
        let ends: Vec<i128> = ends.collect();
        let gaps: Vec<u128> = ends.windows(2).map(|pair| (pair[1] - pair[0] - 1) as u128).collect();
        let mut room: Vec<u128> = gaps.iter().map(|&gap| gap.min(unknowns as u128)).collect();
        let total = room.iter().sum::<u128>() + marks.len() as u128;
        let bits = (total.max(2) - 1).ilog2() as Width + 1;
        if bits * 2 > width {
            return None;
        }
        // Every rank must stand for a number, so the gaps share out what the bits have room for.
        let mut surplus = (1u128 << bits) - total;
        for (room, gap) in room.iter_mut().zip(&gaps).rev() {
            let more = surplus.min(gap - *room);
            *room += more;
            surplus -= more;
        }
        let mut next = 0;
        let ranked = marks.iter().zip(&room).map(|(&mark, below)| {
            next += below + 1;
            (mark, next - 1)
        });
        Some(Ranks { width, bits, marks: ranked.collect() })
    }

    /// The rank of a constant that was learnt.
    pub fn rank(&self, constant: &Bits) -> Option<Bits> {
        let mark = number(constant)?;
        let at = self.marks.binary_search_by_key(&mark, |(mark, _)| *mark).ok()?;
        Some(Bits::new(self.bits, self.marks[at].1))
    }

    /// The number that a rank stands for.
    pub fn value(&self, rank: u128) -> Bits {
        let at = self.marks.partition_point(|(_, known)| *known <= rank);
        let number = match (at.checked_sub(1).map(|at| self.marks[at]), self.marks.first()) {
            (Some((mark, known)), _) => mark + (rank - known) as i128,
            (None, Some((mark, known))) => mark - (known - rank) as i128,
            (None, None) => rank as i128,
        };
        Bits::new(self.width, number as u128)
    }
}
