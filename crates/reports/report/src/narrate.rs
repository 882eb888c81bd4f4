//! The report text for tools that give steps but no running text: the title, then every step with its place, linked.

use crate::{Importance, Report, Segment};

impl Report {
    /// Writes the text from the title and the paths.
    pub fn narrate(&mut self) {
        let mut text = vec![Segment::plain(self.title.clone())];
        for (path_index, path) in self.paths.iter().enumerate() {
            let heading = match (path.label.as_str(), self.paths.len()) {
                ("", 1) => String::new(),
                ("", _) => format!("\nPath {}", path_index + 1),
                // Valgrind and the sanitizers say the title over the first stack.
                (label, _) if label == self.title => String::new(),
                (label, _) => format!("\n{label}"),
            };
            text.push(Segment::plain(heading + "\n"));
            for (index, step) in path.steps.iter().enumerate() {
                // The page shows every executed line; the story is shorter.
                if step.importance == Importance::Unimportant && !step.failing {
                    continue;
                }
                let indent = "  ".repeat(path.depth(step.frame).min(12) + 1);
                let place = step.location.as_ref().map_or(String::new(), |place| match place.line {
                    Some(line) => format!("{}:{line}", place.file),
                    None => place.file.clone(),
                });
                let what = match step.message.as_str() {
                    "" => path.frames.get(step.frame).map_or("", |frame| frame.function.as_str()),
                    message => message,
                };
                let gap = if place.is_empty() || what.is_empty() { "" } else { ": " };
                text.push(Segment::plain(indent));
                text.push(Segment::step(format!("{place}{gap}{what}"), path_index, index));
                text.push(Segment::plain("\n"));
            }
        }
        for (index, related) in self.related.iter().enumerate() {
            let place = &related.location;
            let line = place.line.map_or(String::new(), |line| format!(":{line}"));
            text.push(Segment::plain("\n"));
            text.push(Segment::related(format!("{}{line}", place.file), index));
            text.push(Segment::plain(format!(": {}", related.message)));
        }
        self.text = text;
    }
}
