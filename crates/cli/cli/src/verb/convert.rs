//! `parallax convert`: a report of any tool as SARIF, pathreport XML, Parallax JSON, or a summary in Markdown.

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use parallax_cli_base::exit::{Failure, Status};
use parallax_cli_base::input;
use parallax_report::baseline::Change;
use parallax_report::loss::Loss;
use parallax_report::{
    Document, Format, MAX_BYTES, ReadError, read, to_json, to_markdown, to_pathreport, to_sarif,
};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Read any known tool's reports; write SARIF, XML, JSON, Markdown.
///
/// The XML is that of pathreport; the Markdown is a summary.
#[derive(Args)]
#[command(after_help = "\
Example:
  clang-19 --analyze --analyzer-output plist -o guests.plist corpus/report/guests.c
  parallax convert guests.plist -o guests.sarif

  parallax convert guests.plist --baseline yesterday.sarif -o today.sarif
  parallax convert guests.plist --loss

Formats are recognised by their contents, not by their names. Several files become one document.
With --baseline every report is marked new, unchanged or absent, and the exit status is 1 only if there are
new ones. With --loss nothing is written: what the files hold is counted beside what is read, and the exit
status is 1 if something is lost without a word.")]
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
    /// Compare with the reports of an earlier run, in any known format.
    #[arg(long, value_name = "EARLIER")]
    baseline: Option<PathBuf>,
    /// A folder with the sources: reports are then known by their code, from run to run; may be given several times.
    #[arg(long, value_name = "DIR")]
    src: Vec<PathBuf>,
    /// A folder with the sources of the earlier run, where its reports do not carry the places in the code.
    #[arg(long, value_name = "DIR", requires = "baseline")]
    baseline_src: Vec<PathBuf>,
    /// Count what goes in and what comes out instead of writing.
    #[arg(long, conflicts_with_all = ["output", "to", "baseline", "src"])]
    loss: bool,
    /// Print what was read and written as one JSON document; needs -o or --loss.
    #[arg(long)]
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
    /// A summary for people, as pages of build servers show it (.md)
    Markdown,
}

impl To {
    fn name(self) -> &'static str {
        match self {
            To::Sarif => "sarif",
            To::Pathreport => "pathreport",
            To::Json => "json",
            To::Markdown => "markdown",
        }
    }

    fn for_name(output: Option<&Path>) -> Result<To> {
        let Some(output) = output else { return Ok(To::Sarif) };
        let name = output.to_string_lossy().to_lowercase();
        Ok(match name.rsplit('.').next() {
            Some("json") if !name.ends_with(".sarif.json") => To::Json,
            Some("sarif" | "json") => To::Sarif,
            Some("xml" | "pathreport") => To::Pathreport,
            Some("md") => To::Markdown,
            _ => bail!(
                "cannot tell from {} what to write; say --to sarif, pathreport, json or markdown",
                output.display()
            ),
        })
    }
}

/// Converts.
pub fn run(arguments: &Convert) -> Result<Status> {
    if arguments.loss {
        return loss(arguments);
    }
    if arguments.json && arguments.output.is_none() {
        bail!("--json prints a summary, so the reports need a place of their own: say --output FILE");
    }
    let to = arguments.to.map_or_else(|| To::for_name(arguments.output.as_deref()), Ok)?;
    let mut document = Document::default();
    for path in &arguments.inputs {
        let next = open(path)?;
        for note in &next.notes {
            eprintln!("note: {}: {note}", path.display());
        }
        document.absorb(next);
    }
    let mut code = super::view::sources(&arguments.src)?;
    document.note_places(&mut code);
    let change = match &arguments.baseline {
        Some(file) => Some(document.compare(&earlier(file, &arguments.baseline_src)?, &mut code)),
        None => None,
    };
    for note in change.iter().flat_map(unclear) {
        eprintln!("note: {note}");
    }
    let text = match to {
        To::Sarif => to_sarif(&document),
        To::Pathreport => to_pathreport(&document),
        To::Json => to_json(&document),
        To::Markdown => to_markdown(&document),
    };
    match &arguments.output {
        None => std::io::stdout().lock().write_all(text.as_bytes())?,
        Some(output) => {
            std::fs::write(output, text).with_context(|| format!("cannot write {}", output.display()))?;
            let paths = || document.reports.iter().flat_map(|report| &report.paths);
            let steps: usize = paths().map(|path| path.steps.len()).sum();
            if arguments.json {
                let mut summary = serde_json::json!({
                    "output": output,
                    "format": to.name(),
                    "reports": document.reports.len(),
                    "paths": paths().count(),
                    "steps": steps,
                    "notes": document.notes,
                });
                if let Some(change) = &change {
                    summary["baseline"] = serde_json::to_value(change)?;
                }
                writeln!(std::io::stdout().lock(), "{summary:#}")?;
            }
        }
    }
    if let Some(change) = &change {
        eprintln!("{} new, {} unchanged, {} fixed", change.new, change.unchanged, change.fixed);
    }
    Ok(if change.is_some_and(|change| change.new > 0) { Status::Findings } else { Status::Clean })
}

/// Counts what the inputs hold and what comes out of them.
fn loss(arguments: &Convert) -> Result<Status> {
    let mut measured = Vec::new();
    let mut unnamed = false;
    for path in &arguments.inputs {
        let bytes = input::bytes(path, MAX_BYTES)?;
        let name = path.display().to_string();
        let document = read(&bytes, &name)?;
        let source = parallax_report::text_of(&bytes);
        // What is written counts, not only what is read.
        let written = read(to_sarif(&document).as_bytes(), &name)?;
        let format = Format::sniff(&source);
        let loss = format.and_then(|format| Loss::measure(format, &source, &written));
        unnamed |= loss.as_ref().is_some_and(|loss| !loss.unnamed().is_empty());
        if !arguments.json {
            match &loss {
                None => println!("{name}: {}: not counted", format.map_or("unknown", Format::name)),
                Some(loss) => {
                    println!("{name}: {}", loss.format);
                    let pairs = loss.held.things().into_iter().zip(loss.kept.things());
                    for ((thing, held), (_, kept)) in pairs.filter(|(held, kept)| held.1 + kept.1 > 0) {
                        let lost = held.saturating_sub(kept);
                        let lost = if lost > 0 { format!("  {lost} lost") } else { String::new() };
                        println!("  {thing:<9}{held:>7} in{kept:>7} out{lost}");
                    }
                    loss.named.iter().chain(&loss.notes).for_each(|note| println!("  note: {note}"));
                }
            }
        }
        measured.push(serde_json::json!({
            "file": name,
            "loss": loss,
            "lost": loss.as_ref().map(|loss| loss.lost().into_iter().collect::<BTreeMap<_, _>>()),
        }));
    }
    if arguments.json {
        println!("{:#}", serde_json::Value::from(measured));
    }
    Ok(if unnamed { Status::Findings } else { Status::Clean })
}

/// Reads the reports of an earlier run, with their places in the code of then where that is at hand.
pub fn earlier(file: &Path, folders: &[PathBuf]) -> Result<Document> {
    let mut document = open(file)?;
    if !folders.is_empty() {
        document.note_places(&mut super::view::sources(folders)?);
    }
    Ok(document)
}

/// What is uncertain about a comparison, in words.
pub fn unclear(change: &Change) -> Option<String> {
    (change.unclear > 0).then(|| {
        format!(
            "{} reports look like one of before without being certainly that one: they are marked as updated, and which of \
             their like was fixed is not known",
            change.unclear
        )
    })
}

/// Reads a report file.
pub fn open(path: &Path) -> Result<Document> {
    let bytes = input::bytes(path, MAX_BYTES)?;
    read(&bytes, &path.display().to_string()).map_err(|error| match error {
        ReadError::TooLarge { .. } => Failure { status: Status::GaveUp, message: error.to_string() }.into(),
        _ => error.into(),
    })
}
