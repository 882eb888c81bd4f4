//! States as the engines see them: what they can reach at the end, and where several become one.

use crate::machine::Task;
use crate::state::{Control, Event, Frame, Globals, Slot, State, Then};
use crate::types::dotted;
use parallax_engines::{BoolOf, End, EndOf, MachineState, Memory, Stop, Urgency, Value, ValueOf};
use parallax_sem::Core;
use std::cmp::Ordering;
use std::rc::Rc;

impl<M: Memory> MachineState<M> for State<M> {
    type Language = Task;

    fn memory(&self) -> &M {
        match State::memory(self) {
            Ok(memory) => memory,
            Err(_) => unreachable!("a state between steps has its heap"),
        }
    }

    fn into_memory(self) -> M {
        match State::into_memory(self) {
            Some(memory) => memory,
            None => unreachable!("a state between steps has its heap"),
        }
    }

    fn ended(memory: M) -> Self {
        State::new(memory)
    }

    fn events(&self) -> Vec<Event> {
        let mut events: Vec<Event> = self.trace.newest_first().copied().collect();
        events.reverse();
        events
    }

    fn roots(&self, task: &Task, end: &EndOf<Task, M>) -> Vec<(String, ValueOf<M>)> {
        let mut roots = Vec::new();
        for (class, (_, statics)) in &self.globals.statics {
            let class = task.program.class(*class);
            if class.own && !class.statics.is_empty() {
                roots.push((format!("{} (static)", dotted(&class.name)), Value::Ref(statics.clone())));
            }
        }
        match (end, &self.control) {
            (End::Value(value), _) if task.method.signature.result.is_some() => {
                roots.push(("result".into(), value.clone()));
            }
            (End::Error(..), Control::Throw(exception)) => {
                roots.push(("exception".into(), Value::Ref(exception.clone())));
            }
            _ => {}
        }
        roots
    }

    fn urgency(&self) -> Urgency {
        let position = match (&self.control, &self.frame) {
            (Control::Return(_), _) | (_, None) => vec![usize::MAX],
            (_, Some(frame)) => frame.position(),
        };
        Urgency::new(self.callers.len() + usize::from(self.frame.is_some()), position)
    }

    /// Where it has a value to hand down, or ways through its method come together.
    fn waits(&self) -> bool {
        match (&self.control, &self.frame) {
            (Control::Return(_), _) => true,
            (Control::Run, Some(frame)) => self.initialising == 0 && frame.is_at_join(),
            _ => false,
        }
    }

    fn verdict(&self) -> Option<BoolOf<M>> {
        match (&self.control, &self.frame) {
            (Control::Return(Some(Slot::Bool(holds))), Some(Frame { then: Then::Enter, .. })) => {
                Some(holds.clone())
            }
            _ => None,
        }
    }

    fn meets(&self, other: &Self) -> bool {
        let (Some(mine), Some(theirs)) = (self.held(), other.held()) else { return false };
        let (Some(frame), Some(others)) = (&self.frame, &other.frame) else { return false };
        let place = match (&self.control, &other.control) {
            (Control::Return(_), Control::Return(_)) => true,
            (Control::Run, Control::Run) => frame.position() == others.position(),
            _ => false,
        };
        place
            && Rc::ptr_eq(&frame.method, &others.method)
            && frame.then.same(&others.then)
            && self.callers.same(&other.callers)
            && self.monitors.same(&other.monitors)
            && self.unknown.same(&other.unknown)
            && (Rc::ptr_eq(&self.globals, &other.globals) || self.globals.meets(&other.globals))
            && mine.len() == theirs.len()
            && mine.iter().zip(&theirs).all(|(a, b)| a.meets(b, MachineState::memory(self)))
    }

    fn merged(self, other: Self) -> Result<Self, Stop> {
        let (Some(mine), Some(theirs)) = (self.held(), other.held()) else {
            return Stop::broken("states that do not meet");
        };
        let mut merged = self.clone();
        let mut pairs = Vec::new();
        let mut slots = Vec::new();
        for (a, b) in mine.iter().zip(&theirs) {
            let both = a.slot.with(&b.slot, MachineState::memory(&self));
            if let Both::Pair(_, a, b) = &both {
                pairs.push((a.clone(), b.clone()));
            }
            slots.push(both);
        }
        let shared = Rc::ptr_eq(&self.globals, &other.globals);
        if !shared {
            pairs.extend(self.globals.pairs(&other.globals));
        }
        if let (Some(frame), Some(others)) = (&mut merged.frame, &other.frame) {
            // Of a loop that is behind them, the longer of two runs.
            for (first, rounds) in &others.rounds {
                match frame.rounds.iter_mut().find(|(known, _)| known == first) {
                    Some((_, most)) => *most = (*most).max(*rounds),
                    None => frame.rounds.push((*first, *rounds)),
                }
            }
        }
        let (Some(one), Some(two)) = (State::into_memory(self), State::into_memory(other)) else {
            return Stop::broken("a state without its heap");
        };
        let (memory, values) = one.merged(two, &pairs)?;
        *merged.memory_mut()? = memory;
        let mut values = values.into_iter();
        let slots: Vec<Slot<M>> = slots
            .into_iter()
            .map(|both| match both {
                Both::Pair(kind, ..) => {
                    values.next().and_then(|value| kind.holding(value)).unwrap_or(Slot::Empty)
                }
                Both::Same(slot) => slot,
                Both::Unusable => Slot::Empty,
            })
            .collect();
        merged.hold(slots);
        if !shared {
            Rc::make_mut(&mut merged.globals).replace(values);
        }
        Ok(merged)
    }
}

/// What a state holds where it may meet others.
struct Holding<M: Memory> {
    slot: Slot<M>,
    /// Whether the next instructions use it for certain.
    operand: bool,
}

/// Two slots as one.
enum Both<M: Memory> {
    /// Of this kind, with one of two values.
    Pair(Slot<M>, ValueOf<M>, ValueOf<M>),
    Same(Slot<M>),
    /// Of different kinds: verified code does not use it.
    Unusable,
}

impl<M: Memory> State<M> {
    /// The value that is handed down, or the operands and the variables that are still read.
    fn held(&self) -> Option<Vec<Holding<M>>> {
        let operand = |slot: &Slot<M>| Holding { slot: slot.clone(), operand: true };
        match (&self.control, &self.frame) {
            (Control::Return(value), _) => Some(value.iter().map(operand).collect()),
            (Control::Run, Some(frame)) => {
                let code = frame.method.code.as_ref()?;
                let locals = frame.locals.iter().enumerate().map(|(n, slot)| match slot {
                    slot if code.flow().is_live(frame.next, n) => slot.clone(),
                    _ => Slot::Empty,
                });
                let locals = locals.map(|slot| Holding { slot, operand: false });
                Some(frame.stack.iter().map(operand).chain(locals).collect())
            }
            _ => None,
        }
    }

    /// Holds these instead, in the same order.
    fn hold(&mut self, slots: Vec<Slot<M>>) {
        let mut slots = slots.into_iter();
        match (&mut self.control, &mut self.frame) {
            (Control::Return(Some(value)), _) => slots.next().into_iter().for_each(|slot| *value = slot),
            (Control::Run, Some(frame)) => {
                let places = frame.stack.iter_mut().chain(&mut frame.locals);
                places.zip(slots).for_each(|(place, slot)| *place = slot);
            }
            _ => {}
        }
    }
}

impl<M: Memory> Holding<M> {
    /// Whether nothing tells the two apart for certain.
    fn meets(&self, other: &Self, memory: &M) -> bool {
        let flag = |slot: &Slot<M>| match slot {
            Slot::Int(value) => match memory.core().targets(32, value).as_deref() {
                Some([(_, only)]) => only.to_u64(),
                _ => None,
            },
            _ => None,
        };
        // What a comparison has put there is a verdict, though bytecode has numbers for truth values.
        let verdict = |a, b| matches!((a, b), (Some(0), Some(1)) | (Some(1), Some(0)));
        match self.slot.with(&other.slot, memory) {
            Both::Pair(_, a, b) => {
                !(memory.apart(&a, &b) || self.operand && verdict(flag(&self.slot), flag(&other.slot)))
            }
            Both::Same(_) => true,
            Both::Unusable => !self.operand,
        }
    }
}

impl<M: Memory> Slot<M> {
    fn with(&self, other: &Self, memory: &M) -> Both<M> {
        if let (Slot::Address(a), Slot::Address(b)) = (self, other)
            && a == b
        {
            return Both::Same(self.clone());
        }
        let number = |slot: &Self| match slot {
            Slot::Bool(value) => Slot::Int(memory.core().bool_to_val(32, value)),
            slot => slot.clone(),
        };
        let alike = std::mem::discriminant(self) == std::mem::discriminant(other);
        let (a, b) = if alike { (self.clone(), other.clone()) } else { (number(self), number(other)) };
        match (a.value(), b.value()) {
            (Some(x), Some(y)) if std::mem::discriminant(&a) == std::mem::discriminant(&b) => {
                Both::Pair(a, x, y)
            }
            _ => Both::Unusable,
        }
    }
}

impl<M: Memory> Globals<M> {
    /// Whether two runs have the same classes, literals and names. Those that only one has initialised tell them apart.
    fn meets(&self, other: &Self) -> bool {
        self.statics.keys().eq(other.statics.keys())
            && self.strings.len() == other.strings.len()
            && self.strings.keys().all(|text| other.strings.contains_key(text))
            && self.mirrors.len() == other.mirrors.len()
            && self.mirrors.keys().all(|name| other.mirrors.contains_key(name))
    }

    /// What two runs have for each class, literal and name.
    fn pairs(&self, other: &Self) -> Vec<(ValueOf<M>, ValueOf<M>)> {
        let statics = self.statics.iter().filter_map(|(class, (_, one))| {
            let (_, two) = other.statics.get(class)?;
            Some((one, two))
        });
        let strings = self.strings.iter().filter_map(|(text, one)| Some((one, other.strings.get(text)?)));
        let mirrors = self.mirrors.iter().filter_map(|(name, one)| Some((one, other.mirrors.get(name)?)));
        let pairs = statics.chain(strings).chain(mirrors);
        pairs.map(|(one, two)| (Value::Ref(one.clone()), Value::Ref(two.clone()))).collect()
    }

    /// Has these instead, in the same order.
    fn replace(&mut self, values: impl Iterator<Item = ValueOf<M>>) {
        let mut refs = values.filter_map(|value| match value {
            Value::Ref(reference) => Some(reference),
            _ => None,
        });
        let statics = self.statics.values_mut().map(|(_, reference)| reference);
        for reference in statics.chain(self.strings.values_mut()).chain(self.mirrors.values_mut()) {
            if let Some(both) = refs.next() {
                *reference = both;
            }
        }
    }
}

impl<M: Memory> Then<M> {
    fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Then::Initialised(a), Then::Initialised(b)) => a.cmp(b) == Ordering::Equal,
            (Then::Give, Then::Give)
            | (Then::Quiet, Then::Quiet)
            | (Then::Enter, Then::Enter)
            | (Then::End, Then::End) => true,
            _ => false,
        }
    }
}
