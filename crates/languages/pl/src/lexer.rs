//! Tokens of PL, which are C's.

use parallax_source::{Diagnostic, Span};

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Name,
    Number,
    Symbol,
    End,
}

/// A token and its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token<'t> {
    pub kind: Kind,
    pub text: &'t str,
    pub span: Span,
}

/// Longest first.
const SYMBOLS: &[&str] = &[
    "==", "!=", "<=", ">=", "<<", ">>", "&&", "||", "(", ")", "{", "}", ";", ":", ",", "?", "=", "<", ">",
    "+", "-", "*", "/", "%", "&", "|", "^", "~", "!",
];

/// The tokens of a text, closed by one `End`.
pub(crate) fn tokens(text: &str) -> Result<Vec<Token<'_>>, Diagnostic> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
            continue;
        }
        if rest.starts_with("/*") {
            match rest.find("*/") {
                Some(end) => at += end + 2,
                None => return Err(Diagnostic::new(Span::new(at, at + 2), "this comment is never closed")),
            }
            continue;
        }
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let (kind, length) = if is_word(first) {
            let kind = if first.is_ascii_digit() { Kind::Number } else { Kind::Name };
            (kind, rest.find(|c| !is_word(c)).unwrap_or(rest.len()))
        } else if let Some(symbol) = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
            (Kind::Symbol, symbol.len())
        } else {
            let span = Span::new(at, at + first.len_utf8());
            return Err(Diagnostic::new(span, format!("`{}` means nothing here", first.escape_default())));
        };
        found.push(Token { kind, text: &rest[..length], span: Span::new(at, at + length) });
        at += length;
    }
    found.push(Token { kind: Kind::End, text: "", span: Span::new(at, at) });
    Ok(found)
}
