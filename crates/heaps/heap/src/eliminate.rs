//! Numbers by cases: diagrams whose ends are counts, and the sum over their variables.
//!
//! A condition is a product of conditions, and most of them speak of few choices. Choices are summed out from the last to
//! the first: only the conditions that speak of the last are multiplied, and what is left speaks of earlier ones alone
//! (Dudek, Phan and Vardi, *ADDMC*, AAAI 2020). How many objects the last choice can mean depends on how many there are,
//! not on which: such a diagram has a few hundred nodes where one of the whole condition would have a node for every set
//! of objects.

use crate::diagram::{Diagram, FALSE, Ref, TRUE};
use crate::nodes::{Nodes, TooLarge};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::time::Instant;

/// How many nodes are worth their memory.
const MOST: usize = 2_000_000;
/// Results that are remembered at most.
const KEPT: usize = 4_000_000;

/// A number by cases: a node, or from [`ENDS`] on an end.
type Part = u32;

const ENDS: Part = 1 << 31;
const ZERO: Part = ENDS;
const ONE: Part = ENDS + 1;

/// A product of numbers by cases, over variables of which each is true or false.
pub(crate) struct Product {
    nodes: Nodes,
    /// For each node, the last variable that is asked for, there or below.
    last: Vec<u32>,
    /// The numbers of ends.
    ends: Vec<u128>,
    numbers: FxHashMap<u128, Part>,
    sums: FxHashMap<(Part, Part), Part>,
    products: FxHashMap<(Part, Part), Part>,
    /// The factors, by the last variable that each asks for.
    factors: BTreeMap<u32, Vec<Part>>,
    /// What asks for nothing.
    constant: u128,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Operator {
    Add,
    Multiply,
}

type Made = Result<Part, TooLarge>;

impl Product {
    pub fn new(deadline: Option<Instant>) -> Self {
        Product {
            nodes: Nodes::new(Vec::new(), MOST, deadline),
            last: Vec::new(),
            ends: vec![0, 1],
            numbers: [(0, ZERO), (1, ONE)].into_iter().collect(),
            sums: FxHashMap::default(),
            products: FxHashMap::default(),
            factors: BTreeMap::new(),
            constant: 1,
        }
    }

    /// One more factor: 1 where the condition holds and 0 elsewhere. Where a part asks for a variable from `choices` on,
    /// `holds` says whether it can hold.
    pub fn condition<T: From<TooLarge>>(
        &mut self,
        diagram: &Diagram,
        at: Ref,
        choices: u32,
        holds: &mut dyn FnMut(Ref) -> Result<bool, T>,
    ) -> Result<(), T> {
        let factor = self.convert(diagram, at, choices, holds, &mut FxHashMap::default())?;
        self.factor(factor);
        Ok(())
    }

    fn convert<T: From<TooLarge>>(
        &mut self,
        diagram: &Diagram,
        at: Ref,
        choices: u32,
        holds: &mut dyn FnMut(Ref) -> Result<bool, T>,
        known: &mut FxHashMap<Ref, Part>,
    ) -> Result<Part, T> {
        match at {
            FALSE => return Ok(ZERO),
            TRUE => return Ok(ONE),
            _ => {}
        }
        if let Some(&known) = known.get(&at) {
            return Ok(known);
        }
        let part = match diagram.node(at) {
            Some((variable, low, high)) if variable < choices => {
                let low = self.convert(diagram, low, choices, holds, known)?;
                let high = self.convert(diagram, high, choices, holds, known)?;
                self.make(variable, low, high)?
            }
            _ => self.end(holds(at)?.into()),
        };
        known.insert(at, part);
        Ok(part)
    }

    fn factor(&mut self, factor: Part) {
        match self.number(factor) {
            Some(number) => self.constant = self.constant.saturating_mul(number),
            None => self.factors.entry(self.last[factor as usize]).or_default().push(factor),
        }
    }

    fn end(&mut self, number: u128) -> Part {
        let next = ENDS + self.ends.len() as Part;
        let end = *self.numbers.entry(number).or_insert(next);
        if end == next {
            self.ends.push(number);
        }
        end
    }

    /// The number of an end.
    fn number(&self, part: Part) -> Option<u128> {
        part.checked_sub(ENDS).map(|end| self.ends[end as usize])
    }

    /// The sum of the product over every way to set the first `variables` variables; at `u128::MAX` it is that or more.
    pub fn sum(mut self, variables: u32) -> Result<u128, TooLarge> {
        for variable in (0..variables).rev() {
            let mut factors = self.factors.remove(&variable).unwrap_or_default();
            // Small ones first: what is multiplied early is multiplied again.
            factors.sort_by_key(|factor| std::cmp::Reverse(self.first(*factor)));
            let mut product = ONE;
            for factor in factors {
                product = self.apply(Operator::Multiply, product, factor)?;
            }
            let rest = self.without(variable, product, &mut FxHashMap::default())?;
            self.factor(rest);
        }
        Ok(self.constant)
    }

    fn first(&self, part: Part) -> u32 {
        self.nodes.get(part).map_or(u32::MAX, |(variable, ..)| variable)
    }

    fn make(&mut self, variable: u32, low: Part, high: Part) -> Made {
        let made = self.nodes.make(variable, low, high)?;
        if self.nodes.len() > self.last.len() {
            let below = |part: Part| self.last.get(part as usize).copied().unwrap_or(variable);
            self.last.push(below(low).max(below(high)));
        }
        Ok(made)
    }

    /// Where the variable is false and where it is true, of a part that asks for no earlier one.
    fn sides(&self, part: Part, variable: u32) -> (Part, Part) {
        match self.nodes.get(part) {
            Some((own, low, high)) if own == variable => (low, high),
            _ => (part, part),
        }
    }

    fn apply(&mut self, operator: Operator, a: Part, b: Part) -> Made {
        let (a, b) = (a.min(b), a.max(b));
        match (operator, self.number(a), self.number(b)) {
            (Operator::Add, Some(x), Some(y)) => return Ok(self.end(x.saturating_add(y))),
            (Operator::Multiply, Some(x), Some(y)) => return Ok(self.end(x.saturating_mul(y))),
            // Ends come after nodes.
            (Operator::Add, None, Some(0)) | (Operator::Multiply, None, Some(1)) => return Ok(a),
            (Operator::Multiply, None, Some(0)) => return Ok(ZERO),
            _ => {}
        }
        let results = match operator {
            Operator::Add => &self.sums,
            Operator::Multiply => &self.products,
        };
        if let Some(&known) = results.get(&(a, b)) {
            return Ok(known);
        }
        let variable = self.first(a).min(self.first(b));
        let (a_sides, b_sides) = (self.sides(a, variable), self.sides(b, variable));
        let low = self.apply(operator, a_sides.0, b_sides.0)?;
        let high = self.apply(operator, a_sides.1, b_sides.1)?;
        let made = self.make(variable, low, high)?;
        let results = match operator {
            Operator::Add => &mut self.sums,
            Operator::Multiply => &mut self.products,
        };
        if results.len() >= KEPT {
            results.clear();
        }
        results.insert((a, b), made);
        Ok(made)
    }

    /// The sum of a part over both values of its last variable.
    fn without(&mut self, variable: u32, part: Part, known: &mut FxHashMap<Part, Part>) -> Made {
        let Some((own, low, high)) = self.nodes.get(part) else {
            return self.apply(Operator::Add, part, part);
        };
        if let Some(&known) = known.get(&part) {
            return Ok(known);
        }
        let made = if own == variable {
            self.apply(Operator::Add, low, high)?
        } else {
            let low = self.without(variable, low, known)?;
            let high = self.without(variable, high, known)?;
            self.make(own, low, high)?
        };
        known.insert(part, made);
        Ok(made)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random(state: &mut u64) -> u64 {
        *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        *state >> 33
    }

    fn holds(diagram: &Diagram, mut at: Ref, values: u32) -> bool {
        while let Some((variable, low, high)) = diagram.node(at) {
            at = if values >> variable & 1 == 1 { high } else { low };
        }
        at == TRUE
    }

    /// Random conditions over a few variables, counted by trying every way.
    #[test]
    fn as_by_trying_all() {
        const VARIABLES: u32 = 9;
        let mut state = 7;
        let mut seen = std::collections::BTreeSet::new();
        for round in 0..300 {
            let mut diagram = Diagram::new(None);
            let mut conditions = Vec::new();
            for _ in 0..1 + random(&mut state) % 6 {
                let mut whole = FALSE;
                for _ in 0..1 + random(&mut state) % 4 {
                    let mut all = TRUE;
                    for _ in 0..1 + random(&mut state) % 3 {
                        let variable = (random(&mut state) % u64::from(VARIABLES)) as u32;
                        let mut literal = diagram.variable(variable).ok().expect("small");
                        if random(&mut state).is_multiple_of(2) {
                            literal = diagram.not(literal).ok().expect("small");
                        }
                        all = diagram.and(all, literal).ok().expect("small");
                    }
                    whole = diagram.ite(all, TRUE, whole).ok().expect("small");
                }
                conditions.push(whole);
            }
            let mut product = Product::new(None);
            for &condition in &conditions {
                let mut never = |_: Ref| -> Result<bool, TooLarge> { unreachable!("choices alone") };
                assert!(product.condition(&diagram, condition, VARIABLES, &mut never).is_ok());
            }
            let all = |values: &u32| conditions.iter().all(|&at| holds(&diagram, at, *values));
            let expected = (0..1u32 << VARIABLES).filter(all).count() as u128;
            assert_eq!(product.sum(VARIABLES).ok(), Some(expected), "round {round}");
            seen.insert(expected);
        }
        assert!(seen.len() > 50, "the conditions differ");
    }
}
