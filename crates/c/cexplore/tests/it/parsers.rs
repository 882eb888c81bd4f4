//! Random parsers of headers, entered by themselves: where a run says that every path was explored, every line that the native
//! function returns from is covered. What such a parser reads first is often behind the bound on arrays.
//!
//! The generator makes places that are constant, computed in a loop, or read from the header; bytes, halves and words; a length
//! beside the pointer or none. It does not make writes, more than one buffer, or structures.

use crate::corpus::Random;
use crate::left_out::{explored, program};
use parallax_cexplore::explore::{Entry, Settings};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

/// A place in the header.
const FURTHEST: u64 = 21;

/// A function that returns the number of the line it returns from.
struct Parser {
    element: &'static str,
    lines: Vec<String>,
}

impl Parser {
    fn returns(&mut self, condition: &str) {
        self.lines.push(format!("  if ({condition})"));
        let line = self.lines.len() + 1;
        self.lines.push(format!("    return {line};"));
    }

    fn text(&self) -> String {
        self.lines.join("\n") + "\n"
    }
}

fn parser(random: &mut Random) -> Parser {
    let element = ["unsigned char", "unsigned char", "signed char", "short", "int"][random.below(5) as usize];
    let sized = random.below(3) == 0;
    let parameters = if sized { ", unsigned n" } else { "" };
    let lines = vec!["#include <string.h>".to_string(), format!("int f(const {element} *p{parameters}) {{")];
    let mut parser = Parser { element, lines };
    if sized {
        let least = random.below(FURTHEST);
        parser.returns(&format!("n < {least}"));
    }
    parser.lines.push("  int v = 0;".into());
    for _ in 0..2 + random.below(4) {
        let at = random.below(FURTHEST);
        let value = random.below(8);
        let relation = random.pick(&["==", "!=", "<", ">"]);
        match random.below(7) {
            0 => parser.returns(&format!("p[{at}] {relation} {value}")),
            1 => parser.returns(&format!("p[{at}] == {value} && p[{}] != {value}", random.below(FURTHEST))),
            2 => parser.returns(&format!("(p[{at}] & 3) + 2 * (p[{}] & 1) {relation} {value}", at + 1)),
            3 => {
                parser.lines.push(format!("  v += p[{at}] & 7;"));
                parser.returns(&format!("v {relation} {value}"));
            }
            4 => {
                let end = (at + 1 + random.below(4)).min(FURTHEST);
                parser.lines.push(format!("  for (int i = {at}; i < {end}; i++)"));
                parser.returns(&format!("p[i] {relation} {value}"));
            }
            5 => parser.returns(&format!("p[p[{at}] & 7] {relation} {value}")),
            _ => {
                parser.lines.push(format!("  switch (p[{at}]) {{"));
                for case in 0..1 + random.below(3) {
                    let line = parser.lines.len() + 2;
                    parser.lines.push(format!("  case {}:", case * 2));
                    parser.lines.push(format!("    return {line};"));
                }
                parser.lines.push("  }".into());
            }
        }
    }
    let line = parser.lines.len() + 1;
    parser.lines.push(format!("  return {line};"));
    parser.lines.push("}".into());
    parser
}

/// The lines that the native function returns from, on many random headers.
fn natively(name: &str, parser: &Parser) -> BTreeSet<u32> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("parsers");
    std::fs::create_dir_all(&folder).expect("a folder");
    let (source, binary) = (folder.join(format!("{name}.c")), folder.join(name));
    let length = if parser.text().contains("unsigned n") { ", rand() % 32" } else { "" };
    let driver = format!(
        "#include <stdio.h>\n#include <stdlib.h>\nint main(void) {{\n  static {element} all[64];\n  char seen[256] = {{0}};\n\
         for (int turn = 0; turn < 400000; turn++) {{\n    int most = turn % 3 ? 9 : 256, first = rand() % 9;\n\
         for (int i = 0; i < 40; i++) all[i] = rand() % 4 ? rand() % most : first;\n    seen[f(all{length})] = 1;\n  }}\n\
         for (int i = 0; i < 256; i++) if (seen[i]) printf(\"%d\\n\", i);\n  return 0;\n}}\n",
        element = parser.element
    );
    std::fs::write(&source, format!("{}{driver}", parser.text())).expect("it is written");
    let built = Command::new("clang-19").args(["-w", "-O1"]).arg(&source).arg("-o").arg(&binary).status();
    assert!(built.expect("clang runs").success(), "{}", parser.text());
    let output = Command::new(&binary).output().expect("it runs");
    String::from_utf8_lossy(&output.stdout).lines().map(|line| line.parse().expect("a line")).collect()
}

#[test]
fn complete_runs_of_parsers_cover_what_native_runs_do() {
    let factor: u64 = std::env::var("FACTOR").ok().and_then(|factor| factor.parse().ok()).unwrap_or(1);
    let mut random = Random(0x9a_45e5);
    let (mut complete, mut failures) = (0, Vec::new());
    let count = 16 * factor;
    for number in 0..count {
        let parser = parser(&mut random);
        let program = program(&format!("parser_{number}"), &parser.text());
        let settings = Settings {
            entry: Entry::Function("f".into()),
            time: Duration::from_secs(20),
            ..Settings::default()
        };
        let found = explored(&program, &settings);
        if !found.completeness.is_complete() {
            continue;
        }
        complete += 1;
        // A branch whose line the compiler dropped is in no file without a name.
        let files: Vec<_> = found.covered.values().collect();
        let [file] = files[..] else { panic!("{:?}", found.covered.keys()) };
        let covered = &file.lines;
        let native = natively(&format!("parser_{number}"), &parser);
        let missed: Vec<u32> =
            native.iter().copied().filter(|line| covered.get(line).is_none_or(|runs| *runs == 0)).collect();
        if !missed.is_empty() || found.coverage.branches_undecided > 0 {
            failures.push(format!("{missed:?} {:?}:\n{}", found.coverage, parser.text()));
        }
    }
    assert!(failures.is_empty(), "{}:\n{}", failures.len(), failures.join("\n"));
    assert!(complete * 2 > count, "{complete} of {count} are complete");
}
