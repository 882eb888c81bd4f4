//! Guards and references as people read them: `this.head = null`, not `#17`.

use crate::guarded::{Cell, Guarded, Reference, Target};
use parallax_op::{BoolOp, RelOp};
use parallax_term::{Expr, Formula, Id, Node, Scalar, Store, Term};
use std::collections::HashSet;

/// How many atoms a condition shows before it is folded.
const ATOMS: usize = 24;
/// How many conjuncts of a path condition are shown.
const CONJUNCTS: usize = 100;
/// How many parts a term may have to be written out.
const PARTS: usize = 40;

/// A formula in words. Long ones are folded, and say so.
pub fn formula(store: &Store, formula: Formula) -> String {
    Writer::new(store).whole(formula, 0)
}

/// A term in words; constants are signed.
pub fn term(store: &Store, term: Term) -> String {
    Writer::new(store).term(term)
}

/// The conjuncts of several formulas, in words. Beyond a hundred they are counted.
pub fn conjuncts(store: &Store, formulas: &[Formula]) -> Vec<String> {
    let mut parts = Vec::new();
    let mut todo: Vec<Formula> = formulas.iter().rev().copied().collect();
    let mut seen = HashSet::new();
    let mut left_out = 0;
    while let Some(part) = todo.pop() {
        match store.node(part) {
            Node::Bool(true) => {}
            _ if !seen.insert(part) => {}
            Node::BoolOp(BoolOp::And, a, b) => todo.extend([b, a]),
            _ if parts.len() == CONJUNCTS => left_out += 1,
            _ => parts.push(Writer::new(store).whole(part, 1)),
        }
    }
    if left_out > 0 {
        parts.push(format!("{left_out} more conditions, which are left out here"));
    }
    parts
}

/// Writes so many atoms, and stands dots for the rest.
struct Writer<'s> {
    store: &'s Store,
    room: usize,
    folded: bool,
}

impl<'s> Writer<'s> {
    fn new(store: &'s Store) -> Self {
        Writer { store, room: ATOMS, folded: false }
    }

    /// A formula, and how much of it is not shown.
    fn whole(mut self, formula: Formula, depth: usize) -> String {
        let text = self.formula(formula, true, depth);
        if !self.folded {
            return text;
        }
        let nodes = self.store.post_order([formula.id()]);
        let atom = |id: &Id| match self.store.node(*id) {
            Node::Rel(..) => true,
            Node::Symbol(_) => matches!(self.store.expr(*id), Expr::Formula(_)),
            _ => false,
        };
        format!(
            "{text} (… stands for the rest of {} choices and comparisons)",
            nodes.iter().filter(|id| atom(id)).count()
        )
    }

    /// What there is no room for.
    fn dots(&mut self) -> String {
        self.folded = true;
        self.room = self.room.saturating_sub(1);
        "…".into()
    }

    fn formula(&mut self, formula: Formula, positive: bool, depth: usize) -> String {
        if self.room == 0 || depth > 40 {
            return self.dots();
        }
        let store = self.store;
        match store.node(formula) {
            Node::Bool(b) => (b == positive).to_string(),
            Node::Not(inner) => self.formula(inner, !positive, depth + 1),
            Node::BoolOp(op @ (BoolOp::And | BoolOp::Or), ..) => {
                let word = if (op == BoolOp::And) == positive { " and " } else { " or " };
                let mut parts = Vec::new();
                let mut todo = vec![formula];
                while let Some(part) = todo.pop() {
                    match store.node(part) {
                        Node::BoolOp(same, a, b) if same == op => todo.extend([b, a]),
                        _ if self.room == 0 => {
                            parts.push(self.dots());
                            break;
                        }
                        _ => parts.push(self.formula(part, positive, depth + 1)),
                    }
                }
                let text = parts.join(word);
                if depth == 0 { text } else { format!("({text})") }
            }
            Node::BoolOp(BoolOp::Implies, a, b) if positive => {
                let (a, b) = (self.formula(a, false, depth + 1), self.formula(b, true, depth + 1));
                format!("({a} or {b})")
            }
            Node::IteBool(c, a, b) => {
                let condition = self.formula(c, true, depth + 1);
                let (a, b) = (self.formula(a, positive, depth + 1), self.formula(b, positive, depth + 1));
                format!("(if {condition} then {a} else {b})")
            }
            Node::Symbol(symbol) => {
                self.room -= 1;
                choice(&store.info(symbol).name, positive)
            }
            Node::Rel(op, a, b) => {
                self.room -= 1;
                let word = match (op, positive) {
                    (RelOp::Eq, true) => "=",
                    (RelOp::Eq, false) => "!=",
                    (RelOp::Slt, true) => "<",
                    (RelOp::Sle, true) => "<=",
                    (RelOp::Slt, false) => ">=",
                    (RelOp::Sle, false) => ">",
                    (RelOp::Ult, true) => "<u",
                    (RelOp::Ule, true) => "<=u",
                    (RelOp::Ult, false) => ">=u",
                    (RelOp::Ule, false) => ">u",
                    _ => "?",
                };
                let (a, b) = (self.term(a), self.term(b));
                format!("{a} {word} {b}")
            }
            _ => {
                self.room -= 1;
                let text = self.displayed(formula.id());
                if positive { text } else { format!("not ({text})") }
            }
        }
    }

    fn term(&mut self, term: Term) -> String {
        match self.store.as_constant(term) {
            Some(bits) => bits.to_i128().map_or_else(|| bits.to_string(), |value| value.to_string()),
            None => match self.store.node(term) {
                Node::Symbol(symbol) => self.store.info(symbol).name.to_string(),
                Node::Ite(c, a, b) if self.room > 0 => {
                    let (a, c) = (self.term(a), self.formula(c, true, 1));
                    let b = self.term(b);
                    format!("({a} if {c} else {b})")
                }
                _ => self.displayed(term.id()),
            },
        }
    }

    /// As the logic writes it, if that is short.
    fn displayed(&mut self, id: Id) -> String {
        if parts(self.store, id) <= PARTS { self.store.display(id) } else { self.dots() }
    }
}

/// How many parts an expression has, written out; no more than one beyond the bound are looked at.
fn parts(store: &Store, id: Id) -> usize {
    let (mut todo, mut count) = (vec![id], 0);
    while let Some(id) = todo.pop()
        && count <= PARTS
    {
        count += 1;
        todo.extend(store.operands(id));
    }
    count
}

/// A choice or a truth value by its name.
fn choice(name: &str, positive: bool) -> String {
    if positive {
        return name.trim_end_matches('?').to_owned();
    }
    if let Some((place, target)) = name.split_once(" = ") {
        return format!("{place} != {target}");
    }
    match name.split_once(" is a new ") {
        Some((place, class)) => format!("{place} is not a new {class}"),
        None => format!("not {}", name.trim_end_matches('?')),
    }
}

impl Guarded<'_> {
    /// What a target is called.
    pub fn target_name(&self, target: Target) -> String {
        match target {
            Target::Nil => "null".into(),
            Target::Un => "?".into(),
            Target::Loc(loc) => self.location(loc).label.to_string(),
        }
    }

    /// A reference: where it may point.
    pub fn reference_text(&self, reference: &Reference) -> String {
        let names: Vec<String> = reference.iter().map(|entry| self.target_name(entry.target)).collect();
        names.join(" | ")
    }

    /// The content of a field.
    pub fn cell_text(&self, cell: &Cell) -> String {
        match cell {
            Cell::Ref(reference) => self.reference_text(reference),
            Cell::Scalar(Scalar::Term(value)) => term(self.oracle.store, *value),
            Cell::Scalar(Scalar::Formula(value)) => formula(self.oracle.store, *value),
        }
    }
}
