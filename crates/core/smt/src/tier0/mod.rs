//! Tier 0: our own bit-blaster over a SAT solver, for small queries.
//!
//! Every expression becomes a circuit once; a query assumes the outputs of its formulas. Nothing is asserted for good
//! but definitions and lemmas, so queries come and go freely. When much of the circuit has nothing to do with the query at
//! hand, it is thrown away and built anew: a search guesses at every gate, also at those of a product that nobody asks
//! for. (Guessing at unknowns alone would make such circuits harmless, and was several times slower on the rest.)

mod circuit;
mod gates;
mod order;
mod transcript;
mod watch;

pub use transcript::{Step, Transcript};

use crate::refine::{self, Cone, Engine, Lemma};
use crate::{Answer, Limits, Model, Reason, Solver};
use batsat::Lit;
use circuit::{Built, Circuit, Vector};
use gates::Gates;
use order::{Order, Ranks};
use parallax_op::{Bits, RelOp};
use parallax_term::{Expr, Formula, Id, Node, Store, Symbol, Term};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;
use watch::Watch;

/// Variables beyond those of the query that are not worth throwing a circuit away for.
const KEEP: usize = 500;

/// The bit-blaster. Floats are beyond it.
pub struct Tier0<'s> {
    store: &'s Store,
    limits: Limits,
    blaster: Blaster<'s>,
    cone: Cone,
    core: Vec<Formula>,
    /// Where searches begin.
    near: Option<Model>,
}

impl<'s> Tier0<'s> {
    /// A solver with default limits.
    pub fn new(store: &'s Store) -> Self {
        let (blaster, cone) = (Blaster::new(store, None), Cone::default());
        Tier0 { store, limits: Limits::default(), blaster, cone, core: Vec::new(), near: None }
    }

    /// Takes vectors of which only the order matters by their ranks. That pays where many keys are compared and little
    /// is computed; each new constant or use of a key costs what was built.
    pub fn by_order(mut self) -> Self {
        self.blaster.order.start();
        self
    }

    /// Writes down what the SAT solver is told and asked.
    pub fn transcribed(mut self, transcript: &Transcript) -> Self {
        let order = std::mem::take(&mut self.blaster.order);
        self.blaster = Blaster { order, ..Blaster::new(self.store, Some(transcript.clone())) };
        self
    }

    /// Whether every vector of the last query was taken by its rank, and there was one.
    pub(crate) fn takes_ranks_alone(&self) -> bool {
        let terms = self.cone.members.iter().filter_map(|&id| match self.store.expr(id) {
            Expr::Term(term) => Some(term).filter(|term| self.store.as_constant(*term).is_none()),
            _ => None,
        });
        let mut ranked = terms.map(|term| self.blaster.order.ranks(self.store, term).is_some()).peekable();
        ranked.peek().is_some() && ranked.all(|ranked| ranked)
    }

    fn run(&mut self, query: &[Formula]) -> Result<Answer, Reason> {
        let kept = self.cone.aim(self.store, query);
        // Also where it goes no further: what the next query shares with this one is not looked at again.
        let stands =
            self.blaster.order.learn(self.store, &self.cone.members[kept..], !self.cone.reads.is_empty());
        if !stands {
            self.blaster.clear();
        }
        if self.cone.floats {
            return Err(Reason::Unsupported("floats"));
        }
        self.blaster.make_room(&self.cone);
        self.blaster.start(&self.limits);
        for &formula in query {
            let lit = self.blaster.formula(formula)?;
            self.blaster.assumed.push((lit, formula));
        }
        if let Some(near) = &self.near {
            self.blaster.turn_to(near, &self.cone.symbols);
        }
        match refine::solve(self.store, &mut self.blaster, query, &mut self.cone)? {
            Some(model) => Ok(Answer::Sat(model)),
            None => {
                self.core = self.blaster.core();
                Ok(Answer::Unsat)
            }
        }
    }
}

impl<'s> Solver<'s> for Tier0<'s> {
    fn store(&self) -> &'s Store {
        self.store
    }

    fn check(&mut self, query: &[Formula]) -> Answer {
        self.core.clear();
        let answer = self.run(query).unwrap_or_else(Answer::Unknown);
        if !self.blaster.gates.is_consistent() || self.blaster.gates.size() > self.limits.size {
            // The promises of address symbols cannot all be kept, or a query was too large: start afresh.
            self.blaster.clear();
        }
        answer
    }

    fn unsat_core(&self) -> &[Formula] {
        &self.core
    }

    fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    fn limits(&self) -> Limits {
        self.limits
    }

    fn begin_at(&mut self, near: &Model) {
        self.near = Some(near.clone());
    }
}

/// Circuits of expressions.
struct Blaster<'s> {
    store: &'s Store,
    gates: Gates,
    limits: Limits,
    /// Where the bits of an expression are, and how many variables they took.
    built: FxHashMap<Id, (Range<usize>, usize)>,
    bits: Vec<Lit>,
    /// Function expressions whose keys and conditions are built.
    opened: FxHashSet<Id>,
    assumed: Vec<(Lit, Formula)>,
    /// How many variables lemmas took.
    lemma_size: usize,
    /// The first address that no address symbol is steered to yet.
    next_address: u64,
    /// A size up to which, for queries of at least so many expressions, the circuit is about what is asked.
    fitting: (usize, usize),
    order: Order,
}

impl<'s> Blaster<'s> {
    fn new(store: &'s Store, transcript: Option<Transcript>) -> Self {
        Blaster {
            store,
            gates: Gates::new(Watch::default(), transcript),
            limits: Limits::default(),
            built: FxHashMap::default(),
            bits: Vec::new(),
            opened: FxHashSet::default(),
            assumed: Vec::new(),
            lemma_size: 0,
            next_address: 0x1000,
            fitting: (KEEP, 0),
            order: Order::default(),
        }
    }

    /// Throws the circuit away.
    fn clear(&mut self) {
        let order = std::mem::take(&mut self.order);
        *self = Blaster { order, ..Blaster::new(self.store, self.gates.transcript()) };
    }

    /// Starts afresh when the circuit is mostly about other things than `cone`.
    fn make_room(&mut self, cone: &Cone) {
        let size = self.gates.size();
        let (fitting, members) = self.fitting;
        if size <= fitting && cone.members.len() >= members {
            return;
        }
        let asked: usize = cone.members.iter().filter_map(|id| self.built.get(id)).map(|(_, n)| n).sum();
        // Lemmas were dear to find; which of them the query needs is not known yet.
        let needed = asked + self.lemma_size;
        if size > needed + needed / 2 + KEEP {
            self.clear();
        } else {
            let members = cone.members.len();
            self.fitting = (size + size / 8 + KEEP, members - members / 8);
        }
    }

    fn start(&mut self, limits: &Limits) {
        self.limits = *limits;
        self.gates.watch().start(limits);
        self.assumed.clear();
    }

    /// Lets the next search begin where the unknowns are as in `near`: solvers try the value first that a variable had last,
    /// and once the unknowns are given, gates follow without a search.
    fn turn_to(&mut self, near: &Model, symbols: &[Symbol]) {
        let mut given = Vec::new();
        for &symbol in symbols {
            let (Some(value), Expr::Term(term)) = (near.bits(symbol), self.store.expr_of(symbol)) else {
                continue;
            };
            let Some((range, _)) = self.built.get(&term.id()) else { continue };
            let bits = &self.bits[range.clone()];
            let lits =
                bits.iter().enumerate().map(|(index, &lit)| if value.bit(index as u16) { lit } else { !lit });
            given.extend(lits);
        }
        self.gates.solve(&given);
    }

    /// The formulas that failed together.
    fn core(&self) -> Vec<Formula> {
        let falsum = self.gates.constant(false);
        if let Some(&(_, formula)) = self.assumed.iter().find(|(lit, _)| *lit == falsum) {
            return vec![formula];
        }
        self.assumed.iter().filter(|(lit, _)| self.gates.failed(*lit)).map(|(_, formula)| *formula).collect()
    }

    fn formula(&mut self, formula: Formula) -> Built<Lit> {
        match self.build(formula.id()) {
            Ok(()) => Ok(self.lit(formula)),
            Err(reason) => {
                // Some keys below the open function expressions may be missing.
                self.opened.clear();
                Err(reason)
            }
        }
    }

    fn lit(&self, formula: Formula) -> Lit {
        self.bits[self.built[&formula.id()].0.start]
    }

    /// Builds everything below `root` that is not there yet, operands first.
    fn build(&mut self, root: Id) -> Built<()> {
        let mut stack = vec![(root, false)];
        while let Some((id, ready)) = stack.pop() {
            if self.built.contains_key(&id) {
                continue;
            }
            if !ready {
                stack.push((id, true));
                match self.store.node(id) {
                    // A read is an unknown; lemmas say what it is about.
                    Node::Access(map, key) => {
                        stack.push((key.id(), false));
                        self.open(map.id(), &mut stack);
                    }
                    _ => stack.extend(self.store.operands(id).map(|operand| (operand, false))),
                }
                continue;
            }
            let before = self.gates.size();
            let vector = self.expression(id)?;
            let start = self.bits.len();
            self.bits.extend(vector);
            self.built.insert(id, (start..self.bits.len(), self.gates.size() - before));
        }
        Ok(())
    }

    /// Asks for the keys and conditions on the ways down a function expression; it has no bits itself.
    fn open(&mut self, map: Id, stack: &mut Vec<(Id, bool)>) {
        let mut maps = vec![map];
        while let Some(map) = maps.pop() {
            if !self.opened.insert(map) {
                continue;
            }
            match self.store.node(map) {
                Node::Update(below, key, _) => {
                    stack.push((key.id(), false));
                    maps.push(below.id());
                }
                Node::IteMap(condition, then, otherwise) => {
                    stack.push((condition.id(), false));
                    maps.extend([then.id(), otherwise.id()]);
                }
                _ => {}
            }
        }
    }

    /// The ranks by which an unknown, a choice or a comparison is taken.
    fn ranks(&self, id: Id) -> Option<&Ranks> {
        let of = |term: Term| self.order.ranks(self.store, term);
        match (self.store.node(id), self.store.expr(id)) {
            (Node::Symbol(_) | Node::Ite(..), Expr::Term(term)) => of(term),
            (Node::Rel(_, a, b), _) => of(a).or_else(|| of(b)),
            _ => None,
        }
    }

    fn expression(&mut self, id: Id) -> Built<Vector> {
        let store = self.store;
        let width = match store.expr(id) {
            Expr::Term(term) => usize::from(store.width(term)),
            _ => 1,
        };
        let node = store.node(id);
        let ranks = self.ranks(id);
        let rank = |term: Term| ranks.and_then(|ranks| ranks.rank(&store.as_constant(term)?));
        let operand = |term: Term| match rank(term) {
            Some(rank) => (0..rank.width()).map(|index| self.gates.constant(rank.bit(index))).collect(),
            None => self.bits[self.built[&term.id()].0.clone()].to_vec(),
        };
        let width = ranks.map_or(width, |ranks| usize::from(ranks.bits));
        let ranked = ranks.is_some();
        let truth = |formula: Formula| self.lit(formula);
        // Operands are copied out before the gates are borrowed.
        let (a, b): (Vector, Vector) = match node {
            Node::Un(_, a) | Node::Zext(a) | Node::Sext(a) | Node::Extract { of: a, .. } => {
                (operand(a), Vec::new())
            }
            Node::Bin(_, a, b) | Node::Rel(_, a, b) | Node::Concat(a, b) | Node::Ite(_, a, b) => {
                (operand(a), operand(b))
            }
            Node::Not(a) => (vec![truth(a)], Vec::new()),
            Node::BoolOp(_, a, b) => (vec![truth(a)], vec![truth(b)]),
            Node::IteBool(_, a, b) => (vec![truth(a)], vec![truth(b)]),
            _ => (Vec::new(), Vec::new()),
        };
        let condition = match node {
            Node::Ite(c, ..) | Node::IteBool(c, ..) => Some(truth(c)),
            _ => None,
        };
        let mut circuit = Circuit { gates: &mut self.gates, limits: self.limits };
        circuit.within_limits()?;
        Ok(match node {
            Node::Bool(value) => vec![circuit.gates.constant(value)],
            Node::Const(value) => circuit.constant(&value),
            Node::Symbol(symbol) => self.symbol(symbol, width),
            Node::Un(op, _) => circuit.unop(op, &a)?,
            Node::Bin(op, ..) => circuit.binop(op, &a, &b)?,
            Node::Rel(op, ..) => vec![circuit.relop(if ranked { unsigned(op) } else { op }, &a, &b)],
            Node::BoolOp(op, ..) => vec![boolean(circuit.gates, op, a[0], b[0])],
            Node::Not(_) => vec![!a[0]],
            Node::Ite(..) | Node::IteBool(..) => {
                let condition = condition.expect("a conditional has a condition");
                circuit.mux(condition, &a, &b)
            }
            Node::Extract { low, .. } => a[usize::from(low)..usize::from(low) + width].to_vec(),
            Node::Concat(..) => b.into_iter().chain(a).collect(),
            Node::Zext(_) => {
                let mut extended = a;
                extended.resize(width, circuit.gates.constant(false));
                extended
            }
            Node::Sext(_) => {
                let mut extended = a;
                let sign = extended[extended.len() - 1];
                extended.resize(width, sign);
                extended
            }
            Node::Access(..) => (0..width).map(|_| circuit.gates.unknown(None)).collect(),
            _ => return Err(Reason::Unsupported("floats")),
        })
    }

    /// Unknown bits. Address symbols are steered to places of their own, so that their promises are seldom broken.
    fn symbol(&mut self, symbol: Symbol, width: usize) -> Vector {
        let preferred = crate::address::extent(self.store, symbol).map(|(extent, width)| {
            let place = self.next_address;
            self.next_address = place.saturating_add(extent).saturating_add(15) & !15;
            Bits::new(width, place.into())
        });
        (0..width)
            .map(|index| self.gates.unknown(preferred.as_ref().map(|bits| bits.bit(index as u16))))
            .collect()
    }
}

/// Ranks have no sign.
fn unsigned(op: RelOp) -> RelOp {
    match op {
        RelOp::Slt => RelOp::Ult,
        RelOp::Sle => RelOp::Ule,
        other => other,
    }
}

fn boolean(gates: &mut Gates, op: parallax_op::BoolOp, a: Lit, b: Lit) -> Lit {
    use parallax_op::BoolOp;
    match op {
        BoolOp::And => gates.and(a, b),
        BoolOp::Or => gates.or(a, b),
        BoolOp::Xor => gates.xor(a, b),
        BoolOp::Implies => gates.or(!a, b),
        BoolOp::Iff => !gates.xor(a, b),
    }
}

impl Engine for Blaster<'_> {
    fn learn(&mut self, lemma: &Lemma) -> Result<(), Reason> {
        let before = self.gates.size();
        let mut clause = Vec::with_capacity(lemma.premises.len() + 1);
        for &premise in &lemma.premises {
            clause.push(!self.formula(premise)?);
        }
        clause.push(self.formula(lemma.conclusion)?);
        self.lemma_size += self.gates.size() - before;
        self.gates.clause(&clause);
        Ok(())
    }

    fn search(&mut self) -> Result<bool, Reason> {
        let assumptions: Vec<Lit> = self.assumed.iter().map(|(lit, _)| *lit).collect();
        match self.gates.solve(&assumptions) {
            Some(found) => Ok(found),
            None => Err(self.gates.watch().reason().unwrap_or(Reason::Time)),
        }
    }

    fn value(&self, term: Term) -> Option<Bits> {
        let (range, _) = self.built.get(&term.id())?;
        let bits = &self.bits[range.clone()];
        let width = bits.len() as u16;
        if width <= 128 {
            let number =
                bits.iter().rev().fold(0u128, |number, &lit| number << 1 | u128::from(self.gates.value(lit)));
            return Some(match self.ranks(term.id()) {
                Some(ranks) => ranks.value(number),
                None => Bits::new(width, number),
            });
        }
        let mut bytes = vec![0u8; bits.len().div_ceil(8)];
        for (index, &lit) in bits.iter().enumerate() {
            bytes[index / 8] |= u8::from(self.gates.value(lit)) << (index % 8);
        }
        Some(Bits::from_big(width, num_bigint::BigUint::from_bytes_le(&bytes)))
    }

    fn truth(&self, formula: Formula) -> Option<bool> {
        self.built.contains_key(&formula.id()).then(|| self.gates.value(self.lit(formula)))
    }
}
