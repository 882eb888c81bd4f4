//! Characters to tokens.

use parallax_source::{Diagnostic, Span};

/// A token. Numbers keep their digits, because `-` may stand before the one integer that only fits negated.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token {
    /// The magnitude of an integer, at most 2^63.
    Int(u64),
    Float(f64),
    Str(String),
    Name(String),
    /// Keywords and symbols.
    Word(&'static str),
    End,
}

/// Names that mean something to the grammar.
const KEYWORDS: &[&str] = &[
    "let", "rec", "in", "if", "then", "else", "fun", "ref", "not", "while", "do", "done", "var", "true",
    "false", "extern", "null",
];

/// Symbols, longer ones first.
const SYMBOLS: &[&str] = &[
    "->", ":=", "**", "<=", ">=", "&&", "||", "+", "-", "*", "/", "=", "<", ">", "!", "(", ")", ";", ":", ",",
];

/// All tokens of `text` with their places; the last one is [`Token::End`].
pub(crate) fn tokens(text: &str) -> Result<Vec<(Token, Span)>, Diagnostic> {
    let mut lexer = Lexer { text, at: 0 };
    let mut out = Vec::new();
    loop {
        lexer.skip_blanks()?;
        let start = lexer.at;
        let token = lexer.token()?;
        let done = token == Token::End;
        out.push((token, Span::new(start, lexer.at)));
        if done {
            return Ok(out);
        }
    }
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

fn is_name_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '\''
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip_blanks(&mut self) -> Result<(), Diagnostic> {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start();
            self.at += rest.len() - trimmed.len();
            if !trimmed.starts_with("(*") {
                return Ok(());
            }
            self.skip_comment()?;
        }
    }

    /// Comments nest, as in ML.
    fn skip_comment(&mut self) -> Result<(), Diagnostic> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let mut depth = 0usize;
        while self.at < bytes.len() {
            match &bytes[self.at..] {
                [b'(', b'*', ..] => {
                    depth += 1;
                    self.at += 2;
                }
                [b'*', b')', ..] => {
                    depth -= 1;
                    self.at += 2;
                    if depth == 0 {
                        return Ok(());
                    }
                }
                _ => self.at += 1,
            }
        }
        Err(Diagnostic::new(Span::new(start, start + 2), "this comment is not closed")
            .note("a comment ends with `*)`, and comments nest"))
    }

    fn token(&mut self) -> Result<Token, Diagnostic> {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else { return Ok(Token::End) };
        if first.is_ascii_digit() {
            return self.number();
        }
        if first == '"' {
            return self.string();
        }
        if first == '{' {
            return self.block_opener();
        }
        if first.is_alphabetic() || first == '_' {
            let end = rest.find(|c| !is_name_part(c)).unwrap_or(rest.len());
            let name = &rest[..end];
            if rest[end..].starts_with('}') && (name == "t" || name == "s") {
                self.at += end + 1;
                return Ok(Token::Word(if name == "t" { "t}" } else { "s}" }));
            }
            self.at += end;
            let keyword = KEYWORDS.iter().find(|keyword| **keyword == name);
            return Ok(keyword.map_or_else(|| Token::Name(name.to_string()), |keyword| Token::Word(keyword)));
        }
        if let Some(symbol) = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
            self.at += symbol.len();
            return Ok(Token::Word(symbol));
        }
        let span = Span::new(self.at, self.at + first.len_utf8());
        let diagnostic = Diagnostic::new(span, format!("`{}` does not belong here", first.escape_default()));
        Err(if first == '}' { diagnostic.note("a block ends with `t}` or `s}`") } else { diagnostic })
    }

    fn block_opener(&mut self) -> Result<Token, Diagnostic> {
        let rest = self.rest();
        for (opener, word) in [("{t", "{t"), ("{s", "{s")] {
            if let Some(after) = rest.strip_prefix(opener)
                && !after.starts_with(is_name_part)
            {
                self.at += 2;
                return Ok(Token::Word(word));
            }
        }
        Err(Diagnostic::new(Span::new(self.at, self.at + 1), "`{` opens no block")
            .note("a typed block is `{t e t}`, a symbolic one `{s e s}`"))
    }

    fn number(&mut self) -> Result<Token, Diagnostic> {
        let rest = self.rest();
        let bytes = rest.as_bytes();
        let digits = |mut at: usize| {
            while bytes.get(at).is_some_and(u8::is_ascii_digit) {
                at += 1;
            }
            at
        };
        let mut end = digits(0);
        let mut is_float = false;
        if bytes.get(end) == Some(&b'.') {
            is_float = true;
            end = digits(end + 1);
        }
        if matches!(bytes.get(end), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
            let after = digits(end + 1 + sign);
            if after > end + 1 + sign {
                is_float = true;
                end = after;
            }
        }
        let span = Span::new(self.at, self.at + end);
        if rest[end..].starts_with(is_name_part) {
            return Err(Diagnostic::new(
                Span::new(self.at, self.at + end + 1),
                "a name starts with a letter",
            ));
        }
        self.at += end;
        if is_float {
            let value: f64 = rest[..end].parse().unwrap_or(f64::INFINITY);
            if value.is_infinite() {
                return Err(Diagnostic::new(span, "this number does not fit a 64-bit float"));
            }
            return Ok(Token::Float(value));
        }
        match rest[..end].parse::<u64>() {
            Ok(value) if value <= 1 << 63 => Ok(Token::Int(value)),
            _ => Err(too_large(span)),
        }
    }

    fn string(&mut self) -> Result<Token, Diagnostic> {
        let start = self.at;
        let mut out = String::new();
        let mut characters = self.text[start + 1..].char_indices();
        while let Some((offset, c)) = characters.next() {
            match c {
                '"' => {
                    self.at = start + 1 + offset + 1;
                    return Ok(Token::Str(out));
                }
                '\\' => match characters.next() {
                    Some((_, 'n')) => out.push('\n'),
                    Some((_, 't')) => out.push('\t'),
                    Some((_, c @ ('\\' | '"'))) => out.push(c),
                    _ => {
                        let at = start + 1 + offset;
                        return Err(Diagnostic::new(Span::new(at, at + 1), "unknown escape in a string")
                            .note("the escapes are \\n, \\t, \\\\ and \\\""));
                    }
                },
                c => out.push(c),
            }
        }
        Err(Diagnostic::new(Span::new(start, start + 1), "this string is not closed"))
    }
}

/// The complaint about an integer literal out of range.
pub(crate) fn too_large(span: Span) -> Diagnostic {
    Diagnostic::new(span, "this integer does not fit 64 bits")
        .note("integers go from -9223372036854775808 to 9223372036854775807")
}
