//! C whose conditionals cut through statements: `#ifdef A`, `if (x)`, `#else`, `if (y)`, `#endif`, `{`.
//!
//! No grammar reads such a text as it stands: functions get lost, or go by the name of a keyword. With one branch of
//! every conditional left, the way a compiler sees it, most of them read well. Byte for byte everything stays in its
//! place, so that what is found there holds for the whole text.

use super::language::{Part, part};
use super::{Language, Outline, blocks, parse, walk};
use tree_sitter::Tree;

/// Takes functions, blocks and conditions from one branch of every conditional where that reads better.
pub(super) fn mend(language: Language, tree: &Tree, text: &str, outline: &mut Outline) {
    if !matches!(language, Language::C | Language::Cpp) || !tree.root_node().has_error() {
        return;
    }
    let Some(plain) = one_branch(text) else { return };
    let Some(other) = parse(language, &plain).filter(|other| errors(other) < errors(tree)) else { return };
    let mut shape = Outline::default();
    walk(&other, |node, ancestors| blocks::visit(node, ancestors.last().copied(), &plain, &mut shape));
    // The conditionals themselves are only in the whole text.
    walk(tree, |node, ancestors| {
        if part(node.kind()) == Part::Conditional {
            blocks::visit(node, ancestors.last().copied(), text, &mut shape);
        }
    });
    outline.functions = shape.functions;
    outline.blocks = shape.blocks;
    outline.guards = shape.guards;
}

fn errors(tree: &Tree) -> usize {
    let mut count = 0;
    walk(tree, |node, _| count += usize::from(node.is_error() || node.is_missing()));
    count
}

/// A conditional that is open.
struct Open {
    /// Whether the text around it is kept.
    outer: bool,
    /// Whether one of its branches has been kept.
    taken: bool,
}

/// The text with the first branch of every conditional (for `#if 0`, the second), the rest blank; `None` if it has none.
fn one_branch(text: &str) -> Option<String> {
    let mut bytes = text.as_bytes().to_vec();
    let mut open: Vec<Open> = Vec::new();
    let (mut kept, mut continued, mut start, mut any) = (true, false, 0, false);
    for line in text.split_inclusive('\n') {
        let directive = line.trim_start().strip_prefix('#').map(str::trim_start);
        let word = directive
            .map_or("", |rest| &rest[..rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len())]);
        let conditional = match word {
            _ if continued => true,
            "if" | "ifdef" | "ifndef" => {
                let never = word == "if" && directive.is_some_and(|rest| rest[2..].trim() == "0");
                let here = kept && !never;
                open.push(Open { outer: kept, taken: here });
                kept = here;
                true
            }
            "elif" | "elifdef" | "elifndef" | "else" => {
                if let Some(top) = open.last_mut() {
                    kept = top.outer && !top.taken;
                    top.taken |= kept;
                }
                true
            }
            "endif" => {
                kept = open.pop().is_none_or(|top| top.outer);
                true
            }
            _ => false,
        };
        continued = conditional && line.trim_end().ends_with('\\');
        any |= conditional;
        let end = start + line.len();
        if conditional || !kept {
            bytes[start..end]
                .iter_mut()
                .filter(|byte| !matches!(byte, b'\n' | b'\r'))
                .for_each(|byte| *byte = b' ');
        }
        start = end;
    }
    if any { String::from_utf8(bytes).ok() } else { None }
}
