//! Verdicts follow their reports through edits, or are asked for again, and never come to stand on another report.

use crate::edits::Project;
use crate::tree::Dice;
use crate::verdicts::{Judged, Tally, attach};
use parallax_view::triage::Triage;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../corpus/report")
}

/// Reports of one tool on some sources.
fn recorded(report: &str, sources: &str) -> (String, Project) {
    let file = corpus().join("recorded").join(report);
    let document = parallax_report::read(&std::fs::read(&file).expect("recorded"), report).expect("it reads");
    (report.to_owned(), Project::new(document, &corpus().join(sources)))
}

/// The recorded reports of the corpus.
fn projects() -> Vec<(String, Project)> {
    [
        ("guests.sarif", "."),
        ("guests.plist", "."),
        ("guests.gcc.json", "."),
        ("guests.cppcheck.xml", "."),
        ("guests.valgrind", "."),
        ("guests.asan", "."),
        ("use.gcc14.sarif", "."),
        ("use.gcc12.txt", "."),
        ("tally.helgrind", "."),
        ("ladle.tsan", "ladle"),
    ]
    .into_iter()
    .map(|(report, sources)| recorded(report, sources))
    .collect()
}

/// Judges some reports, edits the project, and looks where the verdicts are then.
fn follow(project: &Project, dice: &mut Dice, edits: &mut Vec<&'static str>) -> Tally {
    let (before, after) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut project = project.clone();
    project.write(before.path());
    let keys = attach(&mut Triage::default(), &mut project.document(), before.path(), 1).keys;
    project.name_truths(&keys);
    let judged = Judged::new(&mut project.document(), before.path(), &keys, dice);
    for _ in 0..=dice.below(6) {
        edits.push(project.edit(dice));
    }
    if dice.one_in(3) {
        project.shuffle(dice);
        edits.push("shuffled");
    }
    project.write(after.path());
    let mut tally = Tally::default();
    for (_, fate) in judged.after(&mut project.document(), after.path(), &project.truths()) {
        tally.count(fate);
    }
    tally
}

#[test]
fn verdicts_follow_their_reports_and_never_another() {
    let projects = projects();
    let mut all = Tally::default();
    let mut by_project: BTreeMap<&str, Tally> = BTreeMap::new();
    let mut wrong = Vec::new();
    for round in 0..300 {
        let (name, project) = &projects[round % projects.len()];
        assert!(project.count() > 0, "{name} has no report");
        let mut edits = Vec::new();
        let tally = follow(project, &mut Dice(round as u64), &mut edits);
        if tally.wrong > 0 {
            wrong.push(format!("round {round}, {name}: {} after {edits:?}", tally.wrong));
        }
        all += tally;
        *by_project.entry(name).or_default() += tally;
    }
    for (name, tally) in &by_project {
        println!("{name}: {tally:?}");
    }
    println!("all: {all:?}");
    assert!(wrong.is_empty(), "{wrong:#?}");
    let alive = all.alive();
    // Up to six edits on files of fifty lines, two in five of which make equal findings: half of the verdicts are asked for.
    assert!(all.carried * 100 >= alive * 45, "{} of {alive} are carried over", all.carried);
    assert!(
        (all.said + all.lost) * 100 <= alive * 3,
        "{} of {alive} are not even asked for",
        all.said + all.lost
    );
}
