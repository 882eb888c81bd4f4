//! `parallax convert`: a report of any tool as SARIF, pathreport XML or Parallax JSON.

use crate::exit::{Failure, Status};
use crate::input;
use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use parallax_report::{Document, MAX_BYTES, ReadError, read, to_json, to_pathreport, to_sarif};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Read reports of any known tool and write them as SARIF, pathreport XML or Parallax JSON.
#[derive(Args)]
#[command(after_help = "\
Example:
  clang-19 --analyze --analyzer-output plist -o guests.plist corpus/report/guests.c
  parallax convert guests.plist -o guests.sarif

Formats are recognised by their contents, not by their names. Several files become one document.")]
pub struct Convert {
    /// The reports to read; `-` is standard input.
    #[arg(required = true, value_name = "IN")]
    inputs: Vec<PathBuf>,
    /// Where to write; standard output when left out.
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// What to write; otherwise OUT's ending decides, and SARIF when that says nothing.
    #[arg(long)]
    to: Option<To>,
    /// Print what was read and written as one JSON document; needs -o.
    #[arg(long, requires = "output")]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum To {
    /// SARIF 2.1.0 (.sarif)
    Sarif,
    /// Text marked up with path, detour and marker (.xml)
    Pathreport,
    /// Parallax's own form, parallax-report/1 (.json)
    Json,
}

impl To {
    fn name(self) -> &'static str {
        match self {
            To::Sarif => "sarif",
            To::Pathreport => "pathreport",
            To::Json => "json",
        }
    }

    fn for_name(output: Option<&Path>) -> Result<To> {
        let Some(output) = output else { return Ok(To::Sarif) };
        let name = output.to_string_lossy().to_lowercase();
        Ok(match name.rsplit('.').next() {
            Some("json") if !name.ends_with(".sarif.json") => To::Json,
            Some("sarif" | "json") => To::Sarif,
            Some("xml" | "pathreport") => To::Pathreport,
            _ => bail!(
                "cannot tell from {} what to write; say --to sarif, pathreport or json",
                output.display()
            ),
        })
    }
}

/// Converts.
pub fn run(arguments: &Convert) -> Result<Status> {
    let to = arguments.to.map_or_else(|| To::for_name(arguments.output.as_deref()), Ok)?;
    let mut document = Document::default();
    for path in &arguments.inputs {
        let mut next = open(path)?;
        document.reports.append(&mut next.reports);
        for note in next.notes {
            eprintln!("note: {}: {note}", path.display());
            document.notes.push(note);
        }
    }
    let text = match to {
        To::Sarif => to_sarif(&document),
        To::Pathreport => to_pathreport(&document),
        To::Json => to_json(&document),
    };
    match &arguments.output {
        None => std::io::stdout().lock().write_all(text.as_bytes())?,
        Some(output) => {
            std::fs::write(output, text).with_context(|| format!("cannot write {}", output.display()))?;
            let paths = || document.reports.iter().flat_map(|report| &report.paths);
            let steps: usize = paths().map(|path| path.steps.len()).sum();
            if arguments.json {
                let summary = serde_json::json!({
                    "output": output,
                    "format": to.name(),
                    "reports": document.reports.len(),
                    "paths": paths().count(),
                    "steps": steps,
                    "notes": document.notes,
                });
                writeln!(std::io::stdout().lock(), "{summary:#}")?;
            }
        }
    }
    Ok(Status::Clean)
}

/// Reads a report file.
pub fn open(path: &Path) -> Result<Document> {
    let bytes = input::bytes(path, MAX_BYTES)?;
    read(&bytes, &path.display().to_string()).map_err(|error| match error {
        ReadError::TooLarge { .. } => Failure { status: Status::GaveUp, message: error.to_string() }.into(),
        _ => error.into(),
    })
}
