//! The line of source that gcc quotes under a message, and the marks below it:
//!
//! ```text
//! guests.c:35:13: warning: dereference of NULL 'g'
//!    35 |     g->room = room;
//!       |     ~~~~~~~~^~~~~~
//! ```
//!
//! The message has the column of the caret alone; the marks have the whole range, which the JSON and SARIF have too.

use crate::Location;
use regex::Regex;
use std::sync::LazyLock;

/// What gcc says before the messages of a function, and clang does not.
static CONTEXT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?m)^\S.*: (?:In .*\b(?:function|constructor|destructor|instantiation)\b|At (?:top level|global scope):)")
        .expect("well-formed")
});
static QUOTED: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^\s*(\d+) \| ?(.*)$").expect("well-formed"));
static MARKS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^\s+\| ?([ ~^]*\^[ ~]*)").expect("well-formed"));

/// Whether a log is of gcc. clang counts columns in another way, and says the same in its property lists.
pub(super) fn is_gcc(log: &str) -> bool {
    CONTEXT.is_match(log)
}

/// The function that gcc says the next messages stand in: `guests.c: In function 'find':`.
pub(super) fn function(line: &str) -> Option<&str> {
    static INSIDE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^\S.*: In (?:static )?(?:member )?(?:function|constructor|destructor) [‘'](.*)[’']:$")
            .expect("well-formed")
    });
    // C++ writes the type before the name and the parameters after it.
    let declared = INSIDE.captures(line)?.get(1)?.as_str();
    declared.split('(').next()?.rsplit([' ', '*', '&']).next()
}

/// Whether columns on screen may be other than columns of the file: gcc spreads tabs to eight blanks, and counts those.
pub(super) fn may_hold_tabs(code: &str) -> bool {
    code.starts_with("        ")
}

/// Puts the range that is marked under a message into its place. Where a tab may stand before it, the column is not known.
pub(super) fn widen(at: &mut Location, below: &[&str]) {
    let [quoted, marks, ..] = below else { return };
    let (Some(quoted), Some(marks)) = (QUOTED.captures(quoted), MARKS.captures(marks)) else { return };
    let marks: Vec<char> = marks[1].chars().collect();
    let caret = marks.iter().position(|&mark| mark == '^').unwrap_or(0);
    if quoted[1].parse().ok() != at.line || at.column != Some(caret as u32 + 1) {
        return;
    }
    if may_hold_tabs(&quoted[2]) {
        at.column = None;
        return;
    }
    let underlined = |mark: &&char| **mark == '~';
    let before = marks[..caret].iter().rev().take_while(underlined).count();
    let after = marks[caret + 1..].iter().take_while(underlined).count();
    at.column = Some((caret - before + 1) as u32);
    at.end_column = Some((caret + after + 2) as u32);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_marks_have_the_range() {
        let read = |column: u32, quoted: &str, marks: &str| {
            let mut at = Location::line("a.c", 35).at_column(column);
            widen(&mut at, &[quoted, marks]);
            (at.column, at.end_column)
        };
        let quoted = "   35 |     g->room = room;";
        assert_eq!(read(13, quoted, "      |     ~~~~~~~~^~~~~~"), (Some(5), Some(19)));
        // Of `a + b` each operand has marks of its own.
        assert_eq!(read(7, "   35 |   a = b + c;", "      |   ~ ~ ^ ~"), (Some(7), Some(8)));
        assert_eq!(read(9, "   35 |         g();", "      |         ^~~"), (None, None));
        // Another line, or a caret elsewhere: the marks are of something else.
        assert_eq!(read(13, "   36 |     g->room = room;", "      |     ~~~~~~~~^~~~~~"), (Some(13), None));
        assert_eq!(read(12, quoted, "      |     ~~~~~~~~^~~~~~"), (Some(12), None));
        assert!(is_gcc("x\na.c: In function 'f':\n") && is_gcc("a.cc: In member function 'int c::f()':"));
        assert_eq!(function("a.c: In function ‘find’:"), Some("find"));
        assert_eq!(function("a.cc: In member function 'int* c::f(int) const':"), Some("c::f"));
        assert!(!is_gcc("a.c:3:9: warning: x\nIn file included from a.c:1:\n1 warning generated."));
    }
}
