//! How long making a page takes: many reports over one long file, and one report beside many files that it does not name.
//!
//! `cargo run --release -p parallax-view --example bench-view [FOLDER]`: processor time, the best and the median of five runs.
//! With a folder, its files are the many; otherwise they are made.

use parallax_report::{Document, Location, PathBuilder, Report, Role, Step};
use parallax_view::checklist::Checklists;
use parallax_view::triage::Triage;
use parallax_view::{Input, Roots, build, html};
use std::fmt::Write;
use std::path::{Path, PathBuf};

const RUNS: usize = 5;

fn main() {
    let work = tempfile::tempdir().expect("a folder for the sources");
    let long = work.path().join("long");
    std::fs::create_dir(&long).expect("a folder");
    let functions = 5_000;
    let text = program(functions, "step");
    println!("# one file of {} lines, {functions} functions", text.lines().count());
    std::fs::write(long.join("long.c"), text).expect("a file");
    measure(
        "200-reports-one-file",
        &long,
        &Document { reports: reports("long.c", 200, functions), ..Document::default() },
    );

    let many = match std::env::args().nth(1) {
        Some(folder) => PathBuf::from(folder),
        None => {
            let many = work.path().join("many");
            for number in 0..3_000 {
                let folder = many.join(format!("part{}", number % 100));
                std::fs::create_dir_all(&folder).expect("a folder");
                std::fs::write(folder.join(format!("f{number}.c")), program(20, &format!("step{number}")))
                    .expect("a file");
            }
            many
        }
    };
    let near = work.path().join("near");
    std::fs::create_dir(&near).expect("a folder");
    std::fs::write(near.join("short.c"), program(20, "step")).expect("a file");
    let files = Roots::new(&[&many]).expect("a folder").files(usize::MAX).len();
    println!("# beside a folder of {files} files");
    let document = Document { reports: reports("short.c", 1, 20), ..Document::default() };
    measure_roots("one-report-many-files", &[near, many], &document);
}

/// A program of functions of ten lines, each of which calls the next.
fn program(functions: usize, name: &str) -> String {
    let mut text = String::from("#include <stdio.h>\n");
    for at in 0..functions {
        let _ = write!(
            text,
            "int {name}_{at}(int count, int *data) {{\n    int i, sum = 0;\n    for (i = 0; i < count; i++) {{\n        if (data[i] > {at})\n            sum += data[i];\n    }}\n    printf(\"%d\", sum);\n    return {name}_{}(sum, data);\n}}\n\n",
            (at + 1) % functions
        );
    }
    text
}

/// Reports whose paths lead through three functions each.
fn reports(file: &str, count: usize, functions: usize) -> Vec<Report> {
    let place = |function: usize, line: u32| {
        Some(Location::line(file, 2 + 10 * (function % functions) as u32 + line))
    };
    let report = |number: usize| {
        let mut path = PathBuilder::new("");
        let first = number * functions / count;
        for function in first..first + 3 {
            for line in [2, 3, 7] {
                path.step(Step::at(Role::Note, place(function, line)).with_message("here"));
            }
        }
        Report {
            rule: format!("rule-{}", number % 7),
            title: format!("report {number}"),
            location: place(first, 3),
            paths: vec![path.finish()],
            ..Report::default()
        }
    };
    (0..count).map(report).collect()
}

fn measure(name: &str, root: &Path, document: &Document) {
    measure_roots(name, &[root.to_owned()], document);
}

fn measure_roots(name: &str, roots: &[PathBuf], document: &Document) {
    let mut times: Vec<f64> = (0..RUNS)
        .map(|_| {
            let before = processor_seconds();
            let input = Input {
                document: document.clone(),
                roots: Roots::new(roots).expect("folders"),
                name: name.to_owned(),
                made: 0,
                author: String::new(),
                checklists: Checklists::with(Vec::new()),
                triage: Triage::default(),
                written: None,
                project: String::new(),
                editor: None,
                against: None,
            };
            let page = html::render(&build(input, &mut |_| {}));
            assert!(page.len() > 1000);
            processor_seconds() - before
        })
        .collect();
    times.sort_by(f64::total_cmp);
    println!("{name}/best {:.3} s", times[0]);
    println!("{name}/median {:.3} s", times[RUNS / 2]);
}

/// What this process has computed so far.
fn processor_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("Linux says what a process has used");
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    let ticks = |at: usize| fields[at].parse::<f64>().expect("a number of ticks");
    // Ticks of user and system time, a hundredth of a second each.
    (ticks(11) + ticks(12)) / 100.0
}
