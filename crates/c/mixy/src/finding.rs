//! What is reported: findings with the ways that null takes.

use crate::declared::Mode;
use crate::graph::{Edge, Origin, SinkKind, Source, Why};
use crate::names::{name_of, site_location};
use crate::region::Program;
use parallax_cmodule::FunctionId;
use parallax_cmodule::Module;
use parallax_points::Site;
use std::collections::BTreeSet;

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Null may be dereferenced.
    NullDereference,
    /// Null may reach what is declared never to be null.
    NullToNonnull,
}

impl Kind {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Kind::NullDereference => "null-dereference",
            Kind::NullToNonnull => "null-to-nonnull",
        }
    }

    pub(crate) fn of(sink: SinkKind) -> Kind {
        match sink {
            SinkKind::Dereference => Kind::NullDereference,
            SinkKind::Nonnull => Kind::NullToNonnull,
        }
    }
}

/// How sure it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// An input shows it.
    Confirmed,
    /// No input shows it, but there is little that could prevent it: why.
    Likely(String),
    /// It could not be decided, and why.
    Possible(String),
}

impl Status {
    /// Its name in reports.
    pub fn name(&self) -> &'static str {
        match self {
            Status::Confirmed => "confirmed",
            Status::Likely(_) => "likely",
            Status::Possible(_) => "possible",
        }
    }

    /// Whether it is shown, and decides what the check comes to: what is only possible is counted.
    pub fn is_shown(&self) -> bool {
        !matches!(self, Status::Possible(_))
    }

    /// Why no input decides it.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Status::Confirmed => None,
            Status::Likely(why) | Status::Possible(why) => Some(why),
        }
    }
}

/// Which analysis found it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Where {
    /// Qualifier inference.
    Typed,
    /// Symbolic execution.
    Symbolic,
}

impl Where {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Where::Typed => "typed",
            Where::Symbolic => "symbolic",
        }
    }
}

/// One step of a way that null takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The function.
    pub function: Option<FunctionId>,
    /// The place; 0 is "nowhere".
    pub location: parallax_cmodule::LocationId,
    /// What happens there.
    pub words: String,
}

/// A way that null takes from where it arises to where it must not be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowPath {
    /// Why there is null at its start; none where execution found the way.
    pub origin: Option<Origin>,
    /// The steps, the source first.
    pub steps: Vec<Step>,
    /// Whether null takes it by value alone, and nothing on it is tested.
    pub plain: bool,
}

/// A finding.
#[derive(Clone, Debug)]
pub struct Finding {
    /// What is wrong.
    pub kind: Kind,
    /// Which analysis found it.
    pub found_by: Where,
    /// The instruction that is reported: for typed code that a symbolic block calls, the call.
    pub site: Site,
    /// The instruction that uses null. One call may lead to several, and each is a finding.
    pub sink: Site,
    /// How sure it is.
    pub status: Status,
    /// What is null there.
    pub subject: String,
    /// How null gets there, the shortest way from each source first.
    pub paths: Vec<FlowPath>,
    /// What the block was entered with, for each time it was found.
    pub contexts: BTreeSet<String>,
    /// An input that shows it.
    pub witness: Option<Witness>,
}

/// An input from the start of the program on which the error happens.
#[derive(Clone, Debug)]
pub struct Witness {
    /// The input.
    pub input: parallax_cexplore::explore::Input,
    /// What the program did with it natively.
    pub native: parallax_cexplore::native::Native,
}

/// What was done in one block.
#[derive(Clone, Debug)]
pub struct BlockSummary {
    /// The function.
    pub function: FunctionId,
    /// How it was analysed.
    pub mode: Mode,
    /// How many different contexts it was entered with.
    pub contexts: u64,
    /// How often a result was taken from the cache.
    pub cache_hits: u64,
    /// How often it was analysed.
    pub iterations: u64,
    /// Paths that were executed.
    pub paths: u64,
    /// Seconds.
    pub seconds: f64,
}

/// What a check found: never clean where something was left out.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Findings, in the order of the program.
    pub findings: Vec<Finding>,
    /// Where warnings of qualifier inference were refuted, each warning by itself.
    pub refuted: Vec<Site>,
    /// How many warnings qualifier inference alone has.
    pub typed: usize,
    /// Seconds that the analysis took, the program being loaded.
    pub seconds: f64,
    /// Blocks.
    pub blocks: Vec<BlockSummary>,
    /// Findings that were taken out because the project accepts them: why, and how many.
    pub suppressed: Vec<(String, usize)>,
    /// What was assumed.
    pub assumptions: BTreeSet<String>,
    /// What was left out: null may hide there.
    pub gaps: BTreeSet<String>,
}

impl Report {
    /// How many findings have such a status.
    pub fn count(&self, wanted: impl Fn(&Status) -> bool) -> usize {
        self.findings.iter().filter(|finding| wanted(&finding.status)).count()
    }
}

/// Words for a way that null takes.
pub(crate) fn describe(program: &Program<'_>, source: &Source, edges: &[Edge]) -> FlowPath {
    let Program { module, points, graph, .. } = program;
    let name = |var| name_of(module, points, graph, var);
    let function = |id: FunctionId| module.function(id).name.as_str();
    let origin = match source.origin {
        Origin::Constant => format!("{} is null", into(&name(source.var))),
        Origin::ImplicitZero => format!("{} starts as null: it has no initialiser", name(source.var)),
        Origin::Cleared => format!("{} is set to zero", name(source.var)),
        Origin::External(id) => format!("{} may return null", function(id)),
        Origin::Nullable => format!("{} is declared to be possibly null", name(source.var)),
        Origin::Block(id) => format!("{} may be null after {}", name(source.var), function(id)),
        Origin::Entry => format!("{} may be null on entry", name(source.var)),
    };
    let mut steps = vec![step(module, source.site, origin)];
    for edge in edges {
        let words = match edge.why {
            Why::Copy if name(edge.to) != "a value" => format!("assigned to {}", name(edge.to)),
            Why::Argument(id, index) => format!("passed to {} as argument {}", function(id), index + 1),
            Why::Return(id) => format!("returned by {}", function(id)),
            Why::Store => "stored".to_string(),
            Why::Load => "read".to_string(),
            Why::Transfer => format!("copied to {}", name(edge.to)),
            Why::Alias => {
                // Of the two sides one is a place in memory with a name.
                let to = name(edge.to);
                if let (Some(last), true) = (steps.last_mut(), to != "memory") {
                    last.words.push_str(&format!(" in {to}"));
                }
                continue;
            }
            Why::Copy | Why::Move => continue,
        };
        steps.push(step(module, edge.site, words));
    }
    let plain = program.tested.is_plain(graph, points, source, edges);
    FlowPath { origin: Some(source.origin), steps, plain }
}

/// The step at which typed code uses null, at the end of each way there.
pub(crate) fn used_at(module: &Module, kind: Kind, sink: Site) -> Step {
    let words = match kind {
        Kind::NullDereference => "dereferenced",
        Kind::NullToNonnull => "used where it must not be null",
    };
    step(module, Some(sink), words.to_string())
}

fn into(name: &str) -> String {
    if name == "memory" || name == "a value" { "what is stored".into() } else { name.to_string() }
}

fn step(module: &Module, site: Option<Site>, words: String) -> Step {
    Step {
        function: site.map(|site| site.function),
        location: site.map_or_else(Default::default, |site| site_location(module, site)),
        words,
    }
}
