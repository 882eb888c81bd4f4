//! Reading what the user names.

use anyhow::{Context, Result, anyhow};
use parallax_source::{Diagnostic, SourceFile, decode};
use std::path::Path;

/// Reads a text file; `-` is standard input.
pub fn source(path: &Path) -> Result<SourceFile> {
    let name = path.display().to_string();
    let bytes = if name == "-" {
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut std::io::stdin().lock(), &mut bytes)
            .context("cannot read standard input")?;
        bytes
    } else {
        std::fs::read(path).with_context(|| format!("cannot read {name}"))?
    };
    let text = decode(bytes).map_err(|why| anyhow!("cannot read {name}: {why}"))?;
    Ok(SourceFile::new(name, text))
}

/// Diagnostics as one error, each with its line.
pub fn rejected(file: &SourceFile, diagnostics: &[Diagnostic]) -> anyhow::Error {
    anyhow!("{}", diagnostics.iter().map(|diagnostic| diagnostic.render(file)).collect::<Vec<_>>().join("\n"))
}
