//! States as the engines see them: what they can reach at the end, and where several become one.

use crate::machine::Task;
use crate::state::{Control, Event, Frame, Slot, State, Then};
use crate::types::dotted;
use parallax_engines::{BoolOf, End, EndOf, MachineState, Memory, Stop, Value, ValueOf};
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

    fn urgency(&self) -> (usize, bool) {
        (self.callers.len() + usize::from(self.frame.is_some()), !matches!(self.control, Control::Return(_)))
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
        let (Control::Return(a), Control::Return(b)) = (&self.control, &other.control) else { return false };
        let together = |a: &Slot<M>, b: &Slot<M>| match (a.value(), b.value()) {
            (Some(a), Some(b)) => !MachineState::memory(self).apart(&a, &b),
            (None, None) => true,
            _ => false,
        };
        let fits = match (a, b) {
            (Some(a), Some(b)) => a.with_kind_of(b) && together(a, b),
            (None, None) => true,
            _ => false,
        };
        let alike = |frame: &Frame<M>, other: &Frame<M>| Rc::ptr_eq(&frame.method, &other.method);
        let frames = match (&self.frame, &other.frame) {
            (Some(a), Some(b)) => alike(a, b) && a.then.same(&b.then),
            _ => false,
        };
        // Classes that only one of the two has initialised are told apart by that.
        let statics = Rc::ptr_eq(&self.globals, &other.globals)
            || self.globals.statics.keys().eq(other.globals.statics.keys())
                && self.globals.strings.len() == other.globals.strings.len()
                && self.globals.mirrors.len() == other.globals.mirrors.len();
        frames && fits && statics && self.callers.same(&other.callers)
    }

    fn merged(self, other: Self) -> Result<Self, Stop> {
        let (Control::Return(a), Control::Return(b)) = (&self.control, &other.control) else {
            return Stop::broken("states that do not meet");
        };
        let mut pairs = Vec::new();
        if let (Some(a), Some(b)) = (a, b)
            && let (Some(a), Some(b)) = (a.value(), b.value())
        {
            pairs.push((a, b));
        }
        let mut merged = self.clone();
        let returned = pairs.len();
        let shared = Rc::ptr_eq(&self.globals, &other.globals);
        if !shared {
            let globals = &self.globals;
            pairs.extend(globals.statics.iter().filter_map(|(class, (_, one))| {
                let (_, two) = other.globals.statics.get(class)?;
                Some((Value::Ref(one.clone()), Value::Ref(two.clone())))
            }));
            pairs.extend(globals.strings.iter().filter_map(|(text, one)| {
                let two = other.globals.strings.get(text)?;
                Some((Value::Ref(one.clone()), Value::Ref(two.clone())))
            }));
            pairs.extend(globals.mirrors.iter().filter_map(|(name, one)| {
                let two = other.globals.mirrors.get(name)?;
                Some((Value::Ref(one.clone()), Value::Ref(two.clone())))
            }));
        }
        let value = match &self.control {
            Control::Return(value) => value.clone(),
            _ => None,
        };
        let (Some(one), Some(two)) = (State::into_memory(self), State::into_memory(other)) else {
            return Stop::broken("a state without its heap");
        };
        let (memory, values) = one.merged(two, &pairs)?;
        *merged.memory_mut()? = memory;
        let mut values = values.into_iter();
        if returned == 1
            && let (Some(slot), Some(both)) = (value, values.next())
        {
            merged.control = Control::Return(slot.with(both));
        }
        if !shared {
            let mut refs = values.filter_map(|value| match value {
                Value::Ref(reference) => Some(reference),
                _ => None,
            });
            let globals = Rc::make_mut(&mut merged.globals);
            let statics = globals.statics.values_mut().map(|(_, reference)| reference);
            for reference in statics.chain(globals.strings.values_mut()).chain(globals.mirrors.values_mut()) {
                if let Some(both) = refs.next() {
                    *reference = both;
                }
            }
        }
        Ok(merged)
    }
}

impl<M: Memory> Slot<M> {
    fn with_kind_of(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}

impl<M: Memory> Then<M> {
    fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Then::Initialised(a), Then::Initialised(b)) => a.cmp(b) == Ordering::Equal,
            (Then::Give, Then::Give) | (Then::Enter, Then::Enter) | (Then::End, Then::End) => true,
            _ => false,
        }
    }
}
