//! Guards and references as people read them: `this.head = null`, not `#17`.

use crate::guarded::{Cell, Guarded, Reference, Target};
use parallax_op::{BoolOp, RelOp};
use parallax_term::{Formula, Node, Scalar, Store, Term};
use std::collections::HashSet;

/// How many atoms a condition shows before it is folded to "and 12 more".
const ATOMS: usize = 24;

/// A formula in words. Long ones are folded.
pub fn formula(store: &Store, formula: Formula) -> String {
    let mut room = ATOMS;
    write(store, formula, true, 0, &mut room)
}

/// The conjuncts of several formulas, in words.
pub fn conjuncts(store: &Store, formulas: &[Formula]) -> Vec<String> {
    let mut parts = Vec::new();
    let mut todo: Vec<Formula> = formulas.iter().rev().copied().collect();
    let mut seen = HashSet::new();
    while let Some(part) = todo.pop() {
        match store.node(part) {
            Node::BoolOp(BoolOp::And, a, b) => todo.extend([b, a]),
            Node::Bool(true) => {}
            _ if !seen.insert(part) => {}
            Node::BoolOp(..) | Node::Not(_) => {
                let mut room = ATOMS;
                parts.push(write(store, part, true, 1, &mut room));
            }
            _ => parts.push(self::formula(store, part)),
        }
    }
    parts
}

fn write(store: &Store, formula: Formula, positive: bool, depth: usize, room: &mut usize) -> String {
    if *room == 0 || depth > 40 {
        return "…".into();
    }
    match store.node(formula) {
        Node::Bool(b) => (b == positive).to_string(),
        Node::Not(inner) => write(store, inner, !positive, depth + 1, room),
        Node::BoolOp(op @ (BoolOp::And | BoolOp::Or), ..) => {
            let word = if (op == BoolOp::And) == positive { " and " } else { " or " };
            let mut parts = Vec::new();
            let mut todo = vec![formula];
            while let Some(part) = todo.pop() {
                match store.node(part) {
                    Node::BoolOp(same, a, b) if same == op => todo.extend([b, a]),
                    _ if *room == 0 => {
                        parts.push("…".into());
                        break;
                    }
                    _ => parts.push(write(store, part, positive, depth + 1, room)),
                }
            }
            let text = parts.join(word);
            if depth == 0 { text } else { format!("({text})") }
        }
        Node::Symbol(symbol) => {
            *room -= 1;
            let name = store.info(symbol).name;
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
        Node::Rel(op, a, b) => {
            *room -= 1;
            let (a, b) = (term(store, a), term(store, b));
            let word = match (op, positive) {
                (RelOp::Eq, true) => "=",
                (RelOp::Eq, false) => "!=",
                (RelOp::Slt | RelOp::Ult, true) => "<",
                (RelOp::Sle | RelOp::Ule, true) => "<=",
                (RelOp::Slt | RelOp::Ult, false) => ">=",
                (RelOp::Sle | RelOp::Ule, false) => ">",
                _ => "?",
            };
            format!("{a} {word} {b}")
        }
        _ => {
            *room -= 1;
            let text = store.display(formula.id());
            if positive { text } else { format!("not ({text})") }
        }
    }
}

/// A term in words; 32-bit constants are signed.
pub fn term(store: &Store, term: Term) -> String {
    match store.as_constant(term) {
        Some(bits) => bits.to_i128().map_or_else(|| bits.to_string(), |value| value.to_string()),
        None => match store.node(term) {
            Node::Symbol(symbol) => store.info(symbol).name.to_string(),
            _ => {
                let text = store.display(term.id());
                if text.chars().count() > 120 {
                    text.chars().take(120).chain(['…']).collect()
                } else {
                    text
                }
            }
        },
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
