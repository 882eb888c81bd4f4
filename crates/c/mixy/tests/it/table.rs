//! Every way to switch with every kind of cell: small programs from a table, each with its verdict and the reason for it,
//! held against running them on every input.
//!
//! `outer` uses a pointer cell after `change`, reached directly or through `middle`, has done something to it. The three
//! are typed or symbolic; with `middle` in the other mode than `change`, they may also call each other back.

use crate::common;

use common::{found, load};
use parallax_cexplore::Program;
use parallax_cexplore::run::{Closed, GivenMemory, Outcome, Settings as RunSettings, Start, run_from};
use parallax_cmachine::Problem;
use parallax_mixy::{Settings, check};
use parallax_op::Bits;

/// A kind of cell: its name, parameters, arguments to pass on, set-up, arguments of the first call, where a value goes,
/// and the use.
struct Cell {
    name: &'static str,
    parameter: &'static str,
    setup: &'static str,
    argument: &'static str,
    target: &'static str,
    used: &'static str,
}

const CELLS: [Cell; 6] = [
    Cell { name: "global", parameter: "int *p", setup: "", argument: "&v", target: "@cell", used: "*@cell" },
    Cell {
        name: "output parameter",
        parameter: "int **p",
        setup: "int *x = &v;",
        argument: "&x",
        target: "*p",
        used: "*x",
    },
    Cell {
        name: "void **",
        parameter: "void **p",
        setup: "void *x = &v;",
        argument: "&x",
        target: "*p",
        used: "*(int *)x",
    },
    Cell {
        name: "field",
        parameter: "struct S *p",
        setup: "struct S s = { 0, &v };",
        argument: "&s",
        target: "p->f",
        used: "*s.f",
    },
    Cell {
        name: "array element",
        parameter: "int **p",
        setup: "int *a[2] = { &v, &v };",
        argument: "a",
        target: "p[1]",
        used: "*a[1]",
    },
    Cell {
        name: "nested pointer",
        parameter: "int ***p",
        setup: "int *x = &v, **y = &x;",
        argument: "&y",
        target: "**p",
        used: "*x",
    },
];

/// What happens to the cell: its name, and the statement.
const DEEDS: [(&str, &str); 4] = [
    ("unchanged", "v = 2;"),
    ("set null", "$ = 0;"),
    ("set null, then reset", "$ = 0; $ = &v;"),
    ("conditionally null", "if (N()) $ = 0;"),
];

/// The same for a value that is returned.
const RETURNS: [&str; 4] =
    ["return p;", "return 0;", "{ int *r = 0; r = p; return r; }", "return N() ? 0 : p;"];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    Typed,
    Symbolic,
}

impl Mark {
    fn text(self) -> &'static str {
        if self == Mark::Typed { "MIX(typed) " } else { "MIX(symbolic) " }
    }
    fn name(self) -> &'static str {
        if self == Mark::Typed { "typed" } else { "symbolic" }
    }
}

struct Case {
    what: String,
    /// Whether it must be found, and why.
    verdict: (bool, &'static str),
    /// Whether the block cannot be explored to the end, and the report must say so.
    demoted: bool,
    outer: Mark,
    line: usize,
}

/// The verdict on a deed in a mode, reasoned; `switched` where typed code stands between the use and the change.
fn verdict(cell: Option<&Cell>, deed: usize, change: Mark, switched: bool) -> (bool, &'static str) {
    let is = |name: &str| switched && change == Mark::Symbolic && cell.is_some_and(|cell| cell.name == name);
    match (deed, change) {
        (2, _) if is("void **") => (true, "a false alarm: what a block leaves behind a void ** is not told"),
        (2, _) if is("array element") => (true, "a false alarm: the block is demoted, see the gap"),
        (0, _) => (false, "nothing makes it null"),
        (1, _) => (true, "it is null when it is used"),
        (2, Mark::Typed) => (true, "inference does not know that the reset comes later: a false alarm"),
        (2, Mark::Symbolic) => (false, "on every path the block leaves what is not null"),
        _ => (true, "it is null on one of the paths"),
    }
}

/// One case as C; `recursive` lets `change` call `middle` back.
fn program(
    text: &mut String,
    number: usize,
    (cell, deed): (Option<&Cell>, usize),
    (outer, middle, change): (Mark, Option<Mark>, Mark),
    recursive: bool,
) -> Case {
    let at = format!("c{number}_");
    let back = |call: &str| if recursive { format!("if (n) {{ {call} }} ") } else { String::new() };
    let first = if middle.is_some() { "middle" } else { "change" };
    let (name, lines) = match cell {
        Some(cell) => {
            let deed = DEEDS[deed].1.replace('$', cell.target);
            let mut lines = vec!["int *@cell = &v;".to_string()];
            lines.push(format!("void @change({0}, int n); void @middle({0}, int n);", cell.parameter));
            let again = back("@middle(p, n - 1); return;");
            lines.push(format!(
                "{}void @change({}, int n) {{ {again}{deed} }}",
                change.text(),
                cell.parameter
            ));
            if let Some(middle) = middle {
                let body = "@change(p, n);";
                lines.push(format!("{}void @middle({}, int n) {{ {body} }}", middle.text(), cell.parameter));
            }
            let call = format!("@{first}({}, N() ? 1 : 0);", cell.argument);
            lines.push(format!("{}void @outer(void) {{ {} {call}", outer.text(), cell.setup));
            lines.push(format!("  {} = 1; }}", cell.used));
            (cell.name, lines)
        }
        None => {
            let again = back("return @middle(p, n - 1);");
            let mut lines = vec!["int *@change(int *p, int n); int *@middle(int *p, int n);".to_string()];
            let deed = RETURNS[deed];
            lines.push(format!("{}int *@change(int *p, int n) {{ {again}{deed} }}", change.text()));
            if let Some(middle) = middle {
                lines.push(format!(
                    "{}int *@middle(int *p, int n) {{ return @change(p, n); }}",
                    middle.text()
                ));
            }
            let call = format!("@{first}(&v, N() ? 1 : 0);");
            lines.push(format!("{}void @outer(void) {{ int *x = {call}", outer.text()));
            lines.push("  *x = 1; }".to_string());
            ("return value", lines)
        }
    };
    for line in &lines {
        text.push_str(&line.replace('@', &at));
        text.push('\n');
    }
    let line = text.lines().count();
    text.push_str(&format!("void {at}main(void) {{ {at}outer(); }}\n"));
    let through = middle.map_or(String::new(), |middle| format!(" through {} middle", middle.name()));
    let what = format!(
        "{name}, {}, {} change from {} outer{through}{}",
        DEEDS[deed].0,
        change.name(),
        outer.name(),
        if recursive { ", calling back" } else { "" }
    );
    let switched = outer == Mark::Typed || middle == Some(Mark::Typed);
    // The block knows of one element and not how many there are: a write to the second may be out of what it follows.
    let demoted =
        switched && change == Mark::Symbolic && name == "array element" && DEEDS[deed].0 != "unchanged";
    Case { what, verdict: verdict(cell, deed, change, switched), demoted, outer, line }
}

/// Whether some input makes the use go wrong.
fn goes_wrong(program: &Program, entry: &str, line: usize) -> bool {
    (0..4u32).any(|bits| {
        let inputs = (0..2).map(|n| Bits::new(32, u128::from(bits >> n & 1))).collect();
        let settings = RunSettings { steps: Some(20_000), inputs, ..RunSettings::default() };
        let memory = GivenMemory::default();
        let start = Start::Function(entry, &memory);
        let ran = run_from(&program.module, start, &mut Closed::default(), &settings, &mut |_| {});
        matches!(ran.outcome, Outcome::Mistake(mistake)
            if mistake.problem == Problem::NullDereference
                && program.module.location(mistake.stack[0].1).line as usize == line)
    })
}

#[test]
fn every_switch_of_every_cell_has_its_verdict() {
    let mut text = String::from(
        "#include <parallax.h>\nint __VERIFIER_nondet_int(void);\n#define N() __VERIFIER_nondet_int()\n\
         struct S { int k; int *f; };\nint v;\n",
    );
    let both = [Mark::Typed, Mark::Symbolic];
    let mut cases = Vec::new();
    for cell in CELLS.iter().map(Some).chain([None]) {
        for deed in 0..DEEDS.len() {
            for outer in both {
                for change in both {
                    for middle in [None, Some(Mark::Typed), Some(Mark::Symbolic)] {
                        for recursive in [false, true] {
                            if recursive && middle.is_none_or(|middle| middle == change) {
                                continue;
                            }
                            let number = cases.len();
                            let modes = (outer, middle, change);
                            cases.push(program(&mut text, number, (cell, deed), modes, recursive));
                        }
                    }
                }
            }
        }
    }
    assert!(cases.len() > 400, "a few hundred cases: {}", cases.len());
    let loaded = load(&text);
    let mut wrong = Vec::new();
    for (number, case) in cases.iter().enumerate() {
        let entry = format!("c{number}_main");
        let settings = Settings { entry: entry.clone(), ..Settings::default() };
        let report = check(&loaded.module, &settings).unwrap_or_else(|e| panic!("{e}"));
        let reported = found(&loaded, &report);
        let wanted = format!("{} null-dereference {}", case.line, case.outer.name());
        let (expected, reason) = case.verdict;
        let truth = goes_wrong(&loaded, &entry, case.line);
        if reported.contains(&wanted) != expected || reported.len() != usize::from(expected) {
            wrong.push(format!("{} ({reason}): {reported:?} instead of {wanted:?}", case.what));
        }
        if truth && !expected {
            wrong.push(format!("{} ({reason}): it does happen", case.what));
        }
        if !truth && expected && !reason.contains("false alarm") {
            wrong.push(format!("{} ({reason}): it does not happen", case.what));
        }
        if report.gaps.is_empty() == case.demoted {
            wrong.push(format!("{}: {:?}", case.what, report.gaps));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}
