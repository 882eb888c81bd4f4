//! Triage files: merged, read in spite of broken records, taken over from the form before, and their verdicts in SARIF.

use parallax_report::{Document, Frame, Location, PathBuilder, Report, Step, Suppression, SuppressionStatus};
use parallax_view::triage::{Answer, Attached, Judged, Record, Reports, Triage, TriageError, Verdict};
use parallax_view::{Roots, Sources};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::path::Path;

const CODE: &str = "int f(int a)\n{\n    switch (a) {\n    case 1:\n        one();\n    case 2:\n        two();\n    case 3:\n        one();\n    case 4:\n        four();\n    }\n    return 0;\n}\n";

/// The same warning at some lines of `a.c`.
fn warnings(lines: &[u32]) -> Document {
    let report = |&line: &u32| {
        let mut path = PathBuilder::new("");
        path.enter(Frame::new("f", "a.c"));
        path.step(Step::new(parallax_report::Role::Note, "a.c", line).failing());
        Report {
            rule: "-Wimplicit-fallthrough".into(),
            title: "this statement may fall through".into(),
            location: Some(Location::line("a.c", line).at_column(9)),
            paths: vec![path.finish()],
            ..Report::default()
        }
    };
    Document { reports: lines.iter().map(report).collect(), ..Document::default() }
}

fn attach(triage: &mut Triage, document: &mut Document, folder: &Path, written: Option<&str>) -> Attached {
    let mut code = Sources::new(Roots::new(&[folder]).unwrap(), Vec::new());
    document.note_places(&mut code);
    triage.attach(Reports { document, code: &mut code, written: written.map(str::to_owned), made: 1 })
}

fn verdict(word: &str) -> Answer {
    Answer {
        id: format!("t.{word}"),
        field: "verdict".into(),
        value: word.into(),
        author: "mk".into(),
        time: "2026-11-14T16:20:00Z".into(),
        ..Answer::default()
    }
}

#[test]
fn of_two_equal_warnings_the_mended_one_takes_its_verdict_along() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.c");
    std::fs::write(&file, CODE).unwrap();
    let mut triage = Triage::default();
    let before = attach(&mut triage, &mut warnings(&[5, 9]), folder.path(), None);
    triage.records.get_mut(&before.keys[0]).unwrap().answers = vec![verdict("false")];
    std::fs::write(&file, CODE.replacen("one();", "one();\n        break;", 1)).unwrap();
    let mut now = warnings(&[10]);
    let after = attach(&mut triage, &mut now, folder.path(), None);
    assert_eq!(after.keys, before.keys[1..]);
    assert!(after.perhaps[0].is_empty());
    let mut code = Sources::new(Roots::new(&[folder.path()]).unwrap(), Vec::new());
    triage.suppress(Reports { document: &mut now, code: &mut code, written: None, made: 1 });
    assert!(!now.reports[0].is_suppressed());
}

#[test]
fn a_verdict_becomes_a_suppression_and_one_that_is_disputed_is_under_review() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.c"), CODE).unwrap();
    let mut triage = Triage::default();
    let mut document = warnings(&[5]);
    document.reports[0].suppressions.push(Suppression { in_source: true, ..Suppression::default() });
    let key = attach(&mut triage, &mut document, folder.path(), None).keys[0].clone();
    let mut suppressed = |answers: Vec<Answer>| {
        triage.records.get_mut(&key).unwrap().answers = answers;
        let mut code = Sources::new(Roots::new(&[folder.path()]).unwrap(), Vec::new());
        triage.suppress(Reports { document: &mut document, code: &mut code, written: None, made: 1 });
        let ours = document.reports[0].suppressions.iter().filter(|one| !one.in_source);
        assert_eq!(document.reports[0].suppressions.iter().filter(|one| one.in_source).count(), 1);
        ours.map(|one| (one.status, one.justification.clone())).collect::<Vec<_>>()
    };
    let note = Answer {
        id: "t.n".into(),
        field: "note".into(),
        value: "checked by callers".into(),
        ..Answer::default()
    };
    let judged = suppressed(vec![verdict("false"), note]);
    assert_eq!(judged[0].0, SuppressionStatus::Accepted);
    assert!(judged[0].1.starts_with("checked by callers\nmk 2026"), "{judged:?}");
    assert_eq!(suppressed(vec![verdict("unsure")])[0].0, SuppressionStatus::UnderReview);
    assert_eq!(suppressed(vec![verdict("false"), verdict("true")])[0].0, SuppressionStatus::UnderReview);
    assert!(suppressed(vec![verdict("true")]).is_empty());
}

#[test]
fn a_broken_record_is_set_aside_by_name_and_kept() {
    let good = serde_json::json!({"report": "R-1", "title": "leak", "answers": [verdict("true")]});
    let long = serde_json::json!({"report": "R-2", "title": "race", "answers": [{"field": "note", "value": "x".repeat(70_000)}]});
    let file = serde_json::json!({"format": "parallax-triage/2", "records": {"a": good, "b": long, "c": 7}});
    let triage = Triage::read(file.to_string().as_bytes()).unwrap();
    assert_eq!(triage.records.keys().collect::<Vec<_>>(), ["a"]);
    assert!(
        triage.notes[0].contains("`R-2 race`") && triage.notes[0].contains("the note is too large"),
        "{:?}",
        triage.notes
    );
    assert!(triage.notes[1].contains("`c`"), "{:?}", triage.notes);
    let again = Triage::read(triage.write().as_bytes()).unwrap();
    assert_eq!((&again.records, &again.unreadable), (&triage.records, &triage.unreadable));
    assert_eq!(again.unreadable["b"], long);
    assert!(matches!(Triage::read(b"{}"), Err(TriageError::Malformed(_))));
    assert!(matches!(Triage::read(br#"{"format":"x","records":{}}"#), Err(TriageError::Format(_))));
}

/// An answer on a page of before arrives when the report has a record of its own already.
#[test]
fn answers_that_come_late_are_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.c");
    let at = |triage: &mut Triage, lines: &[u32], made: u64| {
        let mut document = warnings(lines);
        let mut code = Sources::new(Roots::new(&[folder.path()]).unwrap(), Vec::new());
        document.note_places(&mut code);
        triage.attach(Reports { document: &mut document, code: &mut code, written: None, made })
    };
    std::fs::write(&file, CODE).unwrap();
    let mut before = Triage::default();
    let old = at(&mut before, &[5, 9], 1);
    // The page of today knows nothing of it, and other answers are saved from there.
    std::fs::write(&file, CODE.replace("    switch (a) {\n", "    look(a);\n    switch (a) {\n")).unwrap();
    let mut today = Triage::default();
    let new = at(&mut today, &[6, 10], 2);
    assert_ne!(old.keys[0], new.keys[0]);
    before.records.get_mut(&old.keys[0]).unwrap().answers = vec![verdict("false")];
    before.records.retain(|key, _| *key == old.keys[0]);
    today.merge(before.clone());
    let again = at(&mut today, &[6, 10], 3);
    assert_eq!(again.keys, new.keys);
    // Both look like it, and a person says which it is.
    assert_eq!(again.perhaps, [vec![old.keys[0].clone()], vec![old.keys[0].clone()]]);
    // The answered one was there together with the other: it was mended, and nothing is asked.
    std::fs::write(&file, CODE).unwrap();
    let mut both = Triage::default();
    let pair = at(&mut both, &[5, 9], 1);
    both.records.get_mut(&pair.keys[0]).unwrap().answers = vec![verdict("false")];
    for made in 2..4 {
        let left = at(&mut both, &[9], made);
        assert_eq!((&left.keys[0], &left.perhaps[0]), (&pair.keys[1], &Vec::new()));
    }
}

#[test]
fn a_title_that_is_too_long_does_not_make_its_record_unreadable() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.c"), CODE).unwrap();
    let mut document = warnings(&[5]);
    document.reports[0].title = "\u{fc}".repeat(70_000);
    let mut triage = Triage::default();
    let key = attach(&mut triage, &mut document, folder.path(), None).keys[0].clone();
    triage.records.get_mut(&key).unwrap().answers = vec![verdict("false")];
    let mut again = Triage::read(triage.write().as_bytes()).unwrap();
    assert_eq!((again.notes.len(), again.records[&key].answers.len()), (0, 1));
    assert_eq!(attach(&mut again, &mut document, folder.path(), None).keys[0], key);
}

fn earlier(document: &Document, suffix: &str, time: &str) -> Triage {
    let record = serde_json::json!({
        "title": "this statement may fall through", "answers": {"path-1.loop": "no", "verdict": "false"}, "explanations": {"path-1": "why"},
        "verdict": "false", "note": "ok", "author": "ada", "time": time,
        "history": [{"verdict": "true", "note": "", "author": "ada", "time": "2026-01-01T00:00:00Z"}, {"verdict": "false", "note": "ok", "author": "ada", "time": time}],
    });
    let key = format!("{}{suffix}", document.reports[0].fingerprint());
    let file = serde_json::json!({"format": "parallax-triage/1", "records": {key: record}});
    Triage::read(file.to_string().as_bytes()).unwrap()
}

#[test]
fn files_of_the_form_before_hold_for_the_reports_they_were_made_on_and_are_asked_for_on_others() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.c"), CODE).unwrap();
    // The answers are younger than the reports: the second of the two is meant.
    let mut document = warnings(&[5, 9]);
    let mut triage = earlier(&document, "-2", "2026-11-14T16:20:00Z");
    let attached = attach(&mut triage, &mut document, folder.path(), Some("2026-11-14T16:00:00Z"));
    let judged = |triage: &Triage, at: usize| triage.records[&attached.keys[at]].judged();
    assert_eq!([judged(&triage, 0), judged(&triage, 1)], [Judged::Open, Judged::As(Verdict::False)]);
    assert!(attached.notes[0].contains("of 1 answered reports 1 are carried over"), "{:?}", attached.notes);
    // Written and read again it is of today's form, and nothing is carried over a second time.
    triage.prune();
    let mut again = Triage::read(triage.write().as_bytes()).unwrap();
    let second = attach(&mut again, &mut warnings(&[5, 9]), folder.path(), None);
    assert_eq!((&second.keys, second.notes.len()), (&attached.keys, 0));
    // The reports are younger: either may be meant.
    let mut asked = earlier(&document, "", "2026-11-14T16:20:00Z");
    let attached = attach(&mut asked, &mut warnings(&[5, 9]), folder.path(), Some("2026-11-15T16:00:00Z"));
    assert!(
        attached.perhaps.iter().all(|likely| likely.len() == 1 && asked.records.contains_key(&likely[0]))
    );
    assert!(attached.keys.iter().all(|key| asked.records[key].answers.is_empty()));
    assert!(attached.notes[0].contains("1 to be confirmed"), "{:?}", attached.notes);
}

/// Answers of three pages to two questions, each knowing some of those before it.
fn answers() -> impl Strategy<Value = Vec<Answer>> {
    let one =
        (0..3_u8, 0..2_u8, "[ab]{0,2}", 0..3_u64, proptest::collection::vec((0..30_usize, 0..3_u64), 0..3));
    proptest::collection::vec(one, 0..30).prop_map(|all| {
        let mut made: Vec<Answer> = Vec::new();
        for (number, (page, field, value, revision, seen)) in all.into_iter().enumerate() {
            let replaces =
                seen.into_iter().filter_map(|(at, revision)| Some((made.get(at)?.id.clone(), revision)));
            made.push(Answer {
                id: format!("{page}.{number}"),
                field: ["note", "verdict"][field as usize].into(),
                value,
                time: format!("{number:02}"),
                revision,
                replaces: replaces.collect(),
                ..Answer::default()
            });
        }
        made
    })
}

proptest! {
    /// Copies of a record come together to one thing, however often and in whichever order.
    #[test]
    fn merging_is_a_union(all in answers(), sides in proptest::collection::vec(0..4_u8, 30)) {
        let copy = |side: u8| {
            let mine = all.iter().zip(&sides).filter(|(_, of)| **of == side || **of == 3);
            Record { answers: mine.map(|(answer, _)| answer.clone()).collect(), ..Record::default() }
        };
        let merged = |order: &[u8]| {
            let mut sum = Record::default();
            order.iter().for_each(|&side| sum.merge(copy(side)));
            sum
        };
        let one = merged(&[0, 1, 2, 3]);
        prop_assert_eq!(&one, &merged(&[3, 2, 1, 0]));
        prop_assert_eq!(&one, &merged(&[1, 0, 1, 2, 3, 0]));
        let mut again = one.clone();
        again.merge(one.clone());
        prop_assert_eq!(&one, &again);
        // What stands is what no other replaces.
        for field in ["note", "verdict"] {
            let mut replaced: BTreeMap<&str, u64> = BTreeMap::new();
            for answer in all.iter().filter(|answer| answer.field == field) {
                for (id, &revision) in &answer.replaces {
                    let known = replaced.entry(id).or_default();
                    *known = revision.max(*known);
                }
            }
            let mut expected: Vec<&str> = all
                .iter()
                .filter(|answer| answer.field == field && !answer.replaces_itself(&replaced))
                .map(|answer| answer.id.as_str())
                .collect();
            expected.sort_unstable();
            let mut standing: Vec<&str> = one.standing(field).iter().map(|answer| answer.id.as_str()).collect();
            standing.sort_unstable();
            prop_assert_eq!(standing, expected);
        }
    }
}

trait Replaced {
    fn replaces_itself(&self, replaced: &BTreeMap<&str, u64>) -> bool;
}

impl Replaced for Answer {
    fn replaces_itself(&self, replaced: &BTreeMap<&str, u64>) -> bool {
        replaced.get(self.id.as_str()).is_some_and(|&revision| revision >= self.revision)
    }
}

#[test]
fn of_many_verdicts_the_last_are_remembered_and_an_old_copy_brings_none_back() {
    let mut record = Record::default();
    let mut old = Record::default();
    for number in 0..200_u64 {
        let before = number.checked_sub(1).map(|number| (format!("t.{number:03}"), 0));
        let answer = Answer {
            id: format!("t.{number:03}"),
            field: "verdict".into(),
            value: if number % 2 == 0 { "true" } else { "false" }.into(),
            time: format!("{number:03}"),
            replaces: before.into_iter().collect(),
            ..Answer::default()
        };
        record.merge(Record { answers: vec![answer], ..Record::default() });
        if number == 10 {
            old = record.clone();
        }
    }
    assert_eq!(record.answers.len(), 51);
    record.merge(old);
    assert_eq!(record.judged(), Judged::As(Verdict::False));
    assert_eq!(record.answers.len(), 51);
}
