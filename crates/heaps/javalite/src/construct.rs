//! A concrete input heap as a program that builds it, calls the method and asserts what came out.

use crate::machine::Task;
use crate::syntax::Program;
use crate::{Ending, Replay};
use parallax_engines::Value;
use parallax_heap::{InputHeap, InputValue};
use parallax_source::SourceFile;
use std::fmt::Write;

/// The text of a test: the classes of `file`, and one more whose method `test` is the test.
///
/// The expected result is what the concrete machine gave, which `replay` holds.
pub fn program(file: &SourceFile, task: &Task, input: &InputHeap, replay: &Replay) -> String {
    let program = &task.program;
    let mut text = String::new();
    for span in &program.class_spans {
        let _ = writeln!(text, "{}\n", file.slice(*span));
    }
    let mut class = "Test".to_owned();
    while program.class_named(&class).is_some() {
        class.push('_');
    }
    let method = program.method(task.method);
    let (declarations, fields) = objects(program, input);
    let arguments: Vec<String> =
        input.objects[1].fields.iter().map(|value| format!(" {}", literal(*value))).collect();
    let call = format!("(o0 @ {}{})", program.name(method.name), arguments.concat());
    let expected = match (replay.trace.ending, replay.value()) {
        (Ending::Value, Some(Value::Bool(b))) => Some(b.to_string()),
        (Ending::Value, Some(Value::Int(int))) => int.to_i128().map(|int| int.to_string()),
        (Ending::Value, Some(Value::Ref(None))) => Some("null".into()),
        (Ending::Value, Some(Value::Ref(Some(at)))) if *at < input.objects.len() => Some(format!("o{at}")),
        _ => None,
    };
    let check = match (&expected, replay.trace.ending) {
        (Some(value), _) => format!("(assert ({call} = {value}))"),
        (None, Ending::Value) => format!("(assert (not ({call} = null)))"),
        (None, _) => format!("(begin {call} true)"),
    };
    let rep_ok =
        task.rep_ok.map(|id| format!("      (assert (o0 @ {}))\n", program.name(program.method(id).name)));
    let _ = writeln!(text, "; expected: {}", crate::describe::ending(&replay.trace));
    let _ = writeln!(text, "(class {class} ()\n  ((bool test");
    for line in &declarations {
        let _ = writeln!(text, "    {line}");
    }
    text.push_str("    (begin\n");
    for line in fields {
        let _ = writeln!(text, "      {line}");
    }
    text.push_str(&rep_ok.unwrap_or_default());
    let _ = writeln!(text, "      {check}){})))", ")".repeat(declarations.len()));
    let _ = writeln!(text, "({class} test)");
    text
}

fn literal(value: InputValue) -> String {
    match value {
        InputValue::Null => "null".into(),
        InputValue::Object(at) => format!("o{at}"),
        InputValue::Bits(bits) => (bits as i32).to_string(),
        InputValue::Bool(b) => b.to_string(),
    }
}

/// A declaration for every object but the parameters, and an assignment for every field that is not its default.
fn objects(program: &Program, input: &InputHeap) -> (Vec<String>, Vec<String>) {
    let (mut declarations, mut fields) = (Vec::new(), Vec::new());
    for (at, object) in input.objects.iter().enumerate().filter(|(at, _)| *at != 1) {
        let class = &program.classes[object.class.0 as usize];
        let (ty, made) = match class.element {
            None => (class.name.clone(), format!("(new {})", class.name)),
            Some(element) => {
                let element = program.type_name(element);
                (class.name.clone(), format!("(array {element} {})", object.fields.len()))
            }
        };
        declarations.push(format!("(var {ty} o{at} := {made} in"));
        for (field, value) in object.fields.iter().enumerate() {
            if matches!(value, InputValue::Null | InputValue::Bits(0) | InputValue::Bool(false)) {
                continue;
            }
            let value = literal(*value);
            fields.push(match class.element {
                None => format!("(o{at} $ {} := {value})", program.name(class.fields[field].name)),
                Some(_) => format!("(o{at} # {field} := {value})"),
            });
        }
    }
    (declarations, fields)
}
