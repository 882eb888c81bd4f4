//! What a text defines: the index behind "reveal definition".

use super::{Lines, lines_of, text_of};
use tree_sitter::Node;

/// What kind of thing is defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Kind {
    Function,
    Type,
    Macro,
    Variable,
    Constant,
    Local,
    Parameter,
    /// A prototype: better than nothing where the body is not in sight.
    Declaration,
}

impl Kind {
    /// How the page calls it.
    pub fn label(self) -> &'static str {
        match self {
            Kind::Function => "function",
            Kind::Type => "type",
            Kind::Macro => "macro",
            Kind::Variable => "variable",
            Kind::Constant => "constant",
            Kind::Local => "local variable",
            Kind::Parameter => "parameter",
            Kind::Declaration => "declaration",
        }
    }
}

/// Where a name is defined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// The name.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// The lines of the definition.
    pub lines: Lines,
    /// Where it can be seen, when that is one function only.
    pub scope: Option<Lines>,
}

/// Adds what `node` defines; `function` is the function around it.
pub(super) fn visit(
    node: Node,
    parent: Option<Node>,
    text: &str,
    function: Option<Lines>,
    into: &mut Vec<Definition>,
) {
    let variable = if function.is_some() { Kind::Local } else { Kind::Variable };
    match node.kind() {
        "function_definition"
        | "function_item"
        | "function_declaration"
        | "generator_function_declaration"
        | "method_declaration"
        | "constructor_declaration"
        | "method_definition" => {
            if let Some(name) = super::blocks::function_name(node, text) {
                // A function is seen from everywhere, even from where it is nested.
                push(into, &name, Kind::Function, lines_of(node), None);
            }
        }
        "declaration" => {
            let mut cursor = node.walk();
            let external = node.child(0).is_some_and(|first| {
                first.kind() == "storage_class_specifier" && text_of(first, text) == "extern"
            });
            for declarator in node.children_by_field_name("declarator", &mut cursor) {
                let (name, prototype) = declared(declarator);
                let prototype = prototype || (external && declarator.kind() != "init_declarator");
                let kind = if prototype { Kind::Declaration } else { variable };
                let scope = if prototype { None } else { function };
                push(into, text_of(name, text), kind, lines_of(node), scope);
            }
        }
        "type_definition" => {
            let mut cursor = node.walk();
            for declarator in node.children_by_field_name("declarator", &mut cursor) {
                push(into, text_of(declared(declarator).0, text), Kind::Type, lines_of(node), None);
            }
        }
        "struct_specifier" | "union_specifier" | "enum_specifier" | "class_specifier"
            if node.child_by_field_name("body").is_some() =>
        {
            named(node, text, Kind::Type, None, into);
        }
        "class_declaration"
        | "interface_declaration"
        | "enum_declaration"
        | "record_declaration"
        | "class_definition"
        | "struct_item"
        | "enum_item"
        | "union_item"
        | "trait_item"
        | "type_item"
        | "type_spec"
        | "alias_declaration" => named(node, text, Kind::Type, None, into),
        "preproc_def" | "preproc_function_def" | "macro_definition" => {
            named(node, text, Kind::Macro, None, into);
        }
        "enumerator" | "enum_constant" | "enum_variant" => named(node, text, Kind::Constant, None, into),
        "const_item" | "static_item" => named(node, text, variable, function, into),
        "variable_declarator" | "var_spec" | "const_spec" => {
            let mut cursor = node.walk();
            let lines = parent.map_or(lines_of(node), lines_of);
            let lines = if lines.count() > 12 { lines_of(node) } else { lines };
            for name in node.children_by_field_name("name", &mut cursor) {
                push_pattern(into, name, text, variable, lines, function);
            }
        }
        "let_declaration" => pattern(node, "pattern", text, Kind::Local, function, into),
        "short_var_declaration" => pattern(node, "left", text, Kind::Local, function, into),
        "assignment" => {
            if let Some(left) = node.child_by_field_name("left").filter(|left| left.kind() == "identifier") {
                push(into, text_of(left, text), variable, lines_of(node), function);
            }
        }
        // The parameters of a prototype are seen nowhere.
        "parameter_declaration" | "optional_parameter_declaration" | "formal_parameter" | "parameter"
            if function.is_some() =>
        {
            for field in ["declarator", "name", "pattern"] {
                if let Some(inner) = node.child_by_field_name(field) {
                    push(into, text_of(declared(inner).0, text), Kind::Parameter, lines_of(node), function);
                }
            }
        }
        _ => {}
    }
}

fn push(into: &mut Vec<Definition>, name: &str, kind: Kind, lines: Lines, scope: Option<Lines>) {
    let plain = name.chars().all(|c| c.is_alphanumeric() || "_$".contains(c));
    if plain && !name.is_empty() && name.len() <= 200 {
        into.push(Definition { name: name.to_owned(), kind, lines, scope });
    }
}

fn named(node: Node, text: &str, kind: Kind, scope: Option<Lines>, into: &mut Vec<Definition>) {
    if let Some(name) = node.child_by_field_name("name") {
        push(into, text_of(name, text), kind, lines_of(node), scope);
    }
}

fn pattern(
    node: Node,
    field: &str,
    text: &str,
    kind: Kind,
    scope: Option<Lines>,
    into: &mut Vec<Definition>,
) {
    if let Some(left) = node.child_by_field_name(field) {
        push_pattern(into, left, text, kind, lines_of(node), scope);
    }
}

/// Every identifier a pattern binds; at most a few dozen, so that a generated tuple does not flood the index.
fn push_pattern(
    into: &mut Vec<Definition>,
    left: Node,
    text: &str,
    kind: Kind,
    lines: Lines,
    scope: Option<Lines>,
) {
    let mut pending = vec![left];
    for _ in 0..64 {
        let Some(node) = pending.pop() else { break };
        if matches!(node.kind(), "identifier" | "shorthand_property_identifier_pattern") {
            push(into, text_of(node, text), kind, lines, scope);
        }
        let mut cursor = node.walk();
        pending.extend(node.named_children(&mut cursor).take(64));
    }
}

/// The name inside C's declarators, and whether it declares a function.
fn declared(declarator: Node) -> (Node, bool) {
    let mut at = declarator;
    let mut prototype = false;
    for _ in 0..64 {
        prototype |= at.kind() == "function_declarator";
        // A pointer to a function is a variable.
        if prototype && at.kind() == "parenthesized_declarator" {
            prototype = false;
        }
        let wrapped = matches!(at.kind(), "reference_declarator" | "parenthesized_declarator");
        let inner =
            at.child_by_field_name("declarator").or_else(|| if wrapped { at.named_child(0) } else { None });
        match inner {
            Some(inner) => at = inner,
            None => break,
        }
    }
    (at, prototype)
}
