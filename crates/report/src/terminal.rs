//! Logs as terminals show them: without colours, in lines.

use std::borrow::Cow;

/// The text without escape sequences: tools colour their output when they think somebody watches.
pub(crate) fn without_colours(text: &str) -> Cow<'_, str> {
    if !text.contains('\u{1b}') {
        return text.into();
    }
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        if c != '\u{1b}' {
            out.push(c);
        } else if characters.next_if_eq(&'[').is_some() {
            // A control sequence ends with a letter or one of a few signs.
            while let Some(next) = characters.next_if(|c| *c != '\n') {
                if ('@'..='~').contains(&next) {
                    break;
                }
            }
        }
    }
    out.into()
}

#[cfg(test)]
mod tests {
    #[test]
    fn colours_vanish_and_brackets_stay() {
        assert_eq!(super::without_colours("\u{1b}[1m\u{1b}[31mred\u{1b}[0m [x]\u{1b}"), "red [x]");
        assert_eq!(super::without_colours("a\u{1b}[12\nb"), "a\nb");
    }
}
