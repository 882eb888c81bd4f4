//! `--changed-since`: of random programs under git, the findings of functions that changed, or that come to one that did.
//!
//! Each function of a program has one finding of its own (a variable that may not be set), so the functions with findings are those
//! that `check` took. The generator makes two source files, a header with a macro and a structure, direct calls and calls through a
//! table; it changes one thing and knows from its own lists what that reaches. It does not make inline functions in headers, functions
//! that share a line, submodules, or sources that a program writes.

use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// Numbers that look random, the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }
}

const FUNCTIONS: usize = 8;

/// A program of eight functions and main: what each calls, and what is written where.
#[derive(Clone)]
struct Program {
    calls: Vec<Vec<usize>>,
    /// The function that calls through the table, and those whose addresses are in it.
    through: usize,
    table: Vec<usize>,
    /// A number in the body of each function.
    numbers: Vec<usize>,
    /// Lines before each function.
    before: Vec<String>,
    macro_is: usize,
}

impl Program {
    fn random(numbers: &mut Numbers) -> Program {
        let calls = (0..FUNCTIONS).map(|own| {
            let count = numbers.below(3);
            // Also of itself and of functions before it: calls may go round.
            (0..count)
                .map(|_| numbers.below(FUNCTIONS))
                .filter(|callee| *callee != own || own % 2 == 0)
                .collect()
        });
        Program {
            calls: calls.collect(),
            through: numbers.below(FUNCTIONS),
            table: vec![numbers.below(FUNCTIONS), numbers.below(FUNCTIONS)],
            numbers: vec![1; FUNCTIONS],
            before: vec![String::new(); FUNCTIONS],
            macro_is: 3,
        }
    }

    fn write(&self, folder: &Path) {
        let declared: String = (0..FUNCTIONS).map(|own| format!("int f{own}(int n);\n")).collect();
        let header = format!(
            "#include <stdlib.h>\n#define WIDTH {}\nextern int (*table[])(int);\n{declared}",
            self.macro_is
        );
        fs::write(folder.join("all.h"), header).expect("written");
        for file in 0..2 {
            let mut text = String::from("#include \"all.h\"\n");
            if file == 0 {
                let names: Vec<String> = self.table.iter().map(|own| format!("f{own}")).collect();
                text += &format!("int (*table[])(int) = {{ {} }};\n", names.join(", "));
            }
            for own in (0..FUNCTIONS).filter(|own| own % 2 == file) {
                text += &self.before[own];
                text += &format!(
                    "int f{own}(int n)\n{{\n    char *p = getenv(\"A\");\n    n += *p + {};\n",
                    self.numbers[own]
                );
                for callee in &self.calls[own] {
                    text += &format!("    if (n > {own}) n = f{callee}(n - 1);\n");
                }
                if own == self.through {
                    text += "    if (n > 20) n = table[n & 1](n - 1);\n";
                }
                text += "    return n + WIDTH;\n}\n";
            }
            if file == 1 {
                let all: String = (0..FUNCTIONS).map(|own| format!("    n += f{own}(n);\n")).collect();
                text += &format!("int main(void)\n{{\n    int n = 9;\n{all}    return n;\n}}\n");
            }
            fs::write(folder.join(format!("{file}.c")), text).expect("written");
        }
    }

    /// These functions and all that come to them. Whether a function's address is taken decides what calls through the table reach.
    fn reaching(&self, changed: impl IntoIterator<Item = usize>) -> BTreeSet<String> {
        let mut reached: BTreeSet<usize> = changed.into_iter().collect();
        loop {
            let comes = |own: usize| {
                self.calls[own].iter().any(|callee| reached.contains(callee))
                    || (own == self.through && self.table.iter().any(|callee| reached.contains(callee)))
            };
            let more: Vec<usize> =
                (0..FUNCTIONS).filter(|own| !reached.contains(own) && comes(*own)).collect();
            if more.is_empty() {
                return reached.into_iter().map(|own| format!("f{own}")).collect();
            }
            reached.extend(more);
        }
    }
}

fn git(folder: &Path, words: &[&str]) {
    let fixed = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"];
    let output =
        Command::new("git").arg("-C").arg(folder).args(fixed).args(words).output().expect("git runs");
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn commit(folder: &Path) {
    git(folder, &["add", "--all"]);
    git(folder, &["commit", "--quiet", "--allow-empty", "--message", "x"]);
}

fn parallax(folder: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_parallax"));
    command.current_dir(folder).args(words).output().expect("it runs")
}

fn document(output: &Output) -> Value {
    let said = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"))
}

/// The functions with findings, and how many were left out.
fn checked(folder: &Path, since: Option<&str>) -> (BTreeSet<String>, u64) {
    let mut words = vec!["check", "0.c", "1.c", "--no-refine", "--json"];
    words.extend(since.map(|_| "--changed-since").into_iter().chain(since));
    let found = document(&parallax(folder, &words));
    let functions = found["findings"].as_array().expect("findings").iter();
    let left_out = found["suppressed"].as_array().expect("a list").iter();
    (
        functions.map(|finding| finding["function"].as_str().expect("a name").to_owned()).collect(),
        left_out.map(|one| one["count"].as_u64().expect("a number")).sum(),
    )
}

#[test]
fn what_changed_and_what_comes_to_it() {
    let numbers = &mut Numbers(46);
    let all: BTreeSet<String> = (0..FUNCTIONS).map(|own| format!("f{own}")).collect();
    for round in 0..10 {
        let folder = tempfile::tempdir().expect("a folder");
        git(folder.path(), &["init", "--quiet"]);
        let before = Program::random(numbers);
        before.write(folder.path());
        commit(folder.path());
        if round == 0 {
            assert_eq!(checked(folder.path(), None).0, all, "each function has a finding");
        }
        let one = numbers.below(FUNCTIONS);
        let mut after = before.clone();
        let expected = match round % 5 {
            0 | 1 => {
                after.numbers[one] = 2;
                before.reaching([one])
            }
            // A line goes.
            2 => {
                let Some(caller) = (0..FUNCTIONS).find(|own| !before.calls[*own].is_empty()) else {
                    continue;
                };
                after.calls[caller].pop();
                after.reaching([caller])
            }
            // Lines move, and comments come.
            3 => {
                after.before[one] = "\n// A comment.\n\n".into();
                BTreeSet::new()
            }
            _ => {
                after.macro_is = 4;
                all.clone()
            }
        };
        after.write(folder.path());
        for is_committed in [false, true] {
            if is_committed {
                commit(folder.path());
            }
            let revision = if is_committed { "HEAD~1" } else { "HEAD" };
            let (found, left_out) = checked(folder.path(), Some(revision));
            assert_eq!(found, expected, "round {round}, f{one}");
            assert_eq!(found.len() as u64 + left_out, FUNCTIONS as u64, "what is not told is counted");
        }
        assert!(checked(folder.path(), Some("HEAD")).0.is_empty(), "all is committed");
    }
}

#[test]
fn exploration_starts_where_something_changed() {
    let folder = tempfile::tempdir().expect("a folder");
    git(folder.path(), &["init", "--quiet"]);
    let text = "static int last(const int *p, int n) { return p[n - 1]; }\n\
        int first(const int *p) { return p[0]; }\n\
        int both(const int *p, int n)\n{\n    if (n < 1 || !p) return 0;\n    return last(p, n) + first(p);\n}\n\
        int other(int n) { return n / 2; }\nint main(void) { return other(4); }\n";
    fs::write(folder.path().join("a.c"), text).expect("written");
    commit(folder.path());
    let words = ["explore", "a.c", "--changed-since", "HEAD", "--time", "20", "--no-native"];
    let output = parallax(folder.path(), &words);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("nothing was explored"), "{output:?}");

    fs::write(folder.path().join("a.c"), text.replace("n / 2", "4 / n")).expect("written");
    let report = [&words[..], &["--json", "--report", "found.md"]].concat();
    let output = parallax(folder.path(), &report);
    let found = document(&output);
    assert_eq!(found["findings"][0]["kind"], "division-by-zero", "{found:#}");
    assert_eq!(found["findings"][0]["function"], "other", "{found:#}");
    assert_eq!(output.status.code(), Some(1), "{found:#}");
    let entered = found["assumptions"].to_string();
    assert!(entered.contains("changed since HEAD: other, main"), "{entered}");
    let summary = fs::read_to_string(folder.path().join("found.md")).expect("a summary");
    assert!(summary.starts_with("### 1 finding\n\n| | what | where | found by |\n"), "{summary}");
    assert!(summary.contains("`a.c:8`"), "{summary}");
}

#[test]
fn what_git_does_not_know_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("a.c"), "int main(void) { return 0; }\n").expect("written");
    let says = |since: &str, words: &str| {
        let output = parallax(folder.path(), &["check", "a.c", &format!("--changed-since={since}")]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(words), "{said}");
    };
    says("HEAD", "not a git repository");
    git(folder.path(), &["init", "--quiet"]);
    says("HEAD", "git knows no such revision");
    says("--output=x", "not a revision of git");
    // A file that the program includes and git ignores.
    fs::write(folder.path().join("made.h"), "static inline int two(void) { return 2; }\n").expect("written");
    fs::write(folder.path().join("a.c"), "#include \"made.h\"\nint main(void) { return two(); }\n")
        .expect("written");
    fs::write(folder.path().join(".gitignore"), "made.h\n").expect("written");
    commit(folder.path());
    let output = parallax(folder.path(), &["check", "a.c", "--changed-since", "HEAD"]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("made.h: as in HEAD, for git does not track it"), "{said}");
}
