//! What a file is that no reader knows, and what to run instead: tools have forms of their own, and most can write one that
//! is read.

use regex::Regex;
use std::sync::LazyLock;

/// Signs of a form, what it is, and the way to a report that can be read. The first row that fits is the file's.
type Row = (&'static str, &'static str, &'static str);

const ROWS: &[Row] = &[
    (r"\ADIAG", "diagnostics that clang has serialised", "`clang -fdiagnostics-format=sarif`"),
    (
        r#"(?m)"issue_text"|^ *issue_text:|issue_text,line_number|^>> Issue: \[B|<testsuite name="bandit""#,
        "Bandit's own form",
        "`bandit -f sarif`",
    ),
    (
        r#"(?m)docs\.astral\.sh/ruff|package="org\.ruff"|^[A-Z]+\d+ .*\n *--> "#,
        "Ruff's own form",
        "`ruff check --output-format sarif`",
    ),
    (r"##vso\[task\.", "lines for Azure's servers", "SARIF"),
    (r#""docs?\.zizmor\.sh|docs\.zizmor\.sh/audits"#, "zizmor's own form", "`zizmor --format sarif`"),
    (r#""message-?[iI]d": "[A-Z]\d{4}""#, "pylint's JSON", "`pylint --output-format=parseable`"),
    (
        r#"(?m)"code":"(?:DL|SC)\d{4}"|"engineId":"Hadolint"|"(?:patternId|check_name)":"DL\d"#,
        "hadolint's JSON",
        "`hadolint -f sarif`",
    ),
    (
        r#"(?m)"level":"\w+","code":\d{4}|^In .* line \d+:$"#,
        "shellcheck's own form",
        "`shellcheck -f gcc` or `-f checkstyle`",
    ),
    (r#""check_name":"#, "JSON for Code Climate or GitLab", "SARIF"),
    (r#""hint": .*"severity": "#, "mypy's JSON", "`mypy` without `--output json`"),
    (
        r"(?m)^MainSourceFile:|^ *- DiagnosticName:",
        "fixes that clang-tidy exports, without a path",
        "what `clang-tidy` prints",
    ),
    (r#""check_id":[\s\S]*"extra":"#, "Semgrep's JSON", "`semgrep scan --sarif`"),
    (r#""filePath":[\s\S]*"ruleId":"#, "ESLint's JSON", "what `eslint` prints by default, or SARIF"),
    (
        r"Flawfinder version|^File,Line,Column,DefaultLevel,Level,Category|(?i)<title>Flawfinder",
        "Flawfinder's own form",
        "`flawfinder --sarif`",
    ),
    (r#""posn":"#, "JSON of `go vet`", "`go vet` without `-json`"),
    (
        r#"CBMC version|"program": "CBMC"#,
        "output of CBMC in which no property fails",
        "`cbmc --trace`, where one does; `--cover` and `--show-properties` check none",
    ),
    (
        r"(?m)^# callgrind format|^desc: (?:--massif|I1 cache)|dhatFileVersion|^==\d+== (?:Massif|DHAT|Cachegrind|Callgrind),|^Command: .*\n(?:.*\n)*Massif arguments:",
        "a profile, in which nothing is wrong",
        "memcheck, helgrind or drd",
    ),
    (r"\A(?:--- |diff )", "a patch", "the findings behind it"),
];

static SIGNS: LazyLock<Vec<Regex>> =
    LazyLock::new(|| ROWS.iter().map(|(sign, ..)| Regex::new(sign).expect("well-formed")).collect());

/// What to say of a file that no reader knows.
pub(crate) fn advice(text: &str) -> String {
    /// So much is looked at.
    const HEAD: usize = 1 << 16;
    let end = (0..=text.len().min(HEAD)).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    let head = &text[..end];
    if head.trim().is_empty() {
        return "it is empty".to_owned();
    }
    match SIGNS.iter().position(|sign| sign.is_match(head)) {
        Some(row) => format!("it looks like {}; what can be read is {}", ROWS[row].1, ROWS[row].2),
        None => format!(
            "it knows {}; tools with a form of their own can often write SARIF",
            crate::Format::list()
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_form_has_its_way() {
        for (file, way) in [
            ("filename,test_name,issue_text,line_number\n", "bandit -f sarif"),
            ("E401 [*] Multiple imports\n --> p.py:1:1\n", "--output-format sarif"),
            (
                "[{\"file\":\"s.sh\",\"level\":\"error\",\"code\":2045,\"message\":\"x\"}]",
                "shellcheck -f gcc",
            ),
            ("\nIn s.sh line 2:\nfor f\n", "shellcheck -f gcc"),
            ("[{\"code\":\"DL3006\",\"column\":1}]", "hadolint -f sarif"),
            ("---\nMainSourceFile:  'a.c'\n", "`clang-tidy` prints"),
            ("{\"results\": [{\"check_id\": \"a\",\n\"extra\": {}}]}", "semgrep scan --sarif"),
            ("==1== Massif, a heap profiler\n", "memcheck"),
            ("CBMC version 6.6.0\nPARSING ERROR\n", "cbmc --trace"),
            (" \n", "empty"),
            ("Dear reader", "can often write SARIF"),
        ] {
            assert!(advice(file).contains(way), "{file:?}: {}", advice(file));
        }
    }
}
