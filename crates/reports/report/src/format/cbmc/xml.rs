//! CBMC's `--xml-ui --trace`.

use super::trace::{Happening, Kind};
use crate::Location;
use crate::read::Fault;
use crate::xml::{Node, Xml};

/// A failed property: its name, what it says, and how it comes about.
#[derive(Default)]
pub(super) struct Failed {
    pub property: String,
    pub title: String,
    pub at: Option<Location>,
    pub trace: Vec<Happening>,
}

/// The version and the failed properties.
pub(super) fn failures(text: &str) -> Result<(Option<String>, Vec<Failed>), Fault> {
    let xml = Xml::parse(text)?;
    let top = xml.root().child("cprover").ok_or_else(|| Fault::new("CBMC's XML is a <cprover>"))?;
    let version = super::super::version_in(&top.child_text("program"));
    let trace = |trace: Node| trace.children().filter_map(happening).collect();
    // With --stop-on-fail, the only trace stands alone.
    let alone = top.children_named("goto_trace").map(|node| {
        let property = node.child("failure").and_then(|failure| failure.attribute("property"));
        Failed { property: property.unwrap_or_default().to_owned(), trace: trace(node), ..Failed::default() }
    });
    let results = top.children_named("result").filter(|result| result.attribute("status") == Some("FAILURE"));
    let results = results.map(|result| Failed {
        property: result.attribute("property").unwrap_or_default().to_owned(),
        title: result.attribute("description").unwrap_or_default().to_owned(),
        at: result.child("location").and_then(location),
        trace: result.child("goto_trace").map(trace).unwrap_or_default(),
    });
    Ok((version, results.chain(alone).collect()))
}

fn happening(node: Node) -> Option<Happening> {
    let attribute = |name: &str| node.attribute(name).unwrap_or_default().to_owned();
    let place = node.child("location");
    let kind = match node.name() {
        "function_call" => {
            let function = node.child("function")?;
            Kind::Call {
                function: function.attribute("display_name").unwrap_or_default().to_owned(),
                defined: function.child("location").and_then(location),
            }
        }
        "function_return" => Kind::Return,
        "assignment" => Kind::Assign {
            name: node.child_text("full_lhs"),
            value: node.child_text("full_lhs_value"),
            parameter: node.attribute("assignment_type") == Some("actual_parameter"),
        },
        "input" => Kind::Transfer {
            what: "input",
            name: node.child_text("input_id"),
            value: node.child_text("value"),
        },
        "output" => {
            Kind::Transfer { what: "output", name: node.child_text("text"), value: node.child_text("value") }
        }
        "assumption" => Kind::Assume,
        "location-only" | "loop-head" => Kind::Pass,
        "failure" => Kind::Fail { reason: attribute("reason") },
        _ => return None,
    };
    Some(Happening {
        kind,
        hidden: node.attribute("hidden") == Some("true"),
        at: place.and_then(location),
        function: place.and_then(|place| place.attribute("function")).unwrap_or_default().to_owned(),
        thread: attribute("thread"),
    })
}

fn location(node: Node) -> Option<Location> {
    Some(Location {
        column: node.number("column"),
        ..Location::line(node.attribute("file")?, node.number("line")?)
    })
}
