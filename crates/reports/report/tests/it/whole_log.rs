//! A SARIF log that is read and written again is the log that was read: whatever it holds, known to the model or not, stands
//! where it stood. Also by way of the other two formats, and after a verdict.

use parallax_report::*;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::path::PathBuf;

/// Where the written log lacks something that the original holds.
fn missing(original: &Value, written: &Value, at: &str, found: &mut Vec<String>) {
    match (original, written) {
        (Value::Object(original), Value::Object(written)) => {
            for (name, value) in original {
                match written.get(name) {
                    Some(there) => missing(value, there, &format!("{at}/{name}"), found),
                    None => found.push(format!("{at}/{name}")),
                }
            }
        }
        (Value::Array(original), Value::Array(written)) if original.len() == written.len() => {
            for (index, (value, there)) in original.iter().zip(written).enumerate() {
                missing(value, there, &format!("{at}/{index}"), found);
            }
        }
        _ if original == written => {}
        _ => found.push(format!("{at}: {original} became {written}")),
    }
}

fn lost(original: &Value, document: &Document) -> Vec<String> {
    let written = serde_json::from_str(&to_sarif(document)).unwrap();
    let mut found = Vec::new();
    missing(original, &written, "", &mut found);
    found
}

/// What must hold for every log.
fn comes_back(log: &Value) -> Document {
    let document = read(log.to_string().as_bytes(), "log").unwrap_or_else(|error| panic!("{error}\n{log:#}"));
    assert_eq!(lost(log, &document), Vec::<String>::new(), "{log:#}");
    for text in [to_sarif(&document), to_json(&document), to_pathreport(&document)] {
        let again = read(text.as_bytes(), "again").unwrap();
        assert_eq!(again, document, "{log:#}");
        assert_eq!(to_sarif(&again), to_sarif(&document));
    }
    document
}

/// A document compared with itself: whatever applies is unchanged, and nothing is new, gone or unclear.
fn unchanged(document: &mut Document) {
    let there = |report: &&Report| report.baseline != Some(Baseline::Absent) && !report.passed;
    let unchanged = document.reports.iter().filter(there).count();
    let change = document.compare(&document.clone(), &mut parallax_report::identity::NoCode);
    assert_eq!(change, parallax_report::baseline::Change { unchanged, ..Default::default() });
    let states: Vec<_> = document.reports.iter().filter(there).map(|report| report.baseline).collect();
    assert_eq!(states, vec![Some(Baseline::Unchanged); unchanged]);
}

/// Logs by chance: of everything that the standard has, some.
struct Maker(u64);

impl Maker {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % sides
    }

    fn one(&mut self, of: &[&str]) -> String {
        of[self.roll(of.len() as u64) as usize].to_owned()
    }

    fn words(&mut self) -> String {
        const WORDS: [&str; 9] = [
            "read of p",
            "[source](1) flows",
            "ends in \\",
            "über\u{202e}",
            "{0} is not {1}",
            "a\r\nb",
            "",
            "<b>&amp;</b> ]]>",
            "\u{1}\u{fffe}",
        ];
        self.one(&WORDS)
    }

    fn message(&mut self) -> Value {
        match self.roll(4) {
            0 => json!({"text": self.words(), "markdown": self.words()}),
            1 => json!({"id": "default", "arguments": [self.words(), "two"]}),
            2 => json!({"text": self.words(), "properties": self.bag()}),
            _ => json!({"text": self.words()}),
        }
    }

    /// Anything.
    fn bag(&mut self) -> Value {
        json!({"tags": [self.words()], "deep": {"er": [[{"n": self.roll(1 << 40)}], null, true]}, "half": 0.5})
    }

    fn artifact(&mut self) -> Value {
        let uri = [
            "src/a.c",
            "file:///C:/x%20y/b.cpp",
            "file:///c%3A/z.js",
            "../up.h",
            "%C3%BC.py",
            "\\\\share\\w.c",
        ][self.roll(6) as usize];
        match self.roll(4) {
            0 => json!({"index": self.roll(3)}),
            1 => json!({"uri": uri, "uriBaseId": "SRC", "index": 0, "description": self.message()}),
            _ => json!({"uri": uri}),
        }
    }

    fn region(&mut self) -> Value {
        let line = self.roll(90) + 1;
        match self.roll(5) {
            0 => json!({"charOffset": self.roll(60), "charLength": self.roll(9)}),
            1 => json!({"byteOffset": self.roll(60), "sourceLanguage": "c"}),
            2 => {
                json!({"startLine": line, "endLine": line + 2, "snippet": {"text": self.words(), "rendered": {"text": "r"}}})
            }
            3 => json!({"startLine": line, "startColumn": 4, "endColumn": 3}),
            _ => json!({"startLine": line, "startColumn": 4, "endColumn": 9, "message": self.message()}),
        }
    }

    fn location(&mut self) -> Value {
        let physical = json!({"artifactLocation": self.artifact(), "region": self.region()});
        let all = json!({
            "id": self.roll(5),
            "physicalLocation": physical,
            "logicalLocations": [{"index": self.roll(2)}, {"name": self.words(), "kind": "function", "decoratedName": "_Z"}],
            "message": self.message(),
            "annotations": [self.region()],
            "relationships": [{"target": 1, "kinds": ["includes"]}],
            "properties": self.bag(),
        });
        self.some(all)
    }

    fn step(&mut self) -> Value {
        let all = json!({
            "location": self.location(),
            "stack": {"frames": [{"location": self.location(), "module": "m", "threadId": 3, "parameters": ["x"]}]},
            "kinds": [self.one(&["call", "branch", "acquire", "danger", "enter"]), self.one(&["function", "true", "lock"])],
            "state": {"p": {"text": self.words()}, "q": {"id": "default"}},
            "nestingLevel": self.roll(4),
            "executionOrder": self.roll(9) as i64 - 1,
            "executionTimeUtc": "2026-11-16T08:00:00.123Z",
            "importance": self.one(&["important", "essential", "unimportant"]),
            "module": "libm.so",
            "webRequest": {"index": 0},
            "taxa": [{"id": "1"}],
            "properties": self.bag(),
        });
        match self.roll(6) {
            0 => json!({"index": self.roll(2)}),
            _ => self.some(all),
        }
    }

    fn flow(&mut self) -> Value {
        let all = json!({
            "message": self.message(),
            "threadFlows": (0..self.roll(3)).map(|id| json!({
                "id": format!("T{id}"), "message": self.message(), "initialState": {"a": {"text": "1"}}, "immutableState": {"b": {"text": "2"}},
                "locations": (0..self.roll(4)).map(|_| self.step()).collect::<Vec<_>>(), "properties": self.bag()})).collect::<Vec<_>>(),
            "properties": self.bag(),
        });
        self.some(all)
    }

    fn result(&mut self) -> Value {
        let all = json!({
            "ruleId": self.one(&["R/1", "R", "none such"]),
            "ruleIndex": self.roll(2),
            "rule": {"id": "R", "index": 0, "toolComponent": {"index": 0}},
            "kind": self.one(&["fail", "pass", "open", "review", "informational"]),
            "level": self.one(&["none", "note", "warning", "error"]),
            "message": self.message(),
            "analysisTarget": self.artifact(),
            "webRequest": {"index": 0},
            "locations": (0..self.roll(3)).map(|_| self.location()).collect::<Vec<_>>(),
            "guid": "11111111-1111-4111-8111-111111111111",
            "correlationGuid": "21111111-1111-4111-8111-111111111111",
            "occurrenceCount": self.roll(9) + 1,
            "partialFingerprints": {"h/v1": self.words()},
            "fingerprints": {"whole": "f"},
            "stacks": [{"message": self.message(), "frames": [{"location": self.location(), "module": "m"}]}],
            "codeFlows": (0..self.roll(3)).map(|_| self.flow()).collect::<Vec<_>>(),
            "graphs": [{"nodes": [{"id": "a", "children": [{"id": "b", "location": self.location()}]}], "edges": [{"id": "e", "sourceNodeId": "a", "targetNodeId": "b"}]}],
            "graphTraversals": [{"resultGraphIndex": 0, "edgeTraversals": [{"edgeId": "e", "stepOverEdgeCount": 2}]}],
            "relatedLocations": (0..self.roll(3)).map(|_| self.location()).collect::<Vec<_>>(),
            "suppressions": [{"kind": "external", "guid": "31111111-1111-4111-8111-111111111111", "location": self.location(), "status": "underReview"}],
            "baselineState": self.one(&["new", "unchanged", "updated", "absent"]),
            "rank": 12.5,
            "attachments": [{"artifactLocation": self.artifact(), "regions": [self.region()]}],
            "hostedViewerUri": "https://example.org/1",
            "workItemUris": ["https://example.org/2"],
            "provenance": {"invocationIndex": 0, "firstDetectionRunGuid": "41111111-1111-4111-8111-111111111111"},
            "fixes": [{"description": self.message(), "artifactChanges": [{"artifactLocation": self.artifact(), "replacements": [{"deletedRegion": self.region(), "insertedContent": {"text": self.words()}}]}]}],
            "taxa": [{"id": "476", "toolComponent": {"name": "CWE", "index": 0}}],
            "properties": self.bag(),
        });
        let mut result = self.some(all);
        if result.get("message").is_none() {
            result["message"] = self.message();
        }
        result
    }

    fn run(&mut self) -> Value {
        let rule = json!({"id": "R", "name": self.words(), "shortDescription": {"text": self.words()}, "fullDescription": {"text": "f", "markdown": "*f*"},
            "help": {"text": "h", "markdown": self.words()}, "helpUri": "https://example.org/r", "messageStrings": {"default": {"text": "{0} and {1}", "markdown": "**{0}**"}},
            "defaultConfiguration": {"level": "note", "rank": 3.0, "parameters": {"max": 3}}, "relationships": [{"target": {"id": "476", "toolComponent": {"index": 0}}, "kinds": ["superset"]}],
            "deprecatedIds": ["old"], "properties": {"security-severity": "8.1", "precision": self.words()}});
        let mut run = json!({
            "language": "en", "redactionTokens": ["***"], "defaultEncoding": "utf-8", "columnKind": "utf16CodeUnits",
            "originalUriBaseIds": {"ROOT": {"uri": "file:///home/ada/"}, "SRC": {"uri": "pool/", "uriBaseId": "ROOT", "description": self.message()}},
            "artifacts": [{"location": {"uri": "src/a.c", "uriBaseId": "SRC"}, "contents": {"text": "int a;\nint b;\n"}, "hashes": {"sha-256": "0a"}, "roles": ["analysisTarget"]},
                {"location": {"uri": "b.zip"}, "parentIndex": 0, "mimeType": "application/zip"}],
            "logicalLocations": [{"name": "ns", "kind": "namespace"}, {"name": "f", "fullyQualifiedName": "ns::f", "kind": "function", "parentIndex": 0}],
            "invocations": [{"executionSuccessful": self.roll(2) == 0, "commandLine": "t a.c", "environmentVariables": {"A": "b"}, "toolExecutionNotifications": [{"level": "error", "message": self.message()}],
                "ruleConfigurationOverrides": [{"descriptor": {"id": "R"}, "configuration": {"level": "error"}}]}],
            "threadFlowLocations": [self.step(), self.step()],
            "taxonomies": [{"name": "CWE", "taxa": [{"id": "476"}], "downloadUri": "https://example.org/cwe"}],
            "translations": [{"name": "de", "language": "de"}], "policies": [{"name": "p"}],
            "webRequests": [{"method": "GET", "headers": {"a": "b"}}], "webResponses": [{"statusCode": 200}],
            "conversion": {"tool": {"driver": {"name": "converter"}}}, "graphs": [{"nodes": [], "edges": []}],
            "versionControlProvenance": [{"repositoryUri": "https://example.org/r", "revisionId": "1"}],
            "automationDetails": {"id": "nightly/1", "guid": "51111111-1111-4111-8111-111111111111"}, "runAggregates": [{"id": "all"}],
            "baselineGuid": "61111111-1111-4111-8111-111111111111", "addresses": [{"absoluteAddress": 4096, "kind": "module"}],
            "externalPropertyFileReferences": {"conversion": {"location": {"uri": "more"}}},
            "specialLocations": {"displayBase": {"uri": "file:///"}}, "newlineSequences": ["\n"],
            "properties": self.bag(),
        });
        run = self.some(run);
        run["tool"] = json!({"driver": {"name": self.one(&["scan", "lint"]), "organization": "o", "rules": [rule.clone()], "notifications": [{"id": "n"}], "properties": self.bag()},
            "extensions": [{"name": "pack", "rules": [rule], "globalMessageStrings": {"default": {"text": "g {0}"}}}], "properties": {"x": 1}});
        if self.roll(8) > 0 {
            run["results"] = (0..self.roll(4)).map(|_| self.result()).collect();
        }
        run
    }

    /// Some of the properties.
    fn some(&mut self, all: Value) -> Value {
        let Value::Object(all) = all else { return all };
        let keep = self.roll(3) + 1;
        all.into_iter().filter(|_| self.roll(4) < keep).collect::<Map<_, _>>().into()
    }

    fn log(&mut self) -> Value {
        let mut log = json!({"$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
            "version": "2.1.0", "runs": (0..self.roll(3) + 1).map(|_| self.run()).collect::<Vec<_>>()});
        if self.roll(3) == 0 {
            log["properties"] = self.bag();
        }
        log
    }
}

/// What must hold for the log of a seed, also after a verdict and a baseline.
fn holds(seed: u64) {
    let log = Maker(seed).log();
    let mut document = comes_back(&log);
    // A verdict and a baseline change what they are about, and nothing else.
    unchanged(&mut document);
    for report in &mut document.reports {
        report.suppressions.push(Suppression { justification: "judged".into(), ..Suppression::default() });
    }
    let gone = |at: &String| ["/baselineState", "/suppressions"].iter().any(|name| at.contains(name));
    let absent = log["runs"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|run| run["results"].as_array().cloned().unwrap_or_default());
    // What is gone by the baseline's own word is dropped with its result.
    if absent.filter(|result| result["baselineState"] == "absent").count() == 0 {
        let rest: Vec<String> = lost(&log, &document).into_iter().filter(|at| !gone(at)).collect();
        assert_eq!(rest, Vec::<String>::new());
    }
}

/// Compared with itself, this log had results that were not the same any more.
#[test]
fn a_log_that_once_differed_from_itself_comes_back_whole() {
    holds(14192212142418659289);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, ..ProptestConfig::default() })]

    #[test]
    fn any_log_comes_back_whole(seed in 1..u64::MAX) {
        holds(seed);
    }
}

/// Logs of real tools, and strange ones. The address of the schema is ours.
#[test]
fn the_logs_of_the_corpus_come_back_whole() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../corpus/report");
    let mut seen = 0;
    for folder in ["recorded", "samples", "strange"] {
        for entry in std::fs::read_dir(root.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let bytes = std::fs::read(&path).unwrap();
            let Ok(mut log) =
                serde_json::from_slice::<Value>(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes))
            else {
                continue;
            };
            if !log["runs"].is_array() || log.get("inlineExternalProperties").is_some() {
                continue;
            }
            log.as_object_mut().unwrap().remove("$schema");
            // Results that do not apply stand behind the others; a message has a text; a folder ends with a slash.
            for run in log["runs"].as_array_mut().unwrap() {
                if let Some(results) = run.get_mut("results").and_then(Value::as_array_mut) {
                    results.sort_by_key(|result| result["kind"] == "notApplicable");
                    results
                        .iter_mut()
                        .filter(|result| result["message"] == json!({}))
                        .for_each(|result| result["message"] = json!({"text": ""}));
                }
                for (_, base) in
                    run.get_mut("originalUriBaseIds").and_then(Value::as_object_mut).into_iter().flatten()
                {
                    if let Some(uri) = base["uri"].as_str().filter(|uri| !uri.ends_with('/')) {
                        base["uri"] = json!(format!("{uri}/"));
                    }
                }
            }
            unchanged(&mut comes_back(&log));
            seen += 1;
        }
    }
    assert!(seen >= 12, "{seen}");
}
