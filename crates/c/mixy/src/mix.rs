//! Mixing: typed regions and symbolic blocks that call each other, to a fixed point.
//!
//! `region` runs inference over a function and what it calls, up to symbolic functions; `block` analyses a function in one
//! mode and one context, with a cache, and with assumptions for blocks that are already being analysed. Bits only rise,
//! contexts are finitely many, explorations are bounded: so it ends.

use crate::declared::Mode;
use crate::finding::{BlockSummary, Finding, FlowPath, Kind, Status, Where, describe};
use crate::footprint::Footprints;
use crate::graph::{Origin, Sink, SinkKind, Source, Var};
use crate::names::name_of;
use crate::region::{Functions, Known, Program, Solution};
use crate::ways::Ways;
use parallax_cmodule::{FunctionId, Register};
use parallax_points::external::{Effect, effects};
use parallax_points::{Called, Flow, ObjectId, Site, Value, has_body};
use parallax_term::Store;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// What one argument is on entry.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Actual {
    /// Whether it may be null.
    pub null: bool,
    /// What it may point to.
    pub points: Vec<(ObjectId, i64)>,
}

/// What a block is entered with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Context {
    /// The arguments.
    pub actuals: Vec<Actual>,
    /// Cells of the footprint that may be null.
    pub bits: BTreeSet<Var>,
    /// Whether some of what may be null may also be an address that was computed from null. Unknown memory of a symbolic block has
    /// no such addresses, so that it cannot be entered.
    pub near: bool,
}

impl Context {
    fn join(&mut self, other: &Context) {
        for (mine, theirs) in self.actuals.iter_mut().zip(&other.actuals) {
            mine.null |= theirs.null;
            mine.points.extend_from_slice(&theirs.points);
            mine.points.sort_unstable();
            mine.points.dedup();
        }
        self.bits.extend(&other.bits);
        self.near |= other.near;
    }
}

/// Something wrong that a typed region found, for whoever called it to report.
#[derive(Clone, Debug)]
pub struct Conflict {
    /// What.
    pub kind: Kind,
    /// Where.
    pub site: Site,
    /// What is null there.
    pub subject: String,
    /// How null gets there.
    pub paths: Vec<FlowPath>,
    /// Whether the region has it by itself, whatever it is entered with.
    pub own: bool,
}

/// What a block leaves behind.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Cells that may be null afterwards, and were changed.
    pub nulls: BTreeSet<Var>,
    /// Whether the result may be null.
    pub result: bool,
    /// Whether some of this may also be an address that was computed from null.
    pub near: bool,
    /// What typed code in it has wrong, by itself.
    pub conflicts: Vec<Conflict>,
    /// Findings of symbolic blocks.
    pub findings: Vec<Finding>,
    /// What was left out.
    pub gaps: BTreeSet<String>,
    /// What was assumed.
    pub assumptions: BTreeSet<String>,
}

/// Mistakes that tests plant.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    NeverNull,
    NoHavoc,
    HavocNeverNull,
    OwnObjectsDoNotAlias,
    OneOfA,
    UnreadNotPassed,
    UndiscoveredNotPassed,
    UndiscoveredNotReturned,
    CutAtConflict,
    KeyWithoutBits,
    KeyWithoutActuals,
    VisitedOnce,
    TopCut,
    ZeroedNotWritten,
}

/// How far one exploration goes.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Paths of one exploration.
    pub paths: u64,
    /// Times one call may take an undecided branch of one block.
    pub loops: u32,
    /// Instructions on one path.
    pub steps: u64,
    /// Nested calls.
    pub depth: usize,
    /// Time for one exploration.
    pub time: Duration,
}

impl Default for Budget {
    fn default() -> Self {
        Budget { paths: 2000, loops: 12, steps: 200_000, depth: 40, time: Duration::from_secs(10) }
    }
}

struct Open {
    key: (FunctionId, Mode, Context),
    assumed: Outcome,
    used: bool,
}

/// The mixed analysis.
pub struct Mixer<'m> {
    pub(crate) program: &'m Program<'m>,
    pub(crate) footprints: &'m Footprints<'m>,
    pub(crate) store: &'m Store,
    pub(crate) budget: Budget,
    /// When blocks are only tried, until when: then the first that cannot be explored to the end is enough to know, and the
    /// ways that null takes in the outermost region are not looked for.
    pub(crate) trial: Option<Instant>,
    #[doc(hidden)]
    pub plant: Option<Mistake>,
    /// Modes of functions; those that are in none take the mode of whoever calls them.
    modes: FxHashMap<FunctionId, Mode>,
    /// Symbolic functions that could not be explored to the end: typed from then on.
    pub demoted: FxHashSet<FunctionId>,
    top: Known,
    /// Where functions store null, by inference, in what is declared never to be null: execution checks arguments alone.
    stored: FxHashMap<FunctionId, Vec<Conflict>>,
    /// Instructions that may follow an address that was computed from null.
    pub(crate) near_uses: Rc<FxHashSet<Site>>,
    cache: FxHashMap<(FunctionId, Mode, Context), Rc<Outcome>>,
    /// For each region that was analysed, sinks that its own text reaches.
    own: FxHashMap<FunctionId, Rc<BTreeSet<(Site, SinkKind)>>>,
    stack: Vec<Open>,
    /// Settings of explorations.
    pub(crate) exploring: &'m parallax_cexplore::explore::Settings,
    pub(crate) makers: Rc<crate::host::Makers>,
    /// How many pointers were made unknown by calls of typed code: their names.
    pub(crate) names: u64,
    /// Whether a block was demoted since this was last asked.
    pub restart_wanted: bool,
    /// What was done in each block.
    pub summaries: BTreeMap<(FunctionId, Mode), BlockSummary>,
}

/// How often a function may be on the stack before its contexts are joined.
const DEEP: usize = 3;
/// How often an assumption is revised: bits only rise, so this is never reached unless something is wrong.
const REVISIONS: usize = 10_000;

impl<'m> Mixer<'m> {
    /// Nothing analysed yet.
    pub fn new(
        program: &'m Program<'m>,
        footprints: &'m Footprints<'m>,
        store: &'m Store,
        exploring: &'m parallax_cexplore::explore::Settings,
        modes: FxHashMap<FunctionId, Mode>,
        plant: Option<Mistake>,
    ) -> Self {
        let all = Functions::All;
        let sources = program.sources(&all, true);
        let solution = Solution::of(program, &all, sources, plant == Some(Mistake::TopCut));
        let top = solution.into_known();
        let near =
            |sink: &&Sink| top.is_near(sink.var) && !program.settled.uses.contains(&(sink.site, sink.var));
        let near_uses = program.graph.dereferences.iter().filter(near).map(|sink| sink.site).collect();
        Mixer {
            program,
            footprints,
            store,
            budget: Budget::default(),
            trial: None,
            plant,
            modes,
            demoted: FxHashSet::default(),
            top,
            stored: FxHashMap::default(),
            near_uses: Rc::new(near_uses),
            cache: FxHashMap::default(),
            own: FxHashMap::default(),
            stack: Vec::new(),
            exploring,
            makers: Rc::new(crate::host::Makers::of(program)),
            names: 0,
            restart_wanted: false,
            summaries: BTreeMap::new(),
        }
    }

    /// Keeps what inference says of stores in what is declared never to be null, in functions that can run.
    pub(crate) fn keep_stores(&mut self, functions: &Functions) {
        let program = self.program;
        if program.nonnull.is_empty() {
            return;
        }
        let solution = program.inferred(functions);
        for conflict in conflicts(&solution, &solution.reached_by_storing(), true) {
            self.stored.entry(conflict.site.function).or_default().push(conflict);
        }
    }

    /// Whether null may be in a variable at all, whatever blocks there are.
    pub(crate) fn may_hold_null(&self, var: Var) -> bool {
        self.top.is_null(var)
    }

    /// Of these, those that stand for zeros which are no pointers. A block knows them as numbers: it is taken to pass on what there
    /// may be at all.
    pub(crate) fn zeros_in(&self, all: &BTreeSet<Var>) -> impl Iterator<Item = Var> {
        let graph = self.program.graph;
        all.iter().copied().filter(move |&var| graph.is_zeros(var) && self.may_hold_null(var))
    }

    /// Findings of functions that are executed which execution does not look for.
    pub(crate) fn stored_in(&self, functions: &FxHashSet<FunctionId>) -> Vec<Finding> {
        let stored = functions.iter().filter_map(|id| self.stored.get(id)).flatten();
        stored.cloned().map(typed).collect()
    }

    /// Whether an address that was computed from null may be in a variable at all, whatever blocks there are.
    pub(crate) fn may_hold_near(&self, var: Var) -> bool {
        self.top.is_near(var)
    }

    pub(crate) fn planted(&self, mistake: Mistake) -> bool {
        self.plant == Some(mistake)
    }

    /// How a function is analysed when code of this mode calls it.
    pub fn mode(&self, function: FunctionId, current: Mode) -> Mode {
        match self.modes.get(&function) {
            // No call leads to what runs before or after the entry, and so no switch.
            _ if self.program.around.contains(&function) => Mode::Typed,
            Some(Mode::Symbolic) if self.demoted.contains(&function) => Mode::Typed,
            Some(mode) => *mode,
            None => current,
        }
    }

    /// Takes other modes, and other blocks that are demoted. Results of what does not run a function whose mode is another now stay.
    pub fn rearrange(&mut self, modes: FxHashMap<FunctionId, Mode>, demoted: FxHashSet<FunctionId>) {
        let mut changed: FxHashSet<FunctionId> =
            self.demoted.symmetric_difference(&demoted).copied().collect();
        self.demoted = demoted;
        let all = self.modes.keys().chain(modes.keys());
        changed.extend(all.copied().filter(|id| self.modes.get(id) != modes.get(id)));
        self.modes = modes;
        self.forget(&changed);
    }

    /// Forgets what was found with functions that have been demoted since.
    pub fn restart(&mut self) {
        self.forget(&self.demoted.clone());
    }

    fn forget(&mut self, changed: &FxHashSet<FunctionId>) {
        let footprints = self.footprints;
        let stays = |id: FunctionId| !footprints.runs(id, changed);
        self.cache.retain(|(id, _, _), _| stays(*id));
        self.own.retain(|id, _| stays(*id));
        self.stack.clear();
    }

    /// Functions of the typed region that starts at a function; at the start of the program, what runs around it too.
    fn region_functions(&self, from: FunctionId, start: bool) -> FxHashSet<FunctionId> {
        let mut waiting = vec![from];
        if start {
            waiting.extend(&self.program.around);
        }
        let mut seen: FxHashSet<FunctionId> = waiting.iter().copied().collect();
        while let Some(at) = waiting.pop() {
            for callee in crate::calls::callees(self.program.module, self.program.points, at) {
                if self.mode(callee, Mode::Typed) == Mode::Typed && seen.insert(callee) {
                    waiting.push(callee);
                }
            }
        }
        seen
    }

    /// Functions whose dereferences are checked whatever the settings say: demoted ones, and what they call unmarked.
    fn watched(&self) -> FxHashSet<FunctionId> {
        let mut seen = self.demoted.clone();
        let mut waiting: Vec<FunctionId> = seen.iter().copied().collect();
        while let Some(at) = waiting.pop() {
            for callee in crate::calls::callees(self.program.module, self.program.points, at) {
                if !self.modes.contains_key(&callee) && seen.insert(callee) {
                    waiting.push(callee);
                }
            }
        }
        seen
    }

    /// A typed region: inference over a function and what it calls, with symbolic blocks at its frontier. The number is
    /// the lowest open block whose assumption was used.
    pub fn region(&mut self, from: FunctionId, context: &Context, start: bool) -> (Outcome, usize) {
        let program = self.program;
        let functions = Functions::Only(self.region_functions(from, start));
        let mut sources = program.sources(&functions, start);
        let own = sources.len();
        let entry = |var| Source { var, site: None, origin: Origin::Entry };
        for (index, actual) in context.actuals.iter().enumerate() {
            if actual.null {
                sources.push(entry(Var(program.points.flows.register(from, Register(index as u32)).0)));
            }
        }
        sources.extend(context.bits.iter().map(|&var| entry(var)));
        let entered = sources.split_off(own);
        let mut solution = Solution::of(program, &functions, sources, true);
        solution.add(entered, context.near);
        let frontier = self.frontier(&functions);
        let mut seen: FxHashMap<(Site, FunctionId), Context> = FxHashMap::default();
        let mut outcome = Outcome::default();
        let mut lowest = usize::MAX;
        loop {
            let mut changed = false;
            for (site, target) in &frontier {
                let context = self.context(&solution, *site, *target);
                if seen.get(&(*site, *target)) == Some(&context)
                    || (self.trial.is_some() && self.restart_wanted)
                {
                    continue;
                }
                let first = !seen.contains_key(&(*site, *target));
                if !first && self.planted(Mistake::VisitedOnce) {
                    continue;
                }
                seen.insert((*site, *target), context.clone());
                let (out, low) = self.block(*target, Mode::Symbolic, context);
                lowest = lowest.min(low);
                let mut added: Vec<Source> = Vec::new();
                let origin = Origin::Block(*target);
                for &var in out.nulls.iter().filter(|var| self.may_hold_null(**var)) {
                    added.push(Source { var, site: Some(*site), origin });
                }
                if let (true, Some(result)) = (out.result, self.result_of(*site))
                    && self.may_hold_null(result)
                {
                    added.push(Source { var: result, site: Some(*site), origin });
                }
                outcome.findings.extend(out.findings.iter().cloned());
                outcome.gaps.extend(out.gaps.iter().cloned());
                outcome.assumptions.extend(out.assumptions.iter().cloned());
                changed |= solution.add(added, out.near);
            }
            if !changed {
                break;
            }
        }
        let watched = self.watched();
        let own = self.own_conflicts(from, &functions, &watched);
        let reached = solution.reached(&watched);
        outcome.conflicts = conflicts(&solution, &reached, !(start && self.trial.is_some()));
        for (conflict, sink) in outcome.conflicts.iter_mut().zip(reached.chunk_by(same_use)) {
            conflict.own = own.contains(&(sink[0].site, sink[0].kind));
        }
        // Nothing comes after the whole program.
        if !start {
            let footprint = self.footprints.of(from);
            outcome.nulls.extend(footprint.changed.iter().copied().filter(|&var| solution.is_null(var)));
            outcome.near = footprint.changed.iter().any(|&var| solution.is_near(var));
        }
        let returned = Var(program.points.flows.result(from).0);
        outcome.result = solution.is_null(returned) && !program.nonnull.contains_key(&returned);
        outcome.near |= outcome.result && solution.is_near(returned);
        (outcome, lowest)
    }

    /// Sinks that null reaches from the region's own text alone: they are not the fault of a call.
    fn own_conflicts(
        &mut self,
        from: FunctionId,
        functions: &Functions,
        watched: &FxHashSet<FunctionId>,
    ) -> Rc<BTreeSet<(Site, SinkKind)>> {
        if let Some(known) = self.own.get(&from) {
            return known.clone();
        }
        let alone = Solution::of(self.program, functions, self.program.sources(functions, false), true);
        let found = alone.reached(watched).into_iter().map(|sink| (sink.site, sink.kind)).collect();
        self.own.entry(from).or_insert(Rc::new(found)).clone()
    }

    /// Calls from the region to symbolic functions, in the order of the program.
    fn frontier(&self, functions: &Functions) -> Vec<(Site, FunctionId)> {
        let Program { module, points, .. } = self.program;
        let mut found = Vec::new();
        for (number, range) in points.flows.ranges.iter().enumerate() {
            if !functions.contains(FunctionId(number as u32)) {
                continue;
            }
            for (site, flow) in &points.flows.flows[range.clone()] {
                if matches!(flow, Flow::Call(_)) {
                    for &target in points.targets(*site) {
                        if has_body(module, target) && self.mode(target, Mode::Typed) == Mode::Symbolic {
                            found.push((*site, target));
                        }
                    }
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    pub(crate) fn call_at(&self, site: Site) -> Option<&'m parallax_points::flow::Call> {
        let points = self.program.points;
        let range = points.flows.ranges[site.function.0 as usize].clone();
        points.flows.flows[range].iter().find_map(|(at, flow)| match flow {
            Flow::Call(call) if *at == site => Some(call),
            _ => None,
        })
    }

    fn result_of(&self, site: Site) -> Option<Var> {
        self.call_at(site)?.result.map(|node| Var(node.0))
    }

    /// What a call from typed code enters a block with.
    fn context(&self, solution: &Solution<'_, '_>, site: Site, target: FunctionId) -> Context {
        let program = self.program;
        let mut context = Context::default();
        let call = self.call_at(site);
        let arguments = call.map(|call| call.arguments.as_slice()).unwrap_or_default();
        // The library calls back with arguments of its own.
        let library = call.and_then(|call| match call.callee {
            Called::Function(id) if id != target => Some(id),
            _ => None,
        });
        for index in 0..program.module.function(target).parameters.len() {
            let node = program.points.flows.register(target, Register(index as u32));
            let parameter = Var(node.0);
            let mut actual = Actual::default();
            let from = match library {
                None => Some(index),
                Some(id) => {
                    actual.points.extend(program.points.pointees(node));
                    passed(&program.module.function(id).name, index)
                }
            };
            let given = from.and_then(|from| arguments.get(from));
            for value in given.map(|a| a.values.as_slice()).unwrap_or_default() {
                match value {
                    Value::Null => actual.null = true,
                    Value::Node(node) => {
                        let declared = program.nonnull.contains_key(&Var(node.0));
                        actual.null |= solution.is_null(Var(node.0)) && !declared;
                        context.near |= solution.is_near(Var(node.0)) && !declared;
                        actual.points.extend(program.points.pointees(*node));
                    }
                }
            }
            // A declared parameter is trusted: null for it is an error of the caller.
            actual.null &= !program.nonnull.contains_key(&parameter);
            actual.points.sort_unstable();
            actual.points.dedup();
            context.actuals.push(actual);
        }
        let footprint = self.footprints.of(target);
        context.bits = footprint.cells.iter().copied().filter(|&var| solution.is_null(var)).collect();
        context.near |= context.bits.iter().any(|&var| solution.is_near(var));
        context
    }

    /// Analyses a function in one mode and context.
    pub fn block(&mut self, function: FunctionId, mode: Mode, mut context: Context) -> (Rc<Outcome>, usize) {
        let mut key = self.key(function, mode, &context);
        let summary = self.summaries.entry((function, mode)).or_insert_with(|| BlockSummary {
            function,
            mode,
            contexts: 0,
            cache_hits: 0,
            iterations: 0,
            paths: 0,
            seconds: 0.0,
        });
        if let Some(known) = self.cache.get(&key) {
            summary.cache_hits += 1;
            return (known.clone(), usize::MAX);
        }
        let same = self.stack.iter().filter(|open| open.key.0 == function && open.key.1 == mode).count();
        if same >= DEEP && !self.stack.iter().any(|open| open.key == key) {
            for open in self.stack.iter().filter(|open| open.key.0 == function && open.key.1 == mode) {
                context.join(&open.key.2);
            }
            key = self.key(function, mode, &context);
            if let Some(known) = self.cache.get(&key) {
                return (known.clone(), usize::MAX);
            }
        }
        if let Some(at) = self.stack.iter().position(|open| open.key == key) {
            let open = &mut self.stack[at];
            open.used = true;
            return (Rc::new(open.assumed.clone()), at);
        }
        if let Some(summary) = self.summaries.get_mut(&(function, mode)) {
            summary.contexts += 1;
        }
        let started = Instant::now();
        let index = self.stack.len();
        // Optimistic: it writes nothing and returns what is not null.
        self.stack.push(Open { key: key.clone(), assumed: Outcome::default(), used: false });
        let mut lowest = usize::MAX;
        let mut outcome = Outcome::default();
        for _ in 0..REVISIONS {
            self.stack[index].used = false;
            let (out, low) = match mode {
                Mode::Typed => self.region(function, &context, false),
                Mode::Symbolic | Mode::Model => self.explore(function, &context, false),
            };
            if let Some(summary) = self.summaries.get_mut(&(function, mode)) {
                summary.iterations += 1;
            }
            if low < index {
                lowest = lowest.min(low);
            }
            outcome.absorb(&out);
            let open = &mut self.stack[index];
            let covered = out.nulls.is_subset(&open.assumed.nulls) && (!out.result || open.assumed.result);
            let covered = covered && (!out.near || open.assumed.near);
            if !open.used || covered {
                break;
            }
            open.assumed.nulls.extend(&out.nulls);
            open.assumed.result |= out.result;
            open.assumed.near |= out.near;
        }
        self.stack.truncate(index);
        if let Some(summary) = self.summaries.get_mut(&(function, mode)) {
            summary.seconds += started.elapsed().as_secs_f64();
        }
        let outcome = Rc::new(outcome);
        // A trial that has failed leaves out what it has not visited yet: its results say nothing to later runs.
        let failed = self.trial.is_some() && self.restart_wanted;
        if lowest == usize::MAX && !failed {
            self.cache.insert(key, outcome.clone());
        }
        (outcome, lowest)
    }

    fn key(&self, function: FunctionId, mode: Mode, context: &Context) -> (FunctionId, Mode, Context) {
        let mut context = context.clone();
        if self.planted(Mistake::KeyWithoutBits) {
            context.bits.clear();
        }
        if self.planted(Mistake::KeyWithoutActuals) {
            context.actuals.clear();
        }
        (function, mode, context)
    }
}

impl Outcome {
    /// Takes over what another iteration found: contexts only grow, so nothing that was found is taken back.
    fn absorb(&mut self, other: &Outcome) {
        self.nulls.extend(&other.nulls);
        self.result |= other.result;
        self.near |= other.near;
        let known = self.conflicts.iter().enumerate();
        let known: FxHashMap<(Kind, Site), usize> = known.map(|(at, c)| ((c.kind, c.site), at)).collect();
        for conflict in &other.conflicts {
            match known.get(&(conflict.kind, conflict.site)) {
                Some(&at) => add_paths(&mut self.conflicts[at].paths, &conflict.paths),
                None => self.conflicts.push(conflict.clone()),
            }
        }
        self.findings.extend(other.findings.iter().cloned());
        self.gaps.extend(other.gaps.iter().cloned());
        self.assumptions.extend(other.assumptions.iter().cloned());
    }
}

/// Whether two sinks are one use of null: an instruction may use several values that are null.
fn same_use(a: &Sink, b: &Sink) -> bool {
    (a.site, a.kind) == (b.site, b.kind)
}

/// What is wrong where null reaches these sinks, each use once; with the ways of null, if they are wanted.
fn conflicts(solution: &Solution<'_, '_>, reached: &[Sink], wanted: bool) -> Vec<Conflict> {
    let program = solution.program;
    let ways = (wanted && !reached.is_empty()).then(|| Ways::of(solution, reached.len()));
    let to = |sink: &Sink| ways.as_ref().map(|ways| ways.to(sink.var, MOST_WAYS)).unwrap_or_default();
    let uses = reached.chunk_by(same_use);
    uses.map(|sinks| {
        let paths = sinks.iter().flat_map(to).map(|(source, edges)| describe(program, &source, &edges));
        Conflict {
            kind: Kind::of(sinks[0].kind),
            site: sinks[0].site,
            subject: name_of(program.module, program.points, program.graph, sinks[0].var),
            paths: paths.collect(),
            own: true,
        }
    })
    .collect()
}

/// Ways of null that are kept of one use.
const MOST_WAYS: usize = 8;

/// The argument that a function of the library passes on, as the parameter of this number of what it calls back.
fn passed(library: &str, parameter: usize) -> Option<usize> {
    effects(library)?.iter().find_map(|effect| match effect {
        Effect::Passes(_, argument, to) if usize::from(*to) == parameter => Some(usize::from(*argument)),
        _ => None,
    })
}

/// Adds the ways that are not known yet.
fn add_paths(known: &mut Vec<FlowPath>, more: &[FlowPath]) {
    for path in more {
        if !known.contains(path) {
            known.push(path.clone());
        }
    }
}

/// Findings, each once: by kind, by who found it, where it is reported, and where null is used. The ways of all are kept.
pub fn merged(findings: impl IntoIterator<Item = Finding>) -> Vec<Finding> {
    let mut all: BTreeMap<(Site, Kind, Where, Site), Finding> = BTreeMap::new();
    for finding in findings {
        match all.entry((finding.site, finding.kind, finding.found_by, finding.sink)) {
            std::collections::btree_map::Entry::Vacant(place) => {
                place.insert(finding);
            }
            std::collections::btree_map::Entry::Occupied(mut known) => {
                let known = known.get_mut();
                known.contexts.extend(finding.contexts);
                add_paths(&mut known.paths, &finding.paths);
            }
        }
    }
    all.into_values().collect()
}

/// Why what inference alone finds is not decided.
const INFERENCE: &str = "qualifier inference knows neither the order of statements nor conditions";

/// A finding of typed code, by itself.
pub(crate) fn typed(conflict: Conflict) -> Finding {
    Finding {
        kind: conflict.kind,
        found_by: Where::Typed,
        site: conflict.site,
        sink: conflict.site,
        status: Status::Possible(INFERENCE.into()),
        subject: conflict.subject,
        paths: conflict.paths,
        contexts: BTreeSet::new(),
        witness: None,
    }
}
