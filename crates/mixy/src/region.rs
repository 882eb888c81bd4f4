//! A typed region: functions whose edges hold, and what null reaches in them.

use crate::declared::{Declared, Position};
use crate::graph::{Edge, Graph, Origin, Sink, SinkKind, Source, Var, Why};
use crate::local::Settled;
use parallax_cmodule::FunctionId;
use parallax_cmodule::Module;
use parallax_points::{Points, Site};
use rustc_hash::{FxHashMap, FxHashSet};

/// What must not be null.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sinks {
    /// Positions that are declared never to be null.
    Annotated,
    /// These, and whatever is dereferenced.
    #[default]
    Deref,
}

/// Which functions are part of a region.
#[derive(Clone, Debug)]
pub enum Functions {
    /// All of them.
    All,
    /// These.
    Only(FxHashSet<FunctionId>),
}

impl Functions {
    /// Whether a function is part of it.
    pub fn contains(&self, function: FunctionId) -> bool {
        match self {
            Functions::All => true,
            Functions::Only(functions) => functions.contains(&function),
        }
    }
}

/// The program as regions see it.
pub struct Program<'m> {
    /// The module.
    pub module: &'m Module,
    /// What everything points to.
    pub points: &'m Points,
    /// Where null may flow.
    pub graph: &'m Graph,
    /// What declarations say.
    pub declared: &'m Declared,
    /// Variables that are declared never to be null.
    pub nonnull: FxHashMap<Var, String>,
    /// What must not be null.
    pub sinks: Sinks,
    /// Functions that run before the entry or after it: constructors and destructors.
    pub(crate) around: Vec<FunctionId>,
    /// Functions that can return.
    pub(crate) returning: FxHashSet<FunctionId>,
    /// What is used where and is not null there, by the text around it: no warning, and no null that flows on.
    pub(crate) settled: Settled,
}

impl<'m> Program<'m> {
    /// Puts the parts together.
    pub fn new(
        module: &'m Module,
        points: &'m Points,
        graph: &'m Graph,
        declared: &'m Declared,
        sinks: Sinks,
    ) -> Self {
        let positions = declared.nonnull.iter();
        let nonnull = positions
            .filter_map(|(position, words)| {
                Some((variable(module, points, graph, *position)?, words.clone()))
            })
            .collect();
        let returning = crate::returns::returning(module, points);
        let settled = Settled::default();
        Program {
            module,
            points,
            graph,
            declared,
            nonnull,
            sinks,
            around: around(module),
            returning,
            settled,
        }
    }

    /// Sources that belong to the program text: those of functions of the region; `start` also those of the
    /// program's start.
    pub fn sources(&self, functions: &Functions, start: bool) -> Vec<Source> {
        let nullable = self.declared.nullable.keys().filter_map(|position| {
            let var = variable(self.module, self.points, self.graph, *position)?;
            Some(Source { var, site: None, origin: Origin::Nullable })
        });
        let text = self.graph.sources.iter().copied().filter(|source| match source.site {
            Some(site) => functions.contains(site.function),
            None => start && (source.origin != Origin::ImplicitZero || self.sinks == Sinks::Deref),
        });
        text.filter(|source| !self.cut_argument(source, functions)).chain(nullable).collect()
    }

    /// A null constant that is passed to a function outside of the region stays outside.
    fn cut_argument(&self, source: &Source, functions: &Functions) -> bool {
        let owner = self.points.flows.owner(parallax_points::Node(source.var.0));
        let Some((function, parallax_points::Place::Register(register))) = owner else { return false };
        let parameter = (register.0 as usize) < self.module.function(function).parameters.len();
        parameter && !functions.contains(function)
    }
}

/// Constructors and destructors of a module.
pub(crate) fn around(module: &Module) -> Vec<FunctionId> {
    let tables = ["llvm.global_ctors", "llvm.global_dtors"];
    let marked = tables.into_iter().flat_map(|table| module.marked(table));
    marked.filter(|&id| parallax_points::has_body(module, id)).collect()
}

/// The variable at a declared position.
pub(crate) fn variable(module: &Module, points: &Points, graph: &Graph, position: Position) -> Option<Var> {
    match position {
        Position::Node(node) => Some(Var(node.0)),
        Position::Cell(object, offset) => points.cell(module, object, offset).map(|cell| graph.cell(cell)),
    }
}

/// What null reaches in a region.
pub struct Solution<'p, 'm> {
    pub(crate) program: &'p Program<'m>,
    functions: &'p Functions,
    /// Whether declared positions stop null.
    cut: bool,
    bits: Vec<bool>,
    pub(crate) sources: Vec<Source>,
}

impl<'p, 'm> Solution<'p, 'm> {
    /// The least solution from these sources.
    pub fn of(program: &'p Program<'m>, functions: &'p Functions, sources: Vec<Source>, cut: bool) -> Self {
        let bits = vec![false; program.graph.count()];
        let mut solution = Solution { program, functions, cut, bits, sources: Vec::new() };
        solution.add(sources);
        solution
    }

    /// Adds sources; whether any bit changed.
    pub fn add(&mut self, sources: Vec<Source>) -> bool {
        let mut waiting: Vec<Var> = Vec::new();
        let mut changed = false;
        for source in &sources {
            if !std::mem::replace(&mut self.bits[source.var.0 as usize], true) {
                changed = true;
                waiting.push(source.var);
            }
        }
        self.sources.extend(sources);
        while let Some(var) = waiting.pop() {
            if self.stops(var) {
                continue;
            }
            for edge in self.program.graph.out_of(var) {
                if !self.bits[edge.to.0 as usize] && self.holds(edge) {
                    self.bits[edge.to.0 as usize] = true;
                    waiting.push(edge.to);
                }
            }
        }
        changed
    }

    /// Whether a variable may be null.
    pub fn is_null(&self, var: Var) -> bool {
        self.bits[var.0 as usize]
    }

    /// Whether a function is part of the region.
    pub(crate) fn covers(&self, function: FunctionId) -> bool {
        self.functions.contains(function)
    }

    /// Whether null goes no further from a variable, because it is declared never to be null.
    pub(crate) fn stops(&self, var: Var) -> bool {
        self.cut && self.program.nonnull.contains_key(&var)
    }

    /// Whether an edge is part of the region.
    pub(crate) fn holds(&self, edge: &Edge) -> bool {
        let inside = edge.site.is_none_or(|site| {
            self.functions.contains(site.function) && !self.program.settled.uses.contains(&(site, edge.from))
        });
        inside
            && match edge.why {
                Why::Argument(target, _) | Why::Return(target) => {
                    self.functions.contains(target) || !parallax_points::has_body(self.program.module, target)
                }
                _ => true,
            }
    }

    /// Sinks that null reaches, each once: where, what, and which kind; `demoted` functions have their dereferences
    /// checked whatever the settings say.
    pub fn reached(&self, demoted: &FxHashSet<FunctionId>) -> Vec<Sink> {
        let graph = self.program.graph;
        let mut found: Vec<Sink> = Vec::new();
        let inside = |site: Site| self.functions.contains(site.function);
        let out = |var: Var| self.bits[var.0 as usize] && !self.stops(var);
        for sink in &graph.dereferences {
            let wanted = self.program.sinks == Sinks::Deref || demoted.contains(&sink.site.function);
            if wanted && inside(sink.site) && out(sink.var) {
                found.push(*sink);
            }
        }
        found.extend(graph.arguments.iter().filter(|sink| inside(sink.site) && out(sink.var)));
        for &declared in self.program.nonnull.keys() {
            for edge in graph.into(declared) {
                if !self.holds(edge) || !out(edge.from) {
                    continue;
                }
                match edge.site {
                    Some(site) => found.push(Sink { var: edge.from, site, kind: SinkKind::Nonnull }),
                    // Written through a pointer: at each instruction that does.
                    None => {
                        for store in graph.into(edge.from) {
                            if let Some(site) = store.site
                                && self.holds(store)
                                && out(store.from)
                            {
                                found.push(Sink { var: store.from, site, kind: SinkKind::Nonnull });
                            }
                        }
                        let direct = self.sources.iter().filter(|source| source.var == edge.from);
                        for source in direct {
                            if let Some(site) = source.site {
                                found.push(Sink { var: edge.from, site, kind: SinkKind::Nonnull });
                            }
                        }
                    }
                }
            }
        }
        for source in &self.sources {
            if let (Some(site), true) = (source.site, self.program.nonnull.contains_key(&source.var)) {
                found.push(Sink { var: source.var, site, kind: SinkKind::Nonnull });
            }
        }
        found.retain(|sink| !self.program.settled.uses.contains(&(sink.site, sink.var)));
        found.sort_by_key(|sink| (sink.site, sink.kind, sink.var));
        found.dedup_by_key(|sink| (sink.site, sink.kind));
        found
    }
}
