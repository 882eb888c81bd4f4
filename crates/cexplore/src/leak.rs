//! Memory that nothing refers to when the program ends.

use parallax_llvm::machine::{Host, Kind, Machine, ObjectId, State, Target, Value};
use parallax_sem::Core;

/// What a leak is, in words.
pub const WORDS: &str = "memory that nothing refers to any more was not freed";

/// Heap objects that may still exist, and that no global, running frame, or object reached from these refers to.
pub fn leaked<C: Core, H: Host<C>>(machine: &Machine<'_, C, H>, state: &State<C>) -> Vec<ObjectId> {
    let mut seen = vec![false; state.memory.len()];
    let mut waiting = Vec::new();
    let mut note = |value: &Value<C>, waiting: &mut Vec<ObjectId>| {
        each_object(value, &mut |id| {
            if !std::mem::replace(&mut seen[id.0 as usize], true) {
                waiting.push(id);
            }
        })
    };
    for (_, object) in state.memory.objects() {
        let frame_lives = |function| state.frames.iter().any(|frame| frame.function == function);
        let root = match object.kind {
            Kind::Global | Kind::Input => true,
            Kind::Stack(function) => frame_lives(function),
            Kind::Heap => false,
        };
        if root {
            for (_, cell) in object.content.cells() {
                note(&cell.value, &mut waiting);
            }
        }
    }
    for frame in &state.frames {
        for value in frame.registers.iter().chain(&frame.slots).flatten() {
            note(value, &mut waiting);
        }
    }
    while let Some(id) = waiting.pop() {
        for (_, cell) in state.memory.object(id).content.cells() {
            note(&cell.value, &mut waiting);
        }
    }
    state
        .memory
        .objects()
        .filter(|(id, object)| {
            object.kind == Kind::Heap
                && machine.host.truth(&object.alive) != Some(false)
                && !seen[id.0 as usize]
        })
        .map(|(id, _)| id)
        .collect()
}

fn each_object<C: Core>(value: &Value<C>, each: &mut dyn FnMut(ObjectId)) {
    match value {
        Value::Part(pointer, _) => each_object(&Value::Pointer((**pointer).clone()), each),
        Value::Pointer(pointer) => {
            for entry in &pointer.entries {
                if let Target::Object(id) = entry.target {
                    each(id);
                }
            }
        }
        Value::Many(values) => values.iter().for_each(|value| each_object(value, each)),
        Value::Bits(_) => {}
    }
}
