//! Folding (section 2.2.2 of the chapter): around a line of interest stay the opening and closing lines of the
//! blocks that enclose it, their guards and their `else` lines, and the head and end of the function.

use super::language::{Part, part};
use super::{Block, Function, Guard, Lines, Outline, lines_of, text_of};
use tree_sitter::Node;

/// Adds what `node` contributes to the functions and blocks of the outline.
pub(super) fn visit(node: Node, parent: Option<Node>, text: &str, outline: &mut Outline) {
    if !node.is_named() {
        return;
    }
    guard(node, outline);
    let part = part(node.kind());
    match part {
        Part::Function => {
            let lines = lines_of(node);
            if let Some(name) = function_name(node, text) {
                outline.functions.push(Function { name, lines });
            }
            block(node, lines, outline);
        }
        Part::Construct | Part::Conditional => {
            // An `if` in an `else` belongs to the chain that its first `if` already covers.
            if !parent.is_some_and(|parent| continues_a_chain(node, parent)) {
                block(node, lines_of(node), outline);
            }
        }
        Part::Case => {
            let lines = lines_of(node);
            if lines.count() > 1 {
                outline.blocks.push(Block { lines, skeleton: vec![lines.first] });
            }
        }
        Part::Block => {
            // A block that stands alone, as in C's `{ ... }` among statements.
            if parent.is_some_and(|parent| super::language::part(parent.kind()) == Part::Block) {
                block(node, lines_of(node), outline);
            }
        }
        Part::Other => {}
    }
}

/// Conditions are told by their fields, which the grammars of C and its kin share.
fn guard(node: Node, outline: &mut Outline) {
    let body = ["consequence", "body"].into_iter().find_map(|field| node.child_by_field_name(field));
    let conditional = matches!(
        node.kind(),
        "if_statement" | "while_statement" | "for_statement" | "if_expression" | "while_expression"
    );
    let Some(body) = body.filter(|_| conditional) else { return };
    let lines = lines_of(body);
    // The brace may stand on the line of the condition; what it opens begins below.
    let braced =
        body.kind() == "compound_statement" || body.kind() == "block" || body.kind() == "statement_block";
    let first = if braced { lines.first + 1 } else { lines.first };
    let condition =
        node.child_by_field_name("condition").map_or(lines.first, |condition| lines_of(condition).last);
    let head = Lines { first: lines_of(node).first, last: condition.min(lines.first) };
    if head.last < first && first <= lines.last {
        outline.guards.push(Guard { head, body: Lines { first, last: lines.last } });
    }
}

fn block(node: Node, lines: Lines, outline: &mut Outline) {
    if lines.count() > 1 {
        outline.blocks.push(Block { lines, skeleton: skeleton(node) });
    }
}

fn continues_a_chain(node: Node, parent: Node) -> bool {
    match parent.kind() {
        "else_clause" => is_if(node),
        "preproc_if" | "preproc_ifdef" | "preproc_elif" | "preproc_elifdef" => {
            matches!(node.kind(), "preproc_else" | "preproc_elif" | "preproc_elifdef")
        }
        _ => is_if(node) && is_if(parent) && parent.child_by_field_name("alternative") == Some(node),
    }
}

fn is_if(node: Node) -> bool {
    matches!(node.kind(), "if_statement" | "if_expression")
}

/// The lines of every token of a construct that is not inside one of its bodies.
fn skeleton(construct: Node) -> Vec<u32> {
    let mut lines = Vec::new();
    let mut pending = vec![construct];
    while let Some(node) = pending.pop() {
        if node.child_count() == 0 {
            let covered = lines_of(node);
            lines.extend(covered.first..=covered.last.min(covered.first + 16));
            continue;
        }
        let inside_block = part(node.kind()) == Part::Block;
        let conditional = part(node.kind()) == Part::Conditional;
        let mut cursor = node.walk();
        if !cursor.goto_first_child() {
            continue;
        }
        loop {
            let child = cursor.node();
            let hidden = if !child.is_named() {
                false
            } else if inside_block || child.kind().contains("comment") {
                true
            } else if conditional {
                !matches!(cursor.field_name(), Some("name" | "condition" | "alternative"))
            } else {
                is_content(node, child, cursor.field_name())
            };
            if !hidden {
                pending.push(child);
            }
            if !cursor.goto_next_sibling() {
                break;
            }
        }
    }
    lines.sort_unstable();
    lines.dedup();
    lines
}

/// Whether `child` is the inside of a body rather than part of the construct's frame.
fn is_content(parent: Node, child: Node, field: Option<&str>) -> bool {
    if part(child.kind()) == Part::Block {
        return false; // Its delimiters count; its children are skipped when we get there.
    }
    match field {
        Some("body" | "consequence") => true,
        Some("alternative") => !(is_if(child) || child.kind().ends_with("_clause")),
        _ if parent.kind() == "else_clause" => !is_if(child),
        // Cases of a Go switch are direct children of it.
        _ => part(child.kind()) == Part::Case,
    }
}

/// The name a function is defined under.
pub(super) fn function_name(node: Node, text: &str) -> Option<String> {
    let mut at = node.child_by_field_name("name").or_else(|| node.child_by_field_name("declarator"))?;
    // C and C++ wrap the name in declarators: `*f(int)`, `C::f()`, `operator+`.
    for _ in 0..64 {
        let inner = match at.kind() {
            "qualified_identifier" => at.child_by_field_name("name"),
            _ => at.child_by_field_name("declarator").or_else(|| {
                matches!(at.kind(), "reference_declarator" | "parenthesized_declarator")
                    .then(|| at.named_child(0))
                    .flatten()
            }),
        };
        match inner {
            Some(inner) => at = inner,
            None => break,
        }
    }
    let name = text_of(at, text).trim();
    (!name.is_empty() && name.len() <= 400).then(|| name.to_owned())
}
