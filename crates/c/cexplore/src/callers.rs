//! A function entered as its callers do.
//!
//! Entered by itself, a function is given everything its types allow, and most of what then goes wrong is a contract that
//! no caller breaks. Exploring from its callers instead, and keeping what goes wrong in the function or below it, assumes
//! exactly what every call guarantees: a length that goes with a buffer, a pointer that is never null, a table that is
//! set up first.

use crate::explore::{Coverage, Exploration, Finding};
use crate::place::user_spot;
use parallax_cmodule::{Callee, FunctionId, LocationId, Module, Operation};

/// A call of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// Who calls.
    pub caller: FunctionId,
    /// Where.
    pub at: LocationId,
}

/// Calls of a function in the program's own code, by name; calls through pointers are not among them.
pub fn calls(module: &Module, function: FunctionId) -> Vec<Call> {
    let mut found = Vec::new();
    for (number, caller) in module.functions.iter().enumerate().filter(|(_, f)| !f.library) {
        for instruction in caller.blocks.iter().flat_map(|block| &block.instructions) {
            if let Operation::Call { callee: Callee::Function(callee), .. } = &instruction.operation
                && *callee == function
            {
                found.push(Call { caller: FunctionId(number as u32), at: instruction.location });
            }
        }
    }
    found
}

/// The functions to start in, so that `levels` calls lead to a function. A caller that nothing else calls is a start itself,
/// however many levels are asked for; so is one that only itself and callers further down call.
pub fn starts(module: &Module, function: FunctionId, levels: u32) -> Vec<FunctionId> {
    let mut starts: Vec<FunctionId> = Vec::new();
    let mut level: Vec<FunctionId> = calls(module, function).iter().map(|call| call.caller).collect();
    let mut seen = vec![function];
    for step in 1..=levels.max(1) {
        let mut next = Vec::new();
        for caller in level.drain(..) {
            if seen.contains(&caller) {
                continue;
            }
            seen.push(caller);
            let mut above = if step < levels { calls(module, caller) } else { Vec::new() };
            above.retain(|call| !seen.contains(&call.caller));
            match above.is_empty() {
                true => starts.push(caller),
                false => next.extend(above.iter().map(|call| call.caller)),
            }
        }
        level = next;
    }
    starts
}

/// Those of a function and its callers, up to `levels` calls away, whose address the program takes. Calls through pointers may
/// enter them too, and are not among [`calls`].
pub fn called_through_pointers(module: &Module, function: FunctionId, levels: u32) -> Vec<FunctionId> {
    let taken = module.taken_functions();
    let mut found = Vec::new();
    let mut seen = vec![function];
    let mut level = vec![function];
    for _ in 0..levels.max(1) {
        found.extend(level.iter().copied().filter(|&id| taken[id.0 as usize]));
        let callers: Vec<FunctionId> =
            level.iter().flat_map(|&id| calls(module, id)).map(|call| call.caller).collect();
        level.clear();
        for caller in callers {
            if !seen.contains(&caller) {
                seen.push(caller);
                level.push(caller);
            }
        }
    }
    found
}

/// What was explored from two starts: what goes wrong, once for each place.
pub fn joined(module: &Module, mut whole: Exploration, part: Exploration) -> Exploration {
    let key = |finding: &Finding| (finding.problem, user_spot(module, &finding.stack));
    for finding in part.findings {
        match whole.findings.iter_mut().find(|known| key(known) == key(&finding)) {
            None => whole.findings.push(finding),
            // From this start on no contract of its callers helps.
            Some(known) if finding.relied.is_empty() && !known.relied.is_empty() => *known = finding,
            Some(known) if known.relied.is_empty() => {}
            Some(known) => known.relies_also_on(&finding.relied),
        }
    }
    whole.paths += part.paths;
    whole.completeness = whole.completeness.and(part.completeness);
    for (name, file) in part.covered {
        let joined = whole.covered.entry(name).or_default();
        for (line, (name, count)) in file.functions {
            joined.functions.entry(line).or_insert((name, 0)).1 += count;
        }
        for (line, count) in file.lines {
            *joined.lines.entry(line).or_insert(0) += count;
        }
        for (branch, ways) in file.branches {
            let known = joined.branches.entry(branch).or_insert_with(|| vec![0; ways.len()]);
            known.iter_mut().zip(ways).for_each(|(all, more)| *all += more);
        }
        // What one start covers is decided.
        joined.undecided.extend(file.undecided);
        let branches = &joined.branches;
        let is_open = |(line, number, way): &(u32, u32, usize)| {
            branches.get(&(*line, *number)).and_then(|ways| ways.get(*way)).is_none_or(|&count| count == 0)
        };
        joined.undecided.retain(is_open);
    }
    whole.coverage = Coverage::of(&whole.covered);
    whole.steps += part.steps;
    whole.queries += part.queries;
    whole.most_states = whole.most_states.max(part.most_states);
    whole
}

/// Whether something goes wrong while a function runs.
pub fn concerns(finding: &Finding, function: FunctionId) -> bool {
    finding.stack.iter().any(|(running, _)| *running == function)
}
