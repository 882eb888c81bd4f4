//! pathreport XML: a report's text marked up with the path it tells of (Khoo's thesis, section 2.2.3, Figure 2.3).
//!
//! `<path>` marks what belongs to one function, `<detour>` a call site and in it the `<path>` of the callee, `<marker>`
//! any other line on the way. Two forms are read. In the *marked-up* form, the thesis's own, the character data of the
//! whole document is the report text. In the *structured* form, which is what is written (`<pathreport version="1">`),
//! each `<report>` has its `<text>`, and the character data of a detour or marker is what the tool says at that step.

mod write;

use super::Sample;
use crate::read::Fault;
use crate::xml::{Node, Xml};
use crate::{
    AccessMode, Binding, Document, Excerpt, Frame, Importance, Link, PathBuilder, PathKind, Related, Report,
    Role, Segment, Severity, Step, Suppression, SuppressionStatus, Tool,
};
use std::collections::HashSet;

pub(super) use write::write;

pub(super) fn sniff(sample: &Sample) -> bool {
    let head = sample.head;
    head.contains("<pathreport") || (head.contains("<path ") && sample.text.contains("</path>"))
}

pub(super) fn parse(text: &str) -> Result<Document, Fault> {
    let xml = Xml::parse(text)?;
    let root = xml.root();
    let top = root.child("pathreport").unwrap_or(root);
    let structured = top.attribute("version").is_some();
    if let Some(version) = top.attribute("version").filter(|&version| version != "1") {
        return Err(Fault::new(format!("pathreport version {version:?}; this version reads \"1\"")));
    }
    let mut document = Document {
        notes: top.children_named("note").map(|note| note.text()).collect(),
        excerpts: top
            .children_named("excerpt")
            .map(|excerpt| Excerpt {
                file: excerpt.attribute("file").unwrap_or_default().to_owned(),
                line: excerpt.attribute("line").and_then(|line| line.parse().ok()).unwrap_or(1),
                text: excerpt.text(),
            })
            .collect(),
        ..data(top).unwrap_or_default()
    };
    document.reports.clear();
    let mut odd = Odd::default();
    let mut reports: Vec<Node> = top.children_named("report").collect();
    if reports.is_empty() && !structured {
        reports.push(top);
    }
    for node in reports {
        let report = ReportReader {
            structured,
            notes: &mut document.notes,
            report: head(node),
            path: None,
            worded: HashSet::new(),
            odd: &mut odd,
        }
        .read(node);
        document.reports.push(report);
    }
    if odd.count > 0 {
        let Odd { count, first } = odd;
        document
            .notes
            .push(format!("{count} marks give a line that is none, such as {first:?}; theirs is not known"));
    }
    Ok(document)
}

/// What XML has no element for, as JSON in a `<data>`.
fn data<T: serde::de::DeserializeOwned>(node: Node) -> Option<T> {
    serde_json::from_str(&node.child("data")?.text()).ok()
}

/// What stands in the attributes and small elements of a `<report>`.
fn head(node: Node) -> Report {
    let text = |name| node.attribute(name).unwrap_or_default().to_owned();
    let rest: Report = data(node).unwrap_or_default();
    Report {
        rule: text("rule"),
        title: text("title"),
        severity: match node.attribute("severity") {
            Some("error") => Severity::Error,
            Some("note") => Severity::Note,
            _ => Severity::Warning,
        },
        cwe: text("cwe").split_ascii_whitespace().filter_map(|number| number.parse().ok()).collect(),
        tool: Tool { name: text("tool"), version: node.attribute("tool-version").map(str::to_owned) },
        location: node.attribute("file").map(|file| node.location(file)),
        related: node
            .children_named("related")
            .map(|related| Related {
                location: related.location(related.attribute("file").unwrap_or_default()),
                message: related.text(),
            })
            .collect(),
        suppressions: node
            .children_named("suppression")
            .map(|suppression| Suppression {
                in_source: suppression.attribute("in-source") == Some("true"),
                status: match suppression.attribute("status") {
                    Some("rejected") => SuppressionStatus::Rejected,
                    Some("under-review") => SuppressionStatus::UnderReview,
                    _ => SuppressionStatus::Accepted,
                },
                justification: suppression.text(),
            })
            .collect(),
        fingerprints: node
            .children_named("fingerprint")
            .map(|print| (print.attribute("name").unwrap_or_default().to_owned(), print.text()))
            .collect(),
        text: Vec::new(),
        paths: Vec::new(),
        ..rest
    }
}

/// Lines that are none.
#[derive(Default)]
struct Odd {
    count: usize,
    /// How the first is written.
    first: String,
}

/// Walks one report in document order with a stack of its own: elements nest as deep as they like.
struct ReportReader<'a> {
    structured: bool,
    notes: &'a mut Vec<String>,
    report: Report,
    path: Option<PathBuilder>,
    /// The steps of this path that came with a `message` of their own.
    worded: HashSet<usize>,
    odd: &'a mut Odd,
}

/// What is left to do.
enum Task<'a> {
    Node(Node<'a>),
    /// Character data, and the step it belongs to.
    Text(&'a str, Option<usize>),
    Leave,
    EndPath,
}

impl ReportReader<'_> {
    fn read(mut self, node: Node) -> Report {
        let mut tasks = Vec::new();
        push_content(&mut tasks, node, None);
        while let Some(task) = tasks.pop() {
            match task {
                Task::Text(text, step) => self.text(text, step),
                Task::Leave => {
                    if let Some(path) = &mut self.path {
                        path.leave();
                    }
                }
                Task::EndPath => self.end_path(),
                Task::Node(node) => match node.name() {
                    "path" => self.path(node, &mut tasks),
                    "detour" | "marker" => self.step(node, &mut tasks),
                    "text" if self.structured => self.linked_text(node),
                    "value" | "state" | "related" | "fingerprint" | "suppression" | "note" | "data" => {}
                    // Markup we do not know still holds words.
                    _ => push_content(&mut tasks, node, None),
                },
            }
        }
        self.end_path();
        if self.report.title.is_empty() && !self.structured {
            let text = self.report.plain_text();
            self.report.title =
                text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("").to_owned();
        }
        self.report
    }

    fn text(&mut self, text: &str, step: Option<usize>) {
        if let (Some(step), Some(path)) = (step, &mut self.path) {
            let message = &mut path.steps_mut()[step].message;
            if self.worded.contains(&step) {
                // The words are the report's; what to say at the step was given apart.
            } else if self.structured {
                message.push_str(text);
            } else {
                let gap = if message.is_empty() { "" } else { " " };
                let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
                if !words.is_empty() {
                    message.push_str(gap);
                    message.push_str(&words);
                }
            }
        }
        if !self.structured {
            let path = self.report.paths.len();
            let link = step.map(|step| Link::Step { path, step });
            self.report.text.push(Segment { text: text.to_owned(), link });
        }
    }

    fn path<'n>(&mut self, node: Node<'n>, tasks: &mut Vec<Task<'n>>) {
        let flag = |name| node.attribute(name) == Some("true");
        let outermost = self.path.as_ref().is_none_or(|path| path.depth() == 0);
        if outermost && !flag("continues") {
            self.end_path();
        }
        let path = self.path.get_or_insert_with(|| {
            let mut path = PathBuilder::new(node.attribute("label").unwrap_or_default());
            path.describe(
                if node.attribute("kind") == Some("stack") { PathKind::Stack } else { PathKind::Flow },
                node.number("flow").unwrap_or(0),
            );
            path.in_thread(node.attribute("in-thread").unwrap_or_default());
            path
        });
        if flag("empty") {
            return self.end_path();
        }
        let inherited = path.current().map_or("", |frame| frame.file.as_str());
        let frame = Frame {
            function: node.attribute("name").unwrap_or_default().to_owned(),
            file: node.attribute("file").unwrap_or(inherited).to_owned(),
            call: None,
            thread: node.attribute("thread").map(str::to_owned),
        };
        path.enter(frame);
        if outermost && !self.structured {
            tasks.push(Task::EndPath);
        }
        tasks.push(Task::Leave);
        push_content(tasks, node, None);
    }

    fn step<'n>(&mut self, node: Node<'n>, tasks: &mut Vec<Task<'n>>) {
        let file = node.attribute("file");
        let detour = node.name() == "detour";
        let line = node.attribute("line");
        if let Some(written) = line.filter(|_| node.number("line").is_none_or(|line| line == 0)) {
            if self.odd.count == 0 {
                self.odd.first = written.to_owned();
            }
            self.odd.count += 1;
        }
        // Of a line that is none, the file is still known.
        let located = line.is_some() || file.is_some();
        let inside = self.path.as_ref().is_some_and(|path| path.depth() > 0);
        // A mark outside every path is a place worth knowing, or only words.
        if !inside {
            if located && !self.structured {
                let words = node.text();
                let place = node.location(file.unwrap_or_default());
                self.report.related.push(Related { location: place, message: words.trim().to_owned() });
                self.report.text.push(Segment::related(words, self.report.related.len() - 1));
                return;
            }
            return push_content(tasks, node, None);
        }
        let Some(path) = &mut self.path else { return };
        let around = path.current().map_or("", |frame| frame.file.as_str());
        let location = located.then(|| node.location(file.unwrap_or(around)));
        let bindings = |name| {
            let binding = |node: Node| Binding {
                name: node.attribute("name").unwrap_or_default().to_owned(),
                value: node.text(),
            };
            node.children_named(name).map(binding).collect()
        };
        let step = Step {
            frame: 0,
            location,
            role: match node.attribute("role") {
                Some("entry") => Role::Entry,
                Some("call") => Role::Call,
                Some("return") => Role::Return,
                Some("branch") => Role::Branch,
                Some("access") => Role::Access,
                Some(_) => Role::Note,
                None => {
                    if detour {
                        Role::Call
                    } else {
                        Role::Note
                    }
                }
            },
            taken: node.attribute("taken").map(|taken| taken == "true"),
            access: match node.attribute("access") {
                Some("read") => Some(AccessMode::Read),
                Some("write") => Some(AccessMode::Write),
                Some("read-write") => Some(AccessMode::ReadWrite),
                _ => None,
            },
            failing: node.attribute("failing") == Some("true"),
            message: node.attribute("message").unwrap_or_default().to_owned(),
            values: bindings("value"),
            state: bindings("state"),
            order: node.attribute("order").and_then(|order| order.parse().ok()),
            time: node.attribute("time").unwrap_or_default().to_owned(),
            importance: match node.attribute("importance") {
                Some("essential") => Importance::Essential,
                Some("unimportant") => Importance::Unimportant,
                _ => Importance::Important,
            },
        };
        let index = path.step(step);
        if node.attribute("message").is_some() {
            self.worded.insert(index);
        }
        if detour && node.children_named("path").count() > 1 {
            self.notes.push(
                "a <detour> holds more than one <path>; the others follow it as calls without a place".into(),
            );
        }
        push_content(tasks, node, Some(index));
    }

    /// The `<text>` of the structured form.
    fn linked_text(&mut self, node: Node) {
        for content in node.content() {
            let segment = match content {
                Err(text) => Segment::plain(text),
                Ok(link) => {
                    let number = |name| link.number(name).and_then(|number| (number as usize).checked_sub(1));
                    let to = match (number("path"), number("step"), number("related"), link.attribute("href"))
                    {
                        (Some(path), Some(step), ..) => Some(Link::Step { path, step }),
                        (_, _, Some(related), _) => Some(Link::Related(related)),
                        (.., Some(url)) => Some(Link::Url(url.to_owned())),
                        _ => None,
                    };
                    Segment { text: link.text(), link: to }
                }
            };
            self.report.text.push(segment);
        }
    }

    fn end_path(&mut self) {
        self.worded.clear();
        if let Some(path) = self.path.take() {
            if path.was_cut() {
                self.notes.push(super::cut_note(&path));
            }
            self.report.paths.push(path.finish());
        }
    }
}

/// Schedules what an element holds, first thing on top.
fn push_content<'n>(tasks: &mut Vec<Task<'n>>, node: Node<'n>, step: Option<usize>) {
    let start = tasks.len();
    tasks.extend(node.content().map(|content| match content {
        Ok(node) => Task::Node(node),
        Err(text) => Task::Text(text, step),
    }));
    tasks[start..].reverse();
}

#[cfg(test)]
mod tests {
    use crate::{Outline, read};

    /// Figure 2.3 (b), with the attribute that the figure leaves out.
    const FIGURE: &str = r#"Trace:
  In function <path name="a" file="f.c">a (
    On line <detour line="5" name="b">a:5, call <path name="b">b (
      On line <detour line="10" name="c">b:10, call <path name="c">c (
        On line <marker line="15">c:15</marker>, call d
      )</path></detour>
    )</path></detour>
  On line <detour line="20" name="e">a:20, call <path name="e">e (
    On line e:25, call f
  )</path></detour>
)</path>
"#;

    #[test]
    fn the_figure_reads_as_a_call_tree() {
        let document = read(FIGURE.as_bytes(), "figure").unwrap();
        let report = &document.reports[0];
        let path = &report.paths[0];
        let names: Vec<_> = path.frames.iter().map(|frame| &*frame.function).collect();
        assert_eq!(names, ["a", "b", "c", "e"]);
        use Outline::{Close, Open, Step};
        let want = [
            Open(0),
            Step(0),
            Open(1),
            Step(1),
            Open(2),
            Step(2),
            Close(2),
            Close(1),
            Step(3),
            Open(3),
            Close(3),
            Close(0),
        ];
        assert_eq!(path.outline(), want);
        assert_eq!(path.steps[1].message, "b:10, call");
        assert_eq!(path.steps[3].location.as_ref().unwrap().line, Some(20));
        // The text is the document without its marks.
        let plain = FIGURE.lines().count();
        assert_eq!(report.plain_text().lines().count(), plain);
        assert!(report.plain_text().starts_with("Trace:\n  In function a (\n    On line a:5, call b (\n"));
    }
}
