//! Concrete heaps as people and programs read them, whatever language they come from.

use parallax_heap::{ClassId, FieldKind, InputHeap, InputValue, Universe};
use serde_json::{Map, Value as Json, json};
use std::fmt::Write;

/// A number of a field, with its sign.
fn signed(universe: &Universe, class: ClassId, field: usize, bits: u64) -> i64 {
    match universe.kind(class, field) {
        FieldKind::Bits(width @ 1..64) => (bits << (64 - width)) as i64 >> (64 - width),
        _ => bits as i64,
    }
}

/// The heap as JSON: objects by number, `this` is 0.
pub fn json(universe: &Universe, input: &InputHeap) -> Json {
    let value = |class: ClassId, field: usize, value: &InputValue| match *value {
        InputValue::Null => Json::Null,
        InputValue::Object(at) => json!({"object": at}),
        InputValue::Bits(bits) => json!(signed(universe, class, field, bits)),
        InputValue::Bool(b) => json!(b),
    };
    let values = |at: usize| -> Vec<Json> {
        let object = &input.objects[at];
        let fields = object.fields.iter().enumerate();
        fields.map(|(field, held)| value(object.class, field, held)).collect()
    };
    let mut objects = Vec::new();
    for (at, object) in input.objects.iter().enumerate().filter(|(at, _)| *at != 1) {
        let class = universe.class(object.class);
        let content = match class.element {
            Some(_) => ("elements", Json::Array(values(at))),
            None => {
                let names = class.fields.iter().map(|field| field.name.clone());
                ("fields", Json::Object(names.zip(values(at)).collect::<Map<String, Json>>()))
            }
        };
        objects.push(json!({"id": at, "class": class.name, "path": object.path, content.0: content.1}));
    }
    json!({"this": 0, "arguments": values(1), "objects": objects})
}

/// The heap as text, one line for each object.
pub fn text(universe: &Universe, input: &InputHeap) -> String {
    let name = |class: ClassId, field: usize, value: &InputValue| match *value {
        InputValue::Null => "null".to_owned(),
        InputValue::Object(0) => "this".to_owned(),
        InputValue::Object(at) => format!("o{at}"),
        InputValue::Bits(bits) => signed(universe, class, field, bits).to_string(),
        InputValue::Bool(b) => b.to_string(),
    };
    let values = |at: usize| -> Vec<String> {
        let object = &input.objects[at];
        let fields = object.fields.iter().enumerate();
        fields.map(|(field, held)| name(object.class, field, held)).collect()
    };
    let mut text = String::new();
    for (at, object) in input.objects.iter().enumerate().filter(|(at, _)| *at != 1) {
        let class = universe.class(object.class);
        let label = if at == 0 { "this".to_owned() } else { format!("o{at}") };
        let fields: Vec<String> = match class.element {
            Some(_) => values(at),
            None => {
                let named = class.fields.iter().zip(values(at));
                named.map(|(field, value)| format!("{} = {value}", field.name)).collect()
            }
        };
        let _ = writeln!(text, "  {label}: {} {{ {} }}", class.name, fields.join(", "));
    }
    let arguments = values(1);
    if !arguments.is_empty() {
        let _ = writeln!(text, "  arguments: {}", arguments.join(", "));
    }
    text
}
