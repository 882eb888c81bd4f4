//! The XML of Checkstyle, which many linters can write: files, and in each its findings.

use super::{Sample, one_step};
use crate::read::Fault;
use crate::xml::{Node, Xml};
use crate::{Document, Report, Severity};

pub(super) fn sniff(sample: &Sample) -> bool {
    sample.head.contains("<checkstyle")
}

pub(super) fn parse(text: &str) -> Result<Document, Fault> {
    let xml = Xml::parse(text)?;
    let files = xml.root().child("checkstyle").ok_or_else(|| Fault::new("there is no <checkstyle>"))?;
    let reports = files.children_named("file").flat_map(|file| {
        file.children_named("error")
            .map(move |error| read_report(file.attribute("name").unwrap_or_default(), error))
    });
    Ok(Document { reports: reports.collect(), ..Document::default() })
}

fn read_report(file: &str, error: Node) -> Report {
    let attribute = |name| error.attribute(name).unwrap_or_default().to_owned();
    let location = Some(error.location(file)).filter(|_| !file.is_empty());
    let mut report = Report {
        rule: attribute("source"),
        title: attribute("message"),
        severity: match error.attribute("severity") {
            Some("error") => Severity::Error,
            Some("info" | "ignore") => Severity::Note,
            _ => Severity::Warning,
        },
        location: location.clone(),
        ..Report::default()
    };
    report.paths.extend(location.map(|location| one_step(location, String::new(), &report.title)));
    report.narrate();
    report
}
