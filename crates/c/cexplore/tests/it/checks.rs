//! Checks on request and the world around a program: what is found is what the marks say, and what the native program,
//! built with the sanitizer of its kind, says too.

use crate::corpus;

use corpus::{Case, cases, each, header, load, settings};
use parallax_cexplore::confirm::replay;
use parallax_cexplore::explore::{Entry, LoopBound, Settings, explore};
use parallax_cexplore::native::{self, Native};
use parallax_cexplore::place::user_place;
use parallax_cmachine::Problem;
use parallax_term::Store;
use std::collections::BTreeSet;

fn marks(text: &str) -> BTreeSet<(String, u32)> {
    let marked =
        (1..).zip(text.lines()).filter_map(|(number, line)| Some((number, line.split_once("//~ ")?.1)));
    marked.flat_map(|(n, kinds)| kinds.split_whitespace().map(move |kind| (kind.to_string(), n))).collect()
}

fn check(case: &Case, failures: &mut Vec<String>) -> usize {
    let settings = Settings { tests: false, ..settings(case) };
    let program = load(case);
    let store = Store::new();
    let solver = parallax_smt::solver(&store);
    let explored = explore(&store, &program.module, &settings, solver, &mut |_, _, _| {})
        .unwrap_or_else(|error| panic!("{}: {error}", case.name));
    let place = |stack: &[_]| program.module.location(user_place(&program.module, stack).1).line;
    let found: BTreeSet<(String, u32)> =
        explored.findings.iter().map(|f| (f.problem.name().to_string(), place(&f.stack))).collect();
    if found != marks(&case.text) {
        failures.push(format!("{}: found {found:?}: {:?}", case.name, explored.findings));
    }
    let allowed: Vec<&str> = header(&case.text, "bounds").unwrap_or("").split_whitespace().collect();
    let bounds: Vec<&str> = explored.completeness.bounds().map(|bound| bound.name()).collect();
    if bounds.iter().any(|bound| !allowed.contains(bound)) || bounds.is_empty() != allowed.is_empty() {
        failures.push(format!("{}: bounds {bounds:?}, expected {allowed:?}", case.name));
    }
    let folder = std::env::temp_dir().join(format!("parallax-checks-{}-{}", std::process::id(), case.name));
    std::fs::create_dir_all(&folder).expect("a folder");
    let mut natively = 0;
    for finding in &explored.findings {
        if !replay(&program, finding, &settings).confirmed {
            failures.push(format!("{}: {finding:?} is not confirmed by replay", case.name));
        }
        if header(&case.text, "native").is_some() || finding.problem == Problem::NotANumber {
            continue;
        }
        natively += 1;
        let native = native::confirm(&program, finding, &settings, &folder);
        if native != Native::Confirmed {
            failures.push(format!("{}: natively {native:?}: {:?}", case.name, finding.input));
        }
    }
    std::fs::remove_dir_all(&folder).expect("the folder goes");
    natively
}

#[test]
fn checks_find_what_is_marked_and_natively_so() {
    let all = cases("checks");
    let (failures, natively) = each(&all, check);
    assert!(failures.is_empty(), "{}:\n{}", failures.len(), failures.join("\n"));
    assert!(all.len() >= 30, "the corpus has {} programs", all.len());
    assert!(natively.iter().sum::<usize>() >= 15, "findings were run natively");
}

/// A program from text, explored with the settings.
fn explored(name: &str, text: &str, settings: &Settings) -> parallax_cexplore::explore::Exploration {
    let file = std::env::temp_dir().join(format!("parallax-checks-{}-{name}.c", std::process::id()));
    std::fs::write(&file, text).expect("a file");
    let program = load(&corpus::case(file.clone()));
    std::fs::remove_file(&file).expect("the file goes");
    let store = Store::new();
    let solver = parallax_smt::solver(&store);
    explore(&store, &program.module, settings, solver, &mut |_, _, _| {}).expect("it is explored")
}

const TWO: &str = "int klee_int(const char *);
int main(void) {
  int a[2] = {1, 2}, i = klee_int(\"i\");
  if (i == 7) return a[i];
  if (i == 8) return 1 / (i - 8);
  return 0;
}
";

#[test]
fn one_property_is_looked_for_and_the_first_finding_ends() {
    let all = explored("all", TWO, &Settings::default());
    assert_eq!(all.findings.len(), 2, "{:?}", all.findings);
    let only = Settings { only: vec![Problem::DivisionByZero], ..Settings::default() };
    let one = explored("only", TWO, &only);
    assert_eq!(one.findings.iter().map(|f| f.problem).collect::<Vec<_>>(), [Problem::DivisionByZero]);
    assert!(one.completeness.is_complete(), "the other mistake ends its path all the same");
    let first = explored("first", TWO, &Settings { first: true, ..Settings::default() });
    assert_eq!(first.findings.len(), 1);
    assert!(!first.completeness.is_complete(), "what was not looked at is said");
}

const LOOPS: &str = "int klee_int(const char *);
int main(void) {
  int n = klee_int(\"n\"), m = klee_int(\"m\"), i = 0, j = 0;
  while (i < n && i < 5) i++;
  while (j < m && j < 5) j++;
  return i + j;
}
";

#[test]
fn a_loop_may_have_a_bound_of_its_own() {
    let bounded = |line: u32| {
        let own = LoopBound { file: String::new(), line, times: 1 };
        explored("loops", LOOPS, &Settings { loop_bounds: vec![own], ..Settings::default() })
    };
    assert_eq!(explored("loops", LOOPS, &Settings::default()).paths, 49);
    let (first, second) = (bounded(4), bounded(5));
    assert!(!first.completeness.is_complete() && !second.completeness.is_complete());
    assert!(first.paths < 49 && first.paths == second.paths, "{} {}", first.paths, second.paths);
}

#[test]
fn a_bound_on_loops_leaves_a_path() {
    let text = "int klee_int(const char *);
int main(void) {
  int n = klee_int(\"n\");
  if (n < 20) n = 20;
  int i = 0;
  while (i < n && i < 30) i++;
  return i;
}
";
    let settings = Settings { loops: 3, entry: Entry::default(), ..Settings::default() };
    let explored = explored("without", text, &settings);
    assert!(explored.paths >= 1, "no path came to an end");
    assert!(!explored.completeness.is_complete());
}
