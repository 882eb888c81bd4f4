//! Memory that nothing refers to when the program ends.

use parallax_cmachine::{Host, Kind, Machine, ObjectId, State, Target, Value};
use parallax_op::BoolOp;
use parallax_path::Split;
use parallax_sem::Core;
use std::collections::VecDeque;

/// What a leak is, in words.
pub const WORDS: &str = "memory that nothing refers to any more was not freed";

/// Heap objects that may still exist while no global, running frame, or object reached from these refers to them, each
/// with the condition for that. Where states were merged a pointer refers to an object only under its condition.
pub fn leaked<C: Core, H: Host<C>>(
    machine: &mut Machine<'_, C, H>,
    state: &State<C>,
) -> Vec<(ObjectId, C::Bool)> {
    if !state.memory.objects().any(|(_, object)| object.kind == Kind::Heap) {
        return Vec::new();
    }
    let mut reached = Reached { when: vec![None; state.memory.len()], waiting: VecDeque::new() };
    let always = machine.host.core().boolean(true);
    for (_, object) in state.memory.objects() {
        let frame_lives = |function| state.frames.iter().any(|frame| frame.function == function);
        let root = match object.kind {
            Kind::Global | Kind::Input => true,
            Kind::Stack(function) => frame_lives(function),
            Kind::Heap => false,
        };
        if root {
            object.content.each_value(&mut |value| reached.note(machine, state, &always, value));
        }
    }
    for frame in &state.frames {
        for value in frame.registers.iter().chain(&frame.slots).flatten() {
            reached.note(machine, state, &always, value);
        }
    }
    while let Some(id) = reached.waiting.pop_front() {
        let Some(under) = reached.when[id.0 as usize].clone() else { continue };
        let object = state.memory.object(id);
        object.content.each_value(&mut |value| reached.note(machine, state, &under, value));
    }
    let core = machine.host.core();
    let mut lost = Vec::new();
    for (id, object) in state.memory.objects().filter(|(_, object)| object.kind == Kind::Heap) {
        let gone = match &reached.when[id.0 as usize] {
            Some(when) => core.boolop(BoolOp::And, &object.alive, &core.not(when)),
            None => object.alive.clone(),
        };
        if machine.host.truth(&gone) != Some(false) {
            lost.push((id, gone));
        }
    }
    lost
}

/// Under which condition each object is referred to, as far as is known.
struct Reached<C: Core> {
    when: Vec<Option<C::Bool>>,
    waiting: VecDeque<ObjectId>,
}

impl<C: Core> Reached<C> {
    /// A value that is there under a condition refers to objects.
    fn note<H: Host<C>>(
        &mut self,
        machine: &mut Machine<'_, C, H>,
        state: &State<C>,
        under: &C::Bool,
        value: &Value<C>,
    ) {
        let pointer = match value {
            Value::Part(pointer, _) => pointer.as_ref(),
            Value::Pointer(pointer) => pointer,
            Value::Many(values) => {
                return values.iter().for_each(|value| self.note(machine, state, under, value));
            }
            Value::Bits(_) => return,
        };
        for entry in &pointer.entries {
            let Target::Object(id) = entry.target else { continue };
            let core = machine.host.core();
            let here = core.boolop(BoolOp::And, under, &entry.guard);
            if machine.host.truth(&here) == Some(false) {
                continue;
            }
            let either = match &self.when[id.0 as usize] {
                None => here,
                Some(known) if machine.host.truth(known) == Some(true) => continue,
                Some(known) => {
                    // A ring of objects would otherwise go round for ever.
                    let nothing_new = core.boolop(BoolOp::Implies, &here, known);
                    let either = core.boolop(BoolOp::Or, known, &here);
                    match machine.host.split(&state.path, &nothing_new) {
                        Split::True | Split::Neither => continue,
                        Split::False | Split::Both => either,
                    }
                }
            };
            self.when[id.0 as usize] = Some(either);
            self.waiting.push_back(id);
        }
    }
}
