//! The whole analysis, from a module to a report.

use crate::calls::reachable;
use crate::declared::{Declared, Mode};
use crate::finding::{Report, Status};
use crate::footprint::Footprints;
use crate::graph::{Graph, SinkKind};
use crate::local::settle;
use crate::mix::{Budget, Mistake, Mixer, merged, typed};
use crate::place::{Done, Placed, Runs};
use crate::rank::rank;
use crate::region::{Functions, Known, Program, Sinks};
use parallax_cmodule::Module;
use parallax_points::{Points, Site, has_body};
use parallax_term::Store;
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

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
    /// How far one exploration goes.
    pub budget: Budget,
    /// Time to look for functions whose symbolic execution refutes warnings; none: blocks are those that are marked.
    pub refine: Option<Duration>,
    /// Infer as the original did: without direction, by field, from `NULL` alone.
    pub paper: bool,
    /// A wrong rule to use instead of the right one: only for tests that must notice.
    #[doc(hidden)]
    pub plant: Option<Mistake>,
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
            budget: Budget::default(),
            refine: None,
            paper: false,
            plant: None,
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

/// Checks a module.
pub fn check(module: &Module, settings: &Settings) -> Result<Report, Error> {
    let find = |name: &str| match module.function_named(name) {
        Some(id) if has_body(module, id) => Ok(id),
        Some(_) => Err(Error::NoBody(name.into())),
        None => Err(Error::NoFunction(name.into())),
    };
    let entry = find(&settings.entry)?;
    let started = Instant::now();
    let points = Points::of(module);
    let declared = Declared::of(module, &points);
    if let Some(words) = declared.errors.first() {
        return Err(Error::Contradiction(words.clone()));
    }
    let mut modes = declared.modes.clone();
    for (names, mode) in [(&settings.symbolic, Mode::Symbolic), (&settings.typed, Mode::Typed)] {
        for name in names {
            modes.insert(find(name)?, mode);
        }
    }
    if let Some(name) = settings.symbolic.iter().find(|name| settings.typed.contains(name)) {
        return Err(Error::Contradiction(format!("{name} is asked to be typed and symbolic")));
    }
    let graph = Graph::of(module, &points, &declared, settings.paper);
    let unmixed =
        crate::region::around(module).into_iter().filter(|id| modes.get(id) == Some(&Mode::Symbolic));
    let unmixed = unmixed.map(|id| module.function(id).name.as_str());
    let unmixed: Vec<String> =
        unmixed.map(|name| format!("{name} runs before or after {}, and is typed", settings.entry)).collect();
    let mut program = Program::new(module, &points, &graph, &declared, settings.sinks);
    let footprints = Footprints::new(module, &points, &graph);
    let store = Store::new();
    let mut report = Report { assumptions: general_assumptions(settings), ..Report::default() };
    // Its null at the end is found where the program is explored from its start; inference would have to know what argc says.
    if settings.entry == "main" && module.function(entry).parameters.len() > 1 {
        report.assumptions.insert("argv is read only below argc, as far as inference goes".into());
    }
    report.assumptions.extend(graph.assumptions.iter().cloned());
    report.gaps.extend(graph.gaps.iter().cloned());
    report.gaps.extend(declared.gaps.iter().cloned());
    report.gaps.extend(unmixed);
    let reachable = Functions::Only(reachable(module, &points, entry));
    let alone = program.inferred(&reachable).reached(&FxHashSet::default());
    if settings.refine.is_some() {
        program.unread.extend(crate::fresh::overwritten(module, &points, &graph));
        program.unread.extend(crate::freed::unread(module, &points, &graph));
        let around = program.around.clone();
        let starts = crate::starts::unread(module, &points, &graph, &footprints, entry, &around);
        program.unread.extend(starts);
    }
    let mut near = Known::nothing(graph.count());
    while settings.refine.is_some() {
        let before = program.settled.size();
        settle(&mut program, &reachable, &mut near);
        if program.settled.size() <= before {
            break;
        }
    }
    let warnings: BTreeSet<(Site, SinkKind)> = alone.iter().map(|sink| (sink.site, sink.kind)).collect();
    report.typed = warnings.len();

    let exploring = parallax_cexplore::explore::Settings {
        aliasing: parallax_cmachine::Aliasing::Sub,
        solver_time: settings.budget.time,
        ..parallax_cexplore::explore::Settings::default()
    };
    let mut mixer = Mixer::new(&program, &footprints, &store, &exploring, modes.clone(), settings.plant);
    mixer.keep_stores(&reachable);
    let mut runs = Runs::new(&program, settings, entry, mixer);
    let mut placed = Placed::at_once(runs.mixed(&modes, settings.budget));
    if let (Some(time), Mode::Typed) = (settings.refine, settings.start) {
        placed = runs.placed(&mut modes, placed.done, time);
    }
    report.blocks = runs.blocks(&modes);
    let Placed { done: Done { outcome, gaps, .. }, reasons } = placed;
    report.gaps.extend(gaps);
    let own = outcome.conflicts.into_iter().map(typed);
    report.findings = merged(own.chain(outcome.findings));
    for finding in &mut report.findings {
        if let Some(why) = reasons.get(&finding.sink) {
            finding.status = Status::Possible(why.clone());
        }
    }
    rank(&mut report.findings);
    report.assumptions.extend(outcome.assumptions);
    // A warning that is found at a call is found: it is refuted where null no longer gets to the place itself.
    let left: BTreeSet<Site> = report.findings.iter().map(|finding| finding.sink).collect();
    report.refuted = warnings.into_iter().map(|(site, _)| site).filter(|site| !left.contains(site)).collect();
    report.seconds = started.elapsed().as_secs_f64();
    for finding in &mut report.findings {
        finding.paths.truncate(settings.paths);
    }
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
    if settings.paper {
        all.insert(
            "null is what the text calls NULL: zeros, cleared memory and what libraries return are not null"
                .into(),
        );
    }
    if settings.sinks == Sinks::Annotated {
        all.insert("variables without an initialiser are set before they are read".into());
    }
    all
}
