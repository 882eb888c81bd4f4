//! The drawing that gcc puts under a warning of `-fanalyzer` when it prints text: groups of numbered events, each group in
//! one function, indented by its depth, each event a label under its line of source.
//!
//! ```text
//!   'main': events 1-2
//!     |
//!     |   78 |     add("Ada", 1);
//!     |      |     ~~~~~~~~~~~~~
//!     |      |     |
//!     |      |     (2) calling 'add' from 'main'
//!     |
//!     +--> 'add': events 3-5
//! ```
//!
//! gcc 15 draws with the signs that Unicode has for it, and lines from each event to the next.

use crate::flow::Event;
use crate::stack::place;
use crate::{Location, Role, Step};
use regex::Regex;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("well-formed")
}

static GROUP: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"^(?<before>\s*(?:\+--> )?)(?:[‘'](?<function>[^’']+)[’']: )?events? (?<first>\d+)(?:-(?<last>\d+))?\b",
    )
});
static FILE: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^\s*\|?\s?(?:(?<place>[^|\s].*:\d+(?::\d+)?):|(?<nowhere>cc1\w*:))\s*$"));
static SOURCE: LazyLock<Regex> = LazyLock::new(|| regex(r"^\s*(?<rule>\|)?\s*(?<line>\d+) \|(?<code>.*)$"));
static LABEL: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"^\s*\|?(?<gap>[ |]*(?:\+-+>)?)\((?<number>\d+)\):? (?<words>.*?)(?:\s*->-\+|\s+\|)?$")
});
static MACRO: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^(?<place>\S.*:\d+(?::\d+)?): note: in (?:expansion|definition) of macro "));

/// A path that a warning draws, and how many lines of the text after the warning it takes.
pub(super) struct Drawing {
    pub events: Vec<Event>,
    pub lines: usize,
    /// Events that the drawing counts but gives no words for.
    pub wordless: usize,
}

struct Group {
    depth: i64,
    function: Option<String>,
    numbers: (usize, usize),
    /// Where the events really are when the source shown is the inside of a macro.
    expansion: Option<Location>,
    /// Where the source shown begins.
    shown: Option<Location>,
}

/// A line in the signs of ASCII, each for one.
fn plain(line: &str) -> Cow<'_, str> {
    if line.is_ascii() {
        return line.into();
    }
    let sign = |c: char| match c {
        '│' => '|',
        '─' => '-',
        '┌' | '┐' | '└' | '┘' => '+',
        other => other,
    };
    line.chars().map(sign).collect::<String>().into()
}

/// Reads the drawing that follows a warning at `head`; none where there is none.
pub(super) fn drawing(head: &Location, text: &[&str]) -> Option<Drawing> {
    /// A drawing that counts more events than this is no drawing.
    const MOST: usize = 100_000;
    let mut reader = Reader {
        file: head.file.clone(),
        line: None,
        columns: false,
        ruled: true,
        indents: Vec::new(),
        group: None,
        found: BTreeMap::new(),
        wordless: 0,
    };
    let mut lines = 0;
    for (number, text) in text.iter().enumerate() {
        let text = plain(text.trim_end());
        let text = &*text;
        if let Some(captures) = GROUP.captures(text) {
            reader.close();
            let count = |name: &str| captures.name(name).and_then(|number| number.as_str().parse().ok());
            let first = count("first")?;
            let last: usize = count("last").unwrap_or(first);
            if last < first || last > MOST {
                return None;
            }
            let depth = reader.depth(captures["before"].chars().count());
            let function = captures.name("function").map(|name| name.as_str().to_owned());
            reader.group =
                Some(Group { depth, function, numbers: (first, last), expansion: None, shown: None });
            reader.line = None;
        } else if reader.group.is_none() {
            continue;
        } else if !reader.read(text) {
            // A rule back to the left (`<------+`) and blank lines belong to the drawing, another message does not.
            if text.trim_start_matches(['<', '-', '+', ' ', '|', '.']).is_empty() { continue } else { break }
        }
        lines = number + 1;
    }
    reader.close();
    let Reader { found, wordless, .. } = reader;
    (!found.is_empty()).then(|| Drawing { events: found.into_values().collect(), lines, wordless })
}

struct Reader {
    file: String,
    line: Option<u32>,
    /// Whether columns on screen are columns of the file: not where tabs may have been spread.
    columns: bool,
    /// Whether a rule stands at the left of the group, before that of the source; gcc 15 leaves it out where nothing is called.
    ruled: bool,
    /// The columns at which the names of the open frames stand.
    indents: Vec<usize>,
    group: Option<Group>,
    found: BTreeMap<usize, Event>,
    wordless: usize,
}

impl Reader {
    fn depth(&mut self, indent: usize) -> i64 {
        while self.indents.last().is_some_and(|&open| open > indent) {
            self.indents.pop();
        }
        if self.indents.last() != Some(&indent) {
            self.indents.push(indent);
        }
        self.indents.len() as i64
    }

    /// A line without the rule at the left of its group.
    fn unruled<'t>(&self, text: &'t str) -> &'t str {
        match text
            .trim_start()
            .strip_prefix('|')
            .filter(|rest| self.ruled && rest.trim_start().starts_with('|'))
        {
            Some(rest) => rest,
            None => text,
        }
    }

    /// Reads a line inside a group, and says whether it is one.
    fn read(&mut self, text: &str) -> bool {
        let unruled = self.unruled(text);
        let Some(group) = &mut self.group else { return false };
        if let Some(captures) = MACRO.captures(text) {
            if let Some(at) = place(&captures["place"]) {
                self.file = at.file.clone();
                group.expansion = Some(at);
            }
        } else if let Some(captures) = FILE.captures(text) {
            match captures.name("place").and_then(|written| place(written.as_str())) {
                Some(at) => {
                    self.file = at.file.clone();
                    group.shown = Some(at);
                }
                None => self.line = None,
            }
        } else if let Some(captures) = SOURCE.captures(text) {
            self.line = captures["line"].parse().ok();
            self.ruled = captures.name("rule").is_some();
            // Between the rule and the code there is a blank, or the line that leads to the next event.
            let code = captures["code"].strip_prefix([' ', '|', '+']).unwrap_or_default();
            self.columns = !super::caret::may_hold_tabs(code);
            if group.shown.is_none() {
                group.shown = self.line.map(|line| Location::line(self.file.clone(), line));
            }
        } else if let Some(captures) = LABEL.captures(unruled) {
            let Ok(number) = captures["number"].parse::<usize>() else { return true };
            let column = captures["gap"].chars().count() as u32;
            let at = self.line.map(|line| {
                Location::line(self.file.clone(), line).at_column(if self.columns { column } else { 0 })
            });
            if (group.numbers.0..=group.numbers.1).contains(&number) {
                // A sign marks where it goes wrong.
                let words = captures["words"].trim_start_matches(['⚠', '\u{fe0f}', ' ']);
                let step = Step::at(Role::Note, at).with_message(words);
                let event = Event { step, depth: Some(group.depth), function: group.function.clone() };
                self.found.insert(number, event);
            }
        } else {
            return text.trim_start().starts_with(['|', '<', '+']);
        }
        true
    }

    /// Ends a group: events inside a macro move to where it is used, and those without a label get a place.
    fn close(&mut self) {
        let Some(group) = self.group.take() else { return };
        for number in group.numbers.0..=group.numbers.1 {
            let before = number.checked_sub(1).and_then(|before| self.found.get(&before));
            let leads_on = before.is_some_and(|event| event.step.message.ends_with("..."));
            let event = self.found.entry(number).or_insert_with(|| {
                // gcc leaves the label out where the source shown is too short for it.
                let words = if leads_on { "...to here" } else { "" };
                self.wordless += usize::from(!leads_on);
                let step = Step::at(Role::Note, group.shown.clone()).with_message(words);
                Event { step, depth: Some(group.depth), function: group.function.clone() }
            });
            if group.expansion.is_some() {
                event.step.location = group.expansion.clone();
            }
        }
    }
}
