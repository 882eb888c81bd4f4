//! Making visible what would otherwise change how a text reads: control characters, and marks that reorder letters.

use parallax_report::{Document, Step};
use std::borrow::Cow;

/// The text with `⟪U+202E⟫` and the like in place of what cannot be seen.
pub fn visible(text: &str) -> Cow<'_, str> {
    let strange = |c: char| (c.is_control() && c != '\n' && c != '\t') || is_reordering(c);
    if !text.contains(strange) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if is_reordering(c) => shown.push_str(&format!("\u{27ea}U+{:04X}\u{27eb}", c as u32)),
            c if c != '\n' && c != '\t' && (c as u32) < 0x20 => {
                shown.push(char::from_u32(0x2400 + c as u32).unwrap_or('\u{fffd}'));
            }
            c if c.is_control() && c != '\n' && c != '\t' => shown.push('\u{fffd}'),
            c => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

/// Marks that make code read differently from what a compiler sees.
fn is_reordering(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' | '\u{61c}')
}

fn reveal(text: &mut String) {
    if let Cow::Owned(shown) = visible(text) {
        *text = shown;
    }
}

/// Does so for everything that a document says; names of files stay, by which they are found.
pub fn reveal_all(document: &mut Document) {
    document.notes.iter_mut().for_each(reveal);
    for rule in &mut document.rules {
        [&mut rule.name, &mut rule.summary, &mut rule.description, &mut rule.help]
            .into_iter()
            .for_each(reveal);
    }
    for report in &mut document.reports {
        [&mut report.title, &mut report.markdown].into_iter().for_each(reveal);
        report.text.iter_mut().for_each(|segment| reveal(&mut segment.text));
        report.related.iter_mut().for_each(|related| reveal(&mut related.message));
        for fix in &mut report.fixes {
            reveal(&mut fix.description);
            fix.changes.iter_mut().for_each(|change| reveal(&mut change.text));
        }
        for path in &mut report.paths {
            [&mut path.label, &mut path.thread].into_iter().for_each(reveal);
            for frame in &mut path.frames {
                reveal(&mut frame.function);
                frame.thread.iter_mut().for_each(reveal);
            }
            path.steps.iter_mut().for_each(reveal_step);
        }
    }
}

fn reveal_step(step: &mut Step) {
    reveal(&mut step.message);
    for binding in step.values.iter_mut().chain(&mut step.state) {
        reveal(&mut binding.name);
        reveal(&mut binding.value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_that_reorder_are_written_out() {
        assert_eq!(visible("user\u{202e} // ok"), "user\u{27ea}U+202E\u{27eb} // ok");
        assert!(matches!(visible("plain ä 😀\n"), Cow::Borrowed(_)));
        let report = parallax_report::Report { title: "a\u{2066}b".into(), ..Default::default() };
        let mut document = Document { reports: vec![report], ..Document::default() };
        reveal_all(&mut document);
        assert_eq!(document.reports[0].title, "a\u{27ea}U+2066\u{27eb}b");
    }
}
