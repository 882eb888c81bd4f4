//! Linters that name the file once and then list what is in it, as ESLint, yamllint and Ruff do:
//!
//! ```text
//! src/a.js
//!   3:9  error  Missing semicolon  semi
//! ```

use regex::{Captures, Regex};
use std::borrow::Cow;
use std::sync::LazyLock;

static ITEM: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"^\s+(?<place>\d+:\d+)\s+(?:(?<kind>error|warning|info)\s+(?<words>.+?)(?:(?:\s{2,}| \()(?<rule>[\w@/.-]+)\)?)?|(?<code>[A-Z]+\d+) (?<rest>.+))$",
    )
    .expect("well-formed")
});

/// The text with the file put before each line that lists something, in the form that most tools print.
pub(super) fn ungrouped(text: &str) -> Cow<'_, str> {
    if !text.lines().any(|line| ITEM.is_match(line)) {
        return text.into();
    }
    let mut file = "";
    let mut out = String::with_capacity(text.len());
    for line in text.lines().map(str::trim_end) {
        match ITEM.captures(line) {
            Some(item) if !file.is_empty() => out.push_str(&alone(file, &item)),
            Some(_) => out.push_str(line),
            None => {
                let heads = !line.starts_with(char::is_whitespace) && line.contains(['.', '/', '\\']);
                file = if heads { line.trim_end_matches(':') } else { "" };
                out.push_str(line);
            }
        }
        out.push('\n');
    }
    out.into()
}

fn alone(file: &str, item: &Captures) -> String {
    let group = |name: &str| item.name(name).map_or("", |group| group.as_str());
    let place = format!("{file}:{}", group("place"));
    match (group("code"), group("rule")) {
        ("", "") => format!("{place}: {}: {}", group("kind"), group("words")),
        ("", rule) => format!("{place}: {}: {} [{rule}]", group("kind"), group("words")),
        (code, _) => format!("{place}: {code} {}", group("rest")),
    }
}

#[cfg(test)]
mod tests {
    use crate::{Format, read};

    #[test]
    fn the_file_stands_above_its_findings() {
        let log = "\nsrc/a.js\n  3:9   error    Missing semicolon  semi\n  4:1   warning  Too 2 long\n\n✖ 2 problems\n\n\
            y.yaml\n  1:1       warning  missing document start \"---\"  (document-start)\n  3:4       error    syntax error: no (syntax)\n\n\
            p.py:\n   1:8  F401 [*] `os` imported\n";
        assert_eq!(Format::sniff(log), Some(Format::Compiler));
        let document = read(log.as_bytes(), "log").unwrap();
        let told: Vec<String> = document
            .reports
            .iter()
            .map(|report| {
                let at = report.location.as_ref().unwrap();
                format!(
                    "{}:{:?}:{:?} {} {}",
                    at.file,
                    at.line.unwrap(),
                    at.column.unwrap(),
                    report.rule,
                    report.title
                )
            })
            .collect();
        assert_eq!(
            told,
            [
                "src/a.js:3:9 semi Missing semicolon",
                "src/a.js:4:1  Too 2 long",
                "y.yaml:1:1 document-start missing document start \"---\"",
                "y.yaml:3:4 syntax syntax error: no",
                "p.py:1:8 F401 `os` imported",
            ]
        );
    }
}
