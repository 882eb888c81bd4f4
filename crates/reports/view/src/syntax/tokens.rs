//! The words a page colours or makes clickable, by line.

use super::walk;
use tree_sitter::{Node, Tree};

/// How a word is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Class {
    Keyword,
    String,
    Number,
    Comment,
    Preprocessor,
    /// A name that may have a definition to reveal.
    Name,
    /// The name of a member, which may be a function's.
    Member,
}

/// A stretch of one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// The line, counted from one.
    pub line: u32,
    /// Where in the line it starts, in UTF-16 units as browsers count.
    pub start: u32,
    /// How long it is, in UTF-16 units.
    pub length: u32,
    /// Where it is in the text, in bytes.
    pub bytes: (u32, u32),
    /// How to show it.
    pub class: Class,
}

/// All tokens of a text, in order.
pub(super) fn collect(tree: &Tree, text: &str) -> Vec<Token> {
    let mut starts = vec![0];
    starts.extend(text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n').map(|(at, _)| at + 1));
    let mut tokens = Vec::new();
    let mut covered = 0; // Whatever lies inside a string or comment is part of it.
    let mut counted = (0, 0); // A place in the text, and how many UTF-16 units of its line lie before it.
    walk(tree, |node, _| {
        if node.start_byte() < covered {
            return;
        }
        let Some(class) = class(node) else { return };
        covered = node.end_byte();
        let last = node.end_position().row.min(starts.len() - 1);
        for row in node.start_position().row..=last {
            let line_end = starts.get(row + 1).map_or(text.len(), |next| next - 1);
            let from = node.start_byte().max(starts[row]);
            let to = node.end_byte().min(line_end);
            // Tokens come in order: on one line, count on from the last one.
            let (since, units) = if counted.0 >= starts[row] { counted } else { (starts[row], 0) };
            let (Some(between), Some(word)) = (text.get(since..from), text.get(from..to)) else { continue };
            let start = units + utf16(between);
            counted = (from, start);
            if !word.is_empty() {
                tokens.push(Token {
                    line: row as u32 + 1,
                    start,
                    length: utf16(word),
                    bytes: (from as u32, to as u32),
                    class,
                });
            }
        }
    });
    tokens
}

fn utf16(text: &str) -> u32 {
    if text.is_ascii() { text.len() as u32 } else { text.encode_utf16().count() as u32 }
}

fn class(node: Node) -> Option<Class> {
    let kind = node.kind();
    if !node.is_named() {
        return if kind.starts_with('#') {
            Some(Class::Preprocessor)
        } else if kind.len() > 1 && kind.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_') {
            Some(Class::Keyword)
        } else {
            None
        };
    }
    Some(match kind {
        "identifier" | "type_identifier" => Class::Name,
        "field_identifier" | "property_identifier" => Class::Member,
        "primitive_type"
        | "integral_type"
        | "floating_point_type"
        | "boolean_type"
        | "void_type"
        | "true"
        | "false"
        | "null"
        | "nil"
        | "none"
        | "this"
        | "self"
        | "super"
        | "auto"
        | "iota" => Class::Keyword,
        "preproc_directive" => Class::Preprocessor,
        "string_literal"
        | "char_literal"
        | "character_literal"
        | "raw_string_literal"
        | "interpreted_string_literal"
        | "system_lib_string"
        | "string"
        | "template_string"
        | "rune_literal"
        | "regex"
        | "byte_string_literal" => Class::String,
        "line_comment" | "block_comment" | "comment" => Class::Comment,
        "number"
        | "number_literal"
        | "integer"
        | "float"
        | "integer_literal"
        | "float_literal"
        | "int_literal"
        | "imaginary_literal"
        | "decimal_integer_literal"
        | "hex_integer_literal"
        | "octal_integer_literal"
        | "binary_integer_literal"
        | "decimal_floating_point_literal" => Class::Number,
        _ => return None,
    })
}
