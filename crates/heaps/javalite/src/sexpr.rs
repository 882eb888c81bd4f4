//! S-expressions with spans: the bracket structure of a Javalite text, before any meaning.
//!
//! The reader keeps its own stack, so no text overflows ours, and what walks the forms afterwards makes its stack grow.
//! Nesting is bounded all the same: memory is not endless.

use parallax_source::{Diagnostic, Span};

/// How deep forms may nest.
pub const MAX_NESTING: usize = 1_000_000;

/// One form: an atom, or a list in parentheses or square brackets.
#[derive(Clone, Debug, PartialEq)]
pub struct Form {
    /// Where it stands, brackets included.
    pub span: Span,
    /// What it is.
    pub kind: Kind,
}

/// What a form is.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// A word: a name, a number, an operator.
    Atom(String),
    /// A list, and whether it was written in square brackets.
    List(Vec<Form>, bool),
}

/// Forms are dropped one by one: as deep as they nest, dropping does not recurse.
impl Drop for Form {
    fn drop(&mut self) {
        let mut open = match &mut self.kind {
            Kind::List(items, _) => std::mem::take(items),
            Kind::Atom(_) => return,
        };
        while let Some(mut form) = open.pop() {
            if let Kind::List(items, _) = &mut form.kind {
                open.append(items);
            }
        }
    }
}

impl Form {
    /// The word, if it is one.
    pub fn atom(&self) -> Option<&str> {
        match &self.kind {
            Kind::Atom(word) => Some(word),
            Kind::List(..) => None,
        }
    }

    /// The items, if it is a list.
    pub fn list(&self) -> Option<&[Form]> {
        match &self.kind {
            Kind::List(items, _) => Some(items),
            Kind::Atom(_) => None,
        }
    }

    /// The items, if it is a list in square brackets.
    pub fn bracketed(&self) -> Option<&[Form]> {
        match &self.kind {
            Kind::List(items, true) => Some(items),
            _ => None,
        }
    }

    /// Whether it is this very word.
    pub fn is(&self, word: &str) -> bool {
        self.atom() == Some(word)
    }
}

/// Reads every form of a text. `;` starts a comment that runs to the end of the line.
pub fn read(text: &str) -> Result<Vec<Form>, Diagnostic> {
    // Each open list: its bracket, where it opened, what it holds so far.
    let mut open: Vec<(char, usize, Vec<Form>)> = Vec::new();
    let mut top = Vec::new();
    let mut rest = text.char_indices().peekable();
    while let Some((at, c)) = rest.next() {
        let done = match c {
            _ if c.is_whitespace() => continue,
            ';' => {
                while rest.next_if(|&(_, c)| c != '\n').is_some() {}
                continue;
            }
            '(' | '[' => {
                if open.len() == MAX_NESTING {
                    return Err(Diagnostic::new(
                        Span::new(at, at + 1),
                        format!("forms nest deeper than {MAX_NESTING} levels"),
                    ));
                }
                open.push((c, at, Vec::new()));
                continue;
            }
            ')' | ']' => {
                let Some((opened, start, items)) = open.pop() else {
                    return Err(Diagnostic::new(Span::new(at, at + 1), format!("`{c}` closes nothing")));
                };
                let wanted = if opened == '(' { ')' } else { ']' };
                if c != wanted {
                    return Err(Diagnostic::new(
                        Span::new(at, at + 1),
                        format!("expected `{wanted}`, found `{c}`"),
                    )
                    .note(format!("the list was opened with `{opened}` at byte {start}")));
                }
                Form { span: Span::new(start, at + 1), kind: Kind::List(items, opened == '[') }
            }
            _ => {
                let mut end = at + c.len_utf8();
                while let Some((next, c)) = rest.next_if(|&(_, c)| !c.is_whitespace() && !"()[];".contains(c))
                {
                    end = next + c.len_utf8();
                }
                Form { span: Span::new(at, end), kind: Kind::Atom(text[at..end].to_owned()) }
            }
        };
        match open.last_mut() {
            Some((_, _, items)) => items.push(done),
            None => top.push(done),
        }
    }
    match open.pop() {
        Some((bracket, start, _)) => {
            Err(Diagnostic::new(Span::new(start, start + 1), format!("this `{bracket}` is never closed")))
        }
        None => Ok(top),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_are_told_apart_and_spans_cover_them() {
        let forms = read("(a [b c]) ; done\nd").unwrap();
        assert_eq!(forms.len(), 2);
        let items = forms[0].list().unwrap();
        assert!(items[0].is("a") && items[0].bracketed().is_none());
        assert_eq!(items[1].bracketed().unwrap().len(), 2);
        assert_eq!((items[1].span.start, items[1].span.end), (3, 8));
        assert!(forms[1].is("d"));
    }

    #[test]
    fn unbalanced_and_deep_texts_are_refused_with_a_place() {
        assert_eq!(read("(a").unwrap_err().span.start, 0);
        assert_eq!(read("a)").unwrap_err().span.start, 1);
        assert_eq!(read("(a]").unwrap_err().span.start, 2);
        let deep = "(".repeat(MAX_NESTING + 1);
        assert_eq!(read(&deep).unwrap_err().span.start, MAX_NESTING as u32);
    }
}
