//! Where a report stands: read off its paths, and off the code where that is at hand.

use super::{CALLS, LineHash, Neighbours, Place, digest, told};
use crate::{Location, Path, PathKind, Report};

/// The code that reports speak of.
pub trait Code {
    /// The file that a report calls `reported`; none where there is no text of it.
    fn find(&mut self, reported: &str) -> Option<usize>;
    /// What to call it: its name below the project's root.
    fn name(&self, file: usize) -> &str;
    /// A line, counted from one; empty beyond the end.
    fn line(&self, file: usize, number: u32) -> &str;
    /// The function around a line, with its first and its last line; none where the text is known in pieces only.
    fn function(&self, file: usize, number: u32) -> Option<(String, u32, u32)>;
    /// How many lines are known; zero where the text is known in pieces only.
    fn line_count(&self, file: usize) -> u32;
    /// A digest of the whole text.
    fn digest(&self, file: usize) -> String;
    /// Whether a file of this name, below the project's root, defines the function; with no function, whether it is there.
    fn defines(&mut self, name: &str, function: &str) -> bool;
}

/// No code at all.
pub struct NoCode;

impl Code for NoCode {
    fn find(&mut self, _: &str) -> Option<usize> {
        None
    }
    fn name(&self, _: usize) -> &str {
        ""
    }
    fn line(&self, _: usize, _: u32) -> &str {
        ""
    }
    fn function(&self, _: usize, _: u32) -> Option<(String, u32, u32)> {
        None
    }
    fn line_count(&self, _: usize) -> u32 {
        0
    }
    fn digest(&self, _: usize) -> String {
        String::new()
    }
    fn defines(&mut self, _: &str, _: &str) -> bool {
        false
    }
}

impl Place {
    /// Where a report stands.
    pub fn of(report: &Report, code: &mut dyn Code) -> Place {
        let main = main_path(report);
        let failing = main.and_then(|path| Some((path, path.failing_step()?)));
        let step = failing.map(|(path, step)| &path.steps[step]);
        let location = step.and_then(|step| step.location.as_ref()).or(report.location.as_ref());
        let mut place = Place::default();
        if let Some(location) = location {
            place.file.clone_from(&location.file);
            if let Some((file, function, neighbours)) = around(location, column(report, location), code) {
                code.name(file).clone_into(&mut place.file);
                place.text = code.digest(file);
                place.function = function;
                place.code = neighbours;
            }
        }
        if let Some((path, step)) = failing {
            let frame = path.steps[step].frame;
            if place.function.is_empty() {
                place.function = path.frames.get(frame).map_or(String::new(), |frame| frame.function.clone());
            }
            place.calls = calls(path, frame, code);
            place.ends = ends(report, path, code);
        }
        let mut trail = Vec::new();
        let mut lines = vec![report.title.clone()];
        for path in &report.paths {
            trail.push("path".to_owned());
            for step in told(&path.steps) {
                let line = step.location.as_ref().and_then(|place| code_at(place, code));
                trail.push(line.map_or_else(|| format!("{:?}", step.role), |hash| format!("{hash:?}")));
                trail.push(path.frames.get(step.frame).map_or("", |frame| base_name(&frame.file)).to_owned());
            }
            for step in &path.steps {
                lines.push(step.location.as_ref().map_or(String::new(), at_place));
            }
        }
        lines.extend(report.location.as_ref().map(at_place));
        if !report.paths.is_empty() {
            place.trail = digest(&trail)[..16].to_owned();
        }
        place.lines = digest(&lines)[..16].to_owned();
        place
    }
}

/// The file of a place, the function there, and the line with its neighbours, where it is known and says something.
fn around(
    location: &Location,
    column: Option<u32>,
    code: &mut dyn Code,
) -> Option<(usize, String, Option<Neighbours>)> {
    let (file, line) = (code.find(&location.file)?, location.line?);
    let count = code.line_count(file);
    let (function, first, last) = code.function(file, line).unwrap_or((String::new(), 1, count));
    let text = |number: u32| code.line(file, number);
    let says = line <= count && !text(line).trim().is_empty();
    Some((file, function, says.then(|| Neighbours::of(&text, line, column, first, last))))
}

/// Where the paths that happen together with the main one end, in an order that does not depend on the run.
fn ends(report: &Report, main: &Path, code: &mut dyn Code) -> Vec<(String, Neighbours)> {
    let mut ends = Vec::new();
    for path in report.paths.iter().filter(|path| path.flow == main.flow && !std::ptr::eq(*path, main)) {
        let step = path.failing_step().or(path.steps.len().checked_sub(1)).map(|step| &path.steps[step]);
        let place = step.and_then(|step| step.location.as_ref());
        if let Some((_, function, Some(neighbours))) =
            place.and_then(|place| around(place, place.column, code))
        {
            ends.push((function, neighbours));
        }
    }
    ends.sort_by(|one, two| (&one.0, one.1.line, &one.1.before).cmp(&(&two.0, two.1.line, &two.1.before)));
    ends
}

/// The column that the tool puts its message at, if it is in the line in question.
fn column(report: &Report, location: &Location) -> Option<u32> {
    let told =
        report.location.as_ref().filter(|told| told.file == location.file && told.line == location.line);
    told.and_then(|told| told.column).or(location.column)
}

fn at_place(place: &Location) -> String {
    format!("{}:{}:{}", base_name(&place.file), place.line.unwrap_or(0), place.column.unwrap_or(0))
}

/// The path that tells where it goes wrong. Of the paths of several threads, whose order may change from run to run, the
/// one whose end comes first by its names.
fn main_path(report: &Report) -> Option<&Path> {
    let at_report = |path: &&Path| {
        let end = path.failing_step().and_then(|step| path.steps[step].location.as_ref());
        end.zip(report.location.as_ref())
            .is_some_and(|(end, place)| end.line == place.line && end.file == place.file)
    };
    let threads = report.paths.len() > 1 && report.paths.iter().all(|path| path.flow == report.paths[0].flow);
    if !threads || report.paths.iter().any(|path| path.kind == PathKind::Stack && at_report(&path)) {
        return report.paths.iter().find(at_report).or(report.paths.first());
    }
    report.paths.iter().min_by_key(|path| {
        let step = path.failing_step().map(|step| &path.steps[step]);
        let function = step.and_then(|step| path.frames.get(step.frame)).map(|frame| frame.function.as_str());
        let file = step.and_then(|step| step.location.as_ref()).map(|place| base_name(&place.file));
        (function, file)
    })
}

/// The calls that lead into a frame, outermost first.
fn calls(path: &Path, frame: usize, code: &mut dyn Code) -> Vec<(String, Option<LineHash>)> {
    let mut calls = Vec::new();
    let mut at = frame;
    while let Some(call) = path.frames.get(at).and_then(|frame| frame.call) {
        let Some(step) = path.steps.get(call).filter(|_| calls.len() < CALLS) else { break };
        let function = path.frames.get(step.frame).map_or("", |frame| frame.function.as_str());
        calls.push((function.to_owned(), step.location.as_ref().and_then(|place| code_at(place, code))));
        at = step.frame;
    }
    calls.reverse();
    calls
}

/// The code at a place.
fn code_at(place: &Location, code: &mut dyn Code) -> Option<LineHash> {
    let file = code.find(&place.file)?;
    let line = code.line(file, place.line?);
    (!line.trim().is_empty()).then(|| LineHash::of(line))
}

pub(crate) fn base_name(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or(file)
}

/// The text with every number, address (`0x4a420f8`) and the like replaced by one mark.
pub(crate) fn masked(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut previous = ' ';
    let mut in_number = false;
    for c in text.chars() {
        let word = c.is_alphanumeric() || c == '_';
        let was_word = previous.is_alphanumeric() || previous == '_';
        if c.is_ascii_digit() && !was_word {
            in_number = true;
            out.push('#');
        } else if !word {
            in_number = false;
        }
        if !in_number {
            out.push(c);
        }
        previous = c;
    }
    out
}
