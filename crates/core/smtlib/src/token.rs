//! Tokens of a script.

use crate::Refusal;
use parallax_source::Span;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `(`
    Open,
    /// `)`
    Close,
    /// A symbol; the bars of a quoted one are not part of its text.
    Symbol,
    /// `:name`
    Keyword,
    /// A numeral or a decimal.
    Number,
    /// `#x...`
    Hexadecimal,
    /// `#b...`
    Binary,
    /// A string, quotes included.
    String,
}

/// A token, and where its text is.
#[derive(Clone, Copy, Debug)]
pub struct Token {
    /// What it is.
    pub kind: Kind,
    /// Where its text is.
    pub span: Span,
}

fn is_symbol(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"~!@$%^&*_-+=<>.?/".contains(&byte) || byte >= 0x80
}

/// The tokens of a script.
pub fn tokens(text: &str) -> Result<Vec<Token>, Refusal> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let mut at = 0;
    let end_of = |start: usize| {
        let run = bytes[start..].iter().take_while(|&&byte| is_symbol(byte));
        start + run.count()
    };
    while let Some(&byte) = bytes.get(at) {
        let start = at;
        let (kind, span) = match byte {
            b'(' | b')' => {
                at += 1;
                (if byte == b'(' { Kind::Open } else { Kind::Close }, Span::new(start, at))
            }
            b';' => {
                at += bytes[at..].iter().position(|&byte| byte == b'\n').unwrap_or(bytes.len() - at);
                continue;
            }
            byte if byte.is_ascii_whitespace() => {
                at += 1;
                continue;
            }
            b'|' => {
                let Some(length) = bytes[at + 1..].iter().position(|&byte| byte == b'|') else {
                    return Refusal::malformed(Span::new(at, at + 1), "this quoted symbol has no end");
                };
                at += length + 2;
                (Kind::Symbol, Span::new(start + 1, at - 1))
            }
            b'"' => {
                // Two quotes are one inside a string.
                loop {
                    let Some(length) = bytes[at + 1..].iter().position(|&byte| byte == b'"') else {
                        return Refusal::malformed(Span::new(start, start + 1), "this string has no end");
                    };
                    at += length + 1;
                    if bytes.get(at + 1) != Some(&b'"') {
                        break;
                    }
                    at += 1;
                }
                at += 1;
                (Kind::String, Span::new(start, at))
            }
            b'#' => {
                at = end_of(at + 1);
                let digits = &bytes[(start + 2).min(at)..at];
                let span = Span::new(start, at.max(start + 1));
                match bytes.get(start + 1) {
                    Some(b'x') if !digits.is_empty() && digits.iter().all(u8::is_ascii_hexdigit) => {
                        (Kind::Hexadecimal, span)
                    }
                    Some(b'b') if !digits.is_empty() && digits.iter().all(|d| matches!(d, b'0' | b'1')) => {
                        (Kind::Binary, span)
                    }
                    _ => {
                        return Refusal::malformed(
                            span,
                            "expected #x and hexadecimal digits, or #b and bits",
                        );
                    }
                }
            }
            b':' => {
                at = end_of(at + 1);
                (Kind::Keyword, Span::new(start, at))
            }
            byte if is_symbol(byte) => {
                at = end_of(at);
                let kind = if byte.is_ascii_digit() { Kind::Number } else { Kind::Symbol };
                (kind, Span::new(start, at))
            }
            _ => {
                let wide = text[start..].chars().next().map_or(1, char::len_utf8);
                return Refusal::malformed(Span::new(start, start + wide), "no token starts like this");
            }
        };
        tokens.push(Token { kind, span });
    }
    Ok(tokens)
}
