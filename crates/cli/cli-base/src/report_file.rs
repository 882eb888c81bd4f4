//! Reports as files: a page, SARIF, a summary in Markdown, pathreport XML or Parallax JSON, by the ending of the name.

use anyhow::{Context, Result, anyhow};
use parallax_report::Document;
use std::path::{Path, PathBuf};

/// Writes a report. Pages quote the sources that lie below `folders` or the current folder; `name` is their title.
pub fn save(file: &Path, mut document: Document, mut folders: Vec<PathBuf>, name: &str) -> Result<()> {
    folders.extend(std::env::current_dir().ok());
    document.tidy();
    document.note_places(&mut parallax_view::Sources::new(roots(&folders)?, Vec::new()));
    let text = match file.extension().and_then(|ending| ending.to_str()) {
        Some("sarif") => parallax_report::to_sarif(&document),
        Some("md") => parallax_report::to_markdown(&document),
        Some("xml") => parallax_report::to_pathreport(&document),
        Some("html" | "htm") => page(document, folders, name)?,
        _ => parallax_report::to_json(&document),
    };
    std::fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))
}

/// The folder that a source lies in.
pub fn folder(source: impl AsRef<Path>) -> Option<PathBuf> {
    Some(std::path::absolute(source).ok()?.parent()?.to_path_buf())
}

/// What to call a page about a source.
pub fn title(source: &Path) -> String {
    source.file_name().unwrap_or(source.as_os_str()).to_string_lossy().into_owned()
}

fn roots(folders: &[PathBuf]) -> Result<parallax_view::Roots> {
    parallax_view::Roots::new(folders)
        .map_err(|(folder, error)| anyhow!("cannot use folder {}: {error}", folder.display()))
}

fn page(document: Document, folders: Vec<PathBuf>, name: &str) -> Result<String> {
    let roots = roots(&folders)?;
    let project = folders.first().map_or(String::new(), |folder| parallax_view::page::project(folder));
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let input = parallax_view::Input {
        document,
        roots,
        name: name.to_owned(),
        made: now.map_or(0, |since| since.as_secs()),
        author: std::env::var("USER").unwrap_or_default(),
        checklists: parallax_view::checklist::Checklists::with(Vec::new()),
        triage: parallax_view::triage::Triage::default(),
        written: None,
        project,
        editor: None,
        against: None,
    };
    Ok(parallax_view::html::render(&parallax_view::build(input, &mut |_| {})))
}
