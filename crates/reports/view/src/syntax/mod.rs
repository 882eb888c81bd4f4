//! What a source text looks like to a reader who folds it: functions, blocks, names, tokens.
//!
//! The trees come from tree-sitter, which reads anything, broken code included. Texts in other languages, and texts
//! too large to parse in a moment, are folded by their indentation.

mod blocks;
mod branches;
mod heads;
mod hints;
mod indent;
mod language;
mod names;
#[cfg(test)]
mod tests;
mod tokens;

pub use hints::{Sought, may_define};
pub use language::Language;
pub use names::{Definition, Kind};
pub use tokens::{Class, Token};

use std::collections::HashSet;
use tree_sitter::{Node, Parser, Tree};

/// Texts larger than this are folded by indentation.
pub const LARGEST_PARSED: usize = 4 << 20;

/// An inclusive range of lines, counted from one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lines {
    /// The first line.
    pub first: u32,
    /// The last line.
    pub last: u32,
}

impl Lines {
    /// Whether `line` is inside.
    pub fn contains(self, line: u32) -> bool {
        self.first <= line && line <= self.last
    }

    /// How many lines there are.
    pub fn count(self) -> u32 {
        self.last + 1 - self.first
    }
}

/// A function with its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name, unqualified.
    pub name: String,
    /// From head to end.
    pub lines: Lines,
}

/// A delimited stretch of code: to show a line inside it, show these lines too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// All of it.
    pub lines: Lines,
    /// Opening and closing lines, guards, and `else` lines, ascending.
    pub skeleton: Vec<u32>,
}

/// A condition and what it guards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard {
    /// From the keyword to the end of the condition.
    pub head: Lines,
    /// What runs when it holds.
    pub body: Lines,
}

/// Everything we know about the shape of one text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    /// Functions in source order; an inner one follows the one it is nested in.
    pub functions: Vec<Function>,
    /// Blocks in no particular order.
    pub blocks: Vec<Block>,
    /// Conditions whose bodies stand on lines of their own, in source order.
    pub guards: Vec<Guard>,
    /// What the text defines.
    pub definitions: Vec<Definition>,
    /// Coloured and clickable words, in source order.
    pub tokens: Vec<Token>,
}

impl Outline {
    /// The shape of `text`, a file called `name`.
    pub fn of(name: &str, text: &str) -> Outline {
        match Language::of(name) {
            Some(language) if text.len() <= LARGEST_PARSED => parse(language, text)
                .map(|tree| {
                    let mut outline = Outline::from_tree(&tree, text);
                    branches::mend(language, &tree, text, &mut outline);
                    outline
                })
                .unwrap_or_else(|| indent::outline(text)),
            _ => indent::outline(text),
        }
    }

    fn from_tree(tree: &Tree, text: &str) -> Outline {
        let mut outline = Outline::default();
        // The functions around the node being visited: how deep each one is, and its lines.
        let mut around: Vec<(usize, Lines)> = Vec::new();
        walk(tree, |node, ancestors| {
            while around.last().is_some_and(|&(depth, _)| depth >= ancestors.len()) {
                around.pop();
            }
            blocks::visit(node, ancestors.last().copied(), text, &mut outline);
            let function = around.last().map(|&(_, lines)| lines);
            let is_function = language::part(node.kind()) == language::Part::Function;
            let scope = if is_function { None } else { function };
            names::visit(node, ancestors.last().copied(), text, scope, &mut outline.definitions);
            if is_function {
                around.push((ancestors.len(), lines_of(node)));
            }
        });
        outline.tokens = tokens::collect(tree, text);
        outline
    }

    /// `lines` together with the comment that stands right above them, if it is short.
    pub fn with_comment(&self, text: &str, lines: Lines) -> Lines {
        let from = self.tokens.partition_point(|token| token.line + 12 < lines.first);
        let alone: HashSet<u32> = self.tokens[from..]
            .iter()
            .take_while(|token| token.line < lines.first)
            .filter(|token| token.class == Class::Comment)
            .filter(|token| {
                let before = text.get(..token.bytes.0 as usize).unwrap_or("");
                before.rsplit('\n').next().unwrap_or("").trim().is_empty()
            })
            .map(|token| token.line)
            .collect();
        let above =
            (1..=12).take_while(|&up| lines.first > up && alone.contains(&(lines.first - up))).count();
        if above == 12 { lines } else { Lines { first: lines.first - above as u32, ..lines } }
    }

    /// The innermost function around `line`; one called `name` is preferred to an inner one that is not.
    pub fn function_at(&self, line: u32, name: Option<&str>) -> Option<&Function> {
        let around = || self.functions.iter().filter(|function| function.lines.contains(line));
        let innermost = |function: &&Function| function.lines.count();
        name.and_then(|name| {
            around().filter(|function| function.name == unqualified(name)).min_by_key(innermost)
        })
        .or_else(|| around().min_by_key(innermost))
    }
}

/// The last part of a qualified or decorated function name: `ns::C::f(int)` is `f`.
pub fn unqualified(name: &str) -> &str {
    let plain = name.split('(').next().unwrap_or(name).trim_end();
    plain.rsplit("::").next().unwrap_or(plain).rsplit(['.', '#', '/']).next().unwrap_or(plain)
}

fn parse(language: Language, text: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&language.grammar()).ok()?;
    parser.parse(text, None)
}

/// Visits every node with its ancestors, parents first, without recursion: nesting in a hostile file must not exhaust
/// the stack. The ancestors are kept here because asking a node for its parent searches from the root.
fn walk<'tree>(tree: &'tree Tree, mut visit: impl FnMut(Node<'tree>, &[Node<'tree>])) {
    let mut cursor = tree.walk();
    let mut ancestors = Vec::new();
    loop {
        let node = cursor.node();
        visit(node, &ancestors);
        if cursor.goto_first_child() {
            ancestors.push(node);
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
            ancestors.pop();
        }
    }
}

fn lines_of(node: Node) -> Lines {
    let first = node.start_position().row as u32 + 1;
    // A node that ends at column 0 ends with the line break before it.
    let end = node.end_position();
    let last = if end.column == 0 && end.row > node.start_position().row { end.row } else { end.row + 1 };
    Lines { first, last: (last as u32).max(first) }
}

fn text_of<'text>(node: Node, text: &'text str) -> &'text str {
    text.get(node.byte_range()).unwrap_or("")
}
