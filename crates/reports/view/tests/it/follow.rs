//! Verdicts follow their reports through edits, or are asked for again, and never come to stand on another report.

use crate::edits::{Dice, Project};
use parallax_report::Document;
use parallax_view::triage::{Answer, Record, Reports, Triage};
use parallax_view::{Roots, Sources};
use std::collections::{BTreeMap, BTreeSet};
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

/// The recorded reports of the corpus, or with $PARALLAX_EDITS those of a folder: `NAME/src` and `NAME/reports` for each
/// project.
fn projects() -> Vec<(String, Project)> {
    let Some(folder) = std::env::var_os("PARALLAX_EDITS") else {
        return [
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
        .collect();
    };
    let mut projects = Vec::new();
    for project in std::fs::read_dir(folder).expect("a folder of projects").flatten() {
        let reports = std::fs::read_dir(project.path().join("reports")).expect("a folder of reports");
        for report in reports.flatten() {
            let name = format!("{} {}", project.file_name().display(), report.file_name().display());
            let bytes = std::fs::read(report.path()).expect("a report");
            let document =
                parallax_report::read(&bytes, &name).unwrap_or_else(|error| panic!("{name}: {error}"));
            projects.push((name, Project::new(document, &project.path().join("src"))));
        }
    }
    projects
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Tally {
    judged: usize,
    carried: usize,
    asked: usize,
    lost: usize,
    mended: usize,
    wrong: usize,
}

fn attach(
    triage: &mut Triage,
    document: &mut Document,
    folder: &Path,
    made: u64,
) -> (Vec<String>, Vec<Vec<String>>) {
    let mut code = Sources::new(Roots::new(&[folder]).expect("a folder"), Vec::new());
    document.note_places(&mut code);
    let attached = triage.attach(Reports { document, code: &mut code, written: None, made });
    (attached.keys, attached.perhaps)
}

/// Judges some reports, edits the project, and looks where the verdicts are then.
fn follow(project: &Project, dice: &mut Dice, tally: &mut Tally, edits: &mut Vec<&'static str>) {
    let (before, after) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut project = project.clone();
    project.write(before.path());
    let mut triage = Triage::default();
    let (keys, _) = attach(&mut triage, &mut project.document(), before.path(), 1);
    project.name_truths(&keys);
    let mut judged = BTreeSet::new();
    for key in keys {
        if dice.below(3) > 0 && judged.insert(key.clone()) {
            let record = triage.records.get_mut(&key).expect("every report has a record");
            record.answers = vec![Answer {
                id: format!("t.{key}"),
                field: "verdict".into(),
                value: "false".into(),
                note: key,
                ..Answer::default()
            }];
        }
    }
    for _ in 0..=dice.below(6) {
        edits.push(project.edit(dice));
    }
    if dice.one_in(3) {
        project.shuffle(dice);
        edits.push("shuffled");
    }
    project.write(after.path());
    let mut document = project.document();
    // The file is written and read on the way, as it is from run to run.
    let mut triage = Triage::read(triage.write().as_bytes()).unwrap();
    let (keys, perhaps) = attach(&mut triage, &mut document, after.path(), 2);
    let verdict = |record: &Record| record.answers.first().map(|answer| answer.note.clone());
    let truths = project.truths();
    let mut found: BTreeMap<&String, bool> = BTreeMap::new();
    for ((key, perhaps), truth) in keys.iter().zip(&perhaps).zip(&truths) {
        let shown = verdict(&triage.records[key]);
        let asked = perhaps.iter().any(|key| verdict(&triage.records[key]).as_ref() == Some(truth));
        match shown {
            Some(shown) if shown == *truth => {
                tally.carried += usize::from(found.insert(truth, true).is_none())
            }
            Some(_) => tally.wrong += 1,
            None if judged.contains(truth) && asked => {
                tally.asked += usize::from(found.insert(truth, true).is_none())
            }
            None if judged.contains(truth) => {
                found.entry(truth).or_insert(false);
            }
            None => {}
        }
    }
    tally.lost += found.values().filter(|found| !**found).count();
    tally.judged += judged.len();
    tally.mended += judged.iter().filter(|key| !truths.contains(key)).count();
    // Nothing that was written goes away.
    assert!(
        judged.iter().all(|key| triage.records.get(key).is_some_and(|record| !record.answers.is_empty()))
    );
}

#[test]
fn verdicts_follow_their_reports_and_never_another() {
    let rounds =
        std::env::var("PARALLAX_EDITS_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(300);
    let projects = projects();
    let mut all = Tally::default();
    let mut by_project: BTreeMap<&str, Tally> = BTreeMap::new();
    let mut wrong = Vec::new();
    for round in 0..rounds {
        let (name, project) = &projects[round % projects.len()];
        assert!(project.count() > 0, "{name} has no report");
        let (mut tally, mut edits) = (Tally::default(), Vec::new());
        follow(project, &mut Dice(round as u64), &mut tally, &mut edits);
        if tally.wrong > 0 {
            wrong.push(format!("round {round}, {name}: {} after {edits:?}", tally.wrong));
        }
        for sum in [&mut all, by_project.entry(name).or_default()] {
            sum.judged += tally.judged;
            sum.carried += tally.carried;
            sum.asked += tally.asked;
            sum.lost += tally.lost;
            sum.mended += tally.mended;
            sum.wrong += tally.wrong;
        }
    }
    for (name, tally) in &by_project {
        println!("{name}: {tally:?}");
    }
    println!("all: {all:?}");
    assert!(wrong.is_empty(), "{wrong:#?}");
    let alive = all.judged - all.mended;
    // Up to six edits on files of fifty lines, two in five of which make equal findings: half of the verdicts are asked for.
    assert!(all.carried * 100 >= alive * 45, "{} of {alive} are carried over", all.carried);
    assert!(all.lost * 100 <= alive * 3, "{} of {alive} are not even asked for", all.lost);
}
