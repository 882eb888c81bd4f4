//! How many heaps a guarded heap stands for, without listing them.
//!
//! The path condition becomes a decision diagram: the choices of selectors first, in the order in which they were made,
//! then whatever is asked of vectors and truth values. Choices are counted by adding and multiplying along the diagram,
//! each part once however many ways lead to it; a part that is about values alone counts if some values satisfy it,
//! which the solver is asked once. A diagram that grows too large is given up, and heaps are listed up to a limit.

use crate::HeapError;
use crate::diagram::{Diagram, FALSE, Ref, TRUE, TooLarge};
use crate::guarded::Guarded;
use parallax_op::{BoolOp, RelOp};
use parallax_term::{Expr, Formula, Id, Node, Store, Term};
use rustc_hash::FxHashMap;
use std::time::Instant;

/// Choices that a diagram may have: its recursion is that deep.
const CHOICES: usize = 3000;
/// Questions about values that a diagram may ask: with more, hardly two shapes ask the same.
const QUESTIONS: usize = 48;

/// How many heaps there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// The number of heaps.
    pub heaps: u64,
    /// and no more, if this is true.
    pub exact: bool,
}

/// Why there is no diagram.
enum Trouble {
    TooLarge,
    /// A term by cases under an operator that is not looked through.
    Unknown,
    Heap(HeapError),
}

impl From<TooLarge> for Trouble {
    fn from(_: TooLarge) -> Self {
        Trouble::TooLarge
    }
}

impl From<HeapError> for Trouble {
    fn from(error: HeapError) -> Self {
        Trouble::Heap(error)
    }
}

impl Guarded<'_> {
    /// How many ways there are to choose; where only listing helps, `limit` at most.
    pub fn count(&self, limit: usize) -> Result<Count, HeapError> {
        match self.count_by_diagram() {
            Ok(count) => Ok(count),
            Err(Trouble::Heap(error @ HeapError::Broken(_))) => Err(error),
            Err(_) => {
                match self.models(limit) {
                    Ok(models) => Ok(Count { heaps: models.models.len() as u64, exact: models.complete }),
                    // The path is possible; how often is beyond the solver.
                    Err(HeapError::Solver(_)) => Ok(Count { heaps: 1, exact: false }),
                    Err(error) => Err(error),
                }
            }
        }
    }

    fn count_by_diagram(&self) -> Result<Count, Trouble> {
        let mut counter = Counter::new(self)?;
        let mut whole = TRUE;
        // Which element an index meant is a choice too, but one that values make.
        let first = counter.choices - self.indices.len() as u32;
        for (&index, variable) in self.indices.iter().zip(first..) {
            let meant = counter.formula(index)?;
            let (chosen, otherwise) = (counter.diagram.variable(variable)?, counter.diagram.not(meant)?);
            let agree = counter.diagram.ite(chosen, meant, otherwise)?;
            whole = counter.diagram.and(whole, agree)?;
        }
        for formula in self.path.formulas() {
            let condition = counter.formula(formula)?;
            whole = counter.diagram.and(whole, condition)?;
        }
        let ways = counter.ways(whole)?;
        let free = counter.skipped(0, counter.level(whole));
        let heaps = ways.saturating_mul(free);
        Ok(Count { heaps, exact: heaps < u64::MAX })
    }
}

struct Counter<'a, 's> {
    heap: &'a Guarded<'s>,
    store: &'s Store,
    diagram: Diagram,
    /// The variable of each choice and each question about values; choices come first.
    variables: FxHashMap<Formula, u32>,
    atoms: Vec<Formula>,
    choices: u32,
    built: FxHashMap<Id, Ref>,
    applied: FxHashMap<(Id, Ref, Ref), Ref>,
    counted: FxHashMap<Ref, u64>,
}

impl<'a, 's> Counter<'a, 's> {
    fn new(heap: &'a Guarded<'s>) -> Result<Self, Trouble> {
        let mut counter = Counter {
            heap,
            store: heap.oracle.store,
            // Half of the time is for listing, should the diagram come to nothing.
            diagram: Diagram::new(heap.oracle.time_left().map(|left| Instant::now() + left / 2)),
            variables: FxHashMap::default(),
            atoms: Vec::new(),
            choices: 0,
            built: FxHashMap::default(),
            applied: FxHashMap::default(),
            counted: FxHashMap::default(),
        };
        for selector in &heap.selectors {
            for (_, atom) in &selector.choices {
                counter.atom(*atom)?;
            }
        }
        counter.atoms.extend(&heap.indices);
        counter.choices = counter.atoms.len() as u32;
        Ok(counter)
    }

    /// The diagram that asks for an atom.
    fn atom(&mut self, atom: Formula) -> Result<Ref, Trouble> {
        let next = self.atoms.len() as u32;
        let variable = *self.variables.entry(atom).or_insert(next);
        if variable == next {
            let most = if self.choices == 0 { CHOICES } else { self.choices as usize + QUESTIONS };
            if self.atoms.len() >= most {
                return Err(Trouble::TooLarge);
            }
            self.atoms.push(atom);
        }
        Ok(self.diagram.variable(variable)?)
    }

    fn formula(&mut self, formula: Formula) -> Result<Ref, Trouble> {
        for id in self.store.post_order([formula.id()]) {
            if !self.built.contains_key(&id) {
                let built = self.expression(id)?;
                self.built.insert(id, built);
            }
        }
        Ok(self.built[&formula.id()])
    }

    fn expression(&mut self, id: Id) -> Result<Ref, Trouble> {
        let store = self.store;
        let of = |counter: &Self, id: Id| counter.built[&id];
        Ok(match store.node(id) {
            Node::Bool(value) => {
                if value {
                    TRUE
                } else {
                    FALSE
                }
            }
            Node::Not(a) => self.diagram.not(of(self, a.id()))?,
            Node::BoolOp(op, a, b) => {
                let (a, b) = (of(self, a.id()), of(self, b.id()));
                let not_b = self.diagram.not(b)?;
                match op {
                    BoolOp::And => self.diagram.and(a, b)?,
                    BoolOp::Or => self.diagram.ite(a, TRUE, b)?,
                    BoolOp::Xor => self.diagram.ite(a, not_b, b)?,
                    BoolOp::Implies => self.diagram.ite(a, b, TRUE)?,
                    BoolOp::Iff => self.diagram.ite(a, b, not_b)?,
                }
            }
            Node::Ite(c, a, b) => {
                let parts = [c.id(), a.id(), b.id()].map(|part| of(self, part));
                self.diagram.ite(parts[0], parts[1], parts[2])?
            }
            Node::IteBool(c, a, b) => {
                let parts = [c.id(), a.id(), b.id()].map(|part| of(self, part));
                self.diagram.ite(parts[0], parts[1], parts[2])?
            }
            Node::Rel(op, a, b) => self.relation(op, id, of(self, a.id()), of(self, b.id()))?,
            Node::Bin(op, a, b) => {
                let cases = |store: &Store, x: Term, y: Term| store.binop(op, x, y);
                self.operator(&cases, id, of(self, a.id()), of(self, b.id()))?
            }
            Node::Symbol(_) => match store.expr(id) {
                Expr::Formula(atom) => self.atom(atom)?,
                Expr::Term(term) => self.diagram.term(term),
                Expr::Func(_) => return Err(Trouble::Unknown),
            },
            _ => {
                let plain =
                    |part: Id| self.diagram.as_term(self.built[&part]).map(|term| term.id()) == Some(part);
                match store.expr(id) {
                    Expr::Term(term) if store.operands(id).all(plain) => self.diagram.term(term),
                    _ => return Err(Trouble::Unknown),
                }
            }
        })
    }

    /// A relation between terms by cases: a question about values for each pair of cases.
    fn relation(&mut self, op: RelOp, id: Id, a: Ref, b: Ref) -> Result<Ref, Trouble> {
        if let Some(&known) = self.applied.get(&(id, a, b)) {
            return Ok(known);
        }
        let made = match (self.diagram.as_term(a), self.diagram.as_term(b)) {
            (Some(x), Some(y)) => {
                let relation = self.store.relop(op, x, y);
                match (self.store.as_boolean(relation), self.store.node(relation)) {
                    (Some(value), _) => {
                        if value {
                            TRUE
                        } else {
                            FALSE
                        }
                    }
                    (None, Node::Not(positive)) => {
                        let positive = self.atom(positive)?;
                        self.diagram.not(positive)?
                    }
                    _ => self.atom(relation)?,
                }
            }
            _ => {
                let (variable, low, high) = self.split(a, b);
                let low = self.relation(op, id, low.0, low.1)?;
                let high = self.relation(op, id, high.0, high.1)?;
                let asked = self.diagram.variable(variable)?;
                self.diagram.ite(asked, high, low)?
            }
        };
        self.applied.insert((id, a, b), made);
        Ok(made)
    }

    /// An operator on terms by cases.
    fn operator(
        &mut self,
        op: &dyn Fn(&Store, Term, Term) -> Term,
        id: Id,
        a: Ref,
        b: Ref,
    ) -> Result<Ref, Trouble> {
        if let Some(&known) = self.applied.get(&(id, a, b)) {
            return Ok(known);
        }
        let made = match (self.diagram.as_term(a), self.diagram.as_term(b)) {
            (Some(x), Some(y)) => {
                let term = op(self.store, x, y);
                self.diagram.term(term)
            }
            _ => {
                let (variable, low, high) = self.split(a, b);
                let low = self.operator(op, id, low.0, low.1)?;
                let high = self.operator(op, id, high.0, high.1)?;
                let asked = self.diagram.variable(variable)?;
                self.diagram.ite(asked, high, low)?
            }
        };
        self.applied.insert((id, a, b), made);
        Ok(made)
    }

    /// The first variable of two diagrams, and both where it is false and where it is true.
    fn split(&self, a: Ref, b: Ref) -> (u32, (Ref, Ref), (Ref, Ref)) {
        let of = |at: Ref| self.diagram.node(at);
        let first = |at: Ref| of(at).map_or(u32::MAX, |(variable, ..)| variable);
        let variable = first(a).min(first(b));
        let side = |at: Ref, high: bool| match of(at) {
            Some((own, low_side, high_side)) if own == variable => {
                if high {
                    high_side
                } else {
                    low_side
                }
            }
            _ => at,
        };
        (variable, (side(a, false), side(b, false)), (side(a, true), side(b, true)))
    }

    /// The first choice that a diagram asks for, or how many there are.
    fn level(&self, at: Ref) -> u32 {
        self.diagram.node(at).map_or(self.choices, |(variable, ..)| variable.min(self.choices))
    }

    /// Choices that are free between two levels.
    fn skipped(&self, from: u32, to: u32) -> u64 {
        1u64.checked_shl(to.saturating_sub(from)).unwrap_or(u64::MAX)
    }

    /// How many ways there are to make the choices from its first on.
    fn ways(&mut self, at: Ref) -> Result<u64, Trouble> {
        if at == FALSE || at == TRUE {
            return Ok(u64::from(at == TRUE));
        }
        if let Some(&known) = self.counted.get(&at) {
            return Ok(known);
        }
        let ways = match self.diagram.node(at) {
            Some((variable, low, high)) if variable < self.choices => {
                let mut ways = 0u64;
                for side in [low, high] {
                    let free = self.skipped(variable + 1, self.level(side));
                    ways = ways.saturating_add(self.ways(side)?.saturating_mul(free));
                }
                ways
            }
            _ => u64::from(self.satisfiable(at)?),
        };
        self.counted.insert(at, ways);
        Ok(ways)
    }

    /// Whether some values satisfy a diagram that asks for values alone.
    fn satisfiable(&self, at: Ref) -> Result<bool, Trouble> {
        let mut written: FxHashMap<Ref, Formula> = FxHashMap::default();
        written.insert(FALSE, self.store.false_());
        written.insert(TRUE, self.store.true_());
        let mut stack = vec![at];
        while let Some(&at) = stack.last() {
            let Some((variable, low, high)) = self.diagram.node(at) else { return Err(Trouble::Unknown) };
            match (written.get(&low).copied(), written.get(&high).copied()) {
                (Some(low), Some(high)) => {
                    let atom = self.atoms[variable as usize];
                    written.insert(at, self.store.ite_bool(atom, high, low));
                    stack.pop();
                }
                (low_side, high_side) => {
                    stack.extend(low_side.is_none().then_some(low));
                    stack.extend(high_side.is_none().then_some(high));
                }
            }
        }
        Ok(self.heap.oracle.solve(&[written[&at]]).map_err(HeapError::from)?.is_some())
    }
}
