//! Reading what the user names.

use anyhow::{Context, Result, anyhow};
use parallax_source::{Diagnostic, SourceFile, decode};
use std::io::Read;
use std::path::Path;

/// Reads a text file; `-` is standard input.
#[allow(dead_code, reason = "for the verbs that read programs")]
pub fn source(path: &Path) -> Result<SourceFile> {
    let name = path.display().to_string();
    let text = decode(bytes(path, usize::MAX)?).map_err(|why| anyhow!("cannot read {name}: {why}"))?;
    Ok(SourceFile::new(name, text))
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
#[allow(dead_code, reason = "for the verbs that read programs")]
pub fn rejected(file: &SourceFile, diagnostics: &[Diagnostic]) -> anyhow::Error {
    anyhow!("{}", diagnostics.iter().map(|diagnostic| diagnostic.render(file)).collect::<Vec<_>>().join("\n"))
}
