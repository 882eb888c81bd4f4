//! Looking into JSON that others wrote: what is missing or of another kind counts as absent.

use crate::Location;
use serde_json::Value;

/// The string at a pointer, or an empty one.
pub(crate) fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// The string at a pointer, if it is there and not empty.
pub(crate) fn some_text(value: &Value, pointer: &str) -> Option<String> {
    Some(text(value, pointer)).filter(|text| !text.is_empty()).map(str::to_owned)
}

/// The number at a pointer; also when it stands in quotes. What does not fit counts as absent.
pub(crate) fn number(value: &Value, pointer: &str) -> Option<u32> {
    match value.pointer(pointer)? {
        Value::Number(_) => whole(value.pointer(pointer)?).and_then(|number| u32::try_from(number).ok()),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// A whole number, however it is written: to JSON Schema, 3.0 is an integer.
pub(crate) fn whole(value: &Value) -> Option<i64> {
    /// Beyond this a float may stand for several numbers.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let float = || value.as_f64().filter(|float| float.fract() == 0.0 && float.abs() < EXACT);
    value.as_i64().or_else(|| float().map(|float| float as i64))
}

/// The array at a pointer, or an empty one.
pub(crate) fn items<'a>(value: &'a Value, pointer: &str) -> &'a [Value] {
    value.pointer(pointer).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// A place, from a file and the pointers to its line and column.
pub(crate) fn place(value: &Value, file: &str, line: &str, column: &str) -> Option<Location> {
    let file = text(value, file);
    (!file.is_empty()).then(|| Location {
        file: file.to_owned(),
        line: number(value, line),
        column: number(value, column),
        ..Location::default()
    })
}
