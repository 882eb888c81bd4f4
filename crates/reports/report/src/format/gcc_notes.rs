//! The notes that gcc prints for the events of a path with `-fdiagnostics-path-format=separate-events`:
//!
//! ```text
//! guests.c:78:5: note: (2) calling 'add' from 'main'
//! ```
//!
//! They are numbered. How deep an event lies is told only where `-fdiagnostics-show-path-depths` asks for it; otherwise
//! the words tell it, for gcc names both functions at each call and at each return.

use super::message::Message;
use crate::flow::Event;
use crate::narration::{Narration, understand};
use crate::{Role, Step};
use regex::Regex;
use std::sync::LazyLock;

static NUMBERED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"^\(\d+\) (?<words>.*?)(?: \((?:fndecl [‘'](?<function>[^’']+)[’'], )?depth (?<depth>-?\d+)\))?$",
    )
    .expect("well-formed")
});

/// Takes the numbered notes out of those of a warning and makes events of them. Where none names a function, all are in
/// the one that the warning stands `inside`.
pub(super) fn events(notes: &mut Vec<Message>, inside: &str) -> Vec<Event> {
    let mut open = Open::default();
    let mut events = Vec::new();
    notes.retain(|note| {
        let Some(captures) = NUMBERED.captures(&note.words) else { return true };
        let words = &captures["words"];
        let step = Step::at(Role::Note, Some(note.at.clone())).with_message(words);
        let group = |name: &str| captures.name(name).map(|group| group.as_str());
        events.push(match group("depth").and_then(|depth| depth.parse().ok()) {
            Some(depth) => Event { step, depth: Some(depth), function: group("function").map(str::to_owned) },
            None => {
                let (depth, function) = open.after(&understand(words));
                Event { step, depth: Some(depth), function }
            }
        });
        false
    });
    if !inside.is_empty() && events.iter().all(|event| event.function.is_none()) {
        events.iter_mut().for_each(|event| event.function = Some(inside.to_owned()));
    }
    events
}

/// The functions that are open, outermost first, each with its depth; a name that is not known yet is empty.
#[derive(Default)]
struct Open {
    functions: Vec<(i64, String)>,
    called: bool,
}

impl Open {
    /// Where an event lies that says so.
    fn after(&mut self, says: &Narration) -> (i64, Option<String>) {
        let caller = says.caller.clone().unwrap_or_default();
        let (depth, here) = self.functions.last().cloned().unwrap_or_default();
        match says.role {
            Role::Entry if self.called || self.functions.is_empty() => {
                let callee = says.callee.clone().unwrap_or_default();
                self.functions.push((depth + i64::from(self.called), callee));
            }
            Role::Return if !caller.is_empty() => {
                let around = self.functions.len().saturating_sub(1);
                match self.functions[..around].iter().rposition(|(_, name)| *name == caller) {
                    Some(at) => self.functions.truncate(at + 1),
                    // The path begins inside the function that it returns from.
                    None => self.functions = vec![(depth - 1, caller)],
                }
            }
            _ if self.functions.is_empty() => self.functions.push((depth, caller)),
            Role::Call if here.is_empty() => {
                self.functions.pop();
                self.functions.push((depth, caller));
            }
            _ => {}
        }
        self.called = says.role == Role::Call;
        let (depth, name) = self.functions.last().cloned().unwrap_or_default();
        (depth, Some(name).filter(|name| !name.is_empty()))
    }
}
