//! Logs as terminals show them: without colours, in lines, and without what a runner of tests or builds puts before each.

use regex::Regex;
use std::borrow::Cow;
use std::sync::LazyLock;

/// What the tool itself printed: no escape sequences, no times of a build server, no numbers of a test runner.
pub(crate) fn plain_log(text: &str) -> Cow<'_, str> {
    match without_colours(text) {
        Cow::Borrowed(text) => without_prefixes(text),
        Cow::Owned(text) => without_prefixes(&text).into_owned().into(),
    }
}

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
        } else if characters.next_if_eq(&']').is_some() {
            // A title or a link ends with a bell or an escape and a backslash; gcc links its options.
            while let Some(next) = characters.next_if(|c| *c != '\n') {
                if next == '\u{7}' || (next == '\u{1b}' && characters.next_if_eq(&'\\').is_some()) {
                    break;
                }
            }
        }
    }
    out.into()
}

/// What stands before a line: the time, as build servers write it; the number of a test, as ctest does.
static PREFIXES: LazyLock<[Regex; 2]> = LazyLock::new(|| {
    [
        Regex::new(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)(?: |$)")
            .expect("well-formed"),
        // With a blank after it: a place in a list of findings, `42:1`, has none.
        Regex::new(r"^ *\d+:(?: |$)").expect("well-formed"),
    ]
});

/// How many lines are looked at to know.
const ENOUGH: usize = 2000;

fn without_prefixes(text: &str) -> Cow<'_, str> {
    let mut text: Cow<str> = text.into();
    for prefix in PREFIXES.iter() {
        // Only what nearly every line has is put there by another.
        let (mut lines, mut marked) = (0_usize, 0_usize);
        for line in text.lines().filter(|line| !line.trim().is_empty()).take(ENOUGH) {
            lines += 1;
            marked += usize::from(prefix.is_match(line));
        }
        if lines > 0 && marked * 10 >= lines * 9 {
            let rest: Vec<Cow<str>> = text.lines().map(|line| prefix.replace(line, "")).collect();
            text = rest.join("\n").into();
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_vanish_and_brackets_stay() {
        assert_eq!(without_colours("\u{1b}[1m\u{1b}[31mred\u{1b}[0m [x]\u{1b}"), "red [x]");
        assert_eq!(without_colours("a\u{1b}[12\nb"), "a\nb");
        let link = "[\u{1b}]8;;https://gcc.gnu.org\u{7}-Wall\u{1b}]8;;\u{7}] \u{1b}]8;;x\u{1b}\\y";
        assert_eq!(without_colours(link), "[-Wall] y");
    }

    #[test]
    fn only_what_every_line_has_is_a_prefix() {
        let timed = "2026-11-16T08:12:00.1Z a\n2026-11-16T08:12:00.1234567Z\n2026-11-16T08:12:01Z   b";
        assert_eq!(plain_log(timed), "a\n\n  b");
        assert_eq!(plain_log("3: x\n3: \n3:   #0 f"), "x\n\n  #0 f");
        let listed = "a.py:\n  42:1 E1 x\n  43:2 E2 y";
        assert_eq!(plain_log(&listed.repeat(9)), listed.repeat(9));
        let own = "a\nb\nc\nd\n2026-11-16T08:12:01Z e";
        assert_eq!(plain_log(own), own);
    }
}
