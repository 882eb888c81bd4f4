//! Decision diagrams (Bryant): truth values, and terms by cases, over ordered variables, each part built once.

use crate::nodes::{Nodes, TooLarge};
use parallax_term::Term;
use rustc_hash::FxHashMap;
use std::time::Instant;

/// A diagram: a node, a truth value, or a term.
pub(crate) type Ref = u32;

pub(crate) const FALSE: Ref = 0;
pub(crate) const TRUE: Ref = 1;
/// References from here on are terms.
const TERMS: Ref = 1 << 31;
/// How many nodes are worth their memory.
const MOST: usize = 400_000;
type Built = Result<Ref, TooLarge>;

/// All nodes.
pub(crate) struct Diagram {
    /// The first two stand for the truth values.
    nodes: Nodes,
    chosen: FxHashMap<(Ref, Ref, Ref), Ref>,
    terms: Vec<Term>,
    numbers: FxHashMap<Term, Ref>,
}

impl Diagram {
    pub fn new(deadline: Option<Instant>) -> Self {
        let end = (u32::MAX, 0, 0);
        Diagram {
            nodes: Nodes::new(vec![end, end], MOST, deadline),
            chosen: FxHashMap::default(),
            terms: Vec::new(),
            numbers: FxHashMap::default(),
        }
    }

    /// When it is too late.
    pub fn deadline(&self) -> Option<Instant> {
        self.nodes.deadline()
    }

    /// The term as the only case.
    pub fn term(&mut self, term: Term) -> Ref {
        let next = TERMS + self.terms.len() as Ref;
        let number = *self.numbers.entry(term).or_insert(next);
        if number == next {
            self.terms.push(term);
        }
        number
    }

    /// The term, if it is the only case.
    pub fn as_term(&self, at: Ref) -> Option<Term> {
        at.checked_sub(TERMS).map(|number| self.terms[number as usize])
    }

    /// The variable that is asked first, and what follows either way; nothing for a truth value or a term.
    pub fn node(&self, at: Ref) -> Option<(u32, Ref, Ref)> {
        if at > TRUE && at < TERMS { self.nodes.get(at) } else { None }
    }

    pub fn variable(&mut self, variable: u32) -> Built {
        self.nodes.make(variable, FALSE, TRUE)
    }

    /// `then` where `condition` holds, else `otherwise`. Recursion is as deep as there are variables.
    pub fn ite(&mut self, condition: Ref, then: Ref, otherwise: Ref) -> Built {
        match (condition, then, otherwise) {
            (TRUE, _, _) => return Ok(then),
            (FALSE, _, _) => return Ok(otherwise),
            _ if then == otherwise => return Ok(then),
            (_, TRUE, FALSE) => return Ok(condition),
            _ => {}
        }
        if let Some(&known) = self.chosen.get(&(condition, then, otherwise)) {
            return Ok(known);
        }
        let parts = [condition, then, otherwise];
        let first = |at: Ref| self.node(at).map_or(u32::MAX, |(variable, ..)| variable);
        let variable = parts.map(first).into_iter().min().unwrap_or(u32::MAX);
        let side = |at: Ref, high: bool| match self.node(at) {
            Some((own, low_side, high_side)) if own == variable => {
                if high {
                    high_side
                } else {
                    low_side
                }
            }
            _ => at,
        };
        let (low, high) = (parts.map(|at| side(at, false)), parts.map(|at| side(at, true)));
        let low = self.ite(low[0], low[1], low[2])?;
        let high = self.ite(high[0], high[1], high[2])?;
        let made = self.nodes.make(variable, low, high)?;
        if self.chosen.len() > 4 * MOST {
            self.chosen.clear();
        }
        self.chosen.insert((condition, then, otherwise), made);
        Ok(made)
    }

    pub fn and(&mut self, a: Ref, b: Ref) -> Built {
        self.ite(a, b, FALSE)
    }

    pub fn not(&mut self, a: Ref) -> Built {
        self.ite(a, FALSE, TRUE)
    }
}
