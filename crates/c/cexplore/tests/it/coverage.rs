//! Coverage line by line is that of the paths, held against clang's own counts of a native run; fewer tests cover as much.

use crate::corpus;

use parallax_cexplore::explore::{Entry, Settings, explore};
use parallax_cexplore::{Program, minimise};
use parallax_term::Store;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

const TEXT: &str = "#include <stdio.h>
static int sign(int x) {
  if (x < 0) return -1;
  if (x > 100000) return 2;
  return x > 0;
}
static int unused(int x) {
  return x * 2;
}
int main(void) {
  int c = getchar();
  int all = 0;
  for (int i = 0; i < 3; i++) {
    all += sign(c - 50);
  }
  switch (c) {
  case 1: all = 7; break;
  case 2: all = 8; break;
  default: all++;
  }
  if (all == 99) {
    all = unused(all);
  }
  return all == 4 || c == 60;
}
";

fn program(folder: &Path) -> Program {
    std::fs::create_dir_all(folder).expect("a folder");
    let file = folder.join("covered.c");
    std::fs::write(&file, TEXT).expect("a file");
    corpus::load(&corpus::case(file))
}

/// Lines that clang's coverage counts as run when the inputs are.
fn native_lines(folder: &Path, inputs: &[Vec<u8>]) -> BTreeMap<u32, bool> {
    let run = |command: &mut Command| {
        let output = command.current_dir(folder).output().expect("it runs");
        assert!(output.stderr.is_empty() || output.status.success(), "{output:?}");
        output.stdout
    };
    run(Command::new("sh").args(["-c", "rm -f *.gcda *.gcno"]));
    run(Command::new("clang-19").args(["-w", "-O0", "--coverage", "covered.c", "-o", "covered"]));
    for input in inputs {
        std::fs::write(folder.join("in"), input).expect("a file");
        run(Command::new("sh").args(["-c", "./covered < in || true"]));
    }
    run(Command::new("sh")
        .args(["-c", "llvm-cov-19 gcov covered-covered.gcda || llvm-cov-19 gcov covered.gcda"]));
    let text = std::fs::read_to_string(folder.join("covered.c.gcov")).expect("counts");
    let line = |line: &str| {
        let mut parts = line.split(':');
        let (count, number) = (parts.next()?.trim(), parts.next()?.trim().parse::<u32>().ok()?);
        (number > 0 && count != "-").then(|| (number, !count.starts_with('#')))
    };
    text.lines().filter_map(line).collect()
}

#[test]
fn lines_are_covered_as_natively_and_fewer_tests_do() {
    let folder = std::env::temp_dir().join(format!("parallax-coverage-{}", std::process::id()));
    let program = program(&folder);
    let entry = Entry::Main { arguments: Vec::new(), stdin: 1, files: Vec::new(), environment: Vec::new() };
    let settings = Settings { entry, tests: true, ..Settings::default() };
    let store = Store::new();
    let solver = parallax_smt::solver(&store);
    let explored =
        explore(&store, &program.module, &settings, solver, &mut |_, _, _| {}).expect("it is explored");
    assert!(explored.completeness.is_complete());
    let (name, file) = explored.covered.first_key_value().expect("a file");
    assert!(name.ends_with("covered.c") && explored.covered.len() == 1, "library models are left out");
    let inputs = |records: &[usize]| -> Vec<Vec<u8>> {
        records.iter().map(|&number| explored.records[number].input.stdin.clone()).collect()
    };
    let every: Vec<usize> = (0..explored.records.len()).collect();
    let ours: BTreeMap<u32, bool> = file.lines.iter().map(|(line, count)| (*line, *count > 0)).collect();
    let natively = native_lines(&folder, &inputs(&every));
    for (line, run) in &ours {
        if let Some(native) = natively.get(line) {
            assert_eq!(run, native, "line {line}");
        }
    }
    let not_run: Vec<u32> = ours.iter().filter(|(_, run)| !**run).map(|(line, _)| *line).collect();
    assert_eq!(not_run, [8, 22, 23], "{ours:?}");
    // The branch on line 4 never goes one way.
    assert_eq!(file.branches[&(4, 0)].iter().filter(|&&count| count == 0).count(), 1);
    let kept = minimise::kept(&program, &settings, &explored.records);
    assert!(kept.len() < every.len(), "{} of {}", kept.len(), every.len());
    assert_eq!(native_lines(&folder.join("."), &inputs(&kept)), natively, "as much is covered");
    std::fs::remove_dir_all(&folder).expect("the folder goes");
}
