//! cppcheck's `--xml` (version 2). Locations come innermost first: the error, then how it came to it.

use super::Sample;
use crate::flow::{self, Event};
use crate::read::Fault;
use crate::xml::{Node, Xml};
use crate::{Document, Location, Report, Role, Severity, Tool};

pub(super) fn sniff(sample: &Sample) -> bool {
    sample.head.contains("<results") && sample.head.contains("<cppcheck")
}

pub(super) fn parse(text: &str) -> Result<Document, Fault> {
    let xml = Xml::parse(text)?;
    let results = xml.root().child("results").ok_or_else(|| Fault::new("there is no <results>"))?;
    let version = results.child("cppcheck").and_then(|tool| tool.attribute("version"));
    let tool = Tool { name: "cppcheck".to_owned(), version: version.map(str::to_owned) };
    let errors = results.child("errors").ok_or_else(|| Fault::new("there is no <errors>"))?;
    let reports = errors.children_named("error").map(|error| read_report(error, &tool)).collect();
    Ok(Document { reports, ..Document::default() })
}

fn read_report(error: Node, tool: &Tool) -> Report {
    let attribute = |name| error.attribute(name).unwrap_or_default().to_owned();
    let mut locations: Vec<(Location, &str)> = error
        .children_named("location")
        .filter_map(|node| {
            Some((node.location(node.attribute("file")?), node.attribute("info").unwrap_or_default()))
        })
        .collect();
    locations.retain(|(place, _)| !place.file.is_empty() && place.file != "nofile");
    let first = locations.first().map(|(place, _)| place.clone());
    let mut report = Report {
        rule: attribute("id"),
        title: attribute("msg"),
        severity: match error.attribute("severity") {
            Some("error") => Severity::Error,
            Some("warning" | "portability" | "performance") => Severity::Warning,
            _ => Severity::Note,
        },
        cwe: error.number("cwe").into_iter().collect(),
        tool: tool.clone(),
        location: first,
        ..Report::default()
    };
    if !locations.is_empty() {
        let last = locations.len() - 1;
        let events = locations.into_iter().rev().enumerate().map(|(index, (place, info))| {
            let words = if info.is_empty() && index == last { report.title.as_str() } else { info };
            Event::told(Some(place), words)
        });
        let mut path = flow::build("", events.collect());
        flow::ends_in_failure(&mut path);
        if let Some(step) = path.last_step_mut().filter(|step| step.role == Role::Branch) {
            step.role = Role::Note;
        }
        report.paths.push(path.finish());
    }
    report.narrate();
    let verbose = attribute("verbose");
    if verbose != report.title && !verbose.is_empty() {
        report.text.push(crate::Segment::plain(format!("\n{}", verbose.replace("\\012", "\n"))));
    }
    report
}
