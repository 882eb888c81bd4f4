//! Whole SARIF logs, read and written: everything that was there is there, in its place. Logs of real tools, and generated ones
//! that use what the standard offers.

use parallax_report::*;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::path::PathBuf;

/// What of `was` is not in `is`, as addresses. What is written besides does not matter.
fn lost(at: &str, was: &Value, is: &Value, out: &mut Vec<String>) {
    match (was, is) {
        (Value::Object(was), Value::Object(is)) => {
            for (name, value) in was {
                match is.get(name) {
                    Some(kept) => lost(&format!("{at}/{name}"), value, kept, out),
                    None => out.push(format!("{at}/{name} is gone")),
                }
            }
        }
        (Value::Array(was), Value::Array(is)) if was.len() <= is.len() => {
            for (number, (was, is)) in was.iter().zip(is).enumerate() {
                lost(&format!("{at}/{number}"), was, is, out);
            }
        }
        _ if was == is => {}
        _ => out.push(format!("{at}: {was} became {is}")),
    }
}

/// What a log loses when it is read and written, apart from what has a place of its own in ours.
fn losses(log: &Value) -> Vec<String> {
    let document = read(log.to_string().as_bytes(), "t.sarif").unwrap();
    let written = to_sarif(&document);
    assert_eq!(read(written.as_bytes(), "again").unwrap(), document, "read again it is the same");
    let mut log = log.clone();
    told_otherwise(&mut log);
    let mut out = Vec::new();
    lost("", &log["runs"], &serde_json::from_str::<Value>(&written).unwrap()["runs"], &mut out);
    out
}

/// Takes out what is told in another way: each with the reason.
fn told_otherwise(log: &mut Value) {
    for run in log["runs"].as_array_mut().into_iter().flatten() {
        // A base is a folder, with its slash.
        for (_, base) in
            run.get_mut("originalUriBaseIds").and_then(Value::as_object_mut).into_iter().flatten()
        {
            if let Some(uri) =
                base.get("uri").and_then(Value::as_str).map(|uri| format!("{}/", uri.trim_end_matches('/')))
            {
                base["uri"] = json!(uri);
            }
        }
        for result in run.get_mut("results").and_then(Value::as_array_mut).into_iter().flatten() {
            let result = result.as_object_mut().unwrap();
            // Failure is the default.
            if result.get("kind").is_some_and(|kind| kind == "fail") {
                result.remove("kind");
            }
            // Stacks and graphs become paths.
            for name in ["stacks", "graphs", "graphTraversals"] {
                result.remove(name);
            }
            // Places after the first are related ones.
            if let Some(places) = result.get_mut("locations").and_then(Value::as_array_mut) {
                places.truncate(1);
            }
            // A message from a table is written out, and so are its links; numbers of places are counted anew.
            result.remove("message");
            let mut todo: Vec<&mut Value> = result.values_mut().collect();
            while let Some(value) = todo.pop() {
                match value {
                    Value::Object(map) => {
                        for name in [
                            "message",
                            "id",
                            "kinds",
                            "nestingLevel",
                            "index",
                            "stack",
                            "importance",
                            "initialState",
                            "immutableState",
                        ] {
                            map.remove(name);
                        }
                        todo.extend(map.values_mut());
                    }
                    Value::Array(items) => todo.extend(items),
                    _ => {}
                }
            }
        }
    }
}

#[test]
fn logs_of_tools_are_whole() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../corpus/report");
    let mut seen = 0;
    for part in ["recorded", "samples"] {
        for entry in std::fs::read_dir(folder.join(part)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|ending| ending != "sarif") {
                continue;
            }
            let log: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
            assert_eq!(losses(&log), [""; 0], "{}", path.display());
            seen += 1;
        }
    }
    assert!(seen >= 4);
}

/// More logs of real tools than the repository holds: `SARIF_LOGS=folder`, as `make report-matrix` leaves them.
#[test]
fn logs_of_a_folder_are_whole() {
    let Some(folder) = std::env::var_os("SARIF_LOGS") else { return };
    let (mut seen, mut bad) = (0, Vec::new());
    let mut todo = vec![PathBuf::from(folder)];
    while let Some(path) = todo.pop() {
        if path.is_dir() {
            todo.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|ending| ending == "sarif") {
            let Ok(log) = serde_json::from_slice::<Value>(&std::fs::read(&path).unwrap()) else { continue };
            seen += 1;
            bad.extend(losses(&log).into_iter().map(|loss| format!("{}{loss}", path.display())));
        }
    }
    println!("{seen} logs, {} losses", bad.len());
    assert!(bad.is_empty(), "{bad:#?}");
}

/// The test can fail: a log that lost a snippet is seen.
#[test]
fn a_loss_is_seen() {
    let mut out = Vec::new();
    lost("", &json!({"a": [{"snippet": {"text": "x"}}]}), &json!({"a": [{}]}), &mut out);
    assert_eq!(out, ["/a/0/snippet is gone"]);
}

fn word() -> impl Strategy<Value = String> {
    "[a-z]{1,8}"
}

/// An object of properties that no standard knows.
fn bag() -> impl Strategy<Value = Value> {
    prop::collection::btree_map(
        word(),
        prop_oneof![word().prop_map(Value::from), any::<i32>().prop_map(Value::from)],
        1..3,
    )
    .prop_map(|map| map.into_iter().collect())
}

fn region() -> impl Strategy<Value = Value> {
    (1u32..200, prop::option::of(1u32..40), prop::option::of(word())).prop_map(|(line, column, snippet)| {
        let mut region = json!({"startLine": line});
        if let Some(column) = column {
            region["startColumn"] = json!(column);
            region["endColumn"] = json!(column + 4);
        }
        if let Some(snippet) = snippet {
            region["snippet"] = json!({"text": format!("{snippet}();")});
        }
        region
    })
}

fn location() -> impl Strategy<Value = Value> {
    let more = (any::<bool>(), any::<bool>(), prop::option::of(bag()), prop::option::of(word()));
    (word(), region(), prop::option::of(region()), more).prop_map(|(name, region, around, (base, index, bag, called))| {
        let mut file = json!({"uri": format!("{name}.c")});
        if base {
            file["uriBaseId"] = json!("SRC");
        }
        if index {
            file["index"] = json!(0);
        }
        let mut physical = json!({"artifactLocation": file, "region": region});
        if let Some(around) = around {
            physical["contextRegion"] = around;
        }
        let mut location = json!({"physicalLocation": physical});
        if let Some(bag) = bag {
            location["properties"] = bag;
        }
        if let Some(called) = called {
            location["logicalLocations"] = json!([{"name": called, "fullyQualifiedName": format!("a::{called}"), "kind": "function", "decoratedName": "_Z"}]);
        }
        location
    })
}

fn result() -> impl Strategy<Value = Value> {
    let texts = (word(), prop::option::of(word()), 0usize..3);
    let flow = prop::collection::vec((location(), prop::option::of(bag()), prop::option::of(1u32..90)), 0..4);
    let more = (
        prop::option::of(bag()),
        prop::option::of((0u32..800).prop_map(|eighths| f64::from(eighths) / 8.0)),
        prop::option::of(1u32..9),
        prop::option::of(word()),
        any::<bool>(),
    );
    (texts, location(), prop::collection::vec(location(), 0..3), flow, more).prop_map(
        |((text, guid, rule), place, related, flow, (bag, rank, count, print, work))| {
            let mut result = json!({"ruleId": format!("R{rule}"), "ruleIndex": rule, "level": "warning", "message": {"text": text}, "locations": [place]});
            let object: &mut Map<String, Value> = result.as_object_mut().unwrap();
            let mut put = |name: &str, value: Option<Value>| {
                if let Some(value) = value {
                    object.insert(name.into(), value);
                }
            };
            put("guid", guid.map(Value::from));
            put("properties", bag);
            put("rank", rank.map(Value::from));
            put("occurrenceCount", count.map(Value::from));
            put("partialFingerprints", print.map(|print| json!({"hash/v1": print})));
            put("workItemUris", work.then(|| json!(["https://example.org/1"])));
            put("relatedLocations", (!related.is_empty()).then(|| related.into()));
            let steps: Vec<Value> = flow
                .into_iter()
                .map(|(location, bag, order)| {
                    let mut step = json!({"location": location});
                    if let Some(bag) = bag {
                        step["properties"] = bag;
                    }
                    if let Some(order) = order {
                        step["executionOrder"] = json!(order);
                    }
                    step["taxa"] = json!([{"id": "x", "toolComponent": {"name": "y"}}]);
                    step
                })
                .collect();
            put("codeFlows", (!steps.is_empty()).then(|| json!([{"threadFlows": [{"locations": steps}]}])));
            result
        },
    )
}

fn log() -> impl Strategy<Value = Value> {
    let run = (prop::collection::vec(result(), 0..4), bag(), word(), any::<bool>()).prop_map(|(results, bag, words, slash)| {
        let rules: Vec<Value> = (0..3)
            .map(|number| {
                json!({"id": format!("R{number}"), "name": words, "shortDescription": {"text": words}, "fullDescription": {"text": words, "markdown": format!("*{words}*")},
                    "help": {"text": words, "markdown": format!("# {words}")}, "helpUri": "https://example.org/", "messageStrings": {"m": {"text": "{0}"}},
                    "defaultConfiguration": {"level": "warning", "rank": 3.0}, "relationships": [{"target": {"id": "CWE-1"}, "kinds": ["superset"]}], "properties": {"tags": ["a"], "precision": "high"}})
            })
            .collect();
        json!({
            "tool": {"driver": {"name": "t", "version": "1", "informationUri": "https://example.org/", "rules": rules, "notifications": [{"id": "N"}]}, "extensions": [{"name": "pack", "version": "2"}]},
            "originalUriBaseIds": {"SRC": {"uri": if slash { "file:///home/ada/src/" } else { "file:///home/ada/src" }, "description": {"text": words}}},
            "artifacts": [{"location": {"uri": "a.c", "uriBaseId": "SRC"}, "length": 12, "roles": ["analysisTarget"], "hashes": {"sha-256": "00"}}],
            "invocations": [{"executionSuccessful": true, "commandLine": words, "arguments": [words], "exitCode": 0, "toolExecutionNotifications": [{"message": {"text": words}, "level": "note"}]}],
            "versionControlProvenance": [{"repositoryUri": "https://example.org/", "revisionId": "abc"}],
            "automationDetails": {"id": words}, "conversion": {"tool": {"driver": {"name": "c"}}}, "language": "en-US", "columnKind": "utf16CodeUnits",
            "threadFlowLocations": [], "properties": bag, "results": results,
        })
    });
    prop::collection::vec(run, 1..3).prop_map(|runs| json!({"version": "2.1.0", "runs": runs}))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn generated_logs_are_whole(log in log()) {
        prop_assert_eq!(losses(&log), Vec::<String>::new());
    }
}
