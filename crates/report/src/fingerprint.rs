//! Recognising a report when the tool runs again on edited code, so that answers given once are not asked for again.

use crate::{Document, Report};
use sha2::{Digest, Sha256};
use std::collections::HashMap;

impl Report {
    /// An identity that survives edits elsewhere: the tool, the rule, the functions and files the paths go through and
    /// the title, but no line numbers and no folders.
    ///
    /// Numbers in the title do not count, because tools put line numbers and addresses there.
    pub fn fingerprint(&self) -> String {
        let mut hash = Sha256::new();
        let mut feed = |part: &str| {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        };
        feed(&self.tool.name);
        feed(&self.rule);
        feed(&without_numbers(&self.title));
        feed(self.location.as_ref().map_or("", |place| base_name(&place.file)));
        for path in &self.paths {
            feed("path");
            for frame in &path.frames {
                feed(&frame.function);
                feed(base_name(&frame.file));
            }
            if let Some(step) = path.failing_step().and_then(|step| path.steps.get(step)) {
                feed(&without_numbers(&step.message));
            }
        }
        hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
    }
}

impl Document {
    /// One identity per report, in order. Reports that look the same are told apart by their order.
    pub fn fingerprints(&self) -> Vec<String> {
        let mut seen: HashMap<String, usize> = HashMap::new();
        self.reports
            .iter()
            .map(|report| {
                let print = report.fingerprint();
                let count = seen.entry(print.clone()).or_default();
                *count += 1;
                if *count == 1 { print } else { format!("{print}-{count}") }
            })
            .collect()
    }
}

fn base_name(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or(file)
}

/// The text with every number, address (`0x4a420f8`) and the like replaced by one mark.
fn without_numbers(text: &str) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Frame, Location, PathBuilder, Step};

    fn report(folder: &str, line: u32, function: &str) -> Report {
        let file = format!("{folder}/a.c");
        let mut path = PathBuilder::new("");
        path.enter(Frame::new(function, file.clone()));
        path.step(Step::call(file.clone(), line).with_message(format!("allocated at {line}")));
        Report {
            title: format!("leak of memory from line {line}"),
            location: Some(Location::line(file, line)),
            paths: vec![path.finish()],
            ..Report::default()
        }
    }

    #[test]
    fn lines_and_folders_may_move_but_functions_may_not() {
        assert_eq!(report("/home/a", 3, "f").fingerprint(), report("src", 44, "f").fingerprint());
        assert_ne!(report("src", 3, "f").fingerprint(), report("src", 3, "g").fingerprint());
    }

    #[test]
    fn numbers_are_masked_and_names_with_digits_are_not() {
        assert_eq!(without_numbers("at 0x4a420f8, 8 bytes in buf2 (T1)"), "at #, # bytes in buf2 (T1)");
    }

    #[test]
    fn twins_are_told_apart() {
        let document =
            Document { reports: vec![report("s", 3, "f"), report("s", 9, "f")], ..Document::default() };
        let prints = document.fingerprints();
        assert_eq!(prints[1], format!("{}-2", prints[0]));
    }
}
