//! Operations of lifted code as JSON structures: the kind, the operator, and each place by its role.

use parallax_ir::{Op, Processor, Space, Varnode};
use serde_json::{Map, Value, json};

/// An operation, with its text beside the structure.
pub fn json(op: &Op, processor: &Processor) -> Value {
    use Op::*;
    let at = |varnode: &Varnode| place(*varnode, processor);
    let maybe = |varnode: &Option<Varnode>| varnode.as_ref().map_or(Value::Null, at);
    let name = |operator: &dyn std::fmt::Debug| json!(format!("{operator:?}").to_lowercase());
    let (kind, parts): (&str, Vec<(&str, Value)>) = match op {
        Copy { out, a } => ("copy", vec![("out", at(out)), ("a", at(a))]),
        Un { op, out, a } => ("unary", vec![("op", name(op)), ("out", at(out)), ("a", at(a))]),
        Bin { op, out, a, b } => {
            ("binary", vec![("op", name(op)), ("out", at(out)), ("a", at(a)), ("b", at(b))])
        }
        Rel { op, out, a, b } => {
            ("relation", vec![("op", name(op)), ("out", at(out)), ("a", at(a)), ("b", at(b))])
        }
        Bool { op, out, a, b } => {
            ("boolean", vec![("op", name(op)), ("out", at(out)), ("a", at(a)), ("b", at(b))])
        }
        BoolNot { out, a } => ("boolean_not", vec![("out", at(out)), ("a", at(a))]),
        Carry { out, a, b } => ("carry", vec![("out", at(out)), ("a", at(a)), ("b", at(b))]),
        SignedCarry { out, a, b } => ("signed_carry", vec![("out", at(out)), ("a", at(a)), ("b", at(b))]),
        SignedBorrow { out, a, b } => ("signed_borrow", vec![("out", at(out)), ("a", at(a)), ("b", at(b))]),
        Zext { out, a } => ("zero_extend", vec![("out", at(out)), ("a", at(a))]),
        Sext { out, a } => ("sign_extend", vec![("out", at(out)), ("a", at(a))]),
        Extract { out, a, low } => ("extract", vec![("out", at(out)), ("a", at(a)), ("low", json!(low))]),
        Concat { out, high, low } => ("concat", vec![("out", at(out)), ("high", at(high)), ("low", at(low))]),
        Select { out, when, then, otherwise } => (
            "select",
            vec![("out", at(out)), ("when", at(when)), ("then", at(then)), ("otherwise", at(otherwise))],
        ),
        FloatNeg { out, a } => ("float_negate", vec![("out", at(out)), ("a", at(a))]),
        FloatAbs { out, a } => ("float_abs", vec![("out", at(out)), ("a", at(a))]),
        FloatUn { op, rounding, out, a } => (
            "float_unary",
            vec![("op", name(op)), ("rounding", name(rounding)), ("out", at(out)), ("a", at(a))],
        ),
        FloatBin { op, out, a, b } => {
            ("float_binary", vec![("op", name(op)), ("out", at(out)), ("a", at(a)), ("b", at(b))])
        }
        FloatRel { op, out, a, b } => {
            ("float_relation", vec![("op", name(op)), ("out", at(out)), ("a", at(a)), ("b", at(b))])
        }
        FloatIsNan { out, a } => ("float_is_nan", vec![("out", at(out)), ("a", at(a))]),
        FloatFromInt { out, a } => ("float_from_int", vec![("out", at(out)), ("a", at(a))]),
        FloatToInt { rounding, out, a } => {
            ("float_to_int", vec![("rounding", name(rounding)), ("out", at(out)), ("a", at(a))])
        }
        FloatToFloat { out, a } => ("float_to_float", vec![("out", at(out)), ("a", at(a))]),
        Load { out, address } => ("load", vec![("out", at(out)), ("address", at(address))]),
        Store { address, value } => ("store", vec![("address", at(address)), ("value", at(value))]),
        Branch { when, to } => ("branch", vec![("when", maybe(when)), ("to", json!(to))]),
        Jump { when, to, flow } => {
            ("jump", vec![("when", maybe(when)), ("to", at(to)), ("flow", name(flow))])
        }
        Intrinsic { call, out, args } => (
            "intrinsic",
            vec![
                ("call", json!(format!("{call:?}"))),
                ("out", maybe(out)),
                ("args", args.iter().map(at).collect()),
            ],
        ),
        Trap { when, trap } => ("trap", vec![("when", maybe(when)), ("trap", name(trap))]),
    };
    let mut object = Map::new();
    object.insert("kind".to_owned(), json!(kind));
    object.extend(parts.into_iter().map(|(role, value)| (role.to_owned(), value)));
    object.insert("text".to_owned(), json!(op.display(processor).to_string()));
    Value::Object(object)
}

/// A place that an operation reads or writes.
fn place(varnode: Varnode, processor: &Processor) -> Value {
    let Varnode { offset, bytes, space } = varnode;
    match space {
        Space::Constant => json!({ "space": "constant", "value": format!("{offset:#x}"), "bytes": bytes }),
        Space::Temporary => json!({ "space": "temporary", "offset": offset, "bytes": bytes }),
        Space::Register => {
            let name = processor.register_at(varnode).map(|register| register.name.clone());
            json!({ "space": "register", "name": name, "offset": offset, "bytes": bytes })
        }
    }
}
