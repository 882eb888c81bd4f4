//! `parallax view`: reports and sources become one page, as a file or served on the loopback interface.

mod progress;
mod server;
mod store;

use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use parallax_cli_base::exit::Status;
use parallax_cli_base::words::counted;
use parallax_report::Document;
use parallax_view::checklist::{Checklist, Checklists};
use parallax_view::page::Page;
use parallax_view::triage::{Reports, Triage};
use parallax_view::{Input, Roots, Sources, build, html};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Show the paths of reports as code, side by side, on one page
#[derive(Args, Clone)]
#[command(after_help = "Example:
  parallax view corpus/view/race.json --src corpus/report/ladle -o race.html
  parallax view corpus/view/race.json --src corpus/report/ladle --serve

Reports may be SARIF, pathreport XML, or what clang, gcc, cppcheck, Infer, CBMC, KLEE, valgrind, the
sanitizers and gdb write. Source is read below the --src folders only; without one, paths show no code.
Answers are kept in a triage file beside the first report, and found again when the reports are made anew.")]
pub struct View {
    /// Report files of any known format
    #[arg(required = true, value_name = "REPORT")]
    reports: Vec<PathBuf>,
    /// A folder to read sources from; may be given several times
    #[arg(long, value_name = "DIR")]
    src: Vec<PathBuf>,
    /// Where to write the page [default: the first report's name with .html]
    #[arg(short, long, value_name = "PAGE", conflicts_with = "serve")]
    output: Option<PathBuf>,
    /// Serve the page to this machine only, and save triage answers as they are given [default: any free port]
    #[arg(long, value_name = "PORT", num_args = 0..=1, default_missing_value = "0")]
    serve: Option<String>,
    /// With --serve: load the page again when a report or a source changes
    #[arg(long, requires = "serve")]
    watch: bool,
    /// Compare with the reports of an earlier run: each is new, unchanged or fixed
    #[arg(long, value_name = "EARLIER")]
    baseline: Option<PathBuf>,
    /// A folder with the sources of the earlier run, where its reports do not carry the places in the code
    #[arg(long, value_name = "DIR", requires = "baseline")]
    baseline_src: Vec<PathBuf>,
    /// A link that opens a place in your editor, such as vscode://file/{file}:{line}
    #[arg(long, value_name = "LINK")]
    editor: Option<String>,
    /// The file with triage answers [default: the first report's name with .triage.json]
    #[arg(long, value_name = "FILE")]
    triage: Option<PathBuf>,
    /// A folder with checklists of your own, as JSON files
    #[arg(long, value_name = "DIR")]
    checklists: Option<PathBuf>,
    /// Also write the reports as SARIF, with the verdicts so far as suppressions
    #[arg(long, value_name = "SARIF")]
    suppressions: Option<PathBuf>,
    /// What to call the project [default: the name of the first source folder]
    #[arg(long)]
    name: Option<String>,
    /// Who triages [default: $USER]
    #[arg(long)]
    author: Option<String>,
    /// Print what was made as JSON
    #[arg(long, conflicts_with = "serve")]
    json: bool,
}

/// Makes the page.
pub fn run(mut arguments: View) -> Result<Status> {
    let port = port(&mut arguments)?;
    let triage_file =
        arguments.triage.clone().unwrap_or_else(|| beside(&arguments.reports[0], "triage.json"));
    let mut triage = store::read(&triage_file, arguments.triage.is_some() && port.is_none())?;
    if let Some(output) = &arguments.suppressions {
        let mut judged = read_reports(&arguments)?;
        let mut code = sources(&arguments.src)?;
        judged.note_places(&mut code);
        let (written, made) = (written(&arguments.reports), now());
        let reports = Reports { document: &mut judged, code: &mut code, written, made };
        // What is asked again is said when the page is made.
        triage.suppress(reports);
        write(output, &parallax_report::to_sarif(&judged))?;
    }
    let (page, files) = make(&arguments, triage)?;
    for note in &page.notes {
        eprintln!("note: {note}");
    }
    let missing: Vec<&str> =
        page.files.iter().filter_map(|file| file.missing.as_ref().map(|_| file.name.as_str())).collect();
    if arguments.src.is_empty() && !missing.is_empty() {
        eprintln!("note: no code is shown of {}: name the folder with the sources by --src", some(&missing));
    } else if !missing.is_empty() {
        eprintln!(
            "note: {} of {} files not found below --src: {}",
            missing.len(),
            page.files.len(),
            some(&missing)
        );
    }
    if let Some(port) = port {
        let watch = arguments.watch.then(|| {
            let (arguments, triage_file) = (arguments.clone(), triage_file.clone());
            // Unanswered reports stand in the page alone, not in the triage file: they keep their names through the page.
            let mut known = page.triage.clone();
            let make = Box::new(move || {
                known.merge(store::read(&triage_file, false)?);
                let (page, files) = make(&arguments, known.clone())?;
                known = page.triage.clone();
                Ok((page, files))
            });
            server::Watch { files, make }
        });
        return server::run(page, port, &triage_file, watch);
    }
    let output = arguments.output.clone().unwrap_or_else(|| {
        let made = beside(&arguments.reports[0], "html");
        made.file_name().map_or(made.clone(), PathBuf::from)
    });
    let text = html::render(&page);
    write(&output, &text)?;
    let paths: usize = page.reports.iter().map(|report| report.paths.len()).sum();
    if arguments.json {
        let summary = serde_json::json!({
            "page": output, "bytes": text.len(), "reports": page.reports.len(), "paths": paths,
            "files": page.files.len(), "missing": missing, "notes": page.notes,
        });
        println!("{summary}");
    } else {
        println!(
            "{}: {}, {}, {} kB",
            output.display(),
            counted(page.reports.len(), "report"),
            counted(paths, "path"),
            text.len() / 1024
        );
    }
    Ok(Status::Clean)
}

/// The page, and the files it is made from.
fn make(arguments: &View, triage: Triage) -> Result<(Page, Vec<PathBuf>)> {
    if let Some(link) = &arguments.editor
        && !is_editor_link(link)
    {
        bail!(
            "--editor takes a link with {{file}} and, if you like, {{line}} in it, such as vscode://file/{{file}}:{{line}}"
        );
    }
    let mut document = read_reports(arguments)?;
    if let Some(earlier) = &arguments.baseline {
        let mut code = sources(&arguments.src)?;
        document.note_places(&mut code);
        let earlier = super::convert::earlier(earlier, &arguments.baseline_src)?;
        let change = document.compare(&earlier, &mut code);
        document.notes.extend(super::convert::unclear(&change));
    }
    let roots = roots(&arguments.src)?;
    let name = arguments.name.clone().unwrap_or_else(|| {
        let folder = roots.folders().first().and_then(|folder| folder.file_name());
        folder.map_or("Reports".to_owned(), |name| name.to_string_lossy().into_owned())
    });
    let author = arguments.author.clone().or_else(|| std::env::var("USER").ok()).unwrap_or_default();
    let mut files = arguments.reports.clone();
    files.extend(arguments.baseline.clone());
    let input = Input {
        document,
        roots,
        name,
        made: now(),
        author,
        checklists: Checklists::with(read_checklists(arguments.checklists.as_deref())?),
        triage,
        written: written(&arguments.reports),
        project: project(arguments),
        editor: arguments.editor.clone(),
        against: arguments.baseline.as_ref().map(|file| some(&[&file.display().to_string()])),
    };
    let mut meter = progress::Meter::new();
    let page = build(input, &mut |progress| meter.show(progress));
    meter.clear();
    let sources =
        page.files.iter().flat_map(|file| arguments.src.iter().map(|folder| folder.join(&file.name)));
    files.extend(sources.filter(|file| file.is_file()));
    Ok((page, files))
}

/// Whether a link names a file and can do nothing but open something: no script, no page of its own.
fn is_editor_link(link: &str) -> bool {
    let Some((scheme, rest)) = link.split_once(':') else { return false };
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    let runs = ["javascript", "data", "vbscript", "blob"].contains(&scheme.to_ascii_lowercase().as_str());
    !scheme.is_empty() && scheme.bytes().all(plain) && !runs && rest.contains("{file}")
}

/// The port to serve on. `--serve` takes the word after it, which may have been meant as a report.
fn port(arguments: &mut View) -> Result<Option<u16>> {
    let Some(given) = arguments.serve.take() else { return Ok(None) };
    if let Ok(port) = given.parse() {
        return Ok(Some(port));
    }
    if given.bytes().all(|byte| byte.is_ascii_digit()) {
        bail!("{given} is no port: they go up to 65535");
    }
    arguments.reports.insert(0, PathBuf::from(given));
    Ok(Some(0))
}

fn read_reports(arguments: &View) -> Result<Document> {
    let mut all = Document::default();
    for file in &arguments.reports {
        all.absorb(super::convert::open(file)?);
    }
    Ok(all)
}

/// The sources below some folders.
pub(super) fn sources(folders: &[PathBuf]) -> Result<Sources> {
    Ok(Sources::new(roots(folders)?, Vec::new()))
}

fn roots(folders: &[PathBuf]) -> Result<Roots> {
    Roots::new(folders)
        .map_err(|(folder, error)| anyhow!("cannot use source folder {}: {error}", folder.display()))
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// When the last of some files was written, as `2026-11-14T16:20:00Z`; none if one of them does not say.
fn written(files: &[PathBuf]) -> Option<String> {
    let stamp = |file: &PathBuf| std::fs::metadata(file).and_then(|data| data.modified()).ok();
    let last = files.iter().map(stamp).collect::<Option<Vec<_>>>()?.into_iter().max()?;
    // Answers know whole seconds or less: the file counts as written when its second is over.
    Some(moment(last.duration_since(UNIX_EPOCH).ok()?.as_secs() + 1))
}

/// A moment in seconds since 1970 as date and time.
fn moment(seconds: u64) -> String {
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // Days since the 1st of March of the year 0, in eras of 400 years.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let (day, month) = (day - (153 * month + 2) / 5 + 1, if month < 10 { month + 3 } else { month - 9 });
    let year = year + 400 * era + u64::from(month <= 2);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// What the pages of one project have in common and those of others have not: where it lies.
fn project(arguments: &View) -> String {
    let place = arguments.src.first().or(arguments.reports.first()).map(|file| {
        let file = if arguments.src.is_empty() { file.parent().unwrap_or(file) } else { file };
        let whole = std::path::absolute(file).unwrap_or_else(|_| file.to_path_buf());
        whole.canonicalize().unwrap_or(whole)
    });
    place.map_or(String::new(), |place| parallax_view::page::project(&place))
}

fn read_checklists(folder: Option<&Path>) -> Result<Vec<Checklist>> {
    let Some(folder) = folder else { return Ok(Vec::new()) };
    let entries = std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "json"));
    files.sort();
    let read = |file: &PathBuf| {
        let text = std::fs::read_to_string(file)?;
        Checklist::read(&text).map_err(anyhow::Error::from)
    };
    files.iter().map(|file| read(file).with_context(|| format!("checklist {}", file.display()))).collect()
}

fn write(file: &Path, text: &str) -> Result<()> {
    std::fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))
}

/// The same file with another ending.
fn beside(file: &Path, ending: &str) -> PathBuf {
    if file.as_os_str() == "-" {
        PathBuf::from(format!("report.{ending}"))
    } else {
        file.with_extension(ending)
    }
}

fn some(names: &[&str]) -> String {
    let shown = names.iter().take(5).copied().collect::<Vec<_>>().join(", ");
    if names.len() > 5 { format!("{shown}, ...") } else { shown }
}
