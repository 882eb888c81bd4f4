//! C whose conditionals cut through statements: `#ifdef A`, `if (x)`, `#else`, `if (y)`, `#endif`, `{`.
//!
//! No grammar reads such a text as it stands: functions get lost, or go by the name of a keyword. With one branch of
//! every conditional left, the way a compiler sees it, and heads in the style of today, most of them read well. Byte for
//! byte everything stays in its place, so that what is found there holds for the whole text.

use super::language::{Part, part};
use super::{Function, Kind, Language, Outline, blocks, heads, names, parse, walk};
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use tree_sitter::Tree;

/// Takes functions, blocks and conditions from one branch of every conditional where that reads better.
pub(super) fn mend(language: Language, tree: &Tree, text: &str, outline: &mut Outline) {
    if !matches!(language, Language::C | Language::Cpp) || !tree.root_node().has_error() {
        return;
    }
    let branch = one_branch(text);
    let cut = branch.is_some();
    let mut plain = branch.unwrap_or_else(|| text.as_bytes().to_vec());
    let parameters = heads::blank_parameters(&mut plain);
    if !cut && parameters.is_empty() {
        return;
    }
    let Ok(plain) = String::from_utf8(plain) else { return };
    let Some(other) = parse(language, &plain).filter(|other| errors(other) < errors(tree)) else { return };
    let mut shape = Outline::default();
    walk(&other, |node, ancestors| {
        let parent = ancestors.last().copied();
        blocks::visit(node, parent, &plain, &mut shape);
        if part(node.kind()) == Part::Function {
            names::visit(node, parent, &plain, None, &mut shape.definitions);
        }
    });
    // The conditionals themselves are only in the whole text.
    walk(tree, |node, ancestors| {
        if part(node.kind()) == Part::Conditional {
            blocks::visit(node, ancestors.last().copied(), text, &mut shape);
        }
    });
    show_parameters(text, &parameters, &mut shape);
    if language == Language::C {
        end_where_the_next_begins(text, &mut shape);
    }
    // Functions of the other branches are only in the whole text.
    let reach: Vec<u32> = (shape.functions.iter())
        .scan(0, |far, one| {
            *far = one.lines.last.max(*far);
            Some(*far)
        })
        .collect();
    let free = |one: &Function| {
        let before = shape.functions.partition_point(|own| own.lines.first <= one.lines.last);
        before == 0 || reach[before - 1] < one.lines.first
    };
    let others: Vec<Function> = outline.functions.drain(..).filter(free).collect();
    shape.functions.extend(others);
    shape.functions.sort_by_key(|one| (one.lines.first, Reverse(one.lines.last)));
    outline.functions = shape.functions;
    outline.blocks = shape.blocks;
    outline.guards = shape.guards;
    // Names of the other branches are only in the whole text, functions that it loses only here.
    let known: HashSet<String> = outline
        .definitions
        .iter()
        .filter(|one| one.kind == Kind::Function)
        .map(|one| one.name.clone())
        .collect();
    outline.definitions.extend(shape.definitions.into_iter().filter(|one| !known.contains(&one.name)));
}

/// The declarations of parameters are part of their function's head.
fn show_parameters(text: &str, parameters: &[Range<usize>], shape: &mut Outline) {
    let Outline { functions, blocks, .. } = shape;
    let of_lines: HashMap<(u32, u32), usize> =
        blocks.iter().enumerate().map(|(at, block)| ((block.lines.first, block.lines.last), at)).collect();
    let (mut line, mut before) = (1, 0);
    for declarations in parameters {
        line += lines_in(&text[before..declarations.start]);
        before = declarations.start;
        let Some(function) = function_at(functions, line) else { continue };
        let Some(&head) = of_lines.get(&(functions[function].lines.first, functions[function].lines.last))
        else {
            continue;
        };
        let shown = (line..).zip(text[declarations.clone()].split('\n')).filter(|(_, one)| one.contains(';'));
        let skeleton = &mut blocks[head].skeleton;
        skeleton.extend(shown.map(|(number, _)| number));
        skeleton.sort_unstable();
        skeleton.dedup();
    }
}

/// C has no functions in functions: one that seems to go on around the next has lost a brace, and ends with the last one that
/// begins a line before the next.
fn end_where_the_next_begins(text: &str, shape: &mut Outline) {
    let Outline { functions, blocks, .. } = shape;
    let ends: Vec<u32> =
        (1..).zip(text.split('\n')).filter(|(_, line)| line.starts_with('}')).map(|(at, _)| at).collect();
    for at in 1..functions.len() {
        let (lines, next) = (functions[at - 1].lines, functions[at].lines.first);
        let end = ends[..ends.partition_point(|&end| end < next)].last().copied();
        if let Some(end) = end.filter(|&end| lines.last >= next && end > lines.first) {
            functions[at - 1].lines.last = end;
        }
    }
    for block in blocks {
        let Some(function) = function_at(functions, block.lines.first) else { continue };
        let end = functions[function].lines.last;
        if block.lines.first <= end && block.lines.last > end {
            block.lines.last = end;
            block.skeleton.retain(|&line| line < end);
            block.skeleton.push(end);
        }
    }
}

/// The last function that begins at this line or before it.
fn function_at(functions: &[Function], line: u32) -> Option<usize> {
    functions.partition_point(|one| one.lines.first <= line).checked_sub(1)
}

fn lines_in(text: &str) -> u32 {
    text.bytes().filter(|&byte| byte == b'\n').count() as u32
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
fn one_branch(text: &str) -> Option<Vec<u8>> {
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
    any.then_some(bytes)
}
