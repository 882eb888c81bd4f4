//! One line that a compiler or linter prints about one place, in the forms that there are.

use crate::stack::place;
use crate::{Change, Location};
use regex::{Captures, Regex};
use std::sync::LazyLock;

/// What a line says.
pub(super) struct Message {
    pub at: Location,
    pub kind: String,
    pub words: String,
    pub rule: String,
    pub cwe: Option<u32>,
    /// The function, where the line names it.
    pub function: String,
    /// What the lines after it propose to change.
    pub changes: Vec<Change>,
}

impl Message {
    /// Whether it says more about the message before. What has a rule of its own is a finding of its own.
    pub(super) fn is_note(&self) -> bool {
        self.kind == "note" && self.rule.is_empty()
    }
}

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("well-formed")
}

// The groups of a form: `place`, or `file` with `line` and `column`; `end` of the place; `kind`; a `code` before the words or
// a `tag` behind them; `words`; `function`. The first form that fits is the line's.
static FORMS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    [
        // gcc, clang and most others: `a.c:3:9: warning: … [-Wshadow]`, `error[E0308]: …`; mypy gives the end too.
        r"^PLACE(?::(?<end>\d+:\d+))?: (?<kind>fatal error|error|warning|note|style|performance|portability|information|remark)(?:\[(?<code>[\w:.-]+)\]| (?<number>[A-Z]+\d+))?: (?<words>.+?)(?<tail>\s+\[(?<tag>[^\[\]]+)\])?$",
        // hadolint, with and without its name: `hadolint:Dockerfile:1: DL3006 warning: …`
        r"^(?:hadolint:)?PLACE:? (?<code>[A-Z]{2}\d{4}) (?<kind>error|warning|info|style): (?<words>.+)$",
        // flake8, ruff, pylint: `a.py:3:9: E501 …`
        r"^PLACE: (?<code>[A-Z]{1,6}\d{2,5}):? (?:\[\*\] )?(?<words>.+)$",
        // pylint's `parseable`: `a.py:3: [W0613(unused-argument), f] …`
        r"^PLACE: \[(?<code>[A-Z]{1,6}\d{2,5})(?:\([\w-]+\))?(?:, (?<function>[^\]]*))?\] (?<words>.+)$",
        // pylint's `msvs`: `a.py(3): [W0613(unused-argument)f] …`, and Bandit's `custom`: `a.py:3: B403[bandit]: LOW: …`
        r"^(?<file>\S.*?)\((?<line>\d+)\): \[(?<code>[A-Z]{1,6}\d{2,5})(?:\([\w-]+\))?(?<function>[^\]]*)\] (?<words>.+)$",
        r"^PLACE: (?<code>B\d{3})\[bandit\]: (?<words>.+)$",
        // smatch: `a.c:3 f() warn: …`
        r"^PLACE (?<function>\w+)\(\) (?<kind>error|warn|info): (?<words>.+)$",
        // staticcheck: `a.go:3:9: … (SA4006)`, and `go vet`: `a.go:3:9: …`
        r"^PLACE: (?<words>.+) \((?<tag>[A-Z]{1,3}\d{4})\)$",
        r"^(?:vet: )?(?<place>\S+\.go:\d+:\d+): (?<words>.+)$",
        // yamllint: `a.yaml:3:9: [error] … (rule)`
        r"^PLACE: \[(?<kind>error|warning)\] (?<words>.+?)(?: \((?<tag>[\w-]+)\))?$",
        // ESLint's `unix`: `a.js:3:9: … [Error/rule]`, and its `compact`: `a.js: line 3, col 9, Error - … (rule)`
        r"^PLACE: (?<words>.+) \[(?<kind>Error|Warning)(?:/(?<tag>[\w@/.-]+))?\]$",
        r"^(?<file>\S.*): line (?<line>\d+), col (?<column>\d+), (?<kind>Error|Warning|Info) - (?<words>.+?)(?: \((?<tag>[\w@/.-]+)\))?$",
        // gcc, of what has no place: `<built-in>: note: …`
        r"^(?<file><[\w -]+>|cc1\w*): (?<kind>note): (?<words>.+)$",
        // Microsoft's: `a.cpp(3,9): warning C4700: …`
        r"^\s*(?:\d+>)?(?<file>\S.*?)\((?<line>\d+)(?:,(?<column>\d+))?\)\s?: (?<kind>fatal error|error|warning|note|message)(?: (?<code>[A-Z]+\d+))?: (?<words>.+)$",
    ]
    .map(|pattern| regex(&pattern.replace("PLACE", r"(?<place>\S.*?:\d+(?::\d+)?)")))
    .into()
});
static WEAKNESS: LazyLock<Regex> = LazyLock::new(|| regex(r"^(?<words>.*\S) \[CWE-(?<number>\d+)\]$"));

/// Reads a line; none where it is no message.
pub(super) fn message(line: &str) -> Option<Message> {
    let line = line.trim_end();
    if let Some(rest) = line.trim_start().strip_prefix("::") {
        return annotation(rest);
    }
    FORMS.iter().find_map(|form| form.captures(line)).and_then(|captures| fitted(&captures))
}

fn fitted(captures: &Captures) -> Option<Message> {
    let group = |name: &str| captures.name(name).map(|group| group.as_str());
    let number = |name: &str| group(name).and_then(|digits| digits.parse().ok());
    let mut at = match group("file") {
        Some(file) => {
            Location::line(file, number("line").unwrap_or(0)).at_column(number("column").unwrap_or(0))
        }
        None => place(group("place")?)?,
    };
    if let Some((line, column)) = group("end").and_then(|end| end.split_once(':')) {
        at.end_line = line.parse().ok().filter(|&line| Some(line) != at.line);
        // The last column is part of it.
        at.end_column = column.parse::<u32>().ok().map(|column| column.saturating_add(1));
    }
    let code = group("code").or(group("number"));
    // Behind a code, brackets are words.
    let spoken = format!("{}{}", group("words")?, code.and(group("tail")).unwrap_or_default());
    let weakness = WEAKNESS.captures(&spoken);
    let words =
        weakness.as_ref().map_or(&*spoken, |weakness| weakness.name("words").map_or("", |m| m.as_str()));
    let kind = group("kind").unwrap_or("warning").to_lowercase();
    Some(Message {
        at,
        kind: match &*kind {
            "message" => "note".to_owned(),
            "warn" => "warning".to_owned(),
            _ => kind,
        },
        words: words.to_owned(),
        rule: code.or(group("tag").map(named)).unwrap_or_default().to_owned(),
        cwe: weakness.as_ref().and_then(|weakness| weakness["number"].parse().ok()),
        function: group("function").unwrap_or_default().to_owned(),
        changes: Vec::new(),
    })
}

/// The rule of `-Wshadow`, `-Werror=shadow`, `-Werror,-Wshadow` and `bugprone-x,-warnings-as-errors` alike.
fn named(written: &str) -> &str {
    let parts = written.split(',').map(|part| part.trim_start_matches("-W"));
    let mut parts = parts.map(|part| part.strip_prefix("error=").unwrap_or(part));
    parts.find(|part| !["", "error", "-warnings-as-errors"].contains(part)).unwrap_or(written)
}

static AGAIN: LazyLock<Regex> = LazyLock::new(|| regex(r"^\d+:\d+ \[(?<tag>[\w-]+)\] (?<words>.+)$"));
static CODE: LazyLock<Regex> = LazyLock::new(|| regex(r"^(?:\S+ \()?(?<code>[\w/.-]+?)\)?$"));

/// A line that GitHub shows beside the code: `::error file=a.py,line=3,col=9,title=ruff (E501)::words`, without the first colons.
fn annotation(rest: &str) -> Option<Message> {
    let (head, words) = rest.split_once("::")?;
    let (kind, properties) = head.split_once(' ')?;
    if !["error", "warning", "notice"].contains(&kind) {
        return None;
    }
    let property = |name: &str| {
        let mut pairs = properties.split(',').filter_map(|pair| pair.trim().split_once('='));
        pairs.find(|(key, _)| *key == name).map(|(_, value)| unescaped(value))
    };
    let number = |name: &str| property(name).and_then(|digits| digits.parse().ok()).unwrap_or(0);
    let at = Location::line(property("file")?, number("line")).at_column(number("col"));
    let words = unescaped(words);
    let (first, more) = words.split_once('\n').unwrap_or((&words, ""));
    let title = property("title").unwrap_or_default();
    let code = CODE.captures(&title).map(|captures| captures["code"].to_owned());
    // Some say place and rule once more before the words.
    let (rule, said) = match (message(first), AGAIN.captures(first)) {
        (Some(again), _) if again.at.line == at.line => (again.rule, again.words),
        (_, Some(again)) => (again["tag"].to_owned(), again["words"].to_owned()),
        _ if code.is_none() && !title.is_empty() => (String::new(), format!("{title}: {first}")),
        _ => (code.unwrap_or_default(), first.to_owned()),
    };
    let words = if more.is_empty() { said } else { format!("{said}\n{more}") };
    Some(Message {
        at,
        kind: kind.to_owned(),
        words,
        rule,
        cwe: None,
        function: String::new(),
        changes: Vec::new(),
    })
}

/// What GitHub writes as `%0A`, a percent sign last.
fn unescaped(text: &str) -> String {
    let signs = [("%0A", "\n"), ("%0D", "\r"), ("%3A", ":"), ("%2C", ","), ("%25", "%")];
    signs.iter().fold(text.to_owned(), |text, (written, sign)| text.replace(written, sign))
}

static FIX_IT: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r#"^fix-it:"(?<file>(?:[^"\\]|\\.)*)":\{(?<line>\d+):(?<column>\d+)-(?<end_line>\d+):(?<end_column>\d+)\}:"(?<text>(?:[^"\\]|\\.)*)"$"#,
    )
});

/// An edit that gcc or clang prints with `-fdiagnostics-parseable-fixits`.
pub(super) fn fix_it(line: &str) -> Option<Change> {
    let captures = FIX_IT.captures(line.trim_end())?;
    let number = |name: &str| captures[name].parse::<u32>().ok();
    let (start, end) = ((number("line")?, number("column")?), (number("end_line")?, number("end_column")?));
    let location = Location {
        end_line: Some(end.0).filter(|_| end.0 != start.0),
        end_column: Some(end.1),
        ..Location::line(unquoted(&captures["file"]), start.0).at_column(start.1)
    };
    Some(Change { location, insert: start == end, text: unquoted(&captures["text"]) })
}

/// What stands between the quotes: `\n`, `\t`, other bytes as three octal digits.
fn unquoted(text: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let [first, after @ ..] = rest {
        rest = after;
        let ([sign, more @ ..], b'\\') = (after, first) else {
            bytes.push(*first);
            continue;
        };
        let octal =
            after.get(..3).and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok());
        let (byte, left) = match (sign, octal) {
            (_, Some(byte)) => (byte, &after[3..]),
            (b'n', _) => (b'\n', more),
            (b't', _) => (b'\t', more),
            (other, _) => (*other, more),
        };
        bytes.push(byte);
        rest = left;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_forms_of_linters() {
        let says = |line: &str| {
            let Message { at, kind, words, rule, function, .. } = message(line).expect(line);
            (at.file, at.line, at.column, kind, rule, words, function)
        };
        let is = |file: &str, line, column, kind: &str, rule: &str, words: &str| {
            (file.into(), Some(line), column, kind.into(), rule.into(), words.into(), String::new())
        };
        assert_eq!(
            says("hadolint:Dockerfile:1: DL3006 warning: Tag it"),
            is("Dockerfile", 1, None, "warning", "DL3006", "Tag it")
        );
        assert_eq!(
            says("Dockerfile:1 DL3006 info: Tag it"),
            is("Dockerfile", 1, None, "info", "DL3006", "Tag it")
        );
        assert_eq!(
            says("a.yaml:2:1: [error] twice \"a\" (key-duplicates)"),
            is("a.yaml", 2, Some(1), "error", "key-duplicates", "twice \"a\"")
        );
        assert_eq!(
            says("a.py:1: [E401] Multiple imports"),
            is("a.py", 1, None, "warning", "E401", "Multiple imports")
        );
        assert_eq!(
            says("a.js:3:9: Missing semicolon. [Error/semi]"),
            is("a.js", 3, Some(9), "error", "semi", "Missing semicolon.")
        );
        assert_eq!(says("a.py:7:3:8:20: error: No [misc]"), is("a.py", 7, Some(3), "error", "misc", "No"));
        let smatch = says("drivers/a.c:12 probe() warn: missing unwind");
        assert_eq!((smatch.1, &*smatch.3, &*smatch.6), (Some(12), "warning", "probe"));
        assert_eq!(
            says("a.go:3:2: this value of x is never used (SA4006)"),
            is("a.go", 3, Some(2), "warning", "SA4006", "this value of x is never used")
        );
        assert_eq!(says("./a.go:3:2: result of call").5, "result of call");
        assert_eq!(says("p.py:1: B403[bandit]: LOW: Consider").4, "B403");
        assert_eq!(says("p.py(2): [C0116(missing-function-docstring)f] Missing").6, "f");
        assert_eq!(says("a.py:2: [W0613(unused-argument), f] Unused 'y'").6, "f");
        let whole = message("a.py:7:3:8:20: error: No [misc]").unwrap().at;
        assert_eq!((whole.end_line, whole.end_column), (Some(8), Some(21)));
    }

    #[test]
    fn annotations_of_a_workflow() {
        let says = |line: &str| {
            let Message { at, kind, words, rule, .. } = message(line).expect(line);
            (at.file, at.line, at.column, kind, rule, words)
        };
        let is = |rule: &str, words: &str| {
            ("a,b.py".into(), Some(3), Some(9), "error".to_owned(), rule.to_owned(), words.to_owned())
        };
        let head = "::error title=T,file=a%2Cb.py,line=3,col=9,endLine=3";
        let line = |title: &str, words: &str| format!("{}::{words}", head.replace('T', title));
        assert_eq!(
            says(&line("ruff (E401)", "a.py:3:9: E401 Many%0A  help: 100%25")),
            is("E401", "Many\n  help: 100%")
        );
        assert_eq!(says(&line("C0114", "Missing docstring")), is("C0114", "Missing docstring"));
        assert_eq!(says(&line("Too long", "by 3")), is("", "Too long: by 3"));
        assert_eq!(says(&line("", "3:9 [truthy] be true")), is("truthy", "be true"));
        assert!(message("::group::a.py").is_none() && message("::error::no place").is_none());
    }

    #[test]
    fn edits_that_compilers_print() {
        let edit = fix_it(r#"fix-it:"a \"b\".c":{3:5-3:7}:"\t\303\244\n""#).unwrap();
        assert_eq!(
            (&*edit.location.file, edit.location.end_column, &*edit.text, edit.insert),
            ("a \"b\".c", Some(7), "\tä\n", false)
        );
        assert!(fix_it(r#"fix-it:"a.c":{3:5-3:5}:"x""#).unwrap().insert);
    }
}
