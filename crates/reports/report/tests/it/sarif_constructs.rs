//! Constructs of SARIF 2.1.0 that viewers meet, one test each, as the standard describes them.

use parallax_report::*;
use serde_json::{Value, json};

/// A log of one run.
fn log(run: Value) -> Document {
    let mut run = run;
    if run.get("tool").is_none() {
        run["tool"] = json!({"driver": {"name": "t"}});
    }
    let text = json!({"version": "2.1.0", "runs": [run]}).to_string();
    let document = read(text.as_bytes(), "t.sarif").unwrap();
    // Whatever is read can be written and read again.
    assert_eq!(read(to_sarif(&document).as_bytes(), "again").unwrap(), document);
    assert_eq!(read(to_pathreport(&document).as_bytes(), "again").unwrap(), document);
    document
}

fn at(uri: &str, line: u32) -> Value {
    json!({"physicalLocation": {"artifactLocation": {"uri": uri}, "region": {"startLine": line}}})
}

fn place(location: &Location) -> (&str, Option<u32>, Option<u32>) {
    (&location.file, location.line, location.column)
}

/// CodeQL keeps its rules in extensions; the driver has none.
#[test]
fn rules_of_extensions_give_messages_levels_weaknesses_and_help() {
    let document = log(json!({
        "tool": {"driver": {"name": "CodeQL"}, "extensions": [{"name": "pack"}, {"name": "cpp-queries", "rules": [
            {"id": "cpp/other"},
            {"id": "cpp/null", "defaultConfiguration": {"level": "error"}, "helpUri": "https://example.org/null",
             "messageStrings": {"default": {"text": "`{0}` may be null"}},
             "properties": {"tags": ["external/cwe/cwe-476"]}}]}]},
        "results": [
            {"ruleId": "cpp/null", "rule": {"id": "cpp/null", "index": 1, "toolComponent": {"index": 1}},
             "message": {"id": "default", "arguments": ["p"]}, "locations": [at("a.c", 3)]},
            {"ruleId": "cpp/null/part", "message": {"text": "by id alone"}}]}));
    let [first, second] = &document.reports[..] else { panic!("{:?}", document.reports) };
    assert_eq!(
        (&*first.title, first.severity, &*first.cwe),
        ("`p` may be null", Severity::Error, &[476][..])
    );
    assert_eq!(
        document.rule_of(first).map(|rule| document.rules[rule].url.as_str()),
        Some("https://example.org/null")
    );
    assert_eq!((&*second.rule, second.severity), ("cpp/null/part", Severity::Error));
}

#[test]
fn taxa_by_index_and_by_guid() {
    let document = log(json!({
        "taxonomies": [{"name": "OWASP"}, {"name": "CWE", "guid": "c-w-e", "taxa": [{"id": "362"}, {"id": "416"}]}],
        "results": [{"message": {"text": "m"}, "taxa": [
            {"index": 1, "toolComponent": {"index": 1}}, {"id": "362", "toolComponent": {"guid": "c-w-e"}},
            {"id": "1", "toolComponent": {"index": 0}}]}]}));
    assert_eq!(document.reports[0].cwe, [362, 416]);
}

#[test]
fn the_user_may_have_configured_a_rule_for_the_run() {
    let document = log(json!({
        "tool": {"driver": {"name": "t", "rules": [{"id": "R", "defaultConfiguration": {"level": "error"}}]}},
        "invocations": [{"executionSuccessful": true, "ruleConfigurationOverrides": [
            {"descriptor": {"id": "R"}, "configuration": {"level": "note"}}]}],
        "results": [{"ruleId": "R", "message": {"text": "m"}}, {"ruleId": "R", "level": "warning", "message": {"text": "m"}}]}));
    let severities: Vec<_> = document.reports.iter().map(|report| report.severity).collect();
    assert_eq!(severities, [Severity::Note, Severity::Warning]);
}

/// gcc puts the whole source into the log.
#[test]
fn source_in_the_log_is_kept_and_resolves_offsets() {
    let source = "int main(void) {\n  int *p = 0;\n  return *ü;\n}\n";
    let by_offset =
        |region: Value| json!({"physicalLocation": {"artifactLocation": {"index": 0}, "region": region}});
    let document = log(json!({
        "originalUriBaseIds": {"PWD": {"uri": "file:///home/ada/my%20src/"}},
        "artifacts": [{"location": {"uri": "a.c", "uriBaseId": "PWD"}, "contents": {"text": source}}],
        "results": [
            {"message": {"text": "by characters"}, "locations": [by_offset(json!({"charOffset": 42, "charLength": 1}))]},
            {"message": {"text": "by bytes"}, "locations": [by_offset(json!({"byteOffset": 43, "byteLength": 3}))]},
            {"message": {"text": "elsewhere"}, "locations": [{"physicalLocation": {"artifactLocation": {"uri": "b.c"}, "region": {"charOffset": 5}}}]}]}));
    let excerpt = Excerpt { file: "/home/ada/my src/a.c".into(), line: 1, text: source.into() };
    assert_eq!(document.excerpts, [excerpt]);
    let places: Vec<_> = document.reports.iter().map(|report| report.location.clone().unwrap()).collect();
    // Line 3 begins at 31; its semicolon is character 42 and, after the ü, byte 43.
    assert_eq!((places[0].line, places[0].column, places[0].end_column), (Some(3), Some(12), Some(13)));
    assert_eq!((places[1].line, places[1].column, places[1].end_line), (Some(3), Some(12), Some(4)));
    assert_eq!(place(&places[2]), ("b.c", None, None));
    assert!(
        document.notes.iter().any(|note| note.starts_with("1 places are given as offsets")),
        "{:?}",
        document.notes
    );
}

#[test]
fn snippets_are_kept_where_there_is_no_source() {
    let document = log(json!({"results": [{"message": {"text": "m"}, "locations": [{"physicalLocation": {
        "artifactLocation": {"uri": "a.py"},
        "region": {"startLine": 7, "startColumn": 5, "endColumn": 9, "snippet": {"text": "eval"}},
        "contextRegion": {"startLine": 6, "snippet": {"text": "def f(x):\n    eval(x)\n"}}}}]}]}));
    let lines: Vec<_> = document.excerpts.iter().map(|one| (one.line, one.text.as_str())).collect();
    assert_eq!(lines, [(6, "def f(x):\n    eval(x)\n"), (7, "    eval")]);
}

#[test]
fn links_in_a_message_lead_to_locations_by_id_wherever_they_stand() {
    let step = |id: u32, line: u32| json!({"location": {"id": id, "physicalLocation": at("a.c", line)["physicalLocation"]}});
    let document = log(json!({"results": [{
        "message": {"text": "[source](11) flows to [sink](12), see [decl](3) and [none](99)"},
        "codeFlows": [{"message": {"text": "the only way"}, "threadFlows": [{"locations": [step(11, 1), step(12, 2)]}]}],
        "relatedLocations": [{"id": 3, "physicalLocation": at("a.h", 4)["physicalLocation"], "message": {"text": "declared"}}]}]}));
    let report = &document.reports[0];
    let links: Vec<_> = report.text.iter().take(6).filter_map(|piece| piece.link.clone()).collect();
    assert_eq!(links, [Link::Step { path: 0, step: 0 }, Link::Step { path: 0, step: 1 }, Link::Related(0)]);
    assert_eq!(report.title, "source flows to sink, see decl and none");
    assert_eq!(report.paths[0].label, "the only way");
}

#[test]
fn further_locations_fixes_and_state_at_the_start() {
    let document = log(json!({"results": [{
        "message": {"text": "declared twice"}, "locations": [at("a.c", 1), at("b.c", 2)],
        "fixes": [{"description": {"text": "remove one"}, "artifactChanges": []}],
        "codeFlows": [{"threadFlows": [{"initialState": {"n": {"text": "4"}}, "immutableState": {"cfg": {"text": "x"}},
            "locations": [{"location": at("a.c", 1), "state": {"n": {"text": "5"}}}, {"location": at("b.c", 2)}]}]}]}]}));
    let report = &document.reports[0];
    assert_eq!((&*report.related[0].location.file, &*report.related[0].message), ("b.c", "also here"));
    assert_eq!(report.fixes[0].description, "remove one");
    let values: Vec<_> =
        report.paths[0].steps[0].values.iter().map(|one| (&*one.name, &*one.value)).collect();
    assert_eq!(values, [("n", "5"), ("cfg", "x")]);
}

#[test]
fn logical_locations_by_index_and_by_kind() {
    let step = |logical: Value, line: u32| json!({"location": {"physicalLocation": at("A.java", line)["physicalLocation"], "logicalLocations": logical}, "nestingLevel": line});
    let document = log(json!({
        "logicalLocations": [{"name": "org.x", "kind": "namespace"}, {"name": "A", "kind": "type", "parentIndex": 0},
                             {"name": "run", "fullyQualifiedName": "org.x.A.run", "kind": "member", "parentIndex": 1}],
        "results": [{"message": {"text": "m"}, "codeFlows": [{"threadFlows": [{"locations": [
            step(json!([{"index": 2}]), 1), step(json!([{"name": "A", "kind": "type"}, {"name": "go", "kind": "function"}]), 2),
            step(json!([{"name": "A", "kind": "type", "index": 1}]), 3)]}]}]}]}));
    let names: Vec<_> =
        document.reports[0].paths[0].frames.iter().map(|frame| frame.function.as_str()).collect();
    assert_eq!(names, ["org.x.A.run", "go", ""]);
}

#[test]
fn graph_traversals_are_paths() {
    let node = |id: &str, line: u32| json!({"id": id, "label": {"text": format!("node {id}")}, "location": at("g.c", line)});
    let graph = json!({"nodes": [node("a", 1), {"id": "outer", "children": [node("b", 2), node("c", 3)]}],
        "edges": [{"id": "ab", "sourceNodeId": "a", "targetNodeId": "b", "label": {"text": "calls"}}, {"id": "bc", "sourceNodeId": "b", "targetNodeId": "c"}]});
    let document = log(
        json!({"graphs": [graph.clone()], "results": [{"message": {"text": "m"}, "graphs": [graph], "graphTraversals": [
        {"resultGraphIndex": 0, "description": {"text": "the walk"}, "initialState": {"x": {"text": "0"}},
         "edgeTraversals": [{"edgeId": "ab"}, {"edgeId": "bc", "finalState": {"x": {"text": "1"}}}]},
        {"runGraphIndex": 0, "edgeTraversals": [{"edgeId": "bc", "message": {"text": "again"}}]},
        {"runGraphIndex": 0, "edgeTraversals": [{"edgeId": "no such edge"}]}, {"runGraphIndex": 9, "edgeTraversals": []}]}]}),
    );
    let report = &document.reports[0];
    let steps = |path: &Path| -> Vec<_> {
        path.steps
            .iter()
            .map(|step| (step.location.as_ref().unwrap().line.unwrap(), step.message.clone()))
            .collect()
    };
    assert_eq!(report.paths.len(), 2);
    assert_eq!(report.paths[0].label, "the walk");
    assert_eq!(steps(&report.paths[0]), [(1, "node a".into()), (2, "calls".into()), (3, "node c".into())]);
    assert_eq!(report.paths[0].steps[2].values[0].value, "1");
    assert_eq!(steps(&report.paths[1]), [(2, "node b".into()), (3, "again".into())]);
}

#[test]
fn failures_of_the_tool_and_results_kept_elsewhere_are_told() {
    let document = log(json!({
        "externalPropertyFileReferences": {"results": [{"location": {"uri": "more.sarif-external-properties"}}]},
        "invocations": [{"executionSuccessful": false, "toolExecutionNotifications": [
            {"level": "error", "message": {"text": "a.c does not parse"}}, {"level": "note", "message": {"text": "all quiet"}}]}],
        "results": []}));
    let notes = document.notes.join("\n");
    assert!(
        notes.contains("a.c does not parse")
            && notes.contains("did not succeed")
            && notes.contains("more.sarif-external"),
        "{notes}"
    );
    assert!(!notes.contains("quiet"), "{notes}");
}

#[test]
fn an_external_property_file_is_read_by_itself() {
    let file = json!({"$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-external-property-file-schema-2.1.0.json",
        "version": "2.1.0", "driver": {"name": "t", "rules": [{"id": "R", "defaultConfiguration": {"level": "error"}}]},
        "results": [{"ruleId": "R", "message": {"text": "m"}, "locations": [at("a.c", 3)]}]});
    let document = read(file.to_string().as_bytes(), "t.sarif-external-properties").unwrap();
    assert_eq!(
        (document.reports.len(), document.reports[0].severity, &*document.reports[0].tool.name),
        (1, Severity::Error, "t")
    );
}

#[test]
fn runs_stay_apart_and_a_byte_order_mark_is_no_obstacle() {
    let run = |tool: &str| json!({"tool": {"driver": {"name": tool, "rules": [{"id": "R", "name": tool}]}}, "results": [{"ruleIndex": 0, "message": {"text": tool}}]});
    let text = format!("\u{feff}{}", json!({"version": "2.1.0", "runs": [run("one"), run("two")]}));
    let document = read(text.as_bytes(), "t.sarif").unwrap();
    let tools: Vec<_> = document.reports.iter().map(|report| (&*report.tool.name, &*report.rule)).collect();
    assert_eq!(tools, [("one", "R"), ("two", "R")]);
}

/// What scanners add: scores, ranks, counts, Markdown, and edits by region.
#[test]
fn scores_ranks_counts_and_edits() {
    let document = log(json!({
        "tool": {"driver": {"name": "scan", "rules": [{"id": "r", "shortDescription": {"text": "short"},
            "fullDescription": {"text": "full"}, "help": {"text": "do", "markdown": "**do**"},
            "properties": {"security-severity": "8.8"}}]}},
        "results": [{"ruleId": "r", "level": "note", "rank": 73.5, "occurrenceCount": 4, "baselineState": "new",
            "message": {"text": "m", "markdown": "*m*"}, "locations": [at("a.c", 3)],
            "fixes": [{"artifactChanges": [{"artifactLocation": {"uri": "a.c"}, "replacements": [
                {"deletedRegion": {"startLine": 3, "startColumn": 2, "endColumn": 5}, "insertedContent": {"text": "x"}},
                {"deletedRegion": {"startLine": 4, "startColumn": 1, "endColumn": 1}, "insertedContent": {"text": "y"}}]}]}]},
            {"ruleId": "r", "kind": "pass", "message": {"text": "fine"}, "locations": [at("a.c", 9)]}]}));
    let [report, fine] = &document.reports[..] else { panic!("{:?}", document.reports) };
    assert_eq!(
        (report.severity, report.occurrences, report.baseline),
        (Severity::Error, Some(4), Some(Baseline::New))
    );
    assert_eq!((report.rank.as_ref().and_then(|rank| rank.as_f64()), &*report.markdown), (Some(73.5), "*m*"));
    let changes: Vec<_> =
        report.fixes[0].changes.iter().map(|change| (change.insert, &*change.text)).collect();
    assert_eq!(changes, [(false, "x"), (true, "y")]);
    let rule = &document.rules[document.rule_of(report).unwrap()];
    assert_eq!(
        (&*rule.summary, &*rule.description, &*rule.help, &*rule.score),
        ("short", "full", "**do**", "8.8")
    );
    assert!(fine.passed && !report.passed);
}

/// What the model has no field for is written again where it was: bases, artifacts, invocations, bags, kinds.
#[test]
fn what_is_beyond_the_model_is_kept() {
    let run = json!({
        "tool": {"driver": {"name": "t", "organization": "o"}}, "originalUriBaseIds": {"SRC": {"uri": "file:///s/"}},
        "artifacts": [{"location": {"uri": "a.c", "uriBaseId": "SRC"}, "length": 7}],
        "invocations": [{"executionSuccessful": true, "commandLine": "t a.c"}],
        "results": [{"message": {"text": "m"}, "guid": "1234", "properties": {"team": "x"}, "hostedViewerUri": "https://e.org/1",
            "codeFlows": [{"threadFlows": [{"locations": [
                {"location": at("a.c", 1), "kinds": ["acquire", "lock"], "properties": {"id": 7}}]}]}]}]});
    let written: Value = serde_json::from_str(&to_sarif(&log(run.clone()))).unwrap();
    let again = &written["runs"][0];
    for name in ["tool", "originalUriBaseIds", "artifacts", "invocations"] {
        assert_eq!(again[name], run[name], "{name}");
    }
    let result = &again["results"][0];
    assert_eq!((&result["guid"], &result["properties"]["team"]), (&json!("1234"), &json!("x")));
    let step = &result["codeFlows"][0]["threadFlows"][0]["locations"][0];
    assert_eq!((&step["kinds"], &step["properties"]["id"]), (&json!(["acquire", "lock"]), &json!(7)));
}
