//! A text with a name and an index of its lines.

use crate::Span;

/// A source text, its name, and where its lines start.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// What to call the file in messages.
    pub name: String,
    /// The whole text.
    pub text: String,
    line_starts: Vec<u32>,
}

/// Why bytes are not a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decode {
    /// The file holds NUL bytes.
    Binary,
    /// The bytes stop being UTF-8 at this offset.
    NotUtf8(usize),
    /// Larger than the four gigabytes that spans can address.
    TooLarge,
}

impl std::fmt::Display for Decode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Decode::Binary => write!(f, "this is a binary file, not a text"),
            Decode::NotUtf8(offset) => write!(f, "not UTF-8 text: byte {offset} starts no character"),
            Decode::TooLarge => write!(f, "larger than 4 GiB"),
        }
    }
}

/// The bytes as text, or why they are not one.
pub fn decode(bytes: Vec<u8>) -> Result<String, Decode> {
    if bytes.len() >= u32::MAX as usize {
        return Err(Decode::TooLarge);
    }
    if bytes.contains(&0) {
        return Err(Decode::Binary);
    }
    String::from_utf8(bytes).map_err(|error| Decode::NotUtf8(error.utf8_error().valid_up_to()))
}

impl SourceFile {
    /// A file called `name` that holds `text`.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        let text = text.into();
        let mut line_starts = vec![0];
        line_starts
            .extend(text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n').map(|(at, _)| at as u32 + 1));
        SourceFile { name: name.into(), text, line_starts }
    }

    /// Line and column of a byte offset, both counted from one; columns count characters.
    pub fn position(&self, offset: u32) -> (usize, usize) {
        let line = self.line_starts.partition_point(|&start| start <= offset) - 1;
        let start = self.line_starts[line] as usize;
        let mut end = (offset as usize).min(self.text.len()).max(start);
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        (line + 1, self.text[start..end].chars().count() + 1)
    }

    /// The text of line `number`, counted from one, without its line end; empty where there is no such line.
    pub fn line(&self, number: usize) -> &str {
        let Some(&start) = number.checked_sub(1).and_then(|index| self.line_starts.get(index)) else {
            return "";
        };
        let end = self.line_starts.get(number).map_or(self.text.len(), |&next| next as usize - 1);
        self.text[start as usize..end].trim_end_matches('\r')
    }

    /// How many lines there are.
    pub fn line_count(&self) -> usize {
        self.line_starts.len()
    }

    /// The text a span covers.
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or("")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_characters_from_one() {
        let file = SourceFile::new("a", "äb\r\ncd");
        assert_eq!(file.position(0), (1, 1));
        assert_eq!(file.position(2), (1, 2));
        assert_eq!(file.position(5), (2, 1));
        assert_eq!(file.position(99), (2, 3));
        assert_eq!(file.line(1), "äb");
        assert_eq!(file.line(2), "cd");
        assert_eq!(file.line(3), "");
    }

    #[test]
    fn bytes_that_are_no_text_say_why() {
        assert_eq!(decode(vec![b'a', 0xff]), Err(Decode::NotUtf8(1)));
        assert_eq!(decode(vec![0]), Err(Decode::Binary));
        assert_eq!(decode(b"ok".to_vec()).as_deref(), Ok("ok"));
    }
}
