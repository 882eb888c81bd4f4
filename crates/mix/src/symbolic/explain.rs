//! How a path reads to people: its decisions, and values under which a run takes it.

use super::memory::{base, class};
use super::state::Event;
use super::way::{Held, Passed};
use super::{Bare, Executor, State, Value};
use crate::complaint::{Given, PathStep, PathTo, StepKind};
use crate::ty::Type;
use parallax_op::RelOp;
use parallax_smt::{Answer, Model};
use parallax_source::Span;
use parallax_term::Formula;
use rustc_hash::FxHashMap;

/// Strings have a width that nothing else has, so that their numbers can be told from others in formulas.
pub(super) const STRING_WIDTH: u16 = 48;

impl Executor<'_> {
    /// How a run gets to a state, and whether one surely does; `None` if none does.
    pub(crate) fn explain(&self, state: &State) -> Option<(PathTo, bool)> {
        let (model, sure) = match self.ask(state, self.store.true_()) {
            Answer::Unsat => return None,
            Answer::Unknown(_) => (None, false),
            Answer::Sat(model) => (Some(self.small_model(state).unwrap_or(model)), true),
        };
        let input = model.as_ref().map(|model| self.input(state, model));
        let decisions = state.decisions();
        let shown: Vec<String> =
            decisions.iter().map(|decision| self.show_formula(decision.formula)).collect();
        let mut condition = shown.join(" && ");
        if condition.is_empty() {
            condition.push_str("true");
        }
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
        Some((PathTo { condition, input, steps }, sure))
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
                    let scalar = matches!(value.ty, Type::Int(_) | Type::Float | Type::Bool | Type::Str);
                    let shown =
                        model.filter(|_| scalar).and_then(|model| self.show_value(value, 0, model, 0));
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

    /// Nobody wants -9223372036854775806 for an example where -1 will do.
    fn small_model(&self, state: &State) -> Option<Model> {
        let typed = state.events.to_vec().into_iter().filter_map(|event| match event {
            Event::Typed { value, .. } => Some(value.clone()),
            Event::Allocated(_) => None,
        });
        let values = self.inputs().into_iter().map(|input| input.value).chain(typed);
        let small = values.filter_map(|value| match (value.u, value.ty) {
            (Bare::Bits(term), Type::Int(_)) => {
                let shifted = self.store.add(term, self.store.number(64, 9));
                Some(self.store.relop(RelOp::Ult, shifted, self.store.number(64, 19)))
            }
            _ => None,
        });
        let small = self.store.all(small.collect::<Vec<_>>());
        self.ask(state, small).model()
    }

    /// The values of what the block does not know, and of the typed blocks on the path.
    fn input(&self, state: &State, model: &Model) -> Vec<Given> {
        let mut shown = Vec::new();
        for input in self.inputs() {
            if let Some(value) = self.show_value(&input.value, input.memory, model, 5) {
                shown.push(Given { name: input.name.clone(), block: None, value });
            }
        }
        for event in state.events.to_vec() {
            if let Event::Typed { block, value, memory, .. } = event
                && value.u != Bare::Unit
                && let Some(value) = self.show_value(value, memory.unwrap_or(0), model, 5)
            {
                let block = Some(self.program.span(*block));
                shown.push(Given { name: "typed block".to_string(), block, value });
            }
        }
        shown
    }

    /// A value of the model as the language writes it; nothing for functions.
    fn show_value(&self, value: &Value, memory: u32, model: &Model, depth: u32) -> Option<String> {
        let number = |term| model.term(self.store, term).to_u64();
        Some(match (value.u, &value.ty) {
            (Bare::Unit, _) => "()".to_string(),
            (Bare::Bool(formula), _) => model.formula(self.store, formula).to_string(),
            (Bare::Bits(term), Type::Int(_)) => (number(term)? as i64).to_string(),
            (Bare::Bits(term), Type::Float) => format!("{:?}", f64::from_bits(number(term)?)),
            (Bare::Bits(term), Type::Str) => self.show_string(number(term)?),
            (Bare::Bits(term), Type::Ref(..)) if number(term)? == 0 => "null".to_string(),
            (Bare::Bits(term), Type::Ref(_, content)) if depth > 0 => {
                let content = (**content).clone();
                let map = base(self.store, memory, &class(&content));
                let read = self.store.access(map, term);
                let u = match content {
                    Type::Unit => Bare::Unit,
                    Type::Bool => Bare::Bool(self.store.eq(read, self.store.number(1, 1))),
                    _ => Bare::Bits(read),
                };
                let is_ref = matches!(content, Type::Ref(..));
                let inner = self.show_value(&Value { u, ty: content }, memory, model, depth - 1)?;
                if is_ref { format!("ref ({inner})") } else { format!("ref {inner}") }
            }
            _ => return None,
        })
    }

    /// A string by its number; numbers beyond the program's own stand for strings that it does not mention.
    fn show_string(&self, number: u64) -> String {
        match usize::try_from(number).ok().and_then(|number| self.program.strings.get(number)) {
            Some(text) => format!("{text:?}"),
            None => format!("\"another string, {number}\""),
        }
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
                    shown.push_str(&self.show_string(number));
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
