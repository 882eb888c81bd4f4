//! `parallax-report/1`: the model itself as JSON.

use super::Sample;
use crate::read::Fault;
use crate::{Document, FORMAT};

pub(super) fn sniff(sample: &Sample) -> bool {
    sample.head.starts_with('{') && sample.head.contains("\"parallax-report/")
}

pub(super) fn parse(text: &str) -> Result<Document, Fault> {
    let document: Document = serde_json::from_str(text)?;
    if document.format != FORMAT {
        return Err(Fault::new(format!("the form is {:?}; this version reads {FORMAT:?}", document.format)));
    }
    Ok(document)
}

pub(super) fn write(document: &Document) -> String {
    let mut text = serde_json::to_string_pretty(document).expect("the model holds only strings and numbers");
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use crate::{Format, ReadError, read, to_json};

    #[test]
    fn a_document_reads_as_it_was_written() {
        let text = r#"{"format": "parallax-report/1", "reports": [{"title": "t", "paths": [{
            "frames": [{"function": "f"}, {"function": "g", "call": 0}],
            "steps": [{"frame": 0, "role": "call"}, {"frame": 1, "failing": true}]}]}]}"#;
        let document = read(text.as_bytes(), "x").unwrap();
        assert_eq!(document.reports[0].paths[0].failing_step(), Some(1));
        assert_eq!(read(to_json(&document).as_bytes(), "y"), Ok(document));
    }

    #[test]
    fn errors_name_the_file_and_the_place() {
        let error = read(b"{\"format\": \"parallax-report/1\",\n \"reports\": 3}", "x.json").unwrap_err();
        assert_eq!(
            error.to_string(),
            "x.json:2:13: invalid type: integer `3`, expected a sequence (read as Parallax JSON)"
        );
        let later = read(b"{\"format\": \"parallax-report/9\"}", "x").unwrap_err();
        assert!(matches!(later, ReadError::Malformed { format: Format::Json, .. }));
        let cyclic = br#"{"format": "parallax-report/1", "reports": [{"title": "", "tool": {"name": ""},
            "severity": "note", "paths": [{"frames": [{"function": "f", "call": 0}], "steps": [{"frame": 0}]}]}]}"#;
        assert_eq!(
            read(cyclic, "c").unwrap_err().to_string(),
            "c: report 1: frame 0 cannot be opened by step 0"
        );
    }
}
