//! Words that several verbs print.

use std::fmt::Display;

/// A number and what it counts: `1 path`, `2 paths`.
pub fn counted(count: impl Display, what: &str) -> String {
    let count = count.to_string();
    let ending = if count == "1" { "" } else { "s" };
    format!("{count} {what}{ending}")
}
