//! A message about a place in a source text, and how it reads on a terminal.

use crate::{SourceFile, Span};

/// What is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// One sentence: what is wrong, or what was expected.
    pub message: String,
    /// The place it speaks of.
    pub span: Span,
    /// Further remarks: what to try, where the other half is.
    pub notes: Vec<String>,
}

impl Diagnostic {
    /// An error at `span`.
    pub fn new(span: Span, message: impl Into<String>) -> Self {
        Diagnostic { message: message.into(), span, notes: Vec::new() }
    }

    /// The same with one more remark.
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// The message with the line it speaks of and a caret under the place.
    ///
    /// Long lines are cut to a window around the place, so that a minified file does not fill the screen.
    pub fn render(&self, file: &SourceFile) -> String {
        const WINDOW: usize = 100;
        let (line, column) = file.position(self.span.start);
        let characters: Vec<char> =
            file.line(line).chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let first = (column - 1).saturating_sub(WINDOW / 2).min(characters.len());
        let shown: String = characters[first..].iter().take(WINDOW).collect();
        let covered = file.slice(self.span).lines().next().unwrap_or("").chars().count();
        let room = (first + WINDOW).min(characters.len()).saturating_sub(column - 1).max(1);
        let carets = "^".repeat(covered.clamp(1, room));
        let number = line.to_string();
        let gutter = " ".repeat(number.len());
        let cut = if first > 0 { "…" } else { "" };
        let pad = " ".repeat(column - 1 - first + cut.chars().count());
        let mut out = format!(
            "error: {}\n{gutter}--> {}:{line}:{column}\n{gutter} |\n{number} | {cut}{shown}\n{gutter} | {pad}{carets}\n",
            self.message, file.name
        );
        for note in &self.notes {
            out.push_str(&format!("{gutter} = {note}\n"));
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caret_stands_under_the_place() {
        let file = SourceFile::new("f.pl", "x = 1;\ny = ;\n");
        let text =
            Diagnostic::new(Span::new(11, 12), "expected an expression").note("as in `y = 2;`").render(&file);
        assert_eq!(
            text,
            "error: expected an expression\n --> f.pl:2:5\n  |\n2 | y = ;\n  |     ^\n  = as in `y = 2;`\n"
        );
    }

    #[test]
    fn a_place_past_the_end_still_renders() {
        let file = SourceFile::new("f", "abc");
        assert!(Diagnostic::new(Span::new(3, 9), "end of file").render(&file).contains("1:4"));
    }
}
