//! SARIF of others: what the standard allows and tools make use of.

use parallax_report::*;
use serde_json::{Value, json};
use std::path::PathBuf;

fn open(name: &str) -> Document {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../corpus/report").join(name);
    read(&std::fs::read(path).unwrap(), name).unwrap()
}

#[test]
fn threads_levels_stacks_state_and_suppressions() {
    let document = open("samples/threads.sarif");
    let report = &document.reports[0];
    assert_eq!(report.title, "'window_bytes' is declared here and reached from two threads.");
    assert_eq!(
        (report.severity, &*report.cwe, report.tool.version.as_deref()),
        (Severity::Error, &[362][..], Some("2.0.1"))
    );
    let place = report.location.as_ref().unwrap();
    assert_eq!((place.file.as_str(), place.end_column), ("/home/ada/src/ladle/meter.c", Some(21)));
    assert!(report.text.contains(&Segment::related("declared here", 0)));
    let labels: Vec<_> =
        report.paths.iter().map(|path| (path.label.as_str(), path.flow, path.kind)).collect();
    let want = [
        ("thread ticker", 0, PathKind::Flow),
        ("the worker", 0, PathKind::Flow),
        ("created here", 1, PathKind::Stack),
    ];
    assert_eq!(labels, want);
    let ticker = &report.paths[0];
    assert_eq!(ticker.steps[0].location.as_ref().unwrap().file, "/home/ada/src/ladle/main.c");
    assert_eq!((ticker.steps[0].role, ticker.steps[0].order), (Role::Call, Some(1)));
    assert_eq!((ticker.frames[1].function.as_str(), ticker.frames[1].call), ("meter_rate", Some(0)));
    assert_eq!(ticker.steps[1].values[0], Binding { name: "dt".into(), value: "1.0".into() });
    assert!(ticker.steps[1].failing, "the last step, as no other says so");
    let worker = &report.paths[1];
    assert_eq!(worker.frames[0].function, "meter_add");
    assert_eq!((worker.steps[0].role, worker.steps[0].taken), (Role::Branch, Some(true)));
    assert_eq!((worker.steps[1].role, worker.steps[1].failing), (Role::Access, true));
    let stack: Vec<_> = report.paths[2].frames.iter().map(|frame| frame.function.as_str()).collect();
    assert_eq!(stack, ["main", "resume_download"]);
    assert_eq!(report.suppressions[0].status, SuppressionStatus::UnderReview);
    assert!(!report.is_suppressed());
    assert_eq!(report.fingerprints["primaryLocationLineHash"], "39fa2ee980eb94b0:1");
}

#[test]
fn what_is_left_out_is_told_and_dangerous_links_are_words() {
    let document = open("samples/threads.sarif");
    assert_eq!(document.reports.len(), 3);
    let passed: Vec<bool> = document.reports.iter().map(|report| report.passed).collect();
    assert_eq!(passed.iter().filter(|passed| **passed).count(), 1, "known-good paths are kept as such");
    let report = document.reports.iter().find(|report| report.rule == "R2").unwrap();
    let links: Vec<_> = report.text.iter().filter_map(|segment| segment.link.as_ref()).collect();
    assert_eq!(links, [&Link::Url("https://example.org/r2".into())]);
    assert!(report.plain_text().contains("this"));
}

/// Our SARIF without our property bags is what other tools see of it: calls, values and links must still be there.
#[test]
fn without_the_bags_the_paths_still_stand() {
    for name in [
        "ladle/race.xml",
        "ladle/race.locksmith",
        "recorded/guests.gcc.json",
        "recorded/guests.plist",
        "lift.blast",
    ] {
        let document = open(name);
        let mut log: Value = serde_json::from_str(&to_sarif(&document)).unwrap();
        let mut todo = vec![&mut log];
        while let Some(value) = todo.pop() {
            match value {
                Value::Object(map) => {
                    map.remove("properties");
                    todo.extend(map.values_mut());
                }
                Value::Array(items) => todo.extend(items),
                _ => {}
            }
        }
        let stripped = read(log.to_string().as_bytes(), name).unwrap();
        for (want, got) in document.reports.iter().zip(&stripped.reports) {
            assert_eq!(got.paths.len(), want.paths.len(), "{name}");
            for (want, got) in want.paths.iter().zip(&got.paths) {
                let frames = |path: &Path| -> Vec<_> {
                    (0..path.frames.len())
                        .map(|frame| {
                            (path.frames[frame].function.clone(), path.depth(frame), path.frames[frame].call)
                        })
                        .collect()
                };
                assert_eq!(frames(got), frames(want), "{name}");
                let steps = |path: &Path| -> Vec<_> {
                    path.steps
                        .iter()
                        .map(|step| (step.location.clone(), step.role, step.taken, step.failing))
                        .collect()
                };
                assert_eq!(steps(got), steps(want), "{name}");
            }
            let links = |report: &Report| report.text.iter().filter(|segment| segment.link.is_some()).count();
            assert!(links(got) >= links(want), "{name}");
        }
    }
}

/// A tool that did not understand a file has not found it clean.
#[test]
fn what_a_tool_says_of_its_run_is_told() {
    let notification = |level: &str, words: &str| json!({"level": level, "message": {"text": words}});
    let log = json!({"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "t"}}, "results": [], "invocations": [{
        "executionSuccessful": true,
        "toolExecutionNotifications": [notification("warning", "Syntax error at line x.c:1:\n`all of x.c`"), notification("note", "2 files"), notification("error", "no memory\nleft")],
    }]}]});
    let document = read(log.to_string().as_bytes(), "t.sarif").unwrap();
    assert_eq!(document.notes, ["t warns: Syntax error at line x.c:1", "t says: no memory\nleft"]);
}

/// A result must name a rule. Where the tool names none, an id stands in, which is not taken for a rule when it is read again;
/// a rule that really has that id is.
#[test]
fn a_finding_without_a_rule_gets_an_id_that_stands_in() {
    let vet = open("strange/govet.txt");
    assert!(!vet.reports.is_empty() && vet.reports.iter().all(|report| report.rule.is_empty()));
    let report = vet.reports[0].clone();
    let named = Report { rule: "no-rule".into(), title: "another".into(), ..report.clone() };
    let rule = Rule { id: "no-rule".into(), tool: named.tool.clone(), name: "n".into(), ..Rule::default() };
    let mut document = Document { reports: vec![report, named], rules: vec![rule], ..Document::default() };
    document.tidy();
    let text = to_sarif(&document);
    let log: Value = serde_json::from_str(&text).unwrap();
    for result in log["runs"][0]["results"].as_array().unwrap() {
        assert_eq!(result["ruleId"], "no-rule");
    }
    assert_eq!(read(text.as_bytes(), "x.sarif").unwrap(), document);
    // Another id, put there since, is a rule.
    let changed = text.replacen("\"ruleId\": \"no-rule\"", "\"ruleId\": \"mine\"", 1);
    assert_eq!(read(changed.as_bytes(), "x.sarif").unwrap().reports[0].rule, "mine");
}

#[test]
fn odd_logs_are_refused_or_read_but_never_trusted() {
    let log = |results: Value| {
        json!({"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "t"}}, "results": results}]})
            .to_string()
    };
    let reports = |text: String| read(text.as_bytes(), "odd.sarif").map(|document| document.reports.len());
    assert_eq!(
        reports(log(json!([{}, {"message": 3}, {"message": {"text": ""}, "locations": [{}]}, null]))),
        Ok(4)
    );
    assert!(reports(r#"{"version": "1.0.0", "runs": []}"#.into()).is_err());
    assert!(reports(r#"{"version": "2.1.0", "runs": {}}"#.into()).is_err());
    // Base identifiers that refer to each other end.
    let cyclic = json!({"version": "2.1.0", "runs": [{"originalUriBaseIds": {"A": {"uri": "a", "uriBaseId": "B"}, "B": {"uri": "b", "uriBaseId": "A"}},
        "results": [{"message": {"text": "m"}, "locations": [{"physicalLocation": {"artifactLocation": {"uri": "x.c", "uriBaseId": "A"}}}]}]}]});
    assert_eq!(reports(cyclic.to_string()), Ok(1));
    // Frames that name each other as callers are not believed.
    let forged = log(json!([{"message": {"text": "m"}, "codeFlows": [{"threadFlows": [{
        "locations": [{"location": {"message": {"text": "a"}}, "properties": {"parallax": {"frame": 1}}}],
        "properties": {"parallax": {"frames": [{"function": "f", "call": 7}, {"function": "g", "call": 0}]}}}]}]}]));
    let document = read(forged.as_bytes(), "forged.sarif").unwrap();
    assert_eq!(document.reports[0].paths[0].frames.len(), 1);
    assert_eq!(document.reports[0].paths[0].frames[0].function, "");
}
