//! The fingerprint that triage files of the form before know a report by. Many like reports share one, so today's files
//! know a report by its [identity](crate::identity).

use crate::Report;
use crate::identity::{base_name, masked};
use sha2::{Digest, Sha256};

impl Report {
    /// The tool, the rule, the functions and files the paths go through and the title, but no line numbers and no folders.
    /// Numbers in the title do not count, because tools put line numbers and addresses there.
    pub fn fingerprint(&self) -> String {
        let mut hash = Sha256::new();
        let mut feed = |part: &str| {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        };
        feed(&self.tool.name);
        feed(&self.rule);
        feed(&masked(&self.title));
        feed(self.location.as_ref().map_or("", |place| base_name(&place.file)));
        for path in &self.paths {
            feed("path");
            for frame in &path.frames {
                feed(&frame.function);
                feed(base_name(&frame.file));
            }
            if let Some(step) = path.failing_step().and_then(|step| path.steps.get(step)) {
                feed(&masked(&step.message));
            }
        }
        hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
    }
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
        assert_eq!(masked("at 0x4a420f8, 8 bytes in buf2 (T1)"), "at #, # bytes in buf2 (T1)");
    }
}
