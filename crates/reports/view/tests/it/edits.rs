//! A project with its reports, and random edits of it of which it is known what becomes of each report.
//!
//! What the generator does not make: a copy of a report's neighbourhood whose original is deleted in the same edit (a
//! move within the function, and not to be told from one); a function that is moved and whose place is taken by another
//! of its name; two projects merged; a tool that changes its words from one version to the next; macros and headers whose
//! change moves a report without a change at its place; languages other than C.

use crate::tree::{Dice, Line, Tree, base_name, replaced};
use parallax_report::{Document, Frame, Location, Report};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A report whose places are lines by their numbers, and what it truly is.
#[derive(Clone, Debug)]
struct Finding {
    report: Report,
    /// The line of each place, in the order of [`places`].
    lines: Vec<Option<u64>>,
    truth: String,
}

/// Sources and reports.
#[derive(Clone, Debug)]
pub struct Project {
    tree: Tree,
    findings: Vec<Finding>,
}

/// All places of a report.
fn places(report: &mut Report) -> Vec<&mut Location> {
    let steps =
        report.paths.iter_mut().flat_map(|path| &mut path.steps).filter_map(|step| step.location.as_mut());
    report
        .location
        .iter_mut()
        .chain(steps)
        .chain(report.related.iter_mut().map(|related| &mut related.location))
        .collect()
}

impl Project {
    /// The reports of a document about files of a folder; reports about other files are left out.
    pub fn new(document: Document, folder: &Path) -> Project {
        let mut project = Project { tree: Tree::default(), findings: Vec::new() };
        for mut report in document.reports {
            report.run = None;
            report.extra.clear();
            let mut files = BTreeSet::new();
            let mut known = true;
            for place in places(&mut report) {
                place.file = base_name(&place.file).to_owned();
                known &= files.contains(&place.file) || project.tree.load(folder, &place.file);
                files.insert(place.file.clone());
            }
            for frame in report.paths.iter_mut().flat_map(|path| &mut path.frames) {
                frame.file = base_name(&frame.file).to_owned();
            }
            let lines: Vec<Option<u64>> = places(&mut report)
                .into_iter()
                .map(|place| Some(project.tree.files.get(&place.file)?.get(place.line? as usize - 1)?.id))
                .collect();
            if known && lines.iter().any(Option::is_some) && lines.iter().all(Option::is_some) {
                project.findings.push(Finding { report, lines, truth: String::new() });
            }
        }
        project
    }

    pub fn count(&self) -> usize {
        self.findings.len()
    }

    /// Says what each report truly is.
    pub fn name_truths(&mut self, truths: &[String]) {
        for (finding, truth) in self.findings.iter_mut().zip(truths) {
            finding.truth.clone_from(truth);
        }
    }

    pub fn truths(&self) -> Vec<String> {
        self.findings.iter().map(|finding| finding.truth.clone()).collect()
    }

    /// The reports as a tool would make them of the sources as they are.
    pub fn document(&self) -> Document {
        let mut at: BTreeMap<u64, (&str, u32)> = BTreeMap::new();
        for (name, lines) in &self.tree.files {
            for (number, line) in lines.iter().enumerate() {
                at.insert(line.id, (name, number as u32 + 1));
            }
        }
        let reports = self.findings.iter().map(|finding| {
            let mut report = finding.report.clone();
            for (place, line) in places(&mut report).into_iter().zip(&finding.lines) {
                let (file, number) = line
                    .and_then(|line| at.get(&line))
                    .copied()
                    .expect("reports stand on lines that are there");
                let more = place.end_line.zip(place.line).map(|(end, first)| end - first);
                file.clone_into(&mut place.file);
                place.line = Some(number);
                place.end_line = more.map(|more| number + more);
            }
            // A frame lies in the file of its steps.
            for path in &mut report.paths {
                let mut homes: BTreeMap<usize, String> = BTreeMap::new();
                for step in &path.steps {
                    if let Some(place) = &step.location {
                        homes.entry(step.frame).or_insert_with(|| place.file.clone());
                    }
                }
                for (number, frame) in path.frames.iter_mut().enumerate() {
                    if let Some(file) = homes.get(&number) {
                        frame.file.clone_from(file);
                    }
                }
            }
            report
        });
        Document { reports: reports.collect(), ..Document::default() }
    }

    pub fn write(&self, folder: &Path) {
        self.tree.write(folder);
    }

    /* Edits -------------------------------------------------------------------------- */

    /// One random edit; says which.
    pub fn edit(&mut self, dice: &mut Dice) -> &'static str {
        match dice.below(20) {
            0..=3 => self.insert(dice),
            4 => self.delete(dice),
            5 => self.rename_function(dice),
            6 => self.move_function(dice),
            7 => self.move_file(dice),
            8..=11 => self.mend(dice),
            12..=14 => self.add_equal(dice),
            15 => self.add_block(dice),
            16 => self.copy_function(dice),
            17 => self.touch_neighbour(dice),
            18 => self.touch_line(dice),
            _ => self.indent(dice),
        }
    }

    /// The line that a report is about: where it goes wrong, or the report's own place.
    fn home(&self, finding: usize) -> Option<u64> {
        let finding = &self.findings[finding];
        let failing = finding.report.paths.first().and_then(|path| {
            let step = path.failing_step()?;
            let before = path.steps[..step].iter().filter(|step| step.location.is_some()).count();
            path.steps[step].location.as_ref()?;
            finding.lines.get(usize::from(finding.report.location.is_some()) + before).copied().flatten()
        });
        failing.or_else(|| finding.lines.first().copied().flatten())
    }

    fn used(&self) -> BTreeSet<u64> {
        self.findings.iter().flat_map(|finding| finding.lines.iter().flatten().copied()).collect()
    }

    fn some_file(&self, dice: &mut Dice) -> String {
        let names: Vec<&String> = self.tree.files.keys().collect();
        (*dice.pick(&names).expect("a project has files")).clone()
    }

    /// A place near a report half of the time, anywhere in a function otherwise.
    fn spot(&self, dice: &mut Dice) -> (String, usize) {
        if dice.one_in(2) && !self.findings.is_empty() {
            let finding = dice.below(self.findings.len());
            if let Some((file, at)) = self.home(finding).and_then(|line| self.tree.find(line)) {
                let near =
                    (at + dice.below(7)).saturating_sub(3).clamp(1, self.tree.files[&file].len().max(1));
                return (file, near);
            }
        }
        let file = self.some_file(dice);
        let functions = self.tree.functions(&file);
        let at = match dice.pick(&functions) {
            Some(&(_, first, last)) => first + 1 + dice.below((last - first).max(1)),
            None => dice.below(self.tree.files[&file].len()),
        };
        (file, at)
    }

    fn insert(&mut self, dice: &mut Dice) -> &'static str {
        const LINES: [&str; 8] = [
            "    trace(__LINE__);",
            "",
            "    /* seen again */",
            "    count++;",
            "    if (verbose)",
            "        log_it();",
            "    }",
            "    {",
        ];
        let (file, at) = self.spot(dice);
        for _ in 0..=dice.below(4) {
            let line = self.tree.fresh(LINES[dice.below(LINES.len())]);
            self.tree.lines(&file).insert(at, line);
        }
        "lines inserted"
    }

    fn delete(&mut self, dice: &mut Dice) -> &'static str {
        let (file, at) = self.spot(dice);
        let used = self.used();
        let lines = self.tree.lines(&file);
        if lines.get(at).is_some_and(|line| !used.contains(&line.id) && !line.text.contains(['{', '}'])) {
            lines.remove(at);
        }
        "a line deleted"
    }

    fn rename_function(&mut self, dice: &mut Dice) -> &'static str {
        let file = self.some_file(dice);
        let functions = self.tree.functions(&file);
        let Some((name, ..)) = dice.pick(&functions).filter(|(name, ..)| name != "main") else {
            return "nothing";
        };
        let new = format!("{name}_{}", self.tree.number());
        let renamed = |text: &str| replaced(text, name, &new);
        for line in self.tree.files.values_mut().flatten() {
            line.text = renamed(&line.text);
        }
        for finding in &mut self.findings {
            let report = &mut finding.report;
            report.title = renamed(&report.title);
            for path in &mut report.paths {
                path.frames
                    .iter_mut()
                    .for_each(|frame: &mut Frame| frame.function = renamed(&frame.function));
                path.steps.iter_mut().for_each(|step| step.message = renamed(&step.message));
            }
        }
        "a function renamed"
    }

    fn move_function(&mut self, dice: &mut Dice) -> &'static str {
        let (from, to) = (self.some_file(dice), self.some_file(dice));
        let functions = self.tree.functions(&from);
        let Some(&(_, first, last)) = dice.pick(&functions) else { return "nothing" };
        let moved: Vec<Line> = self.tree.lines(&from).drain(first..=last).collect();
        let borders: Vec<usize> = self.tree.functions(&to).into_iter().map(|(_, first, _)| first).collect();
        let at = dice.pick(&borders).copied().unwrap_or(self.tree.files[&to].len());
        self.tree.lines(&to).splice(at..at, moved);
        "a function moved"
    }

    fn move_file(&mut self, dice: &mut Dice) -> &'static str {
        let from = self.some_file(dice);
        let to = self.tree.other_name(&from, dice);
        self.tree.rename_file(&from, to);
        "a file moved"
    }

    fn mend(&mut self, dice: &mut Dice) -> &'static str {
        if self.findings.is_empty() {
            return "nothing";
        }
        let which = dice.below(self.findings.len());
        let Some(id) = self.home(which) else { return "nothing" };
        let truth = self.findings[which].truth.clone();
        // The report and its like at the very same place go.
        let gone: BTreeSet<usize> = (0..self.findings.len())
            .filter(|&other| other == which || (!truth.is_empty() && self.findings[other].truth == truth))
            .collect();
        let mut at = 0;
        self.findings.retain(|_| {
            at += 1;
            !gone.contains(&(at - 1))
        });
        let Some((file, at)) = self.tree.find(id) else { return "nothing" };
        let used = self.used();
        match dice.below(3) {
            0 if !used.contains(&id) => drop(self.tree.lines(&file).remove(at)),
            1 => {
                let line = self.tree.fresh("    if (!checked()) return;");
                self.tree.lines(&file).insert(at, line);
            }
            _ if !used.contains(&id) => {
                let line = self.tree.fresh("    mended();");
                self.tree.lines(&file)[at] = line;
            }
            // Mended from afar: the line stays as it is.
            _ => {}
        }
        "a finding mended"
    }

    /// Another line with the same words, and the same report about it.
    fn add_equal(&mut self, dice: &mut Dice) -> &'static str {
        if self.findings.is_empty() {
            return "nothing";
        }
        let which = dice.below(self.findings.len());
        let Some(id) = self.home(which) else { return "nothing" };
        let Some((file, at)) = self.tree.find(id) else { return "nothing" };
        let text = self.tree.files[&file][at].text.clone();
        let line = self.tree.fresh(text);
        let copy = line.id;
        let to = match (dice.below(3), self.tree.function_at(&file, at)) {
            (0, _) => at + 1,
            (1, Some((_, first, last))) => first + 1 + dice.below((last - first).max(1)),
            _ => self.spot(dice).1.min(self.tree.files[&file].len()),
        };
        self.tree.lines(&file).insert(to, line);
        self.report_also(which, id, copy, dice);
        "an equal finding added"
    }

    /// A copy of the report and its neighbours.
    fn add_block(&mut self, dice: &mut Dice) -> &'static str {
        if self.findings.is_empty() {
            return "nothing";
        }
        let which = dice.below(self.findings.len());
        let Some(id) = self.home(which) else { return "nothing" };
        let Some((file, at)) = self.tree.find(id) else { return "nothing" };
        let reach = dice.below(4);
        let (first, last) = (at.saturating_sub(reach), (at + reach).min(self.tree.files[&file].len() - 1));
        // With the end of its function, the block would take the place of the original in it.
        let ends = |line: &Line| line.text.starts_with('}');
        if self.tree.files[&file][first..=last].iter().any(ends) {
            return "nothing";
        }
        let block: Vec<Line> = self.tree.files[&file][first..=last].to_vec();
        let block: Vec<Line> = block.into_iter().map(|line| self.tree.fresh(line.text)).collect();
        let copy = block[at - first].id;
        let to = if dice.one_in(2) { last + 1 } else { first };
        self.tree.lines(&file).splice(to..to, block);
        self.report_also(which, id, copy, dice);
        "a block copied"
    }

    /// A function under a new name with the same body, and the same reports in it.
    fn copy_function(&mut self, dice: &mut Dice) -> &'static str {
        let (from, to) = (self.some_file(dice), self.some_file(dice));
        let functions = self.tree.functions(&from);
        let Some((name, first, last)) = dice.pick(&functions).cloned() else { return "nothing" };
        let new = format!("{name}_copy{}", self.tree.number());
        let body: Vec<Line> = self.tree.files[&from][first..=last].to_vec();
        let mut copies: BTreeMap<u64, u64> = BTreeMap::new();
        let body: Vec<Line> = body
            .into_iter()
            .map(|line| {
                let copy = self.tree.fresh(replaced(&line.text, &name, &new));
                copies.insert(line.id, copy.id);
                copy
            })
            .collect();
        let at = self.tree.files[&to].len();
        self.tree.lines(&to).splice(at..at, body);
        for finding in self.findings.clone() {
            if finding.lines.iter().flatten().any(|line| copies.contains_key(line)) {
                let mut copy = finding;
                copy.lines
                    .iter_mut()
                    .for_each(|line| *line = line.map(|line| copies.get(&line).copied().unwrap_or(line)));
                copy.truth = format!("new {}", self.tree.number());
                for frame in copy.report.paths.iter_mut().flat_map(|path| &mut path.frames) {
                    frame.function = replaced(&frame.function, &name, &new);
                }
                self.findings.push(copy);
            }
        }
        "a function copied"
    }

    fn report_also(&mut self, which: usize, line: u64, copy: u64, dice: &mut Dice) {
        let mut finding = self.findings[which].clone();
        finding.lines.iter_mut().filter(|place| **place == Some(line)).for_each(|place| *place = Some(copy));
        finding.truth = format!("new {}", self.tree.number());
        let at = dice.below(self.findings.len() + 1);
        self.findings.insert(at, finding);
    }

    fn touch_neighbour(&mut self, dice: &mut Dice) -> &'static str {
        let (file, at) = self.spot(dice);
        let used = self.used();
        if let Some(line) = self.tree.lines(&file).get_mut(at).filter(|line| !used.contains(&line.id)) {
            line.text.push_str(" /* looked at */");
        }
        "a neighbour changed"
    }

    /// The line of a report changes, and the report stays.
    fn touch_line(&mut self, dice: &mut Dice) -> &'static str {
        if let Some((file, at)) = (!self.findings.is_empty())
            .then(|| self.home(dice.below(self.findings.len())))
            .flatten()
            .and_then(|id| self.tree.find(id))
        {
            self.tree.lines(&file)[at].text.push_str(" /* why? */");
        }
        "the line itself changed"
    }

    fn indent(&mut self, dice: &mut Dice) -> &'static str {
        let file = self.some_file(dice);
        let lines = self.tree.lines(&file);
        let ids: BTreeSet<u64> = lines.iter().map(|line| line.id).collect();
        lines.iter_mut().for_each(|line| line.text.insert_str(0, "  "));
        // The tool counts columns from the new start.
        for finding in &mut self.findings {
            let inside: Vec<bool> =
                finding.lines.iter().map(|line| line.is_some_and(|line| ids.contains(&line))).collect();
            for (place, _) in
                places(&mut finding.report).into_iter().zip(inside).filter(|(_, inside)| *inside)
            {
                place.column = place.column.map(|column| column + 2);
                place.end_column = place.end_column.map(|column| column + 2);
            }
        }
        "a file indented"
    }

    /// Another order of the reports, as tools that run side by side have it.
    pub fn shuffle(&mut self, dice: &mut Dice) {
        for at in (1..self.findings.len()).rev() {
            self.findings.swap(at, dice.below(at + 1));
        }
    }
}
