//! How a path reads to people: its decisions, and values under which a run takes it.

use super::way::{Held, Passed};
use super::{Bare, Executor, State, Value};
use crate::complaint::{PathStep, PathTo, StepKind};
use crate::interp;
use crate::ty::Type;
use parallax_op::BoolOp;
use parallax_smt::{Answer, Model};
use parallax_source::Span;
use parallax_term::{Formula, Node};
use rustc_hash::FxHashMap;

/// Strings have a width that nothing else has, so that their numbers can be told from others in formulas.
pub(super) const STRING_WIDTH: u16 = 48;

impl Executor<'_> {
    /// How a run gets to a state in which something is wrong at `place`, and whether one surely does; `None` if none does.
    pub(crate) fn explain(&self, state: &State, place: Span, hints: &[Formula]) -> Option<(PathTo, bool)> {
        let (found, sure) = match self.answer(state) {
            Answer::Unsat => return None,
            Answer::Unknown(_) => (None, false),
            Answer::Sat(_) => (self.example(state, place, hints), true),
        };
        let (model, example) = found.map_or((None, None), |(model, example)| (Some(model), example));
        let decisions = state.decisions();
        let formulas: Vec<Formula> = decisions.iter().map(|decision| decision.formula).collect();
        let shown: Vec<String> = formulas.iter().map(|formula| self.show_formula(*formula)).collect();
        let mut condition = self.conjunction(&formulas, &shown);
        cut(&mut condition);
        let assumed: Vec<PathStep> = decisions
            .into_iter()
            .zip(shown)
            .map(|(decision, text)| {
                let kind = StepKind::Assumed(decision.fork.map(|(_, branch)| branch));
                PathStep { text, ..step(decision.span, kind) }
            })
            .collect();
        let steps = match state.way.told() {
            Some(passed) => self.told(&passed, &assumed, model.as_ref()),
            None => self.outline(state, assumed),
        };
        Some((PathTo { condition, example, steps }, sure))
    }

    /// Everything that a path came by, and the values that change under a model.
    fn told(&self, passed: &[&Passed], assumed: &[PathStep], model: Option<&Model>) -> Vec<PathStep> {
        let mut steps: Vec<PathStep> = Vec::new();
        // Activations are numbered as they are entered; a name means something else in each.
        let (mut open, mut entered) = (vec![0], 0);
        let mut last: FxHashMap<(u32, String), String> = FxHashMap::default();
        for passed in passed {
            match passed {
                Passed::Line(e) => steps.push(step(self.program.span(*e), StepKind::Line)),
                Passed::Known(span, holds) => steps.push(step(*span, StepKind::Assumed(Some(*holds)))),
                Passed::Decided(index) => steps.extend(assumed.get(*index).cloned()),
                Passed::Set(held, value, span) => {
                    let shown = model.and_then(|model| self.show_value(value, model));
                    let name = match held {
                        Held::Variable(at) => self.program.var(at.var).name.clone(),
                        Held::Content(at) => format!("!{}", self.program.var(at.var).name),
                        Held::Block => "typed block".to_string(),
                    };
                    let Some(shown) = shown else { continue };
                    let key = (open.last().copied().unwrap_or(0), name.clone());
                    if last.insert(key, shown.clone()).as_ref() != Some(&shown) {
                        steps.push(PathStep { values: vec![(name, shown)], ..step(*span, StepKind::Line) });
                    }
                }
                Passed::Entered(fun, span) => {
                    entered += 1;
                    open.push(entered);
                    steps.push(step(*span, StepKind::Call(self.program.fun(*fun).name.clone())));
                }
                Passed::Left => {
                    open.pop();
                    steps.push(step(Span::default(), StepKind::Return));
                }
            }
        }
        steps
    }

    /// The decisions, and the calls that are still open: what is left of a path that is too long to tell.
    fn outline(&self, state: &State, assumed: Vec<PathStep>) -> Vec<PathStep> {
        let mut steps = Vec::new();
        for call in state.calls.to_vec() {
            let name = self.program.fun(call.fun).name.clone();
            steps.push((call.path_length, step(call.span, StepKind::Call(name))));
        }
        steps.extend(assumed.into_iter().enumerate().map(|(index, step)| (index + 1, step)));
        steps.sort_by_key(|(position, _)| *position);
        steps.into_iter().map(|(_, step)| step).collect()
    }

    /// The conjunction of formulas, as it is read: each that binds looser than `&&` in parentheses.
    fn conjunction(&self, formulas: &[Formula], shown: &[String]) -> String {
        let looser = |formula: Formula| match self.store.node(formula) {
            Node::BoolOp(op, ..) => op != BoolOp::And,
            Node::Not(inner) => matches!(self.store.node(inner), Node::BoolOp(BoolOp::Iff, ..)),
            _ => false,
        };
        match (formulas, shown) {
            (_, []) => true.to_string(),
            (_, [only]) => only.clone(),
            _ => {
                let parts = formulas.iter().zip(shown).map(|(formula, text)| {
                    match looser(*formula) || text.starts_with("let ") {
                        true => format!("({text})"),
                        false => text.clone(),
                    }
                });
                parts.collect::<Vec<_>>().join(" && ")
            }
        }
    }

    /// A number or truth value of the model as the language writes it.
    fn show_value(&self, value: &Value, model: &Model) -> Option<String> {
        let bits = match value.u {
            Bare::Bool(formula) => return Some(model.formula(self.store, formula).to_string()),
            Bare::Bits(term) => model.term(self.store, term).to_u64()?,
            Bare::Unit => return None,
        };
        Some(match value.ty {
            Type::Int(_) => (bits as i64).to_string(),
            Type::Float => interp::float(f64::from_bits(bits)),
            Type::Str => interp::quoted(&self.string(bits)),
            _ => return None,
        })
    }

    /// A formula in the logic's notation, without the widths that every reader of the language knows.
    pub(crate) fn show_formula(&self, formula: Formula) -> String {
        let text = self.store.display(formula);
        let mut shown = String::new();
        let mut rest = text.as_str();
        while let Some(colon) = rest.find(':') {
            let (before, after) = rest.split_at(colon);
            let digits = after[1..].bytes().take_while(u8::is_ascii_digit).count();
            let (width, after) = after[1..].split_at(digits);
            let start = before.rfind(|c: char| !c.is_ascii_digit()).map_or(0, |at| at + 1);
            match (width.parse::<u16>(), before[start..].parse::<u64>()) {
                (Ok(STRING_WIDTH), Ok(number)) => {
                    shown.push_str(&before[..start]);
                    shown.push_str(&interp::quoted(&self.string(number)));
                }
                (Ok(_), _) => shown.push_str(before),
                (Err(_), _) => {
                    shown.push_str(before);
                    shown.push(':');
                }
            }
            rest = after;
        }
        shown.push_str(rest);
        cut(&mut shown);
        shown
    }
}

fn step(span: Span, kind: StepKind) -> PathStep {
    PathStep { span, kind, text: String::new(), values: Vec::new() }
}

/// Nobody reads more than this.
fn cut(text: &mut String) {
    const ROOM: usize = 2000;
    if text.len() > ROOM {
        let at = (0..=ROOM).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
        text.truncate(at);
        text.push_str(" ...");
    }
}
