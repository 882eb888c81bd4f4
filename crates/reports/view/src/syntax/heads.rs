//! Definitions in the style before the standard: `char *f(x)`, `char *x;`, `{`.
//!
//! The grammar of C reads them where the result is no pointer, and loses the function where it is. Without the
//! declarations of the parameters, which stand between the list of names and the body, every such head reads well.

use std::ops::Range;

/// A head being read: the text at file level, from one body to the next.
#[derive(Default)]
struct Head {
    /// The last byte that is neither blank nor comment.
    last: u8,
    /// Parentheses that are open.
    nesting: usize,
    /// Whether there is nothing but names between the parentheses.
    names: bool,
    /// Where a list of names has ended, while what comes next is not known.
    listed: Option<usize>,
    /// Where the declarations of the parameters begin, if they are any.
    parameters: Option<usize>,
}

/// Makes the declarations of parameters blank; says where they were.
pub(super) fn blank_parameters(text: &mut [u8]) -> Vec<Range<usize>> {
    let (mut depth, mut at, mut blanked) = (0usize, 0, Vec::new());
    let mut head = Head::default();
    // Whether there are only blanks on the line so far.
    let mut fresh = true;
    while at < text.len() {
        let byte = text[at];
        let first = at == 0 || text[at - 1] == b'\n';
        let end = skip(text, at, fresh);
        fresh = byte == b'\n' || (fresh && byte.is_ascii_whitespace());
        match byte {
            _ if end > at + 1 => {
                if matches!(byte, b'"' | b'\'') {
                    head.read(byte, at);
                }
            }
            // A brace that begins a line begins or ends a body, whatever was lost before it.
            b'{' => {
                if depth == 0 || first {
                    depth = 0;
                    if let Some(from) = head.parameters.filter(|_| head.last == b';') {
                        text[from..at]
                            .iter_mut()
                            .filter(|byte| !matches!(byte, b'\n' | b'\r'))
                            .for_each(|byte| *byte = b' ');
                        blanked.push(from..at);
                    }
                }
                depth += 1;
                head = Head::default();
            }
            b'}' => {
                depth = if first { 0 } else { depth.saturating_sub(1) };
                head = Head::default();
            }
            _ if depth == 0 && !byte.is_ascii_whitespace() => head.read(byte, at),
            _ => {}
        }
        at = end;
    }
    blanked
}

impl Head {
    fn read(&mut self, byte: u8, at: usize) {
        let word = byte.is_ascii_alphanumeric() || byte == b'_';
        if let Some(listed) = self.listed.take().filter(|_| word) {
            self.parameters = Some(listed);
        }
        match byte {
            b'(' => {
                self.names = self.nesting == 0 && (self.last.is_ascii_alphanumeric() || self.last == b'_');
                self.nesting += 1;
            }
            b')' => {
                self.nesting = self.nesting.saturating_sub(1);
                if self.nesting == 0 && self.names && self.last != b'(' {
                    self.listed = Some(at + 1);
                }
            }
            _ => self.names &= word || byte == b',',
        }
        self.last = byte;
    }
}

/// Where what begins at `at` ends: a comment, a text in quotes, a line for the preprocessor; else one byte on.
fn skip(text: &[u8], at: usize, fresh: bool) -> usize {
    let rest = &text[at..];
    let until = |found: Option<usize>, more: usize| found.map_or(text.len(), |found| at + found + more);
    match rest {
        [b'/', b'*', ..] => until(rest[2..].windows(2).position(|pair| pair == b"*/"), 4),
        [b'/', b'/', ..] => until(rest.iter().position(|&byte| byte == b'\n'), 0),
        [quote @ (b'"' | b'\''), ..] => {
            let mut next = at + 1;
            while next < text.len() && text[next] != *quote && text[next] != b'\n' {
                next += if text[next] == b'\\' { 2 } else { 1 };
            }
            (next + 1).min(text.len())
        }
        [b'#', ..] if fresh => {
            let mut next = at;
            while next < text.len() && (text[next] != b'\n' || text[..next].trim_ascii_end().ends_with(b"\\"))
            {
                next += 1;
            }
            next
        }
        _ => at + 1,
    }
}
