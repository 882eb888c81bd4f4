//! Reading what the user names.

use anyhow::{Context, Result, anyhow};
use parallax_source::{Decode, Diagnostic, SourceFile, Span, decode};
use std::io::Read;
use std::path::Path;

/// Reads a text file; `-` is standard input.
pub fn source(path: &Path) -> Result<SourceFile> {
    let name = path.display().to_string();
    let raw = bytes(path, usize::MAX)?;
    let text = decode(raw.clone()).map_err(|why| undecodable(&name, &raw, why))?;
    Ok(SourceFile::new(name, text))
}

/// Why a file is no text; where its characters stop is shown with the line.
fn undecodable(name: &str, bytes: &[u8], why: Decode) -> anyhow::Error {
    let Decode::NotUtf8(offset) = why else { return anyhow!("cannot read {name}: {why}") };
    let line_end =
        bytes[offset..].iter().position(|&byte| byte == b'\n').map_or(bytes.len(), |at| offset + at);
    let shown = String::from_utf8_lossy(&bytes[..line_end]).into_owned();
    let diagnostic = Diagnostic::new(Span::new(offset, offset + 1), why.to_string());
    rejected(&SourceFile::new(name, shown), &[diagnostic])
}

/// Reads a file whole, or one byte more than `bound`, so that the reader can tell that it is too large; `-` is
/// standard input.
pub fn bytes(path: &Path, bound: usize) -> Result<Vec<u8>> {
    let name = path.display().to_string();
    let mut bytes = Vec::new();
    let limit = (bound as u64).saturating_add(1);
    if name == "-" {
        std::io::stdin().lock().take(limit).read_to_end(&mut bytes).context("cannot read standard input")?;
    } else {
        let file = std::fs::File::open(path).with_context(|| format!("cannot read {name}"))?;
        file.take(limit).read_to_end(&mut bytes).with_context(|| format!("cannot read {name}"))?;
    }
    Ok(bytes)
}

/// Diagnostics as one error, each with its line.
pub fn rejected(file: &SourceFile, diagnostics: &[Diagnostic]) -> anyhow::Error {
    anyhow!("{}", diagnostics.iter().map(|diagnostic| diagnostic.render(file)).collect::<Vec<_>>().join("\n"))
}
