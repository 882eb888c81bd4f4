//! A typed region: functions whose edges hold, and what null reaches in them.

use crate::declared::{Declared, Position};
use crate::graph::{Edge, Graph, Origin, Sink, SinkKind, Source, Var, Why};
use crate::local::Settled;
use crate::tested::Tested;
use parallax_cmodule::FunctionId;
use parallax_cmodule::Module;
use parallax_points::{Node, Place, Points, Site};
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
    /// Sources of null that nothing ever reads.
    pub(crate) unread: FxHashSet<Source>,
    /// What is compared with null.
    pub(crate) tested: Tested,
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
        let tested = Tested::of(module, points, graph);
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
            unread: FxHashSet::default(),
            tested,
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
        let seen = text.filter(|source| !self.unread.contains(source));
        seen.filter(|source| !self.cut_argument(source, functions)).chain(nullable).collect()
    }

    /// What inference says of a program whose every function is typed.
    pub(crate) fn inferred<'p>(&'p self, functions: &'p Functions) -> Solution<'p, 'm> {
        Solution::of(self, functions, self.sources(functions, true), true)
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
    known: Known,
    pub(crate) sources: Vec<Source>,
}

/// For each variable, what null that reaches it may have become.
pub(crate) struct Known {
    /// Whether it may be null, or an address that was computed from null.
    null: Vec<bool>,
    /// Whether it may be such an address: a test against null does not see it, a dereference goes wrong all the same.
    near: Vec<bool>,
}

impl Known {
    /// Nothing is null.
    pub(crate) fn nothing(count: usize) -> Self {
        Known { null: vec![false; count], near: vec![false; count] }
    }

    /// Whether a variable may be null, or near it.
    pub(crate) fn is_null(&self, var: Var) -> bool {
        self.null[var.0 as usize]
    }

    /// Whether a variable may be an address that was computed from null.
    pub(crate) fn is_near(&self, var: Var) -> bool {
        self.near[var.0 as usize]
    }

    /// Adds what may be near null in another; whether that was more.
    pub(crate) fn add_near(&mut self, other: &Known) -> bool {
        let mut grown = false;
        for (mine, theirs) in self.near.iter_mut().zip(&other.near) {
            grown |= *theirs && !*mine;
            *mine |= *theirs;
        }
        grown
    }
}

impl<'p, 'm> Solution<'p, 'm> {
    /// The least solution from these sources.
    pub fn of(program: &'p Program<'m>, functions: &'p Functions, sources: Vec<Source>, cut: bool) -> Self {
        let known = Known::nothing(program.graph.count());
        let mut solution = Solution { program, functions, cut, known, sources: Vec::new() };
        solution.add(sources, false);
        solution
    }

    /// Adds sources, which may also be `near` null; whether any bit changed.
    pub fn add(&mut self, sources: Vec<Source>, near: bool) -> bool {
        let mut waiting: Vec<Var> = Vec::new();
        let mut changed = false;
        for source in &sources {
            if self.raise(source.var, near) {
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
                let near = edge.why == Why::Move || self.known.is_near(var);
                let news = !self.known.is_null(edge.to) || near && !self.known.is_near(edge.to);
                if news && self.holds(edge) {
                    self.raise(edge.to, near);
                    waiting.push(edge.to);
                }
            }
        }
        changed
    }

    /// Sets the bits of a variable; whether one of them was not set.
    fn raise(&mut self, var: Var, near: bool) -> bool {
        let at = var.0 as usize;
        let news = !self.known.null[at] || near && !self.known.near[at];
        self.known.null[at] = true;
        self.known.near[at] |= near;
        news
    }

    /// Whether a variable may be null, or an address that was computed from null.
    pub fn is_null(&self, var: Var) -> bool {
        self.known.is_null(var)
    }

    /// Whether a variable may be an address that was computed from null.
    pub(crate) fn is_near(&self, var: Var) -> bool {
        self.known.is_near(var)
    }

    /// The bits alone.
    pub(crate) fn into_known(self) -> Known {
        self.known
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

    /// Sinks that null reaches, each once: where, which kind, and what, in this order; one instruction may use several
    /// that are null. `demoted` functions have their dereferences checked whatever the settings say.
    pub fn reached(&self, demoted: &FxHashSet<FunctionId>) -> Vec<Sink> {
        let graph = self.program.graph;
        let mut found: Vec<Sink> = Vec::new();
        let inside = |site: Site| self.functions.contains(site.function);
        let out = |var: Var| self.is_null(var) && !self.stops(var);
        for sink in &graph.dereferences {
            let wanted = self.program.sinks == Sinks::Deref || demoted.contains(&sink.site.function);
            if wanted && inside(sink.site) && out(sink.var) {
                found.push(*sink);
            }
        }
        found.extend(graph.arguments.iter().filter(|sink| inside(sink.site) && out(sink.var)));
        found.extend(self.sinks_in_declared(|_| true));
        self.unsettled(found)
    }

    /// Of these sinks, the flows into what is declared never to be null and is no parameter.
    pub(crate) fn reached_by_storing(&self) -> Vec<Sink> {
        let Program { module, points, .. } = self.program;
        self.unsettled(self.sinks_in_declared(|var| match points.flows.owner(Node(var.0)) {
            Some((id, Place::Register(register))) => {
                register.0 as usize >= module.function(id).parameters.len()
            }
            _ => true,
        }))
    }

    /// Flows of null into what is declared never to be null, of the variables that are wanted.
    fn sinks_in_declared(&self, wanted: impl Fn(Var) -> bool) -> Vec<Sink> {
        let graph = self.program.graph;
        let mut found: Vec<Sink> = Vec::new();
        let out = |var: Var| self.is_null(var) && !self.stops(var);
        for &declared in self.program.nonnull.keys().filter(|var| wanted(**var)) {
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
            let declared = self.program.nonnull.contains_key(&source.var) && wanted(source.var);
            if let (Some(site), true) = (source.site, declared) {
                found.push(Sink { var: source.var, site, kind: SinkKind::Nonnull });
            }
        }
        found
    }

    /// Sinks that the text around them does not settle, in the order of the program, each once.
    fn unsettled(&self, mut found: Vec<Sink>) -> Vec<Sink> {
        found.retain(|sink| !self.program.settled.uses.contains(&(sink.site, sink.var)));
        found.sort_by_key(|sink| (sink.site, sink.kind, sink.var));
        found.dedup();
        found
    }
}
