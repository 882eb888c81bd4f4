//! Bringing what a reader made into the one shape that all writers keep: no control characters that XML cannot
//! carry, `\n` line ends, `/` in paths, text in maximal pieces, links that lead somewhere.

use crate::{Document, Fix, Link, Location, Path, Report, Rule, Segment, Tool};
use std::collections::{HashMap, HashSet};

impl Document {
    /// Tidies every text, file name and link. Reading a file ends with this; writing and reading again changes nothing.
    pub fn tidy(&mut self) {
        self.notes.iter_mut().for_each(clean);
        // Of a run that was read before, its own words and the note about them are there both.
        let mut told = HashSet::new();
        self.notes.retain(|note| told.insert(note.clone()));
        self.reports.iter_mut().for_each(Report::tidy);
        for excerpt in &mut self.excerpts {
            clean_file(&mut excerpt.file);
            clean(&mut excerpt.text);
            excerpt.line = excerpt.line.max(1);
        }
        self.excerpts.retain(|excerpt| !excerpt.file.is_empty() && !excerpt.text.is_empty());
        self.excerpts.sort_unstable();
        self.excerpts.dedup();
        self.rules.iter_mut().for_each(Rule::tidy);
        self.order_rules();
        let runs = self.runs.len();
        for report in &mut self.reports {
            report.run = report.run.filter(|&run| run < runs);
            // A result means something only in its run.
            if report.run.is_none() {
                report.extra.clear();
            }
        }
    }
}

impl Document {
    /// Rules stand once each, in the order of the reports that they explain; one that says nothing goes.
    fn order_rules(&mut self) {
        let mut known: HashMap<(String, Tool), Rule> = HashMap::new();
        for rule in std::mem::take(&mut self.rules) {
            let silent = Rule { id: rule.id.clone(), tool: rule.tool.clone(), ..Rule::default() } == rule;
            if !silent {
                known.entry((rule.id.clone(), rule.tool.clone())).or_insert(rule);
            }
        }
        for report in self.reports.iter().filter(|report| !report.rule.is_empty()) {
            self.rules.extend(known.remove(&(report.rule.clone(), report.tool.clone())));
        }
    }
}

impl Rule {
    fn tidy(&mut self) {
        let texts = [
            &mut self.id,
            &mut self.tool.name,
            &mut self.name,
            &mut self.summary,
            &mut self.description,
            &mut self.help,
            &mut self.score,
        ];
        texts.into_iter().for_each(clean);
        self.tool.version.iter_mut().for_each(clean);
        if !is_page(&self.url) {
            self.url.clear();
        }
    }
}

impl Fix {
    fn tidy(&mut self) {
        clean(&mut self.description);
        for change in &mut self.changes {
            clean(&mut change.text);
            change.location.tidy();
        }
        self.changes.retain(|change| !change.location.file.is_empty());
    }
}

impl Report {
    /// Tidies every text, file name and link.
    pub fn tidy(&mut self) {
        [&mut self.rule, &mut self.title, &mut self.tool.name].into_iter().for_each(clean);
        self.tool.version.iter_mut().for_each(clean);
        self.cwe.sort_unstable();
        self.cwe.dedup();
        self.location.iter_mut().for_each(Location::tidy);
        // A line of nothing is no place.
        self.location = self.location.take().filter(|place| !place.file.is_empty());
        self.paths.iter_mut().for_each(Path::tidy);
        // Where all is well, nothing goes wrong at the end.
        for step in self.paths.iter_mut().flat_map(|path| &mut path.steps).filter(|_| self.passed) {
            step.failing = false;
        }
        for related in &mut self.related {
            related.location.tidy();
            clean(&mut related.message);
        }
        clean(&mut self.markdown);
        self.fixes.iter_mut().for_each(Fix::tidy);
        self.suppressions.iter_mut().for_each(|suppression| clean(&mut suppression.justification));
        // Saying it twice says no more, and SARIF forbids it.
        let mut seen = HashSet::new();
        self.suppressions.retain(|suppression| seen.insert(suppression.clone()));
        self.fingerprints = std::mem::take(&mut self.fingerprints)
            .into_iter()
            .map(|(mut name, mut value)| {
                clean(&mut name);
                clean(&mut value);
                (name, value)
            })
            .collect();
        let mut text: Vec<Segment> = Vec::with_capacity(self.text.len());
        for mut segment in std::mem::take(&mut self.text) {
            clean(&mut segment.text);
            segment.link = segment.link.filter(|link| self.leads_somewhere(link));
            match text.last_mut() {
                _ if segment.text.is_empty() => {}
                Some(last) if last.link == segment.link => last.text.push_str(&segment.text),
                _ => text.push(segment),
            }
        }
        self.text = text;
    }

    fn leads_somewhere(&self, link: &Link) -> bool {
        match link {
            Link::Step { path, step } => self.paths.get(*path).is_some_and(|path| *step < path.steps.len()),
            Link::Related(index) => *index < self.related.len(),
            // Anything else, `javascript:` above all, has no place in a page.
            Link::Url(url) => is_page(url),
        }
    }
}

/// Whether an address is that of a page, in letters that cannot end the place it stands in.
fn is_page(url: &str) -> bool {
    (url.starts_with("https://") || url.starts_with("http://"))
        && url.chars().all(|c| c.is_ascii_graphic() && !"<>\"'`()[]\\".contains(c))
}

impl Path {
    fn tidy(&mut self) {
        clean(&mut self.label);
        clean(&mut self.thread);
        for frame in &mut self.frames {
            clean(&mut frame.function);
            frame.thread.iter_mut().for_each(clean);
            clean_file(&mut frame.file);
        }
        for step in &mut self.steps {
            if step.location.as_ref().is_some_and(|place| place.file.is_empty()) {
                step.location = None;
            }
            step.location.iter_mut().for_each(Location::tidy);
            clean(&mut step.message);
            clean(&mut step.time);
            for binding in step.values.iter_mut().chain(&mut step.state) {
                clean(&mut binding.name);
                clean(&mut binding.value);
            }
        }
    }
}

impl Location {
    /// Zero is no position, an end without a start is none, and an end before the start is a slip of the tool.
    fn tidy(&mut self) {
        clean_file(&mut self.file);
        let positive = |number: Option<u32>| number.filter(|&number| number > 0);
        self.line = positive(self.line);
        self.column = positive(self.column).filter(|_| self.line.is_some());
        self.end_line = positive(self.end_line).filter(|&end| self.line.is_some_and(|line| end > line));
        self.end_column = positive(self.end_column)
            .filter(|&end| self.column.is_some_and(|column| self.end_line.is_some() || end > column));
    }
}

/// What no format of ours could carry, or would carry changed, becomes a visible replacement.
fn clean(text: &mut String) {
    let fine = |c: char| match c {
        '\n' | '\t' => true,
        '\u{fffe}' | '\u{ffff}' => false,
        c => !c.is_control(),
    };
    if text.chars().all(fine) {
        return;
    }
    let unix = text.replace("\r\n", "\n").replace('\r', "\n");
    *text = unix.chars().map(|c| if fine(c) { c } else { char::REPLACEMENT_CHARACTER }).collect();
}

/// Windows paths are written with slashes: a drive letter, a share, or backslashes where no slash is.
fn clean_file(file: &mut String) {
    clean(file);
    if file.contains(['\n', '\t']) {
        *file = file.replace(['\n', '\t'], "\u{fffd}");
    }
    let bytes = file.as_bytes();
    let drive = bytes.len() > 2 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':' && bytes[2] == b'\\';
    if drive || (file.contains('\\') && !file.contains('/')) {
        *file = file.replace('\\', "/");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Related;

    fn tidied(mut report: Report) -> Report {
        report.tidy();
        report
    }

    #[test]
    fn windows_paths_and_line_ends_become_plain() {
        let mut place = Location::line("C:\\src\\a.c", 3);
        place.tidy();
        assert_eq!(place.file, "C:/src/a.c");
        let report = tidied(Report { title: "a\r\nb\rc\0d\u{1b}[31m".into(), ..Report::default() });
        assert_eq!(report.title, "a\nb\nc\u{fffd}d\u{fffd}[31m");
    }

    #[test]
    fn dead_and_dangerous_links_become_text() {
        let link = |link| Segment { text: "x".into(), link: Some(link) };
        let report = tidied(Report {
            text: vec![
                link(Link::Step { path: 0, step: 0 }),
                link(Link::Url("javascript:alert(1)".into())),
                link(Link::Related(0)),
                Segment::plain(""),
                link(Link::Url("https://cwe.mitre.org/".into())),
            ],
            related: vec![Related::default()],
            ..Report::default()
        });
        let links: Vec<_> = report.text.iter().map(|segment| (&*segment.text, &segment.link)).collect();
        let page = Some(Link::Url("https://cwe.mitre.org/".into()));
        assert_eq!(links, [("xx", &None), ("x", &Some(Link::Related(0))), ("x", &page)]);
    }
}
