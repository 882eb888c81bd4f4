//! From documents and roots to the page.

use crate::checklist::Checklists;
use crate::definitions::{Index, chunk, encode};
use crate::outcomes::outcomes;
use crate::page::{self, Page};
use crate::project::{self, Item, Projection};
use crate::roots::Roots;
use crate::sources::Sources;
use crate::syntax::{Lines, Token};
use crate::triage::{Reports, Triage};
use crate::visible::{reveal_all, visible};
use parallax_report::{Document, Importance, Path, PathKind, Report, Role, Severity, Step};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// What a page is made from.
pub struct Input {
    /// The reports.
    pub document: Document,
    /// Where sources may come from.
    pub roots: Roots,
    /// What to call the project.
    pub name: String,
    /// Seconds since 1970.
    pub made: u64,
    /// Who triages, by default.
    pub author: String,
    /// What to ask.
    pub checklists: Checklists,
    /// What has been answered.
    pub triage: Triage,
    /// When the report files were written, as `2026-11-14T16:20:00Z`, if that is known.
    pub written: Option<String>,
    /// What the project is known by: equal for the pages of one project, and for those only.
    pub project: String,
    /// Opens a place in an editor: a link with `{file}` and `{line}` in it.
    pub editor: Option<String>,
    /// What the reports were compared with.
    pub against: Option<String>,
}

/// How far the page is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// So many reports of so many are projected onto their source.
    Reports(usize, usize),
    /// So many files of so many are searched for definitions.
    Definitions(usize, usize),
}

/// Makes the page, saying now and then how far it is.
pub fn build(input: Input, progress: &mut dyn FnMut(Progress)) -> Page {
    let Input {
        mut document,
        roots,
        name,
        made,
        author,
        checklists,
        mut triage,
        written,
        project,
        editor,
        against,
    } = input;
    // Invisible characters are shown, and count as what they are.
    let mut plain = Document { excerpts: Vec::new(), runs: Vec::new(), ..document.clone() };
    reveal_all(&mut document);
    let mut sources = Sources::new(roots, std::mem::take(&mut document.excerpts));
    let projections: Vec<Vec<Projection>> = document
        .reports
        .iter()
        .enumerate()
        .map(|(number, report)| {
            progress(Progress::Reports(number, document.reports.len()));
            paths_of(report).iter().map(|path| project::project(path, &mut sources)).collect()
        })
        .collect();

    // Everything is loaded now, except the places off the paths.
    let mut related_sources = Vec::new();
    for report in &document.reports {
        for related in &report.related {
            related_sources.push(sources.get(&related.location.file));
        }
    }
    let needed = needed_lines(&projections);
    let mut index =
        Index::new(&sources, &needed, &mut |done, all| progress(Progress::Definitions(done, all)));
    let files = files(&sources, &needed, &mut index);

    let mut related_sources = related_sources.into_iter();
    let mut reports = Vec::new();
    for (report, projections) in document.reports.iter().zip(projections) {
        let paths = paths_of(report);
        let marked = report.passed || paths.iter().flat_map(|path| &path.steps).any(|step| step.failing);
        let related = report
            .related
            .iter()
            .map(|related| {
                let source = related_sources.next().unwrap_or(usize::MAX);
                let line = related.location.line;
                let name =
                    sources.all.get(source).map_or(related.location.file.as_str(), |source| &source.name);
                let definition = line
                    .zip(sources.text(source))
                    .filter(|(line, text)| *line <= text.line_count())
                    .map(|(line, text)| index.place(name, text, line));
                page::Related { place: place(name, line), message: related.message.clone(), definition }
            })
            .collect();
        let spot = report.location.clone().or_else(|| {
            let path = report.paths.first()?;
            path.steps.get(path.failing_step()?)?.location.clone()
        });
        let place = spot.map_or(String::new(), |spot| {
            let source = sources.get(&spot.file);
            place(&sources.all[source].name, spot.line)
        });
        reports.push(page::Report {
            id: String::new(),
            fingerprint: String::new(),
            perhaps: Vec::new(),
            rule: visible(&report.rule).into_owned(),
            title: title(report),
            text: report.text.clone(),
            severity: match report.severity {
                Severity::Note => 1,
                Severity::Warning => 2,
                Severity::Error => 3,
            },
            cwe: report.cwe.clone(),
            tool: tool(report),
            place,
            paths: paths
                .iter()
                .zip(projections)
                .map(|(path, boxes)| a_path(path, boxes, marked, &mut sources))
                .collect(),
            related,
            suppressed: report.is_suppressed().then(|| {
                let why = report.suppressions.iter().map(|suppression| suppression.justification.as_str());
                why.filter(|why| !why.is_empty()).collect::<Vec<_>>().join("; ")
            }),
            checklist: checklists.choose(report),
            help: document.rule_of(report),
            passed: report.passed,
            baseline: report.baseline,
            fixes: report.fixes.iter().map(|fix| a_fix(fix, &mut sources)).collect(),
            rank: report.rank.as_ref().and_then(serde_json::Number::as_f64),
            occurrences: report.occurrences,
            markdown: report.markdown.clone(),
        });
    }
    plain.note_places(&mut sources);
    let attached = triage.attach(Reports { document: &mut plain, code: &mut sources, written, made });
    for (at, report) in reports.iter_mut().enumerate() {
        report.id.clone_from(&attached.names[at]);
        report.fingerprint.clone_from(&attached.keys[at]);
        report.perhaps.clone_from(&attached.perhaps[at]);
    }
    let rules = document.rules.iter().map(|rule| page::Rule {
        id: rule.id.clone(),
        name: rule.name.clone(),
        summary: rule.summary.clone(),
        description: rule.description.clone(),
        help: rule.help.clone(),
        url: rule.url.clone(),
        score: rule.score.clone(),
    });
    let rules = rules.collect();
    let mut notes = std::mem::take(&mut triage.notes);
    notes.extend(attached.notes);
    notes.extend(document.notes.iter().cloned());
    if index.cut {
        notes.push(
            "Not all files below the source folders were searched for definitions: there are too many."
                .into(),
        );
    }
    // Steps may have named files that no box shows; they are on the page by name only.
    let mut files = files;
    for source in &sources.all[files.len()..] {
        files.push(page::File {
            name: visible(&source.name).into_owned(),
            lines: 0,
            chunks: Vec::new(),
            blocks: Vec::new(),
            missing: source.text.as_ref().err().map(ToString::to_string),
            path: None,
        });
    }
    // Editors want to know where a file lies; a page that is handed on has no business to.
    if editor.is_some() {
        for (file, source) in files.iter_mut().zip(&sources.all) {
            file.path = source.path.as_ref().map(|path| path.to_string_lossy().replace('\\', "/"));
        }
    }
    Page {
        format: page::FORMAT,
        name,
        project,
        made,
        author,
        files,
        definitions: index.chosen,
        reports,
        checklists: checklists.all,
        triage,
        notes,
        rules,
        editor,
        against,
        server: None,
    }
}

/// An edit as lines before and after.
fn a_fix(fix: &parallax_report::Fix, sources: &mut Sources) -> page::Fix {
    let change = |change: &parallax_report::Change| {
        let place = &change.location;
        let source = sources.get(&place.file);
        let (first, last) = (place.line.unwrap_or(1), place.end_line.or(place.line).unwrap_or(1));
        let old: Vec<String> = sources.text(source).map_or(Vec::new(), |text| {
            (first..=last.min(text.line_count())).map(|line| text.line(line).to_owned()).collect()
        });
        let cut = |line: &str, column: Option<u32>, end: bool| -> String {
            let at = column.map_or(if end { usize::MAX } else { 0 }, |column| column as usize - 1);
            if end { line.chars().skip(at).collect() } else { line.chars().take(at).collect() }
        };
        let end = if change.insert { place.column.or(Some(1)) } else { place.end_column };
        let before = old.first().map_or(String::new(), |line| cut(line, place.column, false));
        let after = old.last().map_or(String::new(), |line| cut(line, end, true));
        // Whole lines that go away, with nothing in their place, leave no empty line.
        let whole = !change.insert && place.column.is_none() && change.text.is_empty();
        let text = format!("{before}{}{after}", change.text);
        let new = if whole {
            Vec::new()
        } else {
            text.trim_end_matches('\n').split('\n').map(str::to_owned).collect()
        };
        page::Change { file: sources.all[source].name.clone(), first, old, new }
    };
    page::Fix { description: fix.description.clone(), changes: fix.changes.iter().map(change).collect() }
}

/// The paths of a report; one without any still has a place to show.
fn paths_of(report: &Report) -> Cow<'_, [Path]> {
    let nothing = report.paths.iter().all(|path| path.steps.is_empty() && path.frames.is_empty());
    if !nothing || report.location.is_none() {
        return Cow::Borrowed(&report.paths);
    }
    let mut path = parallax_report::PathBuilder::new("");
    path.step(Step::at(Role::Note, report.location.clone()).failing());
    Cow::Owned(vec![path.finish()])
}

fn title(report: &Report) -> String {
    let first = |text: &str| text.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned);
    first(&report.title)
        .or_else(|| first(&report.plain_text()))
        .or_else(|| first(&report.rule))
        .unwrap_or_else(|| "Untitled report".to_owned())
}

fn tool(report: &Report) -> String {
    match &report.tool.version {
        Some(version) if !version.is_empty() => format!("{} {version}", report.tool.name),
        _ => report.tool.name.clone(),
    }
}

fn place(name: &str, line: Option<u32>) -> String {
    let name = visible(name);
    line.map_or_else(|| name.clone().into_owned(), |line| format!("{name}:{line}"))
}

/// For every file the stretches of lines that boxes show, merged and ascending.
fn needed_lines(projections: &[Vec<Projection>]) -> BTreeMap<usize, Vec<Lines>> {
    let mut needed: BTreeMap<usize, Vec<Lines>> = BTreeMap::new();
    for a_box in projections.iter().flatten().flat_map(|projection| &projection.boxes) {
        if let (Some(source), Some(lines)) = (a_box.source, a_box.lines) {
            needed.entry(source).or_default().push(lines);
        }
    }
    for stretches in needed.values_mut() {
        stretches.sort_unstable();
        let mut merged: Vec<Lines> = Vec::new();
        for lines in stretches.drain(..) {
            match merged.last_mut() {
                Some(last) if lines.first <= last.last + 1 => last.last = last.last.max(lines.last),
                _ => merged.push(lines),
            }
        }
        *stretches = merged;
    }
    needed
}

fn files(sources: &Sources, needed: &BTreeMap<usize, Vec<Lines>>, index: &mut Index) -> Vec<page::File> {
    let mut files = Vec::new();
    for (number, source) in sources.all.iter().enumerate() {
        let stretches = needed.get(&number).map_or(&[][..], Vec::as_slice);
        files.push(match &source.text {
            Err(why) => page::File {
                name: visible(&source.name).into_owned(),
                lines: 0,
                chunks: Vec::new(),
                blocks: Vec::new(),
                missing: Some(why.to_string()),
                path: None,
            },
            Ok(text) => {
                let mut resolve = |token: &Token| index.resolve(&source.name, text, token);
                let tokens = &text.outline.tokens;
                let chunks = stretches
                    .iter()
                    .map(|&lines| chunk(text, lines, |line| encode(tokens, line, &mut resolve)))
                    .collect();
                // The stretches ascend and do not touch.
                let shown = |lines: Lines| {
                    let from = stretches.partition_point(|part| part.last < lines.first);
                    stretches.get(from).is_some_and(|part| part.first <= lines.last)
                };
                let blocks = text.outline.blocks.iter().filter(|block| shown(block.lines)).map(|block| {
                    [block.lines.first, block.lines.last]
                        .into_iter()
                        .chain(block.skeleton.iter().copied())
                        .collect()
                });
                page::File {
                    name: visible(&source.name).into_owned(),
                    lines: text.line_count(),
                    chunks,
                    blocks: blocks.collect(),
                    missing: None,
                    path: None,
                }
            }
        });
    }
    files
}

/// Whether a step is merely passed on the way: it has no number on the page.
fn is_passing(step: &Step) -> bool {
    step.importance == Importance::Unimportant && !step.failing
}

/// Words that refer to events before by their numbers, as gcc's "freed at (15)" does, with the numbers that these have on the
/// page instead.
fn renumbered(message: &str, ordinals: &[usize]) -> String {
    const BEFORE: &str = " at (";
    let mut parts = message.split(BEFORE);
    let mut words = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        words.push_str(BEFORE);
        let event = part.split_once(')').and_then(|(digits, rest)| {
            let event: usize = digits.parse().ok()?;
            Some((ordinals.get(event.checked_sub(1)?)?, rest))
        });
        match event {
            Some((ordinal, rest)) => {
                words.push_str(&ordinal.to_string());
                words.push(')');
                words.push_str(rest);
            }
            None => words.push_str(part),
        }
    }
    words
}

/// `marked` says whether the report itself tells where it goes wrong, if anything does; otherwise that is where its paths end.
fn a_path(path: &Path, projection: Projection, marked: bool, sources: &mut Sources) -> page::Path {
    let mut home = vec![None; path.steps.len()];
    for a_box in &projection.boxes {
        for item in &a_box.items {
            if let Item::Step(step) = item {
                home[*step] = a_box.source;
            }
        }
    }
    let failing = path.failing_step().filter(|_| !marked);
    let taken = outcomes(path, sources);
    let ordinals: Vec<usize> = path
        .steps
        .iter()
        .scan(0, |count, step| {
            *count += usize::from(!is_passing(step));
            Some(*count)
        })
        .collect();
    let steps = path.steps.iter().enumerate().map(|(number, step)| {
        let source = step.location.as_ref().map(|location| sources.get(&location.file));
        page::Step {
            line: step.location.as_ref().and_then(|location| location.line),
            file: source.filter(|_| source != home[number]),
            columns: step.location.as_ref().and_then(|location| {
                let end = location.end_column.filter(|_| location.end_line.is_none());
                Some((location.column?, end))
            }),
            role: step.role,
            taken: taken[number],
            access: step.access,
            failing: failing == Some(number) || step.failing,
            message: renumbered(&step.message, &ordinals[..number]),
            values: step.values.iter().map(|value| (value.name.clone(), value.value.clone())).collect(),
            state: step.state.iter().map(|value| (value.name.clone(), value.value.clone())).collect(),
            order: step.order,
            time: step.time.clone(),
            passing: is_passing(step),
            essential: step.importance == Importance::Essential,
        }
    });
    let steps = steps.collect();
    let frames = projection.boxes.into_iter().map(|a_box| page::Frame {
        function: a_box.function,
        file: a_box.source,
        lines: a_box.lines.map(|lines| (lines.first, lines.last)),
        thread: a_box.thread,
        items: a_box
            .items
            .iter()
            .map(|item| match *item {
                Item::Step(step) => step as i64,
                Item::Box(inner) => -1 - inner as i64,
            })
            .collect(),
    });
    page::Path {
        label: path.label.clone(),
        stack: path.kind == PathKind::Stack,
        flow: path.flow,
        thread: path.thread.clone(),
        frames: frames.collect(),
        roots: projection.roots,
        steps,
    }
}

#[cfg(test)]
mod tests {
    use super::renumbered;

    #[test]
    fn events_are_called_by_the_numbers_of_the_page() {
        let ordinals = [1, 2, 2, 3];
        assert_eq!(renumbered("use after free; freed at (4)", &ordinals), "use after free; freed at (3)");
        assert_eq!(renumbered("first at (1), then at (2)", &ordinals), "first at (1), then at (2)");
        // What comes later, or is no number, is something else.
        for same in ["freed at (5)", "called at (0)", "looks at (x)", "ends at (", "plain"] {
            assert_eq!(renumbered(same, &ordinals), same);
        }
    }
}
