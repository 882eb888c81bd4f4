//! Functions by name, as a recording ran them.
//!
//! A symbol may name a function that chooses among several (an IFUNC), as `strlen` does in C libraries: calls go to the one
//! that was chosen. Which one that was is what the chooser returned when the recording ran it.

use parallax_symbols::Symbols;
use parallax_trace::{Direction, Target, Watch};
use parallax_travel::{Filter, Travel, TravelError};

/// A chooser is asked by each module that calls the function: so many askers are looked at.
const MOST: usize = 256;

/// The addresses at which functions of a name start; for a chooser, those of the functions it chose.
pub fn functions_named(
    travel: &Travel,
    symbols: &Symbols,
    name: &str,
    watch: &dyn Watch,
) -> Result<Vec<u64>, TravelError> {
    let mut found = Vec::new();
    for start in symbols.functions_named(name) {
        if symbols.is_chooser(start) {
            found.extend(chosen(travel, start, watch)?);
        } else {
            found.push(start);
        }
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// Where breakpoints on a function stop, likewise.
pub fn breakpoints_on(
    travel: &Travel,
    symbols: &Symbols,
    name: &str,
    watch: &dyn Watch,
) -> Result<Vec<u64>, TravelError> {
    let mut found = symbols.breakpoints_on(name);
    let choosers: Vec<u64> =
        symbols.functions_named(name).into_iter().filter(|start| symbols.is_chooser(*start)).collect();
    for start in choosers {
        let stop = symbols.after_prologue(start);
        found.retain(|address| *address != stop);
        found.extend(chosen(travel, start, watch)?.into_iter().map(|start| symbols.after_prologue(start)));
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// What a chooser returned, whenever it ran.
fn chosen(travel: &Travel, chooser: u64, watch: &dyn Watch) -> Result<Vec<u64>, TravelError> {
    let span = travel.span();
    let entered =
        travel.search(&[Filter::Execute(chooser.into())], span.clone(), Direction::Forward, MOST, watch)?;
    let mut found = Vec::new();
    for hit in entered.hits {
        let state = travel.state(hit.time)?;
        let (thread, stack) = (state.thread(), state.register("RSP").unwrap_or(0));
        let mut word = [0; 8];
        if state.read(stack, &mut word).is_err() {
            continue;
        }
        let back = [Filter::Execute(u64::from_le_bytes(word).into())];
        let mut from = hit.time + 1;
        // Another thread, or a call of the chooser inside of its own, may come to the same place first.
        while from < span.end {
            let next = travel.search(&back, from..span.end, Direction::Forward, 1, watch)?;
            let Some(next) = next.hits.first() else { break };
            let state = travel.state(next.time)?;
            if state.thread() == thread && state.register("RSP").is_some_and(|now| now > stack) {
                found.extend(state.register("RAX"));
                break;
            }
            from = next.time + 1;
        }
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}
