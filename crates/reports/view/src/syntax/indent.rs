//! Folding by indentation, for languages we have no grammar for.
//!
//! A line is the head of a block if the next line with text is indented deeper. The block lasts while lines are, and
//! takes in a closing line (`}`, `end`, `fi`, ...) and the `else` lines at its own depth.

use super::{Block, Lines, Outline};

/// The blocks of `text`; there are no functions, names or tokens.
pub(super) fn outline(text: &str) -> Outline {
    let mut outline = Outline::default();
    // Open blocks: their indentation, first line, and skeleton so far.
    let mut open: Vec<(usize, u32, Vec<u32>)> = Vec::new();
    let mut previous: Option<(usize, u32)> = None;
    let mut last_with_text = 0;
    for (index, line) in text.lines().enumerate() {
        let number = index as u32 + 1;
        let trimmed = line.trim_start();
        if trimmed.is_empty() {
            continue;
        }
        let depth = indentation(line);
        if let Some((before, head)) = previous
            && depth > before
        {
            open.push((before, head, vec![head]));
        }
        while let Some((at, _, _)) = open.last() {
            if depth > *at {
                break;
            }
            let (at, first, mut skeleton) = open.pop().expect("just seen");
            if depth == at && continues(trimmed) {
                skeleton.push(number);
                open.push((at, first, skeleton));
                break;
            }
            let closed = depth == at && closes(trimmed);
            if closed {
                skeleton.push(number);
            }
            let last = if closed { number } else { last_with_text };
            outline.blocks.push(Block { lines: Lines { first, last }, skeleton });
        }
        previous = Some((depth, number));
        last_with_text = number;
    }
    for (_, first, skeleton) in open {
        outline.blocks.push(Block { lines: Lines { first, last: last_with_text }, skeleton });
    }
    outline
}

fn indentation(line: &str) -> usize {
    let mut width = 0;
    for c in line.chars() {
        match c {
            '\t' => width = width / 8 * 8 + 8,
            c if c.is_whitespace() => width += 1,
            _ => break,
        }
    }
    width
}

fn first_word(line: &str) -> &str {
    line.split(|c: char| !c.is_alphanumeric()).next().unwrap_or("")
}

fn continues(line: &str) -> bool {
    let after_brace = line.trim_start_matches(['}', ')', ']']).trim_start();
    matches!(
        first_word(after_brace).to_ascii_lowercase().as_str(),
        "else" | "elif" | "elsif" | "elseif" | "except" | "rescue" | "ensure" | "catch" | "finally" | "when"
    )
}

fn closes(line: &str) -> bool {
    line.starts_with(['}', ')', ']'])
        || matches!(first_word(line).to_ascii_lowercase().as_str(), "end" | "fi" | "done" | "esac" | "endif")
}
