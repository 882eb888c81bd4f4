//! Message texts: placeholders, and the links that SARIF embeds as `[words](target)`.

use serde_json::Value;

/// A piece of a message.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Piece<'a> {
    pub text: String,
    pub target: Option<&'a str>,
}

/// Splits a message at its links. A backslash keeps a bracket from being one; brackets that are no link are words.
pub(super) fn pieces(message: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut plain = String::new();
    let mut rest = message;
    while let Some(c) = rest.chars().next() {
        if c == '['
            && let Some((words, target, after)) = link(rest)
        {
            if !plain.is_empty() {
                pieces.push(Piece { text: std::mem::take(&mut plain), target: None });
            }
            pieces.push(Piece { text: words, target: Some(target) });
            rest = after;
            continue;
        }
        let escaped = rest[c.len_utf8()..].chars().next().filter(|next| c == '\\' && "[]\\".contains(*next));
        plain.push(escaped.unwrap_or(c));
        rest = &rest[c.len_utf8() + escaped.map_or(0, char::len_utf8)..];
    }
    if !plain.is_empty() {
        pieces.push(Piece { text: plain, target: None });
    }
    pieces
}

/// `[words](target)` at the start: the words, the target, and what follows.
fn link(text: &str) -> Option<(String, &str, &str)> {
    /// Links are short; without a bound, a megabyte of brackets would be searched once per bracket.
    const LONGEST: usize = 4096;
    let mut words = String::new();
    let mut characters = text.char_indices().skip(1).take(LONGEST);
    let close = loop {
        match characters.next()? {
            (_, '\\') => match characters.next()? {
                (_, escaped) if "[]\\".contains(escaped) => words.push(escaped),
                (_, other) => words.extend(['\\', other]),
            },
            (_, '[') => return None,
            (at, ']') => break at,
            (_, other) => words.push(other),
        }
    };
    let after = text[close + 1..].strip_prefix('(')?;
    let end = after.char_indices().take(LONGEST).find(|(_, c)| *c == ')' || c.is_whitespace())?.0;
    let target = &after[..end];
    (after[end..].starts_with(')') && !target.is_empty()).then(|| (words, target, &after[end + 1..]))
}

/// Words that read as they are, whatever brackets they hold.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if "[]\\".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// Puts arguments in for `{0}`, `{1}`, …; doubled braces are braces.
pub(super) fn fill(template: &str, arguments: &[Value]) -> String {
    let mut out = String::with_capacity(template.len());
    let mut rest = template;
    while let Some(at) = rest.find(['{', '}']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let brace = &rest[..1];
        let slot = rest.strip_prefix('{').and_then(|inner| {
            let (digits, after) = inner.split_once('}')?;
            let argument = arguments.get(digits.parse::<usize>().ok()?)?.as_str()?;
            Some((argument, after))
        });
        if let Some((argument, after)) = slot {
            out.push_str(argument);
            rest = after;
        } else {
            out.push_str(brace);
            let doubled = rest[1..].starts_with(brace);
            rest = &rest[if doubled { 2 } else { 1 }..];
        }
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_and_brackets_are_told_apart() {
        let plain = |text: &str| Piece { text: text.to_owned(), target: None };
        let read = pieces(r"a[0] uses [\[p\]](1), \[not\](2) and [q](https://x/y).");
        let link = Piece { text: "[p]".into(), target: Some("1") };
        let page = Piece { text: "q".into(), target: Some("https://x/y") };
        assert_eq!(read, [plain("a[0] uses "), link, plain(", [not](2) and "), page, plain(".")]);
        assert_eq!(pieces(r"C:\dir\[x]"), [plain(r"C:\dir[x]")]);
        assert_eq!(pieces("[a](b c) [d]("), [plain("[a](b c) [d](")]);
        assert_eq!(pieces(&escape(r"[a](1) \[ ")), [plain(r"[a](1) \[ ")]);
    }

    #[test]
    fn a_megabyte_of_brackets_is_quick() {
        let text = "[".repeat(1 << 20);
        assert_eq!(pieces(&text).len(), 1);
        assert_eq!(pieces(&"[a".repeat(1 << 19)).len(), 1);
    }

    #[test]
    fn placeholders_are_filled() {
        let arguments = [Value::from("x"), Value::from("y")];
        assert_eq!(fill("{1} of {0}, {{0}}, {7} {", &arguments), "y of x, {0}, {7} {");
    }
}
