//! Which functions can return: a call of one that cannot ends the path it is on.

use crate::calls::callees;
use parallax_cmodule::{BlockId, FunctionId, Module, Terminator};
use parallax_points::external::{Effect, effects};
use parallax_points::{Flow, Points, Site, has_body};
use rustc_hash::{FxHashMap, FxHashSet};

/// Functions that can return, by what they call: the least set such that a function is in it if a way through it reaches
/// a return and every call on that way can return.
pub(crate) fn returning(module: &Module, points: &Points) -> FxHashSet<FunctionId> {
    let ids = || (0..module.functions.len() as u32).map(FunctionId);
    let never = |id: FunctionId| {
        effects(&module.function(id).name).is_some_and(|listed| listed.contains(&Effect::Never))
    };
    let mut found: FxHashSet<FunctionId> = ids().filter(|&id| !has_body(module, id) && !never(id)).collect();
    let mut callers: FxHashMap<FunctionId, Vec<FunctionId>> = FxHashMap::default();
    for caller in ids().filter(|&id| has_body(module, id)) {
        for callee in callees(module, points, caller) {
            callers.entry(callee).or_default().push(caller);
        }
    }
    // A function is looked at again only when one that it calls turns out to return.
    let mut waiting: Vec<FunctionId> = ids().filter(|&id| has_body(module, id)).collect();
    while let Some(id) = waiting.pop() {
        if !found.contains(&id) && returns(module, points, &found, id) {
            found.insert(id);
            waiting.extend(callers.get(&id).into_iter().flatten());
        }
    }
    found
}

/// Whether a way through a function reaches a return, if just these functions return.
fn returns(module: &Module, points: &Points, known: &FxHashSet<FunctionId>, id: FunctionId) -> bool {
    let range = points.flows.ranges[id.0 as usize].clone();
    // Calls that end the program; one whose targets are not known may return.
    let ends = |site: Site| {
        let targets = points.targets(site);
        !targets.is_empty() && targets.iter().all(|target| !known.contains(target))
    };
    let calls = points.flows.flows[range].iter().filter(|(_, flow)| matches!(flow, Flow::Call(_)));
    let cut: FxHashSet<BlockId> = calls.filter(|(site, _)| ends(*site)).map(|(site, _)| site.block).collect();
    let blocks = &module.function(id).blocks;
    let mut seen = FxHashSet::from_iter([BlockId(0)]);
    let mut waiting = vec![BlockId(0)];
    while let Some(at) = waiting.pop() {
        if cut.contains(&at) {
            continue;
        }
        let terminator = &blocks[at.0 as usize].terminator;
        // Nobody knows what one that is not supported does.
        if matches!(terminator, Terminator::Return(_) | Terminator::Unsupported(_)) {
            return true;
        }
        waiting.extend(terminator.successors().into_iter().filter(|to| seen.insert(*to)));
    }
    false
}
