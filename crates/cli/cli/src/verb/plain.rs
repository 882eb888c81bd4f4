//! Text for a terminal, with what strangers wrote in it: names and lines of their sources.
//!
//! A terminal obeys control characters: a line of a program could set its title, or write over what stands above. So they are
//! replaced where such text is printed.

use std::io::{self, Write};

/// A text in which no character but the end of a line and the tabulator controls a terminal.
pub fn plain(text: &str) -> String {
    let controls = |c: char| c.is_control() && c != '\n' && c != '\t';
    text.chars().map(|c| if controls(c) { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// Writes such text. Each piece that is written must be whole text, as `write!` hands it over.
pub struct Plain<W>(pub W);

impl<W: Write> Write for Plain<W> {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        self.0.write_all(plain(&String::from_utf8_lossy(piece)).as_bytes())?;
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
