//! A function entered from each of its callers, in a time that they share.

use super::{Explore, failure};
use anyhow::{Context, Result};
use parallax_cexplore::explore::{Entry, Exploration, Settings, explore};
use parallax_cexplore::place::written;
use parallax_cexplore::{Program, callers};
use parallax_path::{Bound, Premise};
use parallax_term::Store;
use std::time::{Duration, Instant};

/// Explores a function from its callers.
pub fn from_callers(
    arguments: &Explore,
    program: &Program,
    settings: &Settings,
    levels: u32,
    progress: &mut dyn FnMut(u64, usize, usize),
) -> Result<Exploration> {
    let module = &program.module;
    let name = arguments.entry.as_deref().unwrap_or_default();
    let function =
        module.function_named(name).with_context(|| format!("the program has no function {name}"))?;
    let starts = callers::starts(module, function, levels);
    if starts.is_empty() {
        anyhow::bail!("nothing in the program calls {name} by its name: explore it without --callers");
    }
    let begun = Instant::now();
    let left = || settings.time.saturating_sub(begun.elapsed());
    let cut = |part: &Exploration| part.completeness.is_out_of_time();
    let parts = shared(starts.len(), left, cut, |number, time| {
        let name = &module.function(starts[number]).name;
        let entry = match name.as_str() {
            "main" => arguments.main_entry()?,
            _ => Entry::Function(name.clone()),
        };
        let settings = Settings { entry, time, ..settings.clone() };
        let store = Store::new();
        let part = explore(&store, module, &settings, parallax_smt::solver(&store), progress);
        let mut part = part.map_err(failure)?;
        part.findings.retain(|finding| callers::concerns(finding, function));
        Ok(part)
    })?;
    let joined = parts.into_iter().reduce(|whole, part| callers::joined(module, whole, part));
    let mut whole = joined.context("nothing was explored")?;
    if starts.len() > 1 && whole.completeness.is_out_of_time() {
        let (seconds, callers) = (settings.time.as_secs_f64(), starts.len());
        let words = format!("the {seconds} s of --time are shared by {callers} starts");
        whole.completeness = whole.completeness.given(Premise::new(words));
    }
    for id in callers::called_through_pointers(module, function, levels) {
        let function = module.function(id);
        let bound = Bound::Missing(format!("calls of {} through pointers are not followed", function.name));
        whole.completeness = whole.completeness.but(bound, written(module, function.location));
    }
    for call in callers::calls(module, function) {
        let place = module.location(call.at);
        let caller = &module.function(call.caller).name;
        let words =
            format!("{name} is entered as {caller} calls it ({}:{})", module.file_of(call.at), place.line);
        whole.completeness = whole.completeness.given(Premise::new(words));
    }
    Ok(whole)
}

/// Of what each may take in the end, the part that shows which are done soon: one in so many.
const LOOK: u32 = 8;

/// What comes of each of some explorations in the time that is left for all. What those that are done soon leave over is
/// for the others, which begin again: a short look at each comes first, and nothing is looked at once more for less than
/// twice the time.
fn shared<T>(
    count: usize,
    left: impl Fn() -> Duration,
    cut: impl Fn(&T) -> bool,
    mut explore: impl FnMut(usize, Duration) -> Result<T>,
) -> Result<Vec<T>> {
    let mut parts: Vec<Option<(Duration, T)>> = (0..count).map(|_| None).collect();
    let mut look = if count > 1 { LOOK } else { 1 };
    loop {
        let share = |of: usize| left() / (of as u32 * look).max(1);
        let mut open: Vec<usize> =
            (0..count).filter(|&number| parts[number].as_ref().is_none_or(|(_, part)| cut(part))).collect();
        let next = share(open.len());
        open.retain(|&number| parts[number].as_ref().is_none_or(|(had, _)| next > 2 * *had));
        if open.is_empty() {
            return Ok(parts.into_iter().flatten().map(|(_, part)| part).collect());
        }
        for (done, &number) in open.iter().enumerate() {
            let time = share(open.len() - done);
            parts[number] = Some((time, explore(number, time)?));
        }
        look = 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// What each was given last, on a clock of its own: an exploration takes what it needs, or all that it is given.
    fn given(time: Duration, needs: &[Duration]) -> Vec<Duration> {
        let now = Cell::new(Duration::ZERO);
        let explore = |number: usize, given: Duration| {
            now.set(now.get() + given.min(needs[number]));
            Ok((number, given))
        };
        let cut = |&(number, given): &(usize, Duration)| given < needs[number];
        let parts = shared(needs.len(), || time.saturating_sub(now.get()), cut, explore).unwrap();
        assert!(now.get() <= time);
        parts.into_iter().map(|(_, given)| given).collect()
    }

    #[test]
    fn what_the_last_leave_over_is_for_the_first() {
        let second = Duration::from_secs(1);
        let given = given(8 * second, &[100 * second, second / 100, second / 100, second / 100]);
        assert!(given[0] > 7 * second, "{given:?}");
    }

    #[test]
    fn each_is_done_or_has_had_half_of_its_share() {
        let milliseconds = [0, 10, 90, 200, 500, 1_000, 2_500, 9_000].map(Duration::from_millis);
        for time in milliseconds {
            for needs in milliseconds.iter().flat_map(|one| {
                milliseconds.iter().flat_map(move |two| milliseconds.map(|three| [*one, *two, three]))
            }) {
                let fair = time * (LOOK - 1) / LOOK / 3;
                for (given, need) in given(time, &needs).iter().zip(&needs) {
                    // For less than twice the time it does not begin again.
                    assert!(given >= need || *given >= fair / 2, "{given:?} of {needs:?} in {time:?}");
                }
            }
        }
    }
}
