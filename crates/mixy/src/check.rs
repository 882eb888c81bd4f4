//! The whole analysis, from a module to a report.

use crate::declared::{Declared, Mode};
use crate::finding::{Finding, Kind, Report, Status, Where, describe};
use crate::graph::Graph;
use crate::names::name_of;
use crate::region::{Functions, Program, Sinks, Solution};
use parallax_cmodule::FunctionId;
use parallax_cmodule::Module;
use parallax_points::{Points, Site, has_body};
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;

/// What to check, and how.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What must not be null.
    pub sinks: Sinks,
    /// Where the program starts.
    pub entry: String,
    /// How the entry is analysed unless it is marked.
    pub start: Mode,
    /// Functions to analyse symbolically, whatever the source says.
    pub symbolic: Vec<String>,
    /// Functions to analyse by inference, whatever the source says.
    pub typed: Vec<String>,
    /// Ways to show for one finding.
    pub paths: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            sinks: Sinks::Deref,
            entry: "main".into(),
            start: Mode::Typed,
            symbolic: Vec::new(),
            typed: Vec::new(),
            paths: 8,
        }
    }
}

/// Why nothing was checked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A function that is named does not exist.
    #[error("there is no function {0}")]
    NoFunction(String),
    /// A function that is named has no body.
    #[error("the function {0} is declared but has no body")]
    NoBody(String),
    /// Declarations contradict each other.
    #[error("{0}")]
    Contradiction(String),
}

/// Functions that can run when the program starts at a function, those behind blocks included.
pub fn reachable(module: &Module, points: &Points, from: FunctionId) -> FxHashSet<FunctionId> {
    let mut seen = FxHashSet::default();
    seen.insert(from);
    let mut waiting = vec![from];
    while let Some(function) = waiting.pop() {
        for callee in callees(module, points, function) {
            if seen.insert(callee) {
                waiting.push(callee);
            }
        }
    }
    seen
}

/// Functions with a body that a function may call.
pub fn callees(module: &Module, points: &Points, function: FunctionId) -> Vec<FunctionId> {
    let range = points.flows.ranges[function.0 as usize].clone();
    let mut found = Vec::new();
    let mut sites: BTreeSet<Site> = BTreeSet::new();
    for (site, flow) in &points.flows.flows[range] {
        if matches!(flow, parallax_points::Flow::Call(_)) && sites.insert(*site) {
            found.extend(points.targets(*site).iter().copied().filter(|&f| has_body(module, f)));
        }
    }
    found
}

/// Checks a module.
pub fn check(module: &Module, settings: &Settings) -> Result<Report, Error> {
    let find = |name: &str| match module.function_named(name) {
        Some(id) if has_body(module, id) => Ok(id),
        Some(_) => Err(Error::NoBody(name.into())),
        None => Err(Error::NoFunction(name.into())),
    };
    let entry = find(&settings.entry)?;
    for name in settings.symbolic.iter().chain(&settings.typed) {
        find(name)?;
    }
    if let Some(name) = settings.symbolic.iter().find(|name| settings.typed.contains(name)) {
        return Err(Error::Contradiction(format!("{name} is asked to be typed and symbolic")));
    }
    let points = Points::of(module);
    let declared = Declared::of(module, &points);
    if let Some(words) = declared.errors.first() {
        return Err(Error::Contradiction(words.clone()));
    }
    let graph = Graph::of(module, &points, &declared);
    let program = Program::new(module, &points, &graph, &declared, settings.sinks);
    let functions = Functions::Only(reachable(module, &points, entry));
    let sources = program.sources(&functions, true);
    let solution = Solution::of(&program, &functions, sources, true);
    let mut report = Report::default();
    for sink in solution.reached(&FxHashSet::default()) {
        let paths = solution.paths(sink.var, settings.paths);
        report.findings.push(Finding {
            kind: Kind::of(sink.kind),
            found_by: Where::Typed,
            site: sink.site,
            status: Status::Possible(
                "qualifier inference knows neither the order of statements nor conditions".into(),
            ),
            subject: name_of(module, &points, &graph, sink.var),
            paths: paths.iter().map(|(source, edges)| describe(&program, source, edges)).collect(),
            contexts: BTreeSet::new(),
            witness: None,
        });
    }
    report.typed = report.findings.len();
    report.assumptions = general_assumptions(settings);
    report.assumptions.extend(graph.assumptions.iter().cloned());
    report.gaps.extend(graph.gaps.iter().cloned());
    report.gaps.extend(declared.gaps.iter().cloned());
    Ok(report)
}

/// What every answer rests on.
fn general_assumptions(settings: &Settings) -> BTreeSet<String> {
    let mut all: BTreeSet<String> = [
        "pointers stay within the object they were made from, and are not made from unrelated integers",
        "pointers are not copied byte by byte by hand",
        "threads, signals and longjmp do not change pointers behind a function's back",
        "malloc, calloc and realloc do not fail",
    ]
    .map(String::from)
    .into();
    if settings.sinks == Sinks::Annotated {
        all.insert("variables without an initialiser are set before they are read".into());
    }
    all
}
