//! A report for people.

use super::super::c_input::shown;
use super::baseline::Compared;
use anyhow::Result;
use parallax_cexplore::Program;
use parallax_cexplore::native::Native;
use parallax_cli_base::words::counted;
use parallax_mixy::{Finding, Origin, Report, Status, Step, output};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::Write;
use std::path::Path;

/// How much is printed.
#[derive(Clone, Copy)]
pub struct Shown {
    /// Flow paths of a finding.
    pub paths: usize,
    /// Whether possible findings are printed.
    pub possible: bool,
}

/// Sources of null that the summary names.
const SOURCES: usize = 10;

/// Prints it: findings with the lines they are at, then what they rest on.
pub fn print(
    out: &mut impl Write,
    program: &Program,
    report: &Report,
    shown: Shown,
    compared: Option<&Compared>,
) -> Result<()> {
    let mut texts = Texts::default();
    let wanted = report.findings.iter().enumerate();
    let wanted = wanted.filter(|(number, _)| compared.is_none_or(|compared| compared.new[*number]));
    let (mut printed, mut possible): (Vec<&Finding>, Vec<&Finding>) =
        wanted.map(|(_, finding)| finding).partition(|finding| finding.status.is_shown());
    printed.sort_by_key(|finding| !matches!(finding.status, Status::Confirmed));
    if shown.possible {
        // People look at these one by one: what can be seen in one function is decided soonest.
        possible.sort_by_cached_key(|finding| distance(finding));
        printed.append(&mut possible);
    }
    for finding in printed {
        one(out, program, finding, shown.paths, &mut texts)?;
    }
    summary(out, program, &possible)?;
    writeln!(
        out,
        "{} confirmed, {} likely, {} possible; {} of inference alone, {} of them refuted",
        report.count(|status| matches!(status, Status::Confirmed)),
        report.count(|status| matches!(status, Status::Likely(_))),
        report.count(|status| matches!(status, Status::Possible(_))),
        counted(report.typed, "warning"),
        report.refuted.len()
    )?;
    if let Some(compared) = compared {
        let new = compared.new.iter().filter(|new| **new).count();
        writeln!(out, "against the baseline: {new} new, {} gone, {} new gaps", compared.gone, compared.gaps)?;
    }
    for (reason, count) in &report.suppressed {
        writeln!(out, "suppressed: {count} ({reason})")?;
    }
    for assumption in &report.assumptions {
        writeln!(out, "assumed: {assumption}")?;
    }
    for gap in &report.gaps {
        writeln!(out, "LEFT OUT: {gap}")?;
    }
    Ok(())
}

/// How far null comes: what a library function may return is rarely an oversight of inference, so that it comes first; then how many
/// functions null passes through, and in how many steps.
fn distance(finding: &Finding) -> (bool, usize, usize) {
    let Some(path) = finding.paths.first() else { return (true, usize::MAX, 0) };
    let inferred = !matches!(path.origin, None | Some(Origin::External(_) | Origin::Nullable));
    let functions: HashSet<_> =
        path.steps.iter().map(|step| step.function).chain([Some(finding.site.function)]).collect();
    (inferred, functions.len(), path.steps.len())
}

/// What is not printed, by where null comes from.
fn summary(out: &mut impl Write, program: &Program, left_out: &[&Finding]) -> Result<()> {
    if left_out.is_empty() {
        return Ok(());
    }
    let mut sources: BTreeMap<String, usize> = BTreeMap::new();
    for finding in left_out {
        let source = match finding.paths.first().and_then(|path| path.steps.first()) {
            None => "found by execution".into(),
            Some(step) => placed(program, step),
        };
        *sources.entry(source).or_default() += 1;
    }
    let mut sources: Vec<(String, usize)> = sources.into_iter().collect();
    sources.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    writeln!(
        out,
        "{}, not decided and not shown (--all, --json and --report have them). Null comes from:",
        counted(left_out.len(), "possible finding")
    )?;
    for (source, count) in sources.iter().take(SOURCES) {
        writeln!(out, "  {count:6}  {source}")?;
    }
    let rest = sources.iter().skip(SOURCES);
    if rest.len() > 0 {
        let sources = counted(rest.len(), "other source");
        writeln!(out, "  {:6}  {sources}", rest.map(|(_, count)| count).sum::<usize>())?;
    }
    writeln!(out)?;
    Ok(())
}

/// The lines of files that findings are in: each is read once, and a file that cannot be read has none.
#[derive(Default)]
struct Texts(HashMap<String, Vec<String>>);

impl Texts {
    fn line(&mut self, file: &str, number: u32) -> Option<&str> {
        if !self.0.contains_key(file) {
            let text = parallax_cread::source_text(Path::new(file)).unwrap_or_default();
            self.0.insert(file.into(), text.lines().map(|line| line.trim_end().to_string()).collect());
        }
        self.0.get(file)?.get((number as usize).checked_sub(1)?).map(String::as_str)
    }
}

fn one(
    out: &mut impl Write,
    program: &Program,
    finding: &Finding,
    paths: usize,
    texts: &mut Texts,
) -> Result<()> {
    let module = &program.module;
    let location = parallax_mixy::names::site_location(module, finding.site);
    let (file, place) = (module.file_of(location), module.location(location));
    writeln!(out, "{}: {} ({})", finding.kind.name(), output::title(finding), finding.status.name())?;
    let function = &module.function(finding.site.function).name;
    writeln!(out, "  --> {file}:{}:{} in {function}", place.line, place.column)?;
    if let Some(line) = texts.line(file, place.line) {
        writeln!(out, "   |  {line}")?;
    }
    for path in finding.paths.iter().take(paths) {
        for step in &path.steps {
            writeln!(out, "   = {}", placed(program, step))?;
        }
    }
    match (&finding.status, &finding.witness) {
        (Status::Likely(why), _) => writeln!(out, "   = likely: {why}")?,
        (Status::Possible(why), _) => writeln!(out, "   = not decided: {why}")?,
        (Status::Confirmed, Some(witness)) => {
            let input = shown(&witness.input).unwrap_or_else(|| "no arguments and no input".into());
            writeln!(out, "   = happens with {input}")?;
            match &witness.native {
                Native::Confirmed => writeln!(out, "   = and natively, under a sanitizer")?,
                Native::Differs(words) | Native::Unseen(words) | Native::NotRun(words) => {
                    writeln!(out, "   = not natively: {words}")?
                }
            }
        }
        (Status::Confirmed, None) => {}
    }
    writeln!(out)?;
    Ok(())
}

/// What happens at a step, and where.
fn placed(program: &Program, step: &Step) -> String {
    match program.module.location(step.location).line {
        0 => step.words.clone(),
        line => format!("{}:{line}: {}", program.module.file_of(step.location), step.words),
    }
}
