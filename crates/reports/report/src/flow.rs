//! From the flat list of events that analysers give to a path with frames.
//!
//! Tools tell nesting in three ways: a level per event, the name of the function per event, or only in the words
//! ("Calling 'add'"). Whatever is there is used, in this order; see [`PathBuilder`] for what keeps the result a tree.

use crate::narration::{Narration, understand};
use crate::{Frame, Importance, Location, MAX_DEPTH, PathBuilder, Role, Step};
use std::collections::HashMap;

/// One event.
#[derive(Clone, Debug, Default)]
pub(crate) struct Event {
    pub step: Step,
    /// How deep in calls, from any base.
    pub depth: Option<i64>,
    /// The function it is in.
    pub function: Option<String>,
}

impl Event {
    /// An event of which only the place and the words are known.
    pub(crate) fn told(location: Option<Location>, message: impl Into<String>) -> Self {
        Event { step: Step::at(Role::Note, location).with_message(message), ..Event::default() }
    }
}

struct Tracker {
    path: PathBuilder,
    /// For every open frame its level, and the place of the call that opened it.
    open: Vec<(i64, Option<Location>)>,
    /// The function that the step before this one calls.
    callee: Option<String>,
    /// Where each function is seen for the last time.
    last_seen: HashMap<String, usize>,
    now: usize,
}

/// Builds the path. Roles, outcomes and values that the steps lack are taken from the words.
pub(crate) fn build(label: &str, events: Vec<Event>) -> PathBuilder {
    let functions =
        events.iter().enumerate().filter_map(|(index, event)| Some((event.function.clone()?, index)));
    let last_seen = functions.collect();
    let mut tracker =
        Tracker { path: PathBuilder::new(label), open: Vec::new(), callee: None, last_seen, now: 0 };
    for (index, mut event) in events.into_iter().enumerate() {
        tracker.now = index;
        let narration = understand(&event.step.message);
        if event.step.role == Role::Note {
            event.step.role = narration.role;
        }
        event.step.taken = event.step.taken.or(narration.taken);
        if narration.passing {
            // gcc's SARIF gives the branch's own kinds to the line it leads to.
            (event.step.role, event.step.taken) = (Role::Note, None);
            event.step.importance = Importance::Unimportant;
        }
        if let Some(value) = &narration.value
            && !event.step.values.iter().any(|known| known.name == value.name)
        {
            event.step.values.push(value.clone());
        }
        tracker.move_to(&event, &narration);
        tracker.callee = (event.step.role == Role::Call).then(|| narration.callee.unwrap_or_default());
        tracker.path.step(event.step);
    }
    tracker.path
}

/// gcc gives events the column of their caret, and messages the whole range. The last event is where the message stands.
pub(crate) fn ends_at(events: &mut [Event], head: Option<&Location>) {
    let last = events.last_mut().and_then(|event| event.step.location.as_mut());
    if let (Some(last), Some(head)) = (last, head)
        && (&last.file, last.line) == (&head.file, head.line)
        && head.column.is_some()
        && (head.column..head.end_column).contains(&last.column)
    {
        *last = head.clone();
    }
}

/// Marks the end of the path as where it goes wrong, unless a step is marked already.
pub(crate) fn ends_in_failure(path: &mut PathBuilder) {
    if !path.steps_mut().iter().any(|step| step.failing)
        && let Some(last) = path.last_step_mut()
    {
        last.failing = true;
    }
}

impl Tracker {
    fn move_to(&mut self, event: &Event, narration: &Narration) {
        let function = event
            .function
            .clone()
            .or_else(|| (event.step.role == Role::Entry).then(|| narration.callee.clone()).flatten());
        let file = event.step.location.as_ref().map_or("", |place| place.file.as_str());
        match (event.depth, &function) {
            _ if self.open.is_empty() => {
                let name = function.or_else(|| self.root_name(event, narration)).unwrap_or_default();
                self.enter(name, file, event.depth.unwrap_or(0));
            }
            (Some(depth), _) => self.at_level(depth, function, file, event, narration),
            (None, Some(function)) => self.at_function(function.clone(), file, event),
            (None, None) => self.by_words(file, event, narration),
        }
        // "Entered call from 'main'" names the function outside.
        if event.step.role == Role::Entry
            && let Some(caller) = &narration.caller
        {
            self.path.name_caller(caller);
        }
        if let Some(caller) = narration.caller.as_ref().filter(|_| event.step.role == Role::Call) {
            self.path.name_current(caller);
        }
    }

    fn root_name(&self, event: &Event, narration: &Narration) -> Option<String> {
        match event.step.role {
            Role::Call | Role::Return => narration.caller.clone(),
            _ => None,
        }
    }

    fn at_level(
        &mut self,
        depth: i64,
        function: Option<String>,
        file: &str,
        event: &Event,
        narration: &Narration,
    ) {
        while self.open.last().is_some_and(|(level, _)| *level > depth) {
            self.leave();
        }
        let here = self.path.current().map_or(String::new(), |frame| frame.function.clone());
        let level = self.open.last().map(|(level, _)| *level);
        let other = function.as_ref().is_some_and(|function| !here.is_empty() && *function != here);
        match level {
            Some(level) if level == depth && !other => {
                if here.is_empty()
                    && let Some(function) = &function
                {
                    self.path.name_current(function);
                }
                // Two calls of the same function one after the other: the second entry is a new activation.
                let again = event.step.role == Role::Entry
                    && self.path.last_step_mut().is_some_and(|step| step.role != Role::Call)
                    && self.open.len() > 1
                    && narration.caller.is_none();
                if again {
                    self.leave();
                    self.enter(here, file, depth);
                }
            }
            Some(level) if level == depth => {
                self.leave();
                self.enter(function.unwrap_or_default(), file, depth);
            }
            _ => {
                let name = function.or_else(|| self.callee.clone()).unwrap_or_default();
                self.enter(name, file, depth);
            }
        }
    }

    /// The function is known: back to its open activation, or into a new one.
    fn at_function(&mut self, function: String, file: &str, event: &Event) {
        let called = self.callee.as_ref().is_some_and(|callee| *callee == function || callee.is_empty());
        let current = self.path.current().map(|frame| frame.function.clone());
        if current.as_deref() == Some(&function) && !(called && event.step.role == Role::Entry) {
            return;
        }
        if current.as_deref() == Some("") {
            return self.path.name_current(&function);
        }
        if called {
            let level = self.open.len() as i64;
            return self.enter(function, file, level);
        }
        match self.path.innermost_named(&function) {
            Some(depth) => {
                while self.open.len() > depth + 1 {
                    self.leave();
                }
            }
            None => {
                // No word of a call: a function that comes back later is still open, any other has been left.
                while self.path.current().is_some_and(|frame| !self.comes_back(&frame.function)) {
                    self.leave();
                }
                if !self.open.is_empty() {
                    // Where it was called from is not told, and the step before need not be it.
                    self.path.step(Step::at(Role::Call, None));
                }
                let level = self.open.len() as i64;
                self.enter(function, file, level);
            }
        }
    }

    fn comes_back(&self, function: &str) -> bool {
        self.last_seen.get(function).is_some_and(|&last| last > self.now)
    }

    /// Nothing but words: a call that is followed by another place goes in; the place of the call again comes back.
    fn by_words(&mut self, file: &str, event: &Event, narration: &Narration) {
        let same_place = |place: &Option<Location>| matches!((place, &event.step.location), (Some(a), Some(b)) if (&a.file, a.line, a.column) == (&b.file, b.line, b.column));
        let returned = self.innermost_call_at(same_place).filter(|_| narration.role != Role::Call);
        if let Some(depth) = returned {
            while self.open.len() > depth {
                self.leave();
            }
        } else if let Some(callee) = self.callee.clone().filter(|callee| !callee.is_empty())
            && narration.role != Role::Return
        {
            let level = self.open.len() as i64;
            self.enter(callee, file, level);
        } else if narration.role == Role::Return && self.open.len() > 1 && narration.callee.is_some() {
            self.leave();
        } else if let Some(frame) = self.path.current()
            && !file.is_empty()
            && frame.file != file
            && frame.function.is_empty()
            && self.open.len() == 1
        {
            // Another file, and no word about how we got there: a piece of its own.
            self.leave();
            self.enter(String::new(), file, 0);
        }
    }

    /// The innermost open frame whose call is at a place; only so many are looked at.
    fn innermost_call_at(&self, here: impl Fn(&Option<Location>) -> bool) -> Option<usize> {
        let outermost = self.open.len().saturating_sub(MAX_DEPTH);
        (outermost..self.open.len()).rev().find(|&depth| here(&self.open[depth].1))
    }

    fn enter(&mut self, function: String, file: &str, level: i64) {
        let call = self
            .path
            .last_step_mut()
            .filter(|step| step.role == Role::Call)
            .and_then(|step| step.location.clone());
        let call = if self.open.is_empty() { None } else { call };
        self.path.enter(Frame::new(function, file));
        self.open.push((level, call));
    }

    fn leave(&mut self) {
        self.open.pop();
        self.path.leave();
    }
}
