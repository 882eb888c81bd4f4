//! Automatic placement: which functions to execute symbolically, so that warnings of inference are refuted.
//!
//! Every run of the mixed analysis covers all behaviour, whatever its blocks are. So blocks may be tried freely: a set of
//! blocks is kept if all of it was explored to the end, null no longer gets to some place with a warning, and to none that was
//! refuted before. A place is where null is used: that a finding moves to a call refutes nothing. For each function with warnings
//! the blocks grow level by level, the cheapest first:
//!
//! 0. the function that holds the place, with everything that it calls typed;
//! 1. the same, and what it calls;
//! 2. also the functions in which the null arises;
//! 3. everything on the way, from the nearest function that calls all of it, other callees typed;
//! 4. and further: one caller more each time.

use crate::calls::Calls;
use crate::check::Settings;
use crate::declared::Mode;
use crate::finding::BlockSummary;
use crate::finding::FlowPath;
use crate::mix::{Budget, Context, Mixer, Outcome};
use crate::region::Program;
use parallax_cmodule::FunctionId;
use parallax_points::Site;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// Levels that are tried.
const LEVELS: usize = 7;
/// Functions that a block may start at, when it grows to callers.
const MOST_ROOTS: usize = 8;
/// Time for one set of blocks.
const TRIAL: Duration = Duration::from_secs(2);

/// Runs of the mixed analysis.
pub(crate) struct Runs<'m> {
    program: &'m Program<'m>,
    settings: &'m Settings,
    entry: FunctionId,
    mixer: Mixer<'m>,
}

/// What one run came to.
pub(crate) struct Done {
    pub(crate) outcome: Outcome,
    pub(crate) gaps: BTreeSet<String>,
    /// Blocks that were not explored to the end.
    demoted: FxHashSet<FunctionId>,
    /// Whether the run came to its end; one that is only tried stops at the first block that cannot be explored.
    whole: bool,
}

impl Done {
    /// Places where null is used.
    pub(crate) fn sinks(&self) -> BTreeSet<Site> {
        let conflicts = self.outcome.conflicts.iter().map(|conflict| conflict.site);
        conflicts.chain(self.outcome.findings.iter().map(|finding| finding.sink)).collect()
    }

    /// Whether this run refutes a warning that another leaves, and leaves none that the other refutes. What execution finds where
    /// there was no warning, inference cannot tell from what is fine.
    fn refutes_more(&self, than: &Done, warnings: &BTreeSet<Site>) -> bool {
        let (mine, theirs) = (&self.sinks() & warnings, &than.sinks() & warnings);
        mine.len() < theirs.len() && mine.is_subset(&theirs)
    }
}

/// What placement came to.
pub(crate) struct Placed {
    pub(crate) done: Done,
    /// Why places that are left could not be decided.
    pub(crate) reasons: BTreeMap<Site, String>,
}

impl Placed {
    /// Nothing but one run.
    pub(crate) fn at_once(done: Done) -> Placed {
        Placed { done, reasons: BTreeMap::new() }
    }
}

impl<'m> Runs<'m> {
    pub(crate) fn new(
        program: &'m Program<'m>,
        settings: &'m Settings,
        entry: FunctionId,
        mixer: Mixer<'m>,
    ) -> Self {
        Runs { program, settings, entry, mixer }
    }

    /// The mixed analysis with these blocks. A block that could not be explored to the end becomes typed code, and
    /// everything is looked at again.
    pub(crate) fn mixed(&mut self, modes: &FxHashMap<FunctionId, Mode>, budget: Budget) -> Done {
        self.mixed_but(modes, &FxHashSet::default(), budget)
    }

    /// The same, where some blocks are known not to be explored to the end.
    fn mixed_but(
        &mut self,
        modes: &FxHashMap<FunctionId, Mode>,
        demoted: &FxHashSet<FunctionId>,
        budget: Budget,
    ) -> Done {
        let start = self.settings.start;
        let mixer = &mut self.mixer;
        mixer.rearrange(modes.clone(), demoted.clone());
        mixer.budget = budget;
        let mut gaps = BTreeSet::new();
        loop {
            let demoted = mixer.demoted.contains(&self.entry);
            let outcome = match if demoted { Mode::Typed } else { mixer.mode(self.entry, start) } {
                Mode::Typed => mixer.region(self.entry, &Context::default(), true).0,
                Mode::Symbolic | Mode::Model => mixer.explore(self.entry, &Context::default(), true).0,
            };
            gaps.extend(outcome.gaps.iter().cloned());
            let whole = !std::mem::take(&mut mixer.restart_wanted);
            if whole || mixer.trial.is_some() {
                return Done { outcome, gaps, demoted: mixer.demoted.clone(), whole };
            }
            mixer.restart();
        }
    }

    /// What was done in the blocks that are part of the last arrangement.
    pub(crate) fn blocks(&self, modes: &FxHashMap<FunctionId, Mode>) -> Vec<BlockSummary> {
        let symbolic = |block: &BlockSummary| modes.get(&block.function) == Some(&Mode::Symbolic);
        let kept = |block: &&BlockSummary| block.mode == Mode::Typed || symbolic(block);
        self.mixer.summaries.values().filter(kept).cloned().collect()
    }

    /// Looks for blocks that refute warnings, for so long.
    pub(crate) fn placed(
        &mut self,
        modes: &mut FxHashMap<FunctionId, Mode>,
        best: Done,
        time: Duration,
    ) -> Placed {
        let started = Instant::now();
        let calls = Calls::of(self.program, self.entry);
        let ways = ways(&best);
        let mut placed = Placed::at_once(best);
        self.try_levels(modes, &mut placed, &calls, &ways, (started, time));
        self.mixer.trial = None;
        // The same once more, with the ways that null takes.
        placed.done = self.mixed(modes, self.settings.budget);
        placed
    }

    fn try_levels(
        &mut self,
        modes: &mut FxHashMap<FunctionId, Mode>,
        placed: &mut Placed,
        calls: &Calls<'_>,
        ways: &Ways,
        (started, time): (Instant, Duration),
    ) {
        let given: FxHashSet<FunctionId> = modes.keys().copied().collect();
        let warnings = placed.done.sinks();
        let mut tried: FxHashSet<Vec<(FunctionId, Mode)>> = FxHashSet::default();
        for level in 0..LEVELS {
            for group in groups(calls, ways, &placed.done, level) {
                if started.elapsed() >= time {
                    for site in placed.done.sinks() {
                        let spent =
                            format!("the time for executing functions ({} s) was spent", time.as_secs());
                        placed.reasons.entry(site).or_insert(spent);
                    }
                    return;
                }
                // An earlier group of this level may have settled it.
                if placed.done.sinks().is_disjoint(&group.sites) {
                    continue;
                }
                let Some(mut wanted) = group.blocks(calls, level) else { continue };
                // What is marked stays as it is marked.
                wanted.retain(|(id, mode)| !given.contains(id) && modes.get(id) != Some(mode));
                wanted.sort_unstable();
                if !wanted.iter().any(|(_, mode)| *mode == Mode::Symbolic) || !tried.insert(wanted.clone()) {
                    continue;
                }
                let mut trial = modes.clone();
                trial.extend(wanted);
                self.mixer.trial = Instant::now().checked_add(TRIAL);
                let done = self.mixed_but(&trial, &placed.done.demoted, self.settings.budget);
                if done.whole && done.refutes_more(&placed.done, &warnings) {
                    *modes = trial;
                    placed.done = done;
                } else {
                    let why = reason(self.program, &done);
                    placed.reasons.extend(group.sites.iter().map(|site| (*site, why(*site))));
                }
            }
        }
    }
}

/// Why places are left, after blocks were tried for them.
fn reason<'d>(program: &'d Program<'_>, done: &'d Done) -> impl Fn(Site) -> String + 'd {
    move |site| {
        let name = |id: FunctionId| program.module.function(id).name.as_str();
        let shown = done.outcome.findings.iter().any(|finding| finding.sink == site);
        if !done.whole {
            let cut: Vec<&str> = done.demoted.iter().map(|id| name(*id)).collect();
            let words = done.gaps.iter().find(|gap| cut.iter().any(|name| gap.starts_with(*name)));
            return words.cloned().unwrap_or_else(|| "a block could not be explored to the end".into());
        }
        match shown {
            true => format!(
                "a path through {} shows it, from memory that nothing shows to arise",
                name(site.function)
            ),
            false => "null still reaches it with the functions on its way executed".into(),
        }
    }
}

/// The warnings of one function.
struct Group {
    function: FunctionId,
    sites: BTreeSet<Site>,
    /// Functions in which their nulls arise.
    sources: BTreeSet<FunctionId>,
    /// Functions that their nulls pass through.
    way: BTreeSet<FunctionId>,
}

/// For each place, functions in which its null arises, and those that it passes through.
type Ways = FxHashMap<Site, (BTreeSet<FunctionId>, BTreeSet<FunctionId>)>;

fn ways(done: &Done) -> Ways {
    let mut ways = Ways::default();
    let conflicts = done.outcome.conflicts.iter().map(|conflict| (conflict.site, &conflict.paths));
    let findings = done.outcome.findings.iter().map(|finding| (finding.sink, &finding.paths));
    for (site, paths) in conflicts.chain(findings) {
        let (sources, way) = ways.entry(site).or_default();
        for FlowPath { steps, .. } in paths {
            sources.extend(steps.first().and_then(|step| step.function));
            way.extend(steps.iter().filter_map(|step| step.function));
        }
    }
    ways
}

/// Functions with warnings, the cheapest to execute first.
fn groups(calls: &Calls<'_>, ways: &Ways, done: &Done, level: usize) -> Vec<Group> {
    let mut groups: BTreeMap<FunctionId, Group> = BTreeMap::new();
    for site in done.sinks() {
        let function = site.function;
        let group = groups.entry(function).or_insert_with(|| Group {
            function,
            sites: BTreeSet::new(),
            sources: BTreeSet::new(),
            way: BTreeSet::from([function]),
        });
        group.sites.insert(site);
        if let Some((sources, way)) = ways.get(&site) {
            group.sources.extend(sources);
            group.way.extend(way);
        }
    }
    let mut groups: Vec<Group> = groups.into_values().collect();
    groups.sort_by_cached_key(|group| (calls.cost(group.function, level > 0), group.function));
    groups
}

impl Group {
    /// The blocks of a level; none where there is no such level.
    fn blocks(&self, calls: &Calls<'_>, level: usize) -> Option<Vec<(FunctionId, Mode)>> {
        let symbolic = |id: &FunctionId| (*id, Mode::Symbolic);
        match level {
            1 => Some(vec![symbolic(&self.function)]),
            0 => {
                let below = calls.closure(self.function);
                let others = below.iter().filter(|&&id| id != self.function);
                Some(others.map(|&id| (id, Mode::Typed)).chain([symbolic(&self.function)]).collect())
            }
            2 => Some(self.sources.iter().chain([&self.function]).map(symbolic).collect()),
            _ => {
                let mut roots = BTreeSet::from([calls.common_caller(self.function, &self.way)?]);
                for _ in 3..level {
                    roots = roots.iter().flat_map(|root| calls.callers(*root)).copied().collect();
                }
                if roots.is_empty() || roots.len() > MOST_ROOTS {
                    return None;
                }
                let mut blocks: BTreeMap<FunctionId, Mode> = BTreeMap::new();
                for id in
                    roots.iter().flat_map(|root| calls.closure(*root).iter().copied().collect::<Vec<_>>())
                {
                    // What does not lead to the way of the null need not be executed.
                    if calls.closure(id).iter().all(|below| !self.way.contains(below)) {
                        blocks.insert(id, Mode::Typed);
                    }
                }
                blocks.extend(roots.iter().map(symbolic));
                Some(blocks.into_iter().collect())
            }
        }
    }
}
